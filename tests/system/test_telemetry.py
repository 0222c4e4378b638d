"""Neither the program nor a library opens connections unless the user requests it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import noise_models
import pytest
from network_audit import Contacts, run_audited

from studio.system import telemetry

CHECKOUT = Path(__file__).resolve().parents[2]
CLIP = str(CHECKOUT / "tests" / "reference" / "inputs" / "prompt_a.wav")
WINDOW = """
from studio.app.main import run_app
from studio.app.window_manager import WindowManager

def start_working(self, path):
    original(self, path)
    def finish(words):
        if "three" in words:
            window.session.editor.undo_stack.undo()  # or it asks whether to save
            window.close()
    window = self.window
    window.normalized_text.ready.connect(finish)
    window.script.set_field("text", "It is 3 o'clock.", "Edit")

original, WindowManager.start_working = WindowManager.start_working, start_working
raise SystemExit(run_app(None))
"""
EXPORTED_ENGINE = f"""
from pathlib import Path
from studio.engines.machine import processor
from studio.engines.onnx.files import open_vocoder, write_vocoder
from studio.engines.onnx.ort_graph import OrtGraph
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision

checkpoint = open_checkpoint(Path({str(noise_models.V3)!r}))
write_vocoder(checkpoint, Path(), Precision.FLOAT32, lambda done, total: None)
open_vocoder(Path(), checkpoint, lambda path: OrtGraph(path, processor(1)))
"""
TIMBRE = ["-m", "studio.start"]
# A fixed precision, as the comparison of precisions takes longer than the synthesis.
SPEAKING = ["--voice", CLIP, "--precision", "float32"]
PROGRAMS = {
    "window": ["-c", WINDOW],
    "say": [*TIMBRE, "say", "It is 3 o'clock.", *SPEAKING, "-o", "out.wav"],
    "export": [*TIMBRE, "export", "script.txt", "--voice", "Ada", "--precision", "float32", "--out", "lines"],
    "doctor": [*TIMBRE, "doctor"],
    # Not of a vocoder, whose trial first speaks for half a minute.
    "engine trial": [
        *(*TIMBRE, "engines", "build", "--model", str(noise_models.V3), "--device", "cpu", "--threads", "1"),
        *("--stage", "speaker-encoder"),
    ],
    "exported engine": ["-c", EXPORTED_ENGINE],
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.slow if "engine" in name else ()) for name in PROGRAMS],
)
def contacts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Contacts:
    folder = tmp_path_factory.mktemp("contacts")
    (folder / "script.txt").write_text("Good morning.\n", "utf-8")
    found = run_audited(PROGRAMS[request.param], folder)
    # 1: `doctor` found something missing, such as a sound card.
    assert found.ran.returncode in ((0, 1) if request.param == "doctor" else (0,)), found.ran.stderr
    if request.param == "say":
        assert (folder / "out.wav").stat().st_size > 1000
    return found


pytestmark = pytest.mark.timeout(300)


@pytest.mark.slow
def test_no_python_code_opens_a_connection(contacts: Contacts) -> None:
    assert contacts.attempts == []


def test_no_library_looks_up_a_name_or_connects(contacts: Contacts) -> None:
    if contacts.calls is None:
        pytest.skip("strace is not installed")
    assert contacts.calls == []


def test_no_library_leaves_an_identifier_or_a_queue_of_events(contacts: Contacts) -> None:
    """ONNX Runtime stores them in ~/.cache/Microsoft and $TMPDIR/.ses before uploading."""
    assert [file for file in contacts.files if "Microsoft" in file or ".ses" in file or "huggingface" in file] == []


def test_the_watch_detects_a_connection(tmp_path: Path) -> None:
    """Checks that the tests above can fail."""
    code = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=0.1)"
    found = run_audited(["-c", code], tmp_path)
    assert "Network is unreachable" in found.ran.stderr
    assert found.attempts == ["socket.getaddrinfo 192.0.2.1 -c"]


@pytest.mark.skipif(sys.platform != "linux", reason="calls the C library of Linux")
def test_the_watch_detects_a_lookup_outside_python(tmp_path: Path) -> None:
    code = "import ctypes; ctypes.CDLL(None).gethostbyname(b'telemetry.invalid')"
    found = run_audited(["-c", code], tmp_path)
    assert found.attempts == []  # not visible to Python
    if found.calls is None:
        pytest.skip("strace is not installed")
    assert found.calls != []


def test_every_switch_overrides_the_environment() -> None:
    contrary = dict.fromkeys(telemetry.SWITCHES, "contrary")
    code = "import studio, json, os; print(json.dumps(dict(os.environ)))"
    ran = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | contrary, capture_output=True, text=True, check=True
    )
    assert telemetry.SWITCHES.items() <= ast.literal_eval(ran.stdout).items()


@pytest.mark.slow
def test_onnx_runtime_is_imported_only_with_telemetry_disabled() -> None:
    """Some builds ignore its environment variable: see ``studio/model/onnx_networks.py``."""
    modules = [path for part in ("studio", "packaging") for path in sorted((CHECKOUT / part).rglob("*.py"))]
    importers = {
        path.relative_to(CHECKOUT).as_posix()
        for path in modules
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.Import) and any(alias.name == "onnxruntime" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "onnxruntime")
    }
    assert importers == {"studio/model/onnx_networks.py"}
