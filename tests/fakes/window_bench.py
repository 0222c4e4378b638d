"""Test bench for the whole window, with a worker in a thread, a fake sound device and temporary folders."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import noise_models
import numpy as np
import qasync
import soundfile
from fake_checks import FakeChecks
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from sound_card import CardOutputs, SoundCard
from thread_worker import ThreadWorker

from studio.app.background import end_background_threads
from studio.app.deferred_parts import DeferredParts
from studio.app.documents import new_project
from studio.app.log_panel import LogHandler
from studio.app.script.text_field import TextField
from studio.app.services import Services
from studio.app.session import Session
from studio.app.translation import use_language
from studio.app.window import MainWindow
from studio.app.window_manager import WindowManager
from studio.audio.resampling import Samples
from studio.pipeline.request import Mode, SynthesisReport
from studio.project.changes import AddTake
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import Take, TakeParameters
from studio.settings import FIRST_RUN_IS_OVER
from studio.settings_store import Settings
from studio.voices.library import VoiceLibrary
from studio.worker.process import Worker

MODEL = noise_models.V3


class Bench:
    """A session with its files in ``folder``, and the window after ``open_window``."""

    def __init__(
        self,
        application: QApplication,
        folder: Path,
        *,
        start_worker: Callable[[], Worker] = ThreadWorker,
        model: Path = MODEL,
        project: Project | None = None,
        outputs: CardOutputs | None = None,
        is_first_run: bool = False,
        checks: FakeChecks | None = None,
        seconds_per_second: float | None = None,
    ) -> None:
        use_language(application, QLocale("en_US"))
        self.folder = folder
        self.loop = qasync.QEventLoop(application)
        asyncio.set_event_loop(self.loop)
        asyncio._set_running_loop(self.loop)
        self.card = outputs.card if outputs else SoundCard()
        self.outputs = outputs or CardOutputs(self.card)
        self.library = VoiceLibrary(folder / "voices", built_in=folder / "none")
        self.services = Services(
            start_worker=start_worker,
            outputs=self.outputs,
            open_library=lambda: self.library,
            find_models=lambda: {model.name: model},
            drafts=folder / "drafts",
            open_checks=checks,
            measure_speed=lambda: seconds_per_second,
        )
        self.settings = Settings(folder / "settings.json")
        self.settings.change({FIRST_RUN_IS_OVER: not is_first_run})
        project = project or new_project(self.services.drafts, self.settings)
        self.session = Session(project, self.settings, self.services)
        self.manager: WindowManager | None = None
        self.is_closed = False

    @property
    def window(self) -> MainWindow | None:
        return None if self.manager is None else self.manager.window

    @property
    def parts(self) -> DeferredParts:
        """The parts of the window that are created after its first paint."""
        assert self.manager is not None
        assert self.manager.parts is not None
        return self.manager.parts

    def show_window(self) -> MainWindow:
        """Show the window as at its first paint. An earlier window of this bench is closed."""
        if self.window is not None:
            self.window.release()  # its timers would fire after the end of the test
            self._delete_window()
        self.manager = WindowManager(self.session, LogHandler())
        self.manager.window.show()
        return self.manager.window

    def open_window(self) -> MainWindow:
        """Show the window, wait for its voices, and create the deferred parts."""
        window = self.show_window()
        self.until(lambda: window.voices.is_loaded)
        self.manager.start_working(None)
        return window

    def add_voice(self, name: str = "Anna", transcript: str | None = "What Anna says.") -> None:
        self.library.add(clip_of_noise(self.folder / f"{name}.wav"), name, transcript)
        if self.window is not None:
            self.refresh_voices()

    def refresh_voices(self) -> None:
        """Read the library again, and wait until the window shows it."""
        assert self.window is not None
        shown: list[bool] = []
        connection = self.window.voices.voices_changed.connect(lambda: shown.append(True))
        self.window.voices.refresh()
        self.until(lambda: shown)
        self.window.voices.voices_changed.disconnect(connection)

    def add_take(self, samples: Samples, *, line: int = 0, sample_rate: int = 24_000, seed: int = 1) -> Take:
        """Add a finished take with ``samples`` to a line. It becomes the chosen take."""
        project, spoken = self.session.editor.project, self.lines[line]
        parameters = TakeParameters(
            spoken.text, seed, project.fingerprint_of(spoken.id), "zero-shot", "Anna", "", "model", ""
        )
        recorder = project.begin_take(spoken.id, parameters, sample_rate)
        recorder.append(samples)
        seconds = len(samples) / sample_rate
        report = SynthesisReport(0.5, seconds, 0.5 * seconds, sample_rate, Mode.ZERO_SHOT, 50, {}, {})
        take = recorder.finish(report, num_underruns=0)
        self.session.editor.apply(AddTake(take))
        return take

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.session.editor.project.lines

    @property
    def texts(self) -> list[str]:
        return [line.text for line in self.lines]

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run ``work`` on the event loop of the window and return its result."""
        # ``run_until_complete`` would process events once more after the loop has ended, including callbacks of the
        # window that need a running loop.
        task = self.loop.create_task(work)
        task.add_done_callback(lambda _: self.loop.stop())
        asyncio._set_running_loop(None)
        try:
            self.loop.run_forever()
        finally:
            # While a test clicks, Qt processes events, including those of this loop.
            asyncio._set_running_loop(self.loop)
        return task.result()

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Process events until ``condition`` is true."""

        async def watch() -> None:
            async with asyncio.timeout(seconds):
                while not condition():
                    await asyncio.sleep(0.005)

        self.run(watch())

    def trigger(self, action_id: str) -> None:
        """Trigger an action from the event loop of the window, as a key does."""
        assert self.window is not None
        self.loop.call_soon(self.window.actions_by_id[action_id].trigger)
        self.live(0.005)

    def dialog(self, kind: type[Any]) -> Any:
        """Return the dialog or page of ``kind`` as soon as it is visible."""
        assert self.window is not None
        window = self.window
        self.until(lambda: any(found.isVisible() for found in window.findChildren(kind)))
        return next(found for found in window.findChildren(kind) if found.isVisible())

    def click(self, button: QWidget) -> None:
        """Click ``button`` from the event loop of the window."""
        self.loop.call_soon(lambda: QTest.mouseClick(button, Qt.MouseButton.LeftButton))
        self.live(0.01)

    def live(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    def close(self) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        if self.window is not None:
            self.window.release()  # as the program does; its timers would fire without a loop
            self.window.hide()
            self.live(0.01)
        self.run(self.session.close(keeps_draft=False))
        self._delete_window()
        asyncio._set_running_loop(None)
        end_background_threads()
        self.loop.close()
        asyncio.set_event_loop(None)
        gc.collect(1)  # what this test has created, since collection is disabled while a test runs

    def _delete_window(self) -> None:
        if self.window is not None:
            self.window._may_close = True
            self.window.close()
            self.window.deleteLater()
        self.live(0.01)


def clip_of_noise(path: Path, seconds: float = 4.0) -> Path:
    """Write noise with the loudness of syllables, which is accepted as a recording of a voice."""
    rate = 24_000
    times = np.arange(round(seconds * rate)) / rate
    syllables = 0.5 * (1 + np.sin(2 * np.pi * 3.0 * times)) + 0.02
    noise = np.random.default_rng(7).standard_normal(len(times))
    soundfile.write(path, (0.08 * syllables * noise).astype(np.float32), rate)
    return path


def write_on(window: MainWindow) -> TextField:
    """Open the text of the current line for editing."""
    window.script.view.setFocus()
    QTest.keyClick(window.script.view, Qt.Key.Key_Return)
    field = window.script.view.text_field
    assert field is not None
    return field
