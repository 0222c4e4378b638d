"""Card of one model: abilities, state, progress, and the available actions."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from studio.app.models.model_tasks import ModelTask, ModelTaskKind
from studio.app.models.model_text import (
    ability_text,
    file_text,
    is_waiting,
    origin_text,
    size_text,
    state_icon,
    state_text,
    task_text,
)
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.translation import join_names, with_label
from studio.app.widgets.controls import in_column, in_row, text_label
from studio.app.widgets.elided_label import ElidedLabel
from studio.catalog.installed import ModelState, ModelStatus

_ICON_SIDE = 18
_STEPS = 1000
_BAR_PIXELS = 10


class ModelCard(QFrame):
    """Shows a status and a task, and emits a signal for each action. ``install_wanted`` carries the variants."""

    install_wanted = Signal(frozenset)
    stop_wanted = Signal()
    discard_wanted = Signal()
    retry_wanted = Signal()  # retry now instead of waiting
    other_source_wanted = Signal()
    check_wanted = Signal()
    export_wanted = Signal()
    remove_wanted = Signal()
    use_wanted = Signal()
    measure_wanted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self.setProperty("role", "card")
        self.setAccessibleName(name)
        self._status: ModelStatus | None = None
        self._mark = QLabel()
        self._title = text_label(name, "title", wraps=False)
        self._state = ElidedLabel()
        self._advice = text_label("", "good")
        self._advice.hide()
        self._abilities = QLabel(wordWrap=True)
        self.speed = QLabel(wordWrap=True)
        self.measure = QPushButton(self.tr("Measure"))
        self.measure.setAccessibleName(self.tr("Measure the speed of {name}").format(name=name))
        self.measure.setAutoDefault(False)
        self.measure.clicked.connect(self.measure_wanted)
        self._origin = text_label("", "quiet", is_selectable=True)
        self._variant = QCheckBox()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setMaximumHeight(_BAR_PIXELS)
        self._bar.setAccessibleName(self.tr("Progress of {name}").format(name=name))
        self._task = QLabel(wordWrap=True)
        self._file = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._main = QPushButton()
        self._second = QPushButton()
        self._retry = QPushButton(self.tr("Try now"))
        self._other_source = QPushButton(self.tr("Other source"))
        self._more = QToolButton()
        self._more.setIcon(icon("more"))
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more.setToolTip(self.tr("More"))
        self._more.setAccessibleName(self.tr("More for {name}").format(name=name))
        self._menu = QMenu(self._more)
        self._more.setMenu(self._menu)
        # Hide the arrow: Fusion draws it over the small icon.
        self._more.setStyleSheet(
            "QToolButton { padding: 3px 5px; } QToolButton::menu-indicator { image: none; width: 0; }"
        )
        self._calls: dict[QPushButton, Callable[[], object]] = {}
        for button in (self._main, self._second):
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, pressed=button: self._calls[pressed]())
        for button, call in ((self._retry, self.retry_wanted), (self._other_source, self.other_source_wanted)):
            button.setAutoDefault(False)
            button.setAccessibleName(with_label(button.text(), name))
            button.clicked.connect(call)
        self._lay_out()

    def _lay_out(self) -> None:
        head = in_row(self._mark, self._title, (self._state, 1))
        for button in (self._retry, self._other_source, self._main, self._second, self._more):
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            head.addWidget(button)
        column = in_column(head, parent=self, margins=(12, 8, 12, 12), spacing=4)
        speed = in_row((self.speed, 1), self.measure)
        for label in (self._advice, self._abilities, self._origin):
            column.addWidget(label)
        column.addLayout(speed)
        for widget in (self._variant, self._task, self._bar, self._file):
            column.addWidget(widget)

    def show_status(self, status: ModelStatus, *, is_used: bool) -> None:
        """Show the state of the model while no task runs."""
        self._status = status
        shape, tone = state_icon(status)
        self._mark.setPixmap(icon(shape, getattr(theme_colors(self.palette()), tone)).pixmap(_ICON_SIDE, _ICON_SIDE))
        words = state_text(status)
        self._state.setText(words + (" · " + self.tr("in use") if is_used else ""))
        self._abilities.setText(self._description(status))
        self._abilities.setVisible(bool(self._abilities.text()))
        self._origin.setText(origin_text(status))
        self._show_variant(status)
        self._show_buttons(status, is_used=is_used)
        self.show_task(None)

    def show_speed(self, words: str, *, can_measure: bool) -> None:
        """Show the measured speed. ``can_measure`` is whether the button is enabled; it needs an installed model."""
        status = self._status
        can_speak = status is not None and not status.is_recognizer
        self.speed.setText(words)
        self.speed.setVisible(can_speak and status is not None and status.state is not ModelState.UNSUPPORTED)
        self.measure.setVisible(status is not None and status.is_loadable)
        self.measure.setEnabled(can_measure)

    def show_advice(self, words: str) -> None:
        """Show why this model is recommended; ``reason`` is empty if another one is."""
        self._advice.setText(words)
        self._advice.setVisible(bool(words))

    def show_task(self, task: ModelTask | None) -> None:
        """Show a running or queued task. None hides it."""
        for widget in (self._bar, self._task, self._file):
            widget.setVisible(task is not None)
        for button in (self._retry, self._other_source):
            button.setVisible(task is not None and is_waiting(task) and not task.stop.is_cancelled)
        if task is None:
            if self._status is not None:
                self._main.setVisible(bool(self._main.text()))
            return
        self._state.setText("")  # replaced by the progress text below
        progress = task.progress if task.is_running else None
        share = progress.share if progress is not None else None
        self._bar.setMaximum(_STEPS if share is not None else 0)
        self._bar.setValue(round(_STEPS * share) if share is not None else 0)
        self._task.setText(task_text(task))
        self._file.setText(file_text(progress) if progress is not None else "")
        self._variant.hide()
        self._more.hide()
        is_download = task.kind is ModelTaskKind.INSTALL
        self._offer(self._main, self.tr("Pause") if is_download else self.tr("Cancel"), self.stop_wanted.emit)
        if is_download:
            self._offer(self._second, self.tr("Cancel"), self.discard_wanted.emit)
        else:
            self._second.hide()
        for button in (self._main, self._second):
            button.setEnabled(
                not task.stop.is_cancelled and task.kind not in (ModelTaskKind.REMOVE, ModelTaskKind.DISCARD)
            )

    def _description(self, status: ModelStatus) -> str:
        if status.damaged:
            return self.tr("Missing or damaged: {files}. Repair the model to use it.").format(
                files=join_names(status.damaged)
            )
        words = ability_text(status.known) if status.known is not None else ""
        if status.state is ModelState.UNSUPPORTED:
            words += "\n" + self.tr("This version of the program cannot run it.")
        return words

    def _show_variant(self, status: ModelStatus) -> None:
        known = status.known
        variant = known.variants[0] if known is not None and known.variants else None
        if known is None or variant is None or status.state not in (ModelState.AVAILABLE, ModelState.PARTIAL):
            self._variant.hide()
            return
        extra = known.size_bytes(frozenset({variant})) - known.size_bytes()
        if status.size_bytes >= known.size_bytes() + extra:  # already part of the download
            self._variant.hide()
            return
        words = self.tr("RL-tuned language model ({size} extra)")
        self._variant.setText(words.format(size=size_text(extra)))
        self._variant.show()

    def _show_buttons(self, status: ModelStatus, *, is_used: bool) -> None:
        self._menu.clear()
        for button in (self._main, self._second):
            button.setText("")
            button.hide()
            button.setEnabled(True)
        match status.state:
            case ModelState.AVAILABLE:
                self._offer(self._main, self.tr("Download"), self._install)
            case ModelState.PARTIAL:
                self._offer(self._main, self.tr("Continue"), self._install)
                self._offer(self._second, self.tr("Discard"), self.discard_wanted.emit)
            case ModelState.DAMAGED:
                if status.known is not None:
                    self._offer(self._main, self.tr("Repair"), self._install)
                self._menu.addAction(self.tr("Remove…"), self.remove_wanted.emit)
            case ModelState.INSTALLED | ModelState.BUNDLED:
                if not is_used and status.is_loadable:
                    self._offer(self._main, self.tr("Use"), self.use_wanted.emit)
                self._fill_menu(status, is_used=is_used)
            case _:
                pass
        self._more.setVisible(not self._menu.isEmpty())

    def _fill_menu(self, status: ModelStatus, *, is_used: bool) -> None:
        known = status.known
        if known is not None and status.state is ModelState.INSTALLED:
            missing = frozenset(known.variants) - status.variants
            if missing:
                words = self.tr("Download RL-tuned language model")
                self._menu.addAction(words, lambda: self.install_wanted.emit(missing))
        self._menu.addAction(self.tr("Verify"), self.check_wanted.emit)
        self._menu.addAction(self.tr("Export…"), self.export_wanted.emit)
        if status.state is ModelState.INSTALLED:
            remove = self._menu.addAction(self.tr("Remove…"), self.remove_wanted.emit)
            remove.setEnabled(not is_used)  # the user must switch to another model first

    def _install(self) -> None:
        known = self._status.known if self._status is not None else None
        wanted = self._variant.isChecked() and not self._variant.isHidden()
        self.install_wanted.emit(frozenset(known.variants) if wanted and known is not None else frozenset())

    def _offer(self, button: QPushButton, words: str, call: Callable[[], object]) -> None:
        button.setText(words)
        button.setAccessibleName(with_label(words, self.name))
        self._calls[button] = call
        button.show()
