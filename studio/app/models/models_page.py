"""Models page, a non-modal dialog with all models and their actions, and its controller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_thread
from studio.app.dialogs import Dialogs
from studio.app.error_text import format_error
from studio.app.models.first_run import FirstRun
from studio.app.models.first_run_panel import FirstRunPanel
from studio.app.models.model_card import ModelCard
from studio.app.models.model_speed import ModelSpeeds
from studio.app.models.model_tasks import ModelTasks
from studio.app.models.model_text import advice_text, recommended_model, size_text, task_text
from studio.app.notifications import NotificationBar
from studio.app.session import Session
from studio.app.status_bar import StatusBar
from studio.app.translation import join_names
from studio.app.widgets.controls import in_row, set_role
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.dialogs import bring_to_front, choose_file, choose_target, dialog_buttons, open_dialog
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.screen_fit import fit_to_screen
from studio.catalog.checking import CheckResult
from studio.catalog.folders import models_folder
from studio.catalog.installed import ModelState
from studio.catalog.known import known_models
from studio.catalog.machine import MachineFacts, probe_machine
from studio.catalog.sources import source_title
from studio.catalog.transfer import EXPORT_SUFFIX
from studio.errors import StudioError, UnusableSetting
from studio.health.log_file import note_shown
from studio.remote.address import ServerAddress
from studio.setting_kinds import Page
from studio.settings import SERVER_URL

_INSTALLED = (ModelState.BUNDLED, ModelState.INSTALLED, ModelState.DAMAGED)  # listed first


class ModelsPage(QDialog):
    """``model_chosen`` carries the name of the model to load. ``source_wanted`` requests the model settings.

    ``server_wanted`` requests the dialog for another computer.
    """

    model_chosen = Signal(str)
    source_wanted = Signal()
    server_wanted = Signal()

    def __init__(
        self, tasks: ModelTasks, speeds: ModelSpeeds, model_in_use: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Models"))
        self._tasks = tasks
        self._speeds = speeds
        self._model_in_use = model_in_use
        self._advice = ("", "")
        self.cards: dict[str, ModelCard] = {}
        self._source = ElidedLabel()
        self._change_source = QPushButton(self.tr("Source and folder…"))
        self.server = QPushButton(self.tr("Another computer…"))
        self._import = QPushButton(self.tr("Import"))
        self._import.setMenu(self._import_menu())
        self._message = QLabel(wordWrap=True)
        self._message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._message.hide()
        self._copy = CopyReportButton()
        self._other_task = QLabel(wordWrap=True)  # task of a model that has no card
        self._list = QWidget()
        self._column = QVBoxLayout(self._list)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._unsupported = QToolButton(autoRaise=True)
        self._unsupported.setCheckable(True)
        self._unsupported.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._unsupported.setArrowType(Qt.ArrowType.RightArrow)
        self._unsupported.hide()
        self._column.addWidget(self._unsupported)
        self._column.addStretch()
        self._buttons = dialog_buttons(self, QDialogButtonBox.StandardButton.Close)
        self._lay_out()
        self._connect_signals()
        self._show_statuses()
        self._show_source()
        tasks.refresh()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._source, 1)
        for button in (self._change_source, self.server, self._import):
            button.setAutoDefault(False)
            head.addWidget(button)
        scroll = QScrollArea()
        scroll.setWidget(self._list)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.addLayout(head)
        message_row = in_row((self._message, 1), self._copy)
        column.addLayout(message_row)
        column.addWidget(self._other_task)
        column.addWidget(scroll, 1)
        column.addWidget(self._buttons)
        width = self.fontMetrics().averageCharWidth()
        self.resize(fit_to_screen(116 * width, 96 * width))

    def _connect_signals(self) -> None:
        self._tasks.statuses_changed.connect(self._show_statuses)
        self._tasks.task_changed.connect(self._show_tasks)
        self._speeds.changed.connect(self._show_speeds)
        self._tasks.failed.connect(self._show_error)
        self._tasks.checked.connect(self._show_check)
        self._change_source.clicked.connect(self.source_wanted)
        self.server.clicked.connect(self.server_wanted)
        self._unsupported.toggled.connect(self._fold_unsupported)

    def show_advice(self, name: str, words: str) -> None:
        """Mark ``name`` as the model recommended for this computer."""
        self._advice = (name, words)
        self._show_statuses()

    def use(self, name: str) -> None:
        """Mark ``name`` as the model in use; empty if another computer runs the model."""
        self._model_in_use = name
        self._show_statuses()

    # State.

    def _show_statuses(self) -> None:
        names = [status.name for status in self._tasks.statuses]
        for name in set(self.cards) - set(names):
            card = self.cards.pop(name)
            self._column.removeWidget(card)
            card.deleteLater()
        unsupported = [status for status in self._tasks.statuses if status.state is ModelState.UNSUPPORTED]
        supported = [status for status in self._tasks.statuses if status.state is not ModelState.UNSUPPORTED]
        supported.sort(key=lambda status: status.state not in _INSTALLED)
        widgets: list[QWidget] = []
        for status in (*supported, *unsupported):
            if status in unsupported and self._unsupported not in widgets:
                widgets.append(self._unsupported)
            card = self.cards.get(status.name) or self._new_card(status.name)
            widgets.append(card)
            card.show_status(status, is_used=status.name == self._model_in_use)
            card.show_advice(self._advice[1] if status.name == self._advice[0] else "")
        for position, widget in enumerate(widgets):
            if self._column.indexOf(widget) != position:
                self._column.insertWidget(position, widget)
        self._unsupported.setText(self.tr("Not supported yet (%n)", "", len(unsupported)))
        self._unsupported.setVisible(bool(unsupported))
        self._fold_unsupported()
        self._show_tasks()

    def _fold_unsupported(self) -> None:
        is_open = self._unsupported.isChecked()
        self._unsupported.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        for status in self._tasks.statuses:
            if status.state is ModelState.UNSUPPORTED:
                self.cards[status.name].setVisible(is_open)

    def _show_tasks(self) -> None:
        for name, card in self.cards.items():
            task = self._tasks.task_of(name)
            if task is not None:
                card.show_task(task)
            elif (status := self._tasks.status_of(name)) is not None:
                card.show_status(status, is_used=name == self._model_in_use)
        self._show_speeds()
        current = self._tasks.current
        has_no_card = current is not None and current.name not in self.cards
        self._other_task.setText(task_text(current) if current is not None and has_no_card else "")
        self._other_task.setVisible(has_no_card)

    def _show_source(self) -> None:
        try:
            sources = [source_title(source) for source in self._tasks.sources.automatic]
        except UnusableSetting as error:
            self._show_error(error)
            sources = []
        if len(sources) > 1:
            words = self.tr("Source: {source}, else {others} · Folder: {folder}")
        else:
            words = self.tr("Source: {source} · Folder: {folder}")
        others = self.tr(", ").join(sources[1:])
        self._source.setText(words.format(source=sources[0] if sources else "–", others=others, folder=models_folder()))

    def _show_error(self, error: StudioError) -> None:
        note_shown(error)
        self._show_message(format_error(error), "bad", error)

    def _show_check(self, result: CheckResult) -> None:
        if not result.is_intact:
            words = self.tr("{name}: {files} damaged. “Repair” downloads only these files.")
            self._show_message(words.format(name=result.name, files=join_names(result.damaged)), "bad")
        elif result.is_learned:
            words = self.tr("{name}: complete. Checksums recorded for the next verification.")
            self._show_message(words.format(name=result.name), "good")
        else:
            self._show_message(self.tr("{name}: all files are intact.").format(name=result.name), "good")

    def _show_message(self, words: str, role: str, error: StudioError | None = None) -> None:
        self._copy.offer_for(error)
        self._message.setText(words)
        set_role(self._message, role)
        self._message.show()

    def _show_speeds(self) -> None:
        for name, card in self.cards.items():
            can_measure = not self._speeds.measuring and self._tasks.task_of(name) is None
            card.show_speed(self._speeds.text(name), can_measure=can_measure)

    # Actions.

    def _new_card(self, name: str) -> ModelCard:
        card = ModelCard(name)
        self.cards[name] = card
        card.install_wanted.connect(lambda variants: self._begin(lambda: self._tasks.install(name, variants)))
        card.stop_wanted.connect(lambda: self._tasks.stop(name))
        card.retry_wanted.connect(lambda: self._tasks.end_wait(name))
        card.other_source_wanted.connect(lambda: self._tasks.skip_source(name))
        card.discard_wanted.connect(lambda: self._begin(lambda: self._tasks.discard(name)))
        card.check_wanted.connect(lambda: self._begin(lambda: self._tasks.check(name)))
        card.export_wanted.connect(lambda: self._ask_for_export(name))
        card.remove_wanted.connect(lambda: self._ask_to_remove(name))
        card.measure_wanted.connect(lambda: self._speeds.measure(name))
        card.use_wanted.connect(lambda: self.model_chosen.emit(name))
        return card

    def _begin(self, call: Callable[[], object]) -> None:
        self._message.hide()
        self._copy.offer_for(None)
        call()

    def _import_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addAction(self.tr("From folder…"), lambda: self._ask_for_import(is_folder=True))
        menu.addAction(self.tr("From archive…"), lambda: self._ask_for_import(is_folder=False))
        return menu

    def _ask_for_import(self, *, is_folder: bool) -> None:
        kinds = () if is_folder else (self.tr("Archives (*.zip *.tar *.tar.gz *.tgz *.tar.xz)"),)

        def begin(path: Path) -> None:
            self._begin(lambda: self._tasks.import_from(path))

        choose_file(self, self.tr("Import model"), begin, filters=kinds, is_folder=is_folder)

    def _ask_for_export(self, name: str) -> None:
        def begin(path: Path) -> None:
            self._begin(lambda: self._tasks.export_to(name, path))

        choose_target(self, self.tr("Export model"), begin, name=f"{name}{EXPORT_SUFFIX}", kind=f"(*{EXPORT_SUFFIX})")

    def _ask_to_remove(self, name: str) -> None:
        status = self._tasks.status_of(name)
        box = QMessageBox(self)
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(self.tr("Remove {name} from this computer?").format(name=name))
        size = size_text(status.size_bytes if status is not None else 0)
        box.setInformativeText(self.tr("This frees {size}. Voices and scripts are kept.").format(size=size))
        remove = box.addButton(self.tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        remove.clicked.connect(lambda: self._tasks.remove(name))
        open_dialog(box)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.PaletteChange and self.cards:
            self._show_source()
            self._show_statuses()
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._show_source()  # the settings may have changed
            self._tasks.refresh()
        super().changeEvent(event)


class ModelsController(QObject):
    """Controller of the Models page, the first-run panel and the engine menu.

    ``model_chosen`` carries the name of the model to load.
    """

    model_chosen = Signal(str)

    def __init__(
        self, session: Session, pages: Dialogs, notices: NotificationBar, status: StatusBar, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session = session
        self._pages = pages
        self._notices = notices
        self._status = status
        self._window = window
        self._probe = probe_machine
        self.speeds = ModelSpeeds(session, self)
        self.page: ModelsPage | None = None  # created when it is first opened
        self.panel = FirstRunPanel()
        self.first_run = FirstRun(session, self.panel, self)
        # first run
        self.first_run.model_chosen.connect(self.model_chosen)
        self.first_run.models_wanted.connect(self.open_page)
        # model tasks
        session.parts.models.task_changed.connect(self._show_task)
        session.parts.models.installed.connect(self._on_installed)
        session.parts.models.failed.connect(self._on_failed)
        session.bridge.engine_changed.connect(self._on_engine_changed)
        self._show_task()

    def begin(self) -> None:
        """Start the first-run assistant. Call this after the window is shown."""
        self._session.parts.models.refresh()
        self._session.parts.models.resume_unfinished()
        self.first_run.begin()

    def open_page(self) -> None:
        """Open the page, or bring it to the front."""
        if self.page is None:
            self.page = ModelsPage(self._session.parts.models, self.speeds, self._name_in_use, self._window)
            self.speeds.failed.connect(self._notices.show_error)
            self.page.model_chosen.connect(self.model_chosen)
            self.page.source_wanted.connect(lambda: self._pages.open_settings(Page.MODELS))
            self.page.server_wanted.connect(lambda: self._pages.open_server(self.page))
            self._session.bridge.run(self._advise(self.page))
        self.page.use(self._name_in_use)
        self._session.parts.models.refresh()
        bring_to_front(self.page)

    async def _advise(self, page: ModelsPage) -> None:
        machine: MachineFacts = await run_in_thread(self._probe)
        advice = recommended_model(machine, known_models().values())
        if advice is not None:
            page.show_advice(advice.model.name, advice_text(advice, machine))

    def open_engine_menu(self, below: QWidget, *more: QAction) -> None:
        """Open the menu of installed models, followed by ``more``, above the widget ``below``."""
        menu = QMenu(self._window)
        session, server = self._session, self._session.model_selection.server()
        current = session.model_selection.local_folder() if server is None else None
        for name, folder in session.services.find_models().items():
            action = menu.addAction(name)
            action.setCheckable(True)
            action.setChecked(folder == current)
            action.triggered.connect(lambda _=False, chosen=name: self.model_chosen.emit(chosen))
        menu.addSeparator()
        if url := session.settings[SERVER_URL]:
            action = menu.addAction(ServerAddress(url).host)
            action.setCheckable(True)
            action.setChecked(server is not None)
            action.triggered.connect(session.model_selection.use_last_server)
        menu.addAction(self.tr("Another computer…"), self._pages.open_server)
        menu.addSeparator()
        menu.addAction(self.tr("Load model"), self._session.bridge.start_loading)
        menu.addAction(self.tr("More models…"), self.open_page)
        menu.addSeparator()
        menu.addActions(more)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(below.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    @property
    def _name_in_use(self) -> str:
        """Name of the installed model in use; empty if another computer runs the model."""
        return (
            self._session.model_selection.local_folder().name if self._session.model_selection.server() is None else ""
        )

    def _on_engine_changed(self) -> None:
        if self.page is not None:
            self.page.use(self._name_in_use)

    def _show_task(self) -> None:
        current = self._session.parts.models.current
        progress = current.progress if current is not None else None
        words = task_text(current) if current is not None else ""
        self._status.show_model_task(words, progress.share if progress is not None else None)

    def _on_installed(self, name: str) -> None:
        if not self._is_page_shown and self.panel.isHidden():
            words = self.tr("{name} is installed.").format(name=name)
            self._notices.show_hint(words, offer=self.tr("Use"), call=lambda: self.model_chosen.emit(name))

    def _on_failed(self, error: StudioError) -> None:
        if not self._is_page_shown and self.panel.isHidden():
            self._notices.show_error(error)

    @property
    def _is_page_shown(self) -> bool:
        return self.page is not None and self.page.isVisible()
