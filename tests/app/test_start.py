"""Entry point: GUI or command line, and a fast first paint."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio import start

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ("torch", "onnxruntime", "vllm", "tensorrt")
# Numbers of modules and objects before the first paint. They do not depend on the load of the machine. What is not
# visible at first belongs after the first paint, unless its import takes less than a few milliseconds.
MAX_MODULES = 185
MAX_OBJECTS = 496


# Modules that the first paint must not import. Each takes some hundredths of a second, as measured with
# `python -X importtime -m studio.start`.
HEAVY = (
    "av", "email", "html", "httpx2", "huggingface_hub", "importlib.metadata", "onnx", "psutil",
    "safetensors", "sounddevice", "soundfile", "tokenizers", "yaml", "studio.app.dictionary.dialog",
    "studio.app.deferred_parts", "studio.app.script.filter_bar", "studio.app.script.find_bar", "studio.app.models.models_page", "studio.catalog.known", "studio.engines.overview",
    "studio.export", "studio.project.importing.script_file", "studio.text.english", "studio.voices.clip_intake",
    "studio.worker.client", "studio.worker.protocol",
)  # fmt: skip


def run(code: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    names = ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG")
    environment = {**os.environ, **{name: str(folder / name) for name in names}, "QT_QPA_PLATFORM": "offscreen", **more}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_without_a_screen_an_error_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert start.main([]) == 12
    assert "No screen" in capsys.readouterr().err


def test_the_window_takes_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        start.main(["app", "one.timbre", "two.timbre"])
    assert ended.value.code == 2
    assert "unrecognized arguments: two.timbre" in capsys.readouterr().err


def test_the_command_that_opens_the_window_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        start.main(["app", "--help"])
    assert ended.value.code == 0
    assert "FILE" in capsys.readouterr().out


def test_anything_else_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        start.main(["--version"])
    assert ended.value.code == 0
    assert "Timbre Studio" in capsys.readouterr().out


def test_garbage_is_not_collected_during_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collections would take a tenth of its time."""
    is_enabled: list[bool] = []
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr("studio.app.main.run_app", lambda file: is_enabled.append(gc.isenabled()) or 0)
    gc.enable()
    try:
        assert start.main([]) == 0
    finally:
        gc.enable()
    assert is_enabled == [False]


FIRST_PAINT = """
import gc; gc.disable()  # like studio.start
import sys, threading
from pathlib import Path
from PySide6.QtCore import QTimer, QObject, QEvent
import studio.app.main as main
from studio.app.window import MainWindow
from studio.app.window_manager import WindowManager

class Watcher(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not seen:
            seen.append(True)
            counts.append(sum(name.startswith("studio") for name in sys.modules))
            counts.append(len(watched.window().findChildren(QObject)))
            print("heavy", *({heavy!r} & set(sys.modules)))
        return False

class ImportWatcher:
    def find_spec(self, name, path, target=None):
        if name.startswith("studio.") and seen:
            importers.add("window" if threading.current_thread() is threading.main_thread() else "background")

seen, counts, importers = [], [], set()
sys.meta_path.insert(0, ImportWatcher())
def start_working(self, path):
    print("painted", bool(seen))
    print("importers", *importers)
    window = self.window
    QTimer.singleShot({wait_milliseconds}, window.close)
    {work}
original, WindowManager.start_working = WindowManager.start_working, start_working
application = main.make_application()
watcher = Watcher()
show = MainWindow.show
def watched_show(self):
    self.script.view.viewport().installEventFilter(watcher)
    show(self)
MainWindow.show = watched_show
status = main.run_app(None)
print("engines", *({engines!r} & set(sys.modules)))
print("counts", *counts)
sys.exit(status)
"""


@pytest.mark.slow
def test_the_first_paint_imports_no_engine_and_little_else(tmp_path: Path) -> None:
    code = FIRST_PAINT.format(wait_milliseconds=50, work="pass", engines=set(ENGINES), heavy=set(HEAVY))
    shown = run(code, tmp_path)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = dict(line.partition(" ")[::2] for line in shown.stdout.splitlines())
    assert lines["engines"] == ""
    assert lines["painted"] == "True"
    assert lines["heavy"] == ""
    assert lines["importers"] == "background", "imports would block the window"
    num_modules, num_objects = map(int, lines["counts"].split())
    assert num_modules <= MAX_MODULES
    assert num_objects <= MAX_OBJECTS


@pytest.mark.slow
def test_the_window_opens_and_reports_damaged_settings(tmp_path: Path) -> None:
    """The file is nested so deeply that the parser fails."""
    (tmp_path / "TIMBRE_CONFIG").mkdir()
    (tmp_path / "TIMBRE_CONFIG" / "settings.json").write_text("[" * 200_000)
    work = "window.session.begin(); self.build_parts(); QTimer.singleShot(0, lambda: print('notice', window.notices.words))"
    shown = run(FIRST_PAINT.format(wait_milliseconds=50, work=work, engines=set(ENGINES), heavy=set(HEAVY)), tmp_path)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = dict(line.partition(" ")[::2] for line in shown.stdout.splitlines())
    assert "settings file is damaged" in lines["notice"]
    assert (tmp_path / "TIMBRE_CONFIG" / "settings.json.damaged").is_file()


@pytest.mark.slow
def test_no_engine_is_imported_while_the_window_works(tmp_path: Path) -> None:
    """The worker starts, loads the model and normalizes a text in another process."""
    work = (
        "original(self, path); "
        "finish = lambda: (window.session.editor.undo_stack.undo(), window.close()); "  # or it asks whether to save
        "window.normalized_text.ready.connect(lambda words: 'three' in words and (print('spoken', words), finish())); "
        "window.script.set_field('text', 'It is 3 o\\'clock.', 'Edit')"
    )
    patience_milliseconds = 100_000
    shown = run(
        FIRST_PAINT.format(wait_milliseconds=patience_milliseconds, work=work, engines=set(ENGINES), heavy=set(HEAVY)),
        tmp_path,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = dict(line.partition(" ")[::2] for line in shown.stdout.splitlines())
    assert lines["engines"] == ""
    assert "three" in lines["spoken"]
