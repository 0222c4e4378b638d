"""Controller of the Models page, the first-run panel and the engine menu."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from studio.app.dialogs import Dialogs
from studio.app.models.first_run import FirstRun
from studio.app.models.first_run_panel import FirstRunPanel
from studio.app.models.model_text import task_text
from studio.app.models.models_page import ModelsPage
from studio.app.notifications import NotificationBar
from studio.app.session import Session
from studio.app.synthesis.task_reporter import TaskReporter
from studio.errors import StudioError
from studio.setting_kinds import Page


class ModelsController(QObject):
    """``model_chosen`` carries the name of the model to load."""

    model_chosen = Signal(str)

    def __init__(
        self, session: Session, pages: Dialogs, notices: NotificationBar, tasks: TaskReporter, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session = session
        self._pages = pages
        self._notices = notices
        self._tasks = tasks
        self._window = window
        self._page: ModelsPage | None = None
        self.panel = FirstRunPanel()
        self.first_run = FirstRun(session, self.panel, self)
        work = session.models
        # first run
        self.first_run.model_chosen.connect(self.model_chosen)
        self.first_run.models_wanted.connect(self.open_page)
        # model tasks
        work.task_changed.connect(self._show_task)
        work.installed.connect(self._on_installed)
        work.failed.connect(self._on_failed)
        self._show_task()

    def begin(self) -> None:
        """Call once the window is shown."""
        self._session.models.refresh()
        self.first_run.begin()

    def open_page(self) -> None:
        """Open the page, or bring it to the front."""
        if self._page is None:
            self._page = ModelsPage(self._session.models, self._session.model_folder().name, self._window)
            self._page.model_chosen.connect(self._choose)
            self._page.source_wanted.connect(lambda: self._pages.open_settings_at(Page.MODELS))
        self._page.use(self._session.model_folder().name)
        self._session.models.refresh()
        self._page.show()
        self._page.raise_()
        self._page.activateWindow()

    @property
    def page(self) -> ModelsPage | None:
        return self._page

    def open_engine_menu(self, below: QWidget) -> None:
        """Open the menu of installed models above the widget ``below``."""
        menu = QMenu(self._window)
        current = self._session.model_folder()
        for name, folder in self._session.services.find_models().items():
            action = menu.addAction(name)
            action.setCheckable(True)
            action.setChecked(folder == current)
            action.triggered.connect(lambda _=False, chosen=name: self._choose(chosen))
        menu.addSeparator()
        menu.addAction(self.tr("Load model"), self._session.bridge.load)
        menu.addAction(self.tr("More models…"), self.open_page)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(below.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _choose(self, name: str) -> None:
        self.model_chosen.emit(name)
        if self._page is not None:
            self._page.use(self._session.model_folder().name)

    def _show_task(self) -> None:
        current = self._session.models.current
        progress = current.progress if current is not None else None
        words = task_text(current) if current is not None else None
        self._tasks.show_model_task(words, progress.share if progress is not None else None)

    def _on_installed(self, name: str) -> None:
        if not self._is_page_shown and self.panel.isHidden():
            words = self.tr("{name} is installed.").format(name=name)
            self._notices.show_hint(words, offer=self.tr("Use"), call=lambda: self._choose(name))

    def _on_failed(self, error: StudioError) -> None:
        if not self._is_page_shown and self.panel.isHidden():
            self._notices.show_error(error)

    @property
    def _is_page_shown(self) -> bool:
        return self._page is not None and self._page.isVisible()
