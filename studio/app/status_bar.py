"""Status bar: model, the current task with its cancel button, and the buttons that show the queue and the log."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QToolButton, QWidget

from studio.app.bridge import Engine, EngineState
from studio.app.error_text import format_error
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.translation import with_label
from studio.app.widgets.controls import icon_button
from studio.app.widgets.elided_label import ElidedLabel, ElidedToolButton
from studio.app.widgets.progress_chip import ProgressChip

_PIXELS_OF_BAR = 120


class StatusBar(QWidget):
    """Shows texts and figures; the window connects it with the session."""

    cancel_requested = Signal()
    engine_clicked = Signal()
    models_clicked = Signal()  # details of a download
    tuning_clicked = Signal()  # details of the search for faster engines
    serving_clicked = Signal()
    tab_requested = Signal(int)  # tab of the dock below the script: 0 is the queue, 1 the log

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._engine_mark = ElidedToolButton(autoRaise=True)
        self._engine_mark.setToolButtonStyle(self._engine_mark.toolButtonStyle().ToolButtonTextBesideIcon)
        self._engine_mark.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._engine_mark.setAccessibleName(self.tr("Model"))
        self._engine_mark.clicked.connect(self.engine_clicked)
        self._task = ElidedLabel()
        self._bar = QProgressBar(maximum=100)
        self._bar.setFixedWidth(_PIXELS_OF_BAR)
        self._bar.setMaximumHeight(self.fontMetrics().height() + 2)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Task progress"))
        self._cancel = icon_button("close", self.tr("Cancel task"), self.cancel_requested)
        layout = self._row = QHBoxLayout(self)
        layout.setContentsMargins(8, 0, 8, 0)
        layout.setSpacing(12)
        layout.addWidget(self._engine_mark)
        layout.addWidget(self._task, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._cancel)
        self._models = ProgressChip(self.tr("Model downloads"))
        self._models.clicked.connect(self.models_clicked)
        self._tuning = ProgressChip(self.tr("Optimising for this computer"))
        self._tuning.clicked.connect(self.tuning_clicked)
        layout.addWidget(self._models)
        layout.addWidget(self._tuning)
        self._serving = QToolButton(autoRaise=True)
        self._serving.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._serving.setText(self.tr("Serving voices"))
        self._serving.clicked.connect(self.serving_clicked)
        self._serving.hide()
        layout.addWidget(self._serving)
        self._queue, self._log = self._tab_button("queue", 0), self._tab_button("log", 1)
        self._log.setText(self.tr("Log"))
        layout.addWidget(self._queue)
        layout.addWidget(self._log)
        self.show_queue(0)
        self.show_task("", None, False)

    def show_engine(self, engine: Engine) -> None:
        colors = theme_colors(self.palette())
        description = engine.description
        match engine.state:
            case EngineState.READY if description is not None:
                parts = (description.model_name, _device_text(description.device), engine.server)
                words, mark = " · ".join(filter(None, parts)), icon("engine", colors.good)
                if description.makes_noise:
                    mark = icon("warning", colors.warn)
                    words += " · " + self.tr("generates noise, not speech")
            case EngineState.LOADING if engine.server:
                words = self.tr("Connecting to {server}…").format(server=engine.server)
                mark = icon("engine", colors.busy)
            case EngineState.FAILED if engine.server:
                words = self.tr("{server} cannot be used").format(server=engine.server)
                mark = icon("warning", colors.bad)
            case EngineState.LOADING if engine.is_comparing:
                words = self.tr("{model}: choosing the fastest precision").format(model=engine.folder.name)
                mark = icon("engine", colors.busy)
            case EngineState.LOADING:
                words, mark = self.tr("Loading {model}…").format(model=engine.folder.name), icon("engine", colors.busy)
            case EngineState.FAILED:
                words = self.tr("{model} could not be loaded").format(model=engine.folder.name)
                mark = icon("warning", colors.bad)
            case _ if engine.server:
                words = self.tr("{server}, not connected").format(server=engine.server)
                mark = icon("engine", colors.quiet)
            case _:
                words = self.tr("{model}, not loaded").format(model=engine.folder.name)
                mark = icon("engine", colors.quiet)
        self._engine_mark.setText(words)
        self._engine_mark.setIcon(mark)
        self._engine_mark.setToolTip(self._engine_details(engine))

    def add_chip(self, chip: QWidget) -> None:
        """Show ``chip``, the state of background work, before the buttons for queue and log."""
        self._row.insertWidget(self._row.indexOf(self._models), chip)

    def show_model_task(self, words: str, share: float | None) -> None:
        """Show a download or check of a model, or none if ``words`` is empty. It is cancelled on the Models page."""
        self._models.show_progress(words, share)

    def show_tuning(self, words: str, details: str, share: float | None) -> None:
        """Show the search for faster engines, or none if ``words`` is empty."""
        self._tuning.show_progress(words, share, details)

    def show_serving(self, url: str) -> None:
        """Show that the speech service listens on ``url``, or nothing if ``url`` is empty."""
        self._serving.setToolTip(url)
        self._serving.setAccessibleDescription(url)
        self._serving.setVisible(bool(url))

    def show_queue(self, num_waiting: int) -> None:
        """Show how many takes are queued."""
        self._queue.setText(self.tr("Queue {count}").format(count=num_waiting) if num_waiting else self.tr("Queue"))

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

    def _tab_button(self, icon_name: str, index: int) -> QToolButton:
        button = QToolButton(autoRaise=True)
        button.setIcon(icon(icon_name))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self.tab_requested.emit(index))
        return button

    def _engine_details(self, engine: Engine) -> str:
        if engine.error is not None:
            return format_error(engine.error)
        description = engine.description
        if description is None:
            return str(engine.folder)
        rows = [description.generation, engine.server or description.folder]
        rows += [with_label(stage, how) for stage, how in description.stages.items()]
        return "\n".join([*rows, *description.notes])


def _device_text(device: str) -> str:
    """Return the displayed name of a device: “CPU” for ``cpu``, “GPU 1” for ``cuda:1``."""
    kind, _, number = device.partition(":")
    name = {"cpu": "CPU", "cuda": "GPU"}.get(kind)
    return device if name is None else name if number in ("", "0") else f"{name} {number}"
