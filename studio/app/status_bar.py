"""Status bar: engine, playback figures, and the current task with its cancel button."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QToolButton, QWidget

from studio.app.bridge import Engine, EngineState
from studio.app.error_text import format_error
from studio.app.playback.audio_player import PlaybackStats
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.widgets.elided_label import ElidedLabel

_PIXELS_OF_BAR = 120


class StatusBar(QWidget):
    """Shows texts and figures; the window connects it with the session."""

    cancel_requested = Signal()
    engine_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._engine_mark = QToolButton(autoRaise=True)
        self._engine_mark.setToolButtonStyle(self._engine_mark.toolButtonStyle().ToolButtonTextBesideIcon)
        self._engine_mark.setAccessibleName(self.tr("Model"))
        self._engine_mark.clicked.connect(self.engine_clicked)
        self._meters = QLabel()
        self._meters.setAccessibleName(self.tr("Playback statistics"))
        self._meters.setToolTip(
            self.tr(
                "Latency: time from the request to the first audio.\n"
                "RTF: computing time per second of speech; below 1 is faster than real time.\n"
                "Buffered: generated audio that has not been played yet.\n"
                "Dropouts: interruptions of playback in this session."
            )
        )
        self._task = ElidedLabel()
        self._bar = QProgressBar(maximum=100)
        self._bar.setFixedWidth(_PIXELS_OF_BAR)
        self._bar.setMaximumHeight(self.fontMetrics().height() + 2)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Task progress"))
        self._cancel = QToolButton(autoRaise=True)
        self._cancel.setIcon(icon("close"))
        self._cancel.setToolTip(self.tr("Cancel task"))
        self._cancel.setAccessibleName(self.tr("Cancel task"))
        self._cancel.clicked.connect(self.cancel_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 0, 6, 0)
        layout.setSpacing(12)
        layout.addWidget(self._engine_mark)
        layout.addWidget(self._task, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._cancel)
        layout.addWidget(self._meters)
        self.show_meters(PlaybackStats())
        self.show_task("", None, False)

    def show_engine(self, engine: Engine) -> None:
        colors = theme_colors(self.palette())
        description = engine.description
        match engine.state:
            case EngineState.READY if description is not None:
                words, mark = f"{description.model_name} · {description.device}", icon("engine", colors.good)
                if description.makes_noise:
                    mark = icon("warning", colors.warn)
                    words += " · " + self.tr("generates noise, not speech")
            case EngineState.LOADING:
                words, mark = self.tr("Loading {model}…").format(model=engine.folder.name), icon("engine", colors.busy)
            case EngineState.FAILED:
                words = self.tr("{model} could not be loaded").format(model=engine.folder.name)
                mark = icon("warning", colors.bad)
            case _:
                words = self.tr("{model}, not loaded").format(model=engine.folder.name)
                mark = icon("engine", colors.quiet)
        self._engine_mark.setText(words)
        self._engine_mark.setIcon(mark)
        self._engine_mark.setToolTip(self._engine_details(engine))

    def show_meters(self, playback_stats: PlaybackStats) -> None:
        parts = [
            self.tr("Latency {value}").format(value=_seconds(playback_stats.first_audio_seconds)),
            self.tr("RTF {value}").format(value=_figure(playback_stats.real_time_factor)),
            self.tr("Buffered {value}").format(value=_seconds(playback_stats.buffered_seconds)),
            self.tr("Dropouts {count}").format(count=playback_stats.num_underruns),
        ]
        self._meters.setText("   ".join(parts))

    def show_task(self, words: str, share: float | None, can_cancel: bool) -> None:
        """Show a task, or none if ``words`` is empty. ``share`` is 0..1, or None if unknown."""
        self._task.setText(words)
        self._bar.setVisible(bool(words))
        self._cancel.setVisible(bool(words) and can_cancel)
        self._bar.setMaximum(0 if share is None else 100)
        self._bar.setValue(round(100 * share) if share is not None else 0)

    def show_message(self, words: str) -> None:
        """Show a short message in place of a task."""
        self.show_task("", None, False)
        self._task.setText(words)

    @property
    def engine_text(self) -> str:
        return self._engine_mark.text()

    @property
    def task_text(self) -> str:
        return self._task.text()

    @property
    def stats_text(self) -> str:
        return self._meters.text()

    def _engine_details(self, engine: Engine) -> str:
        if engine.error is not None:
            return format_error(engine.error)
        description = engine.description
        if description is None:
            return str(engine.folder)
        rows = [description.generation, description.folder]
        rows += [f"{stage}: {how}" for stage, how in description.stages.items()]
        return "\n".join([*rows, *description.notes])


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
