"""Watches the files that were imported into the script, and offers to update it when one has changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QWidget

from studio.app.background import run_in_background
from studio.app.documents import Documents
from studio.app.notifications import NotificationBar
from studio.app.session import Session
from studio.project.details import ImportSource
from studio.project.script import Script
from studio.project.source_files import Stamp, find_changed


class SourceWatcher(QObject):
    """Looks at the files when a script is opened, and when the window becomes active. ``action`` names the file."""

    def __init__(
        self, session: Session, documents: Documents, notices: NotificationBar, action: QAction, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session = session
        self._documents = documents
        self._notices = notices
        self._action = action
        self._plain_title = action.text()
        self._stamps: dict[Path, Stamp] = {}  # of the files that were looked at
        self._offered = ""  # the notice that is shown
        session.editor.project_replaced.connect(self._on_replaced)
        session.editor.script_changed.connect(self._on_changed)
        QGuiApplication.instance().applicationStateChanged.connect(self._on_state)  # type: ignore[union-attr]
        self._on_replaced()

    @property
    def _sources(self) -> tuple[ImportSource, ...]:
        return self._session.editor.script.details.sources

    def check(self) -> None:
        """Look at the files in the background."""
        if self._sources:
            project = self._session.editor.project
            run_in_background(
                self,
                partial(find_changed, self._sources, project.path, dict(self._stamps)),
                done=partial(self._on_found, project.draft_path),
                failed=lambda _: None,
            )

    def _on_state(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive:
            self.check()

    def _on_replaced(self) -> None:
        self._stamps.clear()
        self._show_title()
        self.check()

    def _on_changed(self, before: Script, after: Script) -> None:
        if before.details.sources is not after.details.sources:
            self._notices.withdraw(self._offered)
            self._show_title()

    def _show_title(self) -> None:
        """Name the file in the menu, if there is only one."""
        title = self._plain_title
        if len(self._sources) == 1:
            name = Path(self._sources[0].path).name.replace("&", "&&")
            title = self.tr("Update from {name}…").format(name=name)
        self._action.setText(title)

    def _on_found(self, draft: Path, found: tuple[dict[Path, Stamp], list[Path]]) -> None:
        if draft != self._session.editor.project.draft_path:
            return  # another script was opened meanwhile
        self._stamps |= found[0]
        for path in found[1]:
            self._offered = self.tr("{name} has changed since it was imported.").format(name=path.name)
            call = partial(self._documents.update_from, path)
            self._notices.show_hint(self._offered, offer=self.tr("Show changes…"), call=call, is_about_script=True)
