"""Strip with live figures of the synthesis: running lines, the stages of the last line, and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from studio.app.background import run_in_background
from studio.app.models.model_text import memory_text
from studio.app.session import Session
from studio.app.synthesis.queue import SynthesisJob
from studio.app.theme.sizes import GRID
from studio.app.widgets.controls import icon_button
from studio.app.widgets.elided_label import ElidedLabel
from studio.catalog.machine import Gpu, list_gpus, process_memory_bytes
from studio.pipeline.request import SynthesisReport
from studio.settings import SHOWS_LIVE_FIGURES

_FIGURES_MILLISECONDS = 500
_MEMORY_MILLISECONDS = 2_000
_GPU_DEVICE = "cuda"


class LiveStrip(QFrame):
    """One line with three groups of figures, and a button that closes it."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.now = ElidedLabel()
        self.last_line = ElidedLabel()
        self.memory = ElidedLabel()
        close = icon_button("close", self.tr("Close"), self.closed, name=self.tr("Close live figures"))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, 2, GRID // 2, 2)
        row.setSpacing(2 * GRID)
        for label, stretch in ((self.now, 3), (self.last_line, 8), (self.memory, 4)):
            label.setProperty("role", "meta")
            row.addWidget(label, stretch)
        row.addWidget(close)

    def show_running(self, running: list[SynthesisJob], most_at_once: int) -> None:
        factors = [job.synthesis.real_time_factor for job in running if job.synthesis is not None]
        known = [factor for factor in factors if factor]
        if not running:
            self.now.setText(self.tr("Idle · up to %n line(s) at once", "", most_at_once))
            return
        words = self.tr("{count} of up to %n line(s) at once", "", most_at_once).format(count=len(running))
        # Lines that run at the same time share the work.
        if known:
            words += f" · {_factor(1 / sum(1 / factor for factor in known))}"
        self.now.setText(words)

    def show_report(self, report: SynthesisReport | None) -> None:
        if report is None:
            self.last_line.setText(self.tr("Stage times appear after the next line"))
            return
        names = {"speech_lm": self.tr("language model"), "flow": self.tr("flow"), "vocoder": self.tr("vocoder")}
        words = self.tr("{stage} {seconds:.2f} s")
        known = [(name, report.stages[stage]) for stage, name in names.items() if stage in report.stages]
        parts = [words.format(stage=name, seconds=seconds) for name, seconds in known]
        parts.append(_factor(report.real_time_factor))
        parts.append(self.tr("latency {seconds:.2f} s").format(seconds=report.first_audio_seconds))
        if report.network_seconds is not None:
            parts.append(self.tr("network {seconds:.2f} s").format(seconds=report.network_seconds))
        if report.network is not None:
            parts.append(self.tr("RTF there {factor:.2f}").format(factor=report.network.real_time_factor))
            parts.append(self.tr("network delays up to {seconds:.2f} s").format(seconds=report.network.delay_seconds))
        self.last_line.setText(self.tr("Last line: {figures}").format(figures=" · ".join(parts)))

    def show_memory(self, memory: MemoryFigures) -> None:
        worker = memory.worker_bytes
        parts = [self.tr("worker {size}").format(size=memory_text(worker)) if worker else self.tr("no model loaded")]
        if memory.gpu is not None:
            used = memory.gpu.memory_bytes - memory.gpu.free_bytes
            words = self.tr("GPU {used} of {total}")
            parts.append(words.format(used=memory_text(used), total=memory_text(memory.gpu.memory_bytes)))
        self.memory.setText(self.tr("Memory: {figures}").format(figures=" · ".join(parts)))


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """Memory of the worker's processes, and of the GPU that they use."""

    worker_bytes: int | None
    gpu: Gpu | None


class LiveFigures(QObject):
    """Shows the strip while ``action`` is checked. While it is hidden, nothing is measured."""

    def __init__(
        self, session: Session, action: QAction, place: Callable[[QWidget], None], parent: QObject | None = None
    ) -> None:
        """``place`` puts the strip into the window."""
        super().__init__(parent)
        self.strip: LiveStrip | None = None  # built when it is shown first
        self._place = place
        self._session = session
        self._action = action
        self._is_reading = False
        self._report: SynthesisReport | None = None
        self._timer = QTimer(self, interval=_FIGURES_MILLISECONDS)
        self._timer.timeout.connect(self._show_figures)
        self._memory_timer = QTimer(self, interval=_MEMORY_MILLISECONDS)
        self._memory_timer.timeout.connect(self._read_memory)
        action.toggled.connect(self._on_toggled)
        action.setChecked(session.settings[SHOWS_LIVE_FIGURES])

    def _on_toggled(self, is_shown: bool) -> None:
        self._session.settings[SHOWS_LIVE_FIGURES] = is_shown
        if is_shown:
            self._start()
        else:
            self._stop()

    def _start(self) -> None:
        if self.strip is None:
            self.strip = LiveStrip()
            self.strip.closed.connect(lambda: self._action.setChecked(False))
            self._place(self.strip)
        self._session.queue.job_finished.connect(self._on_job_finished)
        self._timer.start()
        self._memory_timer.start()
        self.strip.show_report(self._report)
        self.strip.show()
        self._show_figures()
        self._read_memory()

    def _stop(self) -> None:
        assert self.strip is not None, "it was shown"
        self.strip.hide()
        self._session.queue.job_finished.disconnect(self._on_job_finished)
        self._timer.stop()
        self._memory_timer.stop()

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.synthesis is not None and job.synthesis.report is not None and self.strip is not None:
            self._report = job.synthesis.report
            self.strip.show_report(self._report)

    def _show_figures(self) -> None:
        assert self.strip is not None
        self.strip.show_running(list(self._session.queue.running), self._session.bridge.max_concurrent_lines)

    def _read_memory(self) -> None:
        if self._is_reading:
            return
        self._is_reading = True
        description = self._session.bridge.engine.description
        work = partial(_memory, self._session.bridge.worker_pid, "" if description is None else description.device)
        run_in_background(self, work, done=self._on_memory, failed=lambda _: self._on_memory(None))

    def _on_memory(self, memory: MemoryFigures | None) -> None:
        self._is_reading = False
        if memory is not None and self.strip is not None:
            self.strip.show_memory(memory)


def _memory(pid: int | None, device: str) -> MemoryFigures:
    """Measure the memory. Called on a background thread, because a GPU driver may need seconds to answer."""
    gpus = list_gpus() if device.startswith(_GPU_DEVICE) else ()
    number = device.partition(":")[2]
    index = int(number) if number.isdigit() else 0
    return MemoryFigures(None if pid is None else process_memory_bytes(pid), gpus[index] if index < len(gpus) else None)


def _factor(value: float) -> str:
    return f"RTF {value:.2f}"
