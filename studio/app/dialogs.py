"""Dialogs and menus of the window. They are imported when opened, to keep the start fast."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

import studio
from studio.app.actions import Actions
from studio.app.inspector.takes_controller import TakesController
from studio.app.session import Session
from studio.app.theme.icons import icon
from studio.setting_kinds import Page
from studio.settings import COMPARES_BLINDLY, OUTPUT_DEVICE

if TYPE_CHECKING:
    from studio.app.inspector.take_files import TakeFiles
    from studio.app.playback.comparison import Comparison

_ABOUT_ICON_PIXELS = 64


class Dialogs(QObject):
    """Opens dialogs, which change the session, the settings or the actions."""

    def __init__(self, session: Session, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._actions = actions
        self._window = window

    def open_settings(self) -> None:
        self.open_settings_at(Page.WINDOW)

    def open_settings_at(self, page: Page) -> None:
        from studio.app.preferences.dialog import PreferencesDialog  # noqa: PLC0415
        from studio.app.shortcuts_page import ShortcutsPage  # noqa: PLC0415

        dialog = PreferencesDialog(self._session.settings, self._session.device_names, self._window)
        dialog.add_page(self.tr("Shortcuts"), ShortcutsPage(self._actions))
        dialog.open_page(page)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def open_export(self, selected_ids: list[str], show_lines: Callable[[list[str]], object]) -> None:
        from studio.app.export_dialog.opening import open_export_dialog  # noqa: PLC0415

        open_export_dialog(self._window, self._session, selected_ids=selected_ids, show_lines=show_lines)

    def open_book(self) -> None:
        from studio.app.audiobook.book_dialog import BookDialog  # noqa: PLC0415

        dialog = BookDialog(self._session.editor, self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def open_levels(self) -> None:
        from studio.app.audiobook.levels_dialog import LevelsDialog  # noqa: PLC0415

        dialog = LevelsDialog(parent=self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def open_serving(self) -> None:
        from studio.app.serving.serving_dialog import ServingDialog  # noqa: PLC0415

        dialog = ServingDialog(self._session.serving, self._session.settings, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def open_server(self, parent: QWidget | None = None) -> None:
        """Open the dialog for another computer that speaks."""
        from studio.app.servers.server_dialog import ServerDialog  # noqa: PLC0415

        session = self._session
        last = session.last_server()
        dialog = ServerDialog(last, parent or self._window, is_in_use=session.server() is not None)
        dialog.server_chosen.connect(session.use_server)
        dialog.this_computer_chosen.connect(session.use_this_computer)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def open_comparison(self, takes_controller: TakesController, selected: list[str]) -> None:
        """Compare the ``selected`` takes of the current line, or all its takes if fewer than two are selected."""
        from studio.app.inspector.compare_dialog import CompareDialog  # noqa: PLC0415
        from studio.app.playback.comparison import Comparison  # noqa: PLC0415

        session, takes = self._session, takes_controller.takes_to_compare(selected)
        if len(takes) < 2:
            return
        editor, line_id = session.editor, takes[0].line_id
        session.script_player.stop()
        session.transport.stop()
        comparison = Comparison(
            takes,
            session.waveform_of,
            session.services.outputs,
            session.bridge.run,
            self,
            device=session.settings[OUTPUT_DEVICE] or None,
            is_blind=session.settings[COMPARES_BLINDLY],
        )
        dialog = CompareDialog(
            comparison,
            takes_controller.text,
            chosen_take=lambda: editor.script.line(line_id).chosen_take,
            num_takes=lambda: len(editor.script.takes_of(line_id)),
            parent=self._window,
        )
        editor.script_changed.connect(dialog.show_takes)
        # Playback of a line interrupts the comparison.
        session.transport.started.connect(comparison.pause)
        dialog.preferred.connect(lambda take_id: takes_controller.choose(take_id, line_id))
        dialog.blindness_changed.connect(self._keep_blindness)
        dialog.finished.connect(lambda _: session.bridge.run(self._end(comparison)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        comparison.open()

    @staticmethod
    async def _end(comparison: Comparison) -> None:
        await comparison.close()
        comparison.deleteLater()

    def _keep_blindness(self, is_blind: bool) -> None:
        self._session.settings[COMPARES_BLINDLY] = is_blind

    def open_shortcuts(self) -> None:
        from studio.app.help_dialogs import ShortcutsDialog  # noqa: PLC0415

        ShortcutsDialog(self._actions, self._window).open()

    def open_manual(self) -> None:
        from studio.app.manual_dialog import ManualDialog  # noqa: PLC0415

        ManualDialog(self._window).show()

    def open_doctor(self) -> None:
        from studio.app.help_dialogs import DiagnosticsDialog  # noqa: PLC0415

        DiagnosticsDialog(self._session.examine, self._window).show()

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

    @cached_property
    def take_files(self) -> TakeFiles:
        """Export and dragging of single takes."""
        from studio.app.inspector.take_files import TakeFiles  # noqa: PLC0415

        files = TakeFiles(self._session.editor, self._window)
        files.failed.connect(self._session.failed)
        return files

    def open_take_menu(
        self, takes_controller: TakesController, take_id: str | None, place: QPoint, selected: list[str]
    ) -> None:
        """Open the menu of a take, of the ``selected`` takes, and of the removed takes of the current line."""
        from studio.app.inspector.take_menu import take_menu  # noqa: PLC0415

        menu = take_menu(takes_controller, take_id, self, self._actions, self._window, selected=selected)
        menu.popup(place)

    def edit_take(self, takes_controller: TakesController, take_id: str | None) -> None:
        """Open the editor of a take of the current line."""
        from studio.app.inspector.take_editor import TakeEditor  # noqa: PLC0415

        take = None if take_id is None else takes_controller.take(take_id)
        if take is not None:
            self._session.stop_playback()
            dialog = TakeEditor(self._session, take, self._window)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def cut_silence(self, takes_controller: TakesController, take_ids: list[str]) -> None:
        """Open the dialog that shortens the pauses in takes, which may belong to several lines."""
        from studio.app.inspector.silence_dialog import SilenceDialog  # noqa: PLC0415

        script = self._session.editor.script
        takes = [script.take(take_id) for take_id in take_ids if take_id in script.line_of_take]
        if takes:
            self._session.stop_playback()
            dialog = SilenceDialog(self._session, takes, self._window)
            dialog.message.connect(takes_controller.status_message)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def join_takes(self, takes_controller: TakesController, take_ids: list[str]) -> None:
        """Open the dialog that joins two takes of the current line."""
        from studio.app.inspector.take_joiner import TakeJoiner  # noqa: PLC0415

        takes = sorted(filter(None, map(takes_controller.take, take_ids)), key=lambda take: take.number)
        if len(takes) == 2:
            self._session.stop_playback()
            dialog = TakeJoiner(self._session, takes[0], takes[1], self._window)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def drag_take(self, takes_controller: TakesController, take_id: str, source: QWidget) -> None:
        take = takes_controller.take(take_id)
        if take is not None:
            self.take_files.start_drag(take, source)


def _link(words: str, address: str) -> str:
    return f'<a href="{address}">{words}</a>'
