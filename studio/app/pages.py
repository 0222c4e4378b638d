"""Dialogs and menus that the window opens. Each is loaded when it is wanted: the first picture waits for no import."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu, QMessageBox, QWidget

import studio
from studio.app.actions import Actions
from studio.app.session import Session
from studio.setting_kinds import Page


class Pages(QObject):
    """Opens; what is done there comes back through the session, the settings and the actions."""

    def __init__(self, session: Session, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._actions = actions
        self._window = window

    def open_settings(self) -> None:
        self.open_settings_at(Page.WINDOW)

    def open_settings_at(self, page: Page) -> None:
        from studio.app.preferences.dialog import PreferencesDialog  # noqa: PLC0415
        from studio.app.shortcuts_dialog import ShortcutsPage  # noqa: PLC0415

        dialog = PreferencesDialog(self._session.settings, self._session.device_names, self._window)
        dialog.add_page(self.tr("Shortcuts"), ShortcutsPage(self._actions))
        dialog.open_page(page)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def open_export(self, selected_ids: list[str]) -> None:
        from studio.app.export_dialog.opening import open_export_dialog  # noqa: PLC0415

        session = self._session
        open_export_dialog(
            self._window,
            session.editor,
            session.queue,
            session.settings,
            session.model_folder(),
            selected_ids=selected_ids,
        )

    def open_shortcuts(self) -> None:
        from studio.app.shortcuts_dialog import ShortcutsDialog  # noqa: PLC0415

        ShortcutsDialog(self._actions, self._window).open()

    def open_guide(self) -> None:
        from studio.app.guide_dialog import GuideDialog  # noqa: PLC0415

        GuideDialog(self._window).show()

    def open_about(self) -> None:
        QMessageBox.about(
            self._window,
            self.tr("About Timbre Studio"),
            self.tr("Timbre Studio {version}\n\nReads texts aloud in any voice, on your own computer.").format(
                version=studio.__version__
            ),
        )

    def open_take_menu(self, place: QPoint) -> None:
        menu = QMenu(self._window)
        for name in ("play.toggle", "play.compare", "play.keep", "play.remove_take"):
            menu.addAction(self._actions[name])
        menu.popup(place)
