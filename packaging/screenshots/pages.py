"""Render every page of the window, light and dark, in English and Chinese.

The images are used for reviews and in the manual. No display and no model are needed, because the takes are
synthetic tones.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import qasync
from PySide6.QtCore import QLocale, QMimeData, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from screenshots.dubbing_scenes import dubbing_scenes
from screenshots.engine_scenes import engine_scenes
from screenshots.export_scenes import export_scenes
from screenshots.import_scenes import import_scenes
from screenshots.model_scenes import model_scenes
from screenshots.script_scenes import script_scenes
from studio import paths
from studio.app.background import end_background_threads
from studio.app.bridge import Engine, EngineState
from studio.app.documents import new_project
from studio.app.help_dialogs import DiagnosticsDialog, ShortcutsDialog
from studio.app.inspector.compare_dialog import CompareDialog
from studio.app.inspector.silence_dialog import SilenceDialog
from studio.app.inspector.take_editor import TakeEditor
from studio.app.log_panel import LogHandler
from studio.app.main import make_application
from studio.app.manual_dialog import ManualDialog
from studio.app.playback.audio_player import PlaybackStats
from studio.app.recovery_dialog import RecoveryDialog
from studio.app.script.line_statuses import LineStatus
from studio.app.services import Services
from studio.app.serving.serving_dialog import ServingDialog
from studio.app.session import Session
from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.translation import use_language
from studio.app.voices.clip_editor_dialog import ClipEditorDialog as PromptDoctorDialog
from studio.app.window_manager import WindowManager
from studio.audio.files import AudioWriter
from studio.audio.output_device import FillCallback
from studio.audio.player import Samples
from studio.health.checks import Check, CheckVerdict
from studio.health.report import HealthReport
from studio.messages import message
from studio.pipeline.request import EngineDescription, Mode, SynthesisReport
from studio.project.changes import AddTake, EditDictionary, EditLines, InsertLines, RemoveLines
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.drafts import Draft
from studio.project.lines import Line, LineState, LineStyle, new_id
from studio.project.project import Project
from studio.project.takes import TakeParameters
from studio.setting_kinds import Page
from studio.settings_store import Settings
from studio.system.installation import media_hint
from studio.take_checks.records import Difference, DifferenceKind, TakeCheck, Transcript
from studio.take_checks.requests import CheckRequest, TranscriptRequest
from studio.take_checks.service import TakeCheckService
from studio.take_checks.words import split_words
from studio.voices.library import VoiceLibrary
from studio.worker.process import Worker, WorkerProcess

_RATE = 24_000
_SIZE = (1280, 800)
_PATIENCE_SECONDS = 30.0
_TEXTS = {
    "en": (
        "The harbour was quiet that morning.",
        "[breath] Nobody had told the gulls, though, and they went about their business as loudly as ever.",
        "“We have won!” she cried, and ran down the steps two at a time.",
        "It was a quarter past three on the 21st of November, and 12.5 km to go.",
        "He said nothing. [pause 0.5] Then he laughed.",
        "And that, as they say in these parts, was that.",
    ),
    "zh_CN": (
        "那天早上，港口很安静。",
        "[breath]可是没有人告诉海鸥，它们还是一样吵闹。",
        "“我们赢了！”她喊着，两步并作一步跑下台阶。",
        "那是11月21日下午3点15分，还有12.5公里要走。",
        "他什么也没说。[pause 0.5]然后他笑了。",
        "就像这里的人常说的，事情就是这样。",
    ),
}
_LANGUAGES, _THEMES = ("en", "zh_CN"), (Appearance.LIGHT.value, Appearance.DARK.value)
_VOICES = {"en": ("Anna", "Bert", "Old Tom"), "zh_CN": ("小安", "老王", "Anna")}


def main(arguments: list[str]) -> int:
    parser = ArgumentParser(prog="take_screenshots.py", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=_size, default=_SIZE, help="of the window and the screen: 1280x800 (default)")
    parser.add_argument("--scale", type=float, default=1.0, help="physical pixels per pixel of the size: 2 for 200 %%")
    parser.add_argument("--language", choices=_LANGUAGES, action="append", help="default: all")
    parser.add_argument("--theme", choices=_THEMES, action="append", help="default: both")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as screen:
        _use_screen(Path(screen), options.size, options.scale)
        application = make_application()
        for language in options.language or _LANGUAGES:
            for theme in options.theme or _THEMES:
                with tempfile.TemporaryDirectory() as scratch:
                    _use_folders_of_its_own(Path(scratch))
                    take_pictures(
                        application,
                        options.folder,
                        Path(scratch),
                        language=language,
                        appearance=Appearance(theme),
                        size=options.size,
                    )
    return 0


def _size(words: str) -> tuple[int, int]:
    width, height = words.split("x")
    return int(width), int(height)


def take_pictures(
    application: QApplication,
    folder: Path,
    scratch: Path,
    *,
    language: str,
    appearance: Appearance,
    size: tuple[int, int],
) -> list[Path]:
    """Render all pages in one language and colour scheme. Return the files."""
    use_language(application, QLocale(language))
    apply_theme(application, appearance)
    loop = qasync.QEventLoop(application)
    asyncio.set_event_loop(loop)
    stage = Stage(scratch, language, size=size)
    written = []
    try:
        run(loop, stage.settle())
        for name, widget in stage.pages():
            run(loop, stage.settle())
            path = folder / f"{name}-{appearance.value}-{language}.png"
            widget.grab().save(str(path))
            written.append(path)
            if widget is not stage.window:
                widget.close()
    finally:
        run(loop, stage.close())
        end_background_threads()
        loop.close()
        asyncio.set_event_loop(None)
    return written


def run(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None]) -> None:
    """Run ``work`` until it ends.

    ``run_until_complete`` would process events once more after the loop has ended, including callbacks of the window that
    need a running loop.
    """
    task = loop.create_task(work)
    task.add_done_callback(lambda _: loop.stop())
    loop.run_forever()
    task.result()


class _Silence:
    """An output device that plays nothing."""

    sample_rate = _RATE
    latency_seconds = 0.0
    is_running = True

    def names(self) -> tuple[str, ...]:
        return ()

    def rescan(self) -> None:
        """Return no devices."""

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> _Silence:  # noqa: ARG002
        return self

    def close(self) -> None:
        """Do nothing."""


class _Listener(TakeCheckService):
    """Recogniser that hears another last word than the typed one, or a whole sentence."""

    def __init__(self, language: str) -> None:
        self._heard = _TEXTS[language][0]

    def submit(self, _: CheckRequest) -> Future[TakeCheck]:
        return Future()

    def transcribe(self, request: TranscriptRequest) -> Future[Transcript]:
        future: Future[Transcript] = Future()
        words = split_words(request.typed)
        if words:
            last = words[-1]
            place = (last.start, last.end, 4.0, 4.5)
            differences = (Difference(DifferenceKind.MISSING, last.text, "", *place),)
            future.set_result(Transcript("", differences=differences))
        else:
            future.set_result(Transcript(self._heard))
        return future

    def close(self) -> None:
        """Do nothing."""


class Stage:
    """The window with an unfinished script."""

    def __init__(
        self,
        scratch: Path,
        language: str,
        start_worker: Callable[[], Worker] = WorkerProcess,
        size: tuple[int, int] = _SIZE,
    ) -> None:
        self.language = language
        settings = Settings(scratch / "settings.json")
        library = VoiceLibrary(scratch / "voices", built_in=scratch / "none")
        for number, name in enumerate(_VOICES[language]):
            library.add(_clip(scratch / f"{number}.wav", number), name, _TEXTS[language][0] if number < 2 else None)
        services = Services(
            start_worker=start_worker,
            outputs=_Silence(),
            open_library=lambda: library,
            drafts=scratch / "drafts",
            open_checks=lambda: _Listener(language),
        )
        self.session = Session(_project(services.drafts, settings, language), settings, services)
        log = LogHandler()
        windows = WindowManager(self.session, log)
        self.window = windows.window
        self.window.resize(*size)
        self.window.show()
        self.session.begin()
        windows.build_parts()
        assert windows.parts is not None
        self.parts = windows.parts
        self.session.model_selection.load_styles()
        self._scratch = scratch
        self._wait_for(lambda: self.window.voices.is_loaded)

    def pages(self) -> Iterator[tuple[str, QWidget]]:  # noqa: PLR0915 - one list of all pages
        window, lines = self.window, self.session.editor.project.lines
        window.script.view.go_to(lines[2].id)
        self._wait_for(lambda: window.inspector.spoken_words)
        window.status.show_engine(_engine(self.session.model_selection.local_folder()))
        self.session.line_statuses.set(lines[4].id, LineStatus(LineState.SPEAKING, 0.4))
        self.session.line_statuses.set(lines[5].id, LineStatus(LineState.QUEUED))
        window.transport_bar.show_meters(PlaybackStats(0.42, 0.31))
        window.transport_bar.show_position(1.2)
        window.transport_bar.show_level(0.4)
        yield "main", window
        window.inspector.show_takes_page()
        yield "takes", window
        window.inspector.tabs.setCurrentIndex(0)
        yield "edit-take", self._take_editor()
        yield "cut-silence", self._silence_dialog()
        yield "compare", self._comparison()
        dialog = self._comparison()
        dialog._prefer.click()
        yield "compared", dialog
        window.docks.toggle_tab(0)
        self.session.queue.set_paused(True)
        self.session.queue.speak([lines[3].id, lines[5].id])
        yield "queue", window
        window.docks.toggle_tab(1)
        yield "log", window
        window.docks.toggle_tab(1)
        window.actions_by_id["edit.replace"].trigger()
        yield "replace", window
        window.script.find_bar.close_bar()
        yield from script_scenes(self.session, window, self.language, self._wait_for)
        yield from model_scenes(self.parts.models, self.session.parts.models, window)
        yield from engine_scenes(self.parts.engines, window)
        yield from import_scenes(window, self.language, self._wait_for)
        yield from self._drops()
        yield from dubbing_scenes(window, self._scratch / "0.wav", self._wait_for)
        window.actions_by_id["file.export"].trigger()
        yield "export", _top_dialog()
        yield from export_scenes(window, self._wait_for)
        window.actions_by_id["file.serve"].trigger()
        yield "serving", _shown(window.findChildren(ServingDialog)[-1])
        window.dialogs.open_server()
        yield "server", _top_dialog()
        window.actions_by_id["file.settings"].trigger()
        yield "settings", _top_dialog()
        for page in list(Page)[1:]:
            window.dialogs.open_settings(page)
            yield f"settings-{page.value}", _top_dialog()
        yield "pronunciation", self._pronunciation()
        yield "health", _shown(DiagnosticsDialog(lambda _: _health(), window))
        window.actions_by_id["voices.record"].trigger()
        yield "recorder", _top_dialog()
        yield "shortcuts", _shown(ShortcutsDialog(window.actions_by_id, window))
        yield "manual", _shown(ManualDialog(window))
        yield "recovery", _shown(RecoveryDialog(_drafts(self.language), window))
        yield from self._doctor()

    def _comparison(self) -> CompareDialog:
        """The blind comparison after playing two takes."""
        self.window.actions_by_id["play.compare_takes"].trigger()
        dialog = self.window.findChildren(CompareDialog)[-1]
        comparison = dialog._comparison
        self._wait_for(lambda: comparison.was_played(0))
        comparison.switch_to(1)
        self._wait_for(lambda: comparison.was_played(1))
        return dialog

    def _take_editor(self) -> QWidget:
        """The editor of the chosen take, with selected words."""
        self.window.actions_by_id["play.edit_take"].trigger()
        dialog = self.window.findChildren(TakeEditor)[-1]
        self._wait_for(lambda: dialog._samples is not None)
        dialog._waveform.select(0.8, 2.2)
        dialog._on_span_selected()
        return dialog

    def _silence_dialog(self) -> QWidget:
        """The dialog that cuts the silence of the chosen take."""
        self.window.actions_by_id["play.cut_silence"].trigger()
        dialog = self.window.findChildren(SilenceDialog)[-1]
        self._wait_for(lambda: dialog.saved_seconds)
        return dialog

    def _doctor(self) -> Iterator[tuple[str, QWidget]]:
        """The clip editor with a proposed transcript, then with a marked word."""
        dialog = self._clip_editor()
        yield "doctor-proposal", dialog
        dialog = self._clip_editor()
        dialog._form.comparison.use.click()
        self._wait_for(dialog._form.transcript.extraSelections)
        yield "doctor", dialog

    def _clip_editor(self) -> PromptDoctorDialog:
        """The clip editor of a recording, which opens when the clip has been read."""
        self.window.voices.voice_importer.import_paths([self._scratch / "0.wav"])

        def shown() -> list[PromptDoctorDialog]:
            return [each for each in self.window.findChildren(PromptDoctorDialog) if each.isVisible()]

        self._wait_for(shown)
        dialog = shown()[0]
        self._wait_for(dialog._form.comparison.use.isVisible)
        return dialog

    def _drops(self) -> Iterator[tuple[str, QWidget]]:
        """A recording dragged over the voices, then over a line."""
        window, view = self.window, self.window.script.view
        over_line = view.viewport().mapTo(window, view.visualRect(view.model().index(1, 0)).center())
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile("/home/anna/interview.m4a")])
        for name, place in (("drop", window.voices.rect().center()), ("drop-on-line", over_line)):
            action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
            event = QDragEnterEvent(place, action, mime, button, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(window, event)
            yield name, window
            QApplication.sendEvent(self.parts.drops.overlay, QDragLeaveEvent())
            self.parts.drops.overlay.hide()  # Qt may send the event to the widget that received the previous one

    def _pronunciation(self) -> QWidget:
        words = (
            DictionaryEntry("gulls", alias="seagulls"),
            DictionaryEntry("重庆", alias="虫庆", pronunciation="chóng qìng"),
        )
        self.session.editor.apply(EditDictionary(PronunciationDictionary(words)))
        return self.parts.pronunciation.open(None)

    @staticmethod
    def _wait_for(condition: Callable[[], object]) -> None:
        """Wait for results of other threads and processes."""
        loop = asyncio.get_event_loop()
        end = loop.time() + _PATIENCE_SECONDS
        while not condition() and loop.time() < end:
            run(loop, asyncio.sleep(0.05))

    async def settle(self) -> None:
        """Wait for deferred drawing: waveforms of takes and voices, and the normalised text."""
        await asyncio.sleep(0.7)

    async def close(self) -> None:
        self.window.hide()
        await self.session.close(keeps_draft=False)
        self.window.deleteLater()
        await asyncio.sleep(0.05)


def _project(drafts: Path, settings: Settings, language: str) -> Project:
    project = new_project(drafts, settings)
    styles = {2: LineStyle(preset="volume.loud"), 4: LineStyle(instruct="as if it did not matter")}
    voices = _VOICES[language]
    lines = tuple(
        Line(id=new_id(), text=text, voice=voices[index % 2], style=styles.get(index, LineStyle()))
        for index, text in enumerate(_TEXTS[language])
    )
    empty = project.lines[0].id
    project.apply(InsertLines(0, lines))
    project.apply(RemoveLines((empty,)))
    for index, num_takes in ((0, 1), (1, 2), (2, 3)):
        for number in range(num_takes):
            _add_take(project, lines[index], seed=100 * index + number)
    project.apply(EditLines({lines[1].id: {"text": lines[1].text + " …"}, lines[0].id: {"is_locked": True}}))
    return project


def _add_take(project: Project, line: Line, *, seed: int) -> None:
    parameters = TakeParameters(
        text=line.text,
        seed=seed,
        line_fingerprint=project.fingerprint_of(line.id),
        mode=Mode.ZERO_SHOT.value,
        voice_name=line.voice or "",
        voice_sha256="",
        model_name="studio-mini",
        model_key="",
    )
    samples = _humming(2.0 + 0.3 * (seed % 7), seed)
    recorder = project.begin_take(line.id, parameters, _RATE)
    recorder.append(samples)
    seconds = len(samples) / _RATE
    report = SynthesisReport(0.9, seconds, 0.7 * seconds, _RATE, Mode.ZERO_SHOT, 50, {}, {})
    take = recorder.finish(report, num_underruns=0)
    project.apply(AddTake(replace(take, is_kept=seed % 100 == 1)))


def _humming(seconds: float, seed: int) -> Samples:
    """Return a tone with the loudness of speech, including pauses."""
    times = np.arange(round(seconds * _RATE)) / _RATE
    draw = np.random.default_rng(seed)
    syllables = np.clip(np.sin(2 * np.pi * draw.uniform(2.2, 3.4) * times + draw.uniform(0, 6)), 0, 1)
    phrase = np.clip(1.3 * np.sin(np.pi * times / seconds * draw.integers(1, 4)) ** 2, 0, 1)
    pitch = 150 + 40 * np.sin(2 * np.pi * 0.7 * times)
    voice = sum(np.sin(2 * np.pi * np.cumsum(pitch) / _RATE * harmonic) / harmonic for harmonic in range(1, 12))
    noise = draw.standard_normal(len(times))
    sound: Samples = (0.22 * syllables * phrase * voice + 0.002 * noise).astype(np.float32)
    return sound


def _clip(path: Path, seed: int) -> Path:
    with AudioWriter(path, _RATE) as writer:
        writer.write(_humming(6.0, seed))
    return path


def _engine(folder: Path) -> Engine:
    stages = {"speech_lm": "torch, int8", "flow": "torch, float32", "vocoder": "torch, float32"}
    description = EngineDescription(folder.name, "cosyvoice3", str(folder), _RATE, "cpu", stages)
    return Engine(folder, EngineState.READY, description)


def _health() -> HealthReport:
    """Return the diagnostics of a computer with one warning."""
    return HealthReport(
        (
            Check(
                message("Python"),
                CheckVerdict.FINE,
                message("{version} in {folder}", version="3.12.7", folder="/opt/timbre"),
            ),
            Check(message("GPU"), CheckVerdict.FINE, message("no NVIDIA GPU; running on the CPU")),
            Check(
                message("audio formats"),
                CheckVerdict.LIMITED,
                message("WAV, FLAC, OGG and MP3 are supported; m4a, mp4 and webm are not"),
                media_hint(),
            ),
        )
    )


def _drafts(language: str) -> list[Draft]:
    when = datetime(2026, 11, 21, 9, 41, tzinfo=UTC)
    return [Draft(paths.data_folder() / "a.draft", None, "", 6, 4, _TEXTS[language][0], when)]


def _top_dialog() -> QWidget:
    dialogs = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QDialog)]
    return [dialog for dialog in dialogs if dialog.isVisible()][-1]


def _shown(dialog: QWidget) -> QWidget:
    dialog.show()
    return dialog


def _use_folders_of_its_own(scratch: Path) -> None:
    for name in ("TIMBRE_DATA", "TIMBRE_CONFIG", "TIMBRE_CACHE", "TIMBRE_LOGS"):
        os.environ[name] = str(scratch / name.lower())


def _use_screen(scratch: Path, size: tuple[int, int], scale: float) -> None:
    """Use a virtual screen of ``size``. The default has 800 by 800 pixels, which limits the size of dialogs."""
    width, height = (round(scale * length) for length in size)
    facts = {"width": width, "height": height, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    file = scratch / "screens.json"
    file.write_text(json.dumps({"screens": [{"name": "pictures", "x": 0, "y": 0, **facts}]}), "utf-8")
    os.environ.setdefault("QT_QPA_PLATFORM", f"offscreen:configfile={file}")
    os.environ["QT_SCALE_FACTOR"] = f"{scale:g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
