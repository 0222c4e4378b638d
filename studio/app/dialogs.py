"""Dialogs and menus of the window. They are imported when opened, to keep the start fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

import studio
from studio.app.actions import Actions
from studio.app.session import Session
from studio.app.theme.icons import icon
from studio.app.widgets.dialogs import open_dialog
from studio.audio.player import Samples
from studio.setting_kinds import Page

if TYPE_CHECKING:
    from studio.health.checks import Check
    from studio.health.report import HealthReport

_ABOUT_ICON_PIXELS = 64
_DOCTOR_RATE = 24_000
_DOCTOR_BUFFER_SECONDS = 0.2


class Dialogs(QObject):
    """Opens dialogs, which change the session, the settings or the actions."""

    def __init__(self, session: Session, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._actions = actions
        self._window = window

    def open_settings(self, page: Page) -> None:
        from studio.app.preferences.dialog import PreferencesDialog  # noqa: PLC0415
        from studio.app.shortcuts_page import ShortcutsPage  # noqa: PLC0415

        dialog = PreferencesDialog(self._session.settings, self._session.services.device_names, self._window)
        dialog.add_page(self.tr("Shortcuts"), ShortcutsPage(self._actions))
        dialog.open_page(page)
        open_dialog(dialog)

    def open_export(self, selected_ids: list[str], show_lines: Callable[[list[str]], object]) -> None:
        from studio.app.export_dialog.opening import open_export_dialog  # noqa: PLC0415

        open_export_dialog(self._window, self._session, selected_ids=selected_ids, show_lines=show_lines)

    def open_book(self) -> None:
        from studio.app.audiobook.book_dialog import BookDialog  # noqa: PLC0415

        dialog = BookDialog(self._session.editor, self._window)
        open_dialog(dialog)

    def open_levels(self) -> None:
        from studio.app.audiobook.levels_dialog import LevelsDialog  # noqa: PLC0415

        dialog = LevelsDialog(parent=self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def open_inspection(self) -> None:
        from studio.app.inspection_dialog import InspectionDialog  # noqa: PLC0415

        dialog = InspectionDialog(parent=self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def open_serving(self) -> None:
        from studio.app.serving.serving_dialog import ServingDialog  # noqa: PLC0415

        dialog = ServingDialog(self._session.parts.serving, self._session.settings, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def open_server(self, parent: QWidget | None = None) -> None:
        """Open the dialog for another computer that speaks."""
        from studio.app.servers.server_dialog import ServerDialog  # noqa: PLC0415

        session = self._session
        last = session.model_selection.last_server()
        dialog = ServerDialog(last, parent or self._window, is_in_use=session.model_selection.server() is not None)
        dialog.server_chosen.connect(session.model_selection.use_server)
        dialog.this_computer_chosen.connect(session.model_selection.use_this_computer)
        open_dialog(dialog)

    def open_shortcuts(self) -> None:
        from studio.app.help_dialogs import ShortcutsDialog  # noqa: PLC0415

        ShortcutsDialog(self._actions, self._window).open()

    def open_manual(self) -> None:
        from studio.app.manual_dialog import ManualDialog  # noqa: PLC0415

        ManualDialog(self._window).show()

    def open_doctor(self) -> None:
        from studio.app.help_dialogs import DiagnosticsDialog  # noqa: PLC0415

        DiagnosticsDialog(self._examine, self._window).show()

    def _examine(self, on_check: Callable[[Check], None]) -> HealthReport:
        """Check everything the program needs. This takes seconds and can be called from any thread.

        ``on_check`` receives each result as soon as it is known.
        """
        from studio.health.report import examine  # noqa: PLC0415 - its libraries are not needed at the start

        session = self._session

        def require_sound_card() -> None:
            device = session.playback.device()
            session.services.outputs.open(device, _DOCTOR_RATE, _silence, _DOCTOR_BUFFER_SECONDS).close()

        return examine(require_sound_card, lambda: session.library, on_check)

    def open_about(self) -> None:
        paragraphs = (
            f"<b>Timbre Studio {studio.__version__}</b>",
            self.tr("Reads texts aloud in any voice, on your own computer."),
            self.tr("Licence: {licence}. Models and libraries have their own licences.").format(
                licence=_link("Apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0")
            ),
            self.tr("Models: {models}. Window: {qt}, under the LGPL.").format(
                models=_link("CosyVoice", "https://github.com/FunAudioLLM/CosyVoice"),
                qt=_link("Qt for Python", "https://doc.qt.io/qtforpython-6/licenses.html"),
            ),
        )
        box = QMessageBox(self._window)
        box.setWindowTitle(self.tr("About Timbre Studio"))
        box.setTextFormat(Qt.TextFormat.RichText)
        box.setText("".join(f"<p>{paragraph}</p>" for paragraph in paragraphs))
        box.setIconPixmap(icon("timbre").pixmap(_ABOUT_ICON_PIXELS, _ABOUT_ICON_PIXELS))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()


def _silence(samples: Samples, _has_run_dry: bool) -> None:
    samples[:] = 0.0


def _link(words: str, address: str) -> str:
    return f'<a href="{address}">{words}</a>'
