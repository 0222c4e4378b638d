"""Dialogs and the context menu of takes of the current line. Dialogs are imported when opened."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from studio.app.actions import Actions
from studio.app.inspector.compare_dialog import CompareDialog
from studio.app.inspector.take_files import TakeFiles
from studio.app.inspector.takes_controller import TakesController
from studio.app.playback.comparison import Comparison
from studio.app.session import Session
from studio.app.theme.icons import icon
from studio.app.widgets.dialogs import open_dialog
from studio.project.takes import Take
from studio.settings import COMPARES_BLINDLY

_MAX_REMOVED_SHOWN = 20


class TakeDialogs(QObject):
    """Opens dialogs and the menu. They change takes through ``takes``."""

    def __init__(self, session: Session, actions: Actions, takes: TakesController, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._actions = actions
        self._takes = takes
        self._window = window
        self.files = TakeFiles(session.editor, window)
        self.files.failed.connect(session.failed)

    def compare(self, selected: Sequence[str]) -> None:
        """Compare the ``selected`` takes of the current line, or all its takes if fewer than two are selected."""
        session, takes = self._session, self._takes.takes_to_compare(selected)
        if len(takes) < 2:
            return
        editor, line_id = session.editor, takes[0].line_id
        session.playback.stop()
        comparison = Comparison(
            takes,
            session.playback.read_waveform,
            session.services.outputs,
            session.bridge.run,
            self,
            device=session.playback.device(),
            is_blind=session.settings[COMPARES_BLINDLY],
        )
        dialog = CompareDialog(
            comparison,
            self._takes.text,
            chosen_take=lambda: editor.script.line(line_id).chosen_take,
            num_takes=lambda: len(editor.script.takes_of(line_id)),
            parent=self._window,
        )
        editor.script_changed.connect(dialog.show_takes)
        # Playback of a line interrupts the comparison.
        session.playback.player.started.connect(comparison.pause)
        dialog.preferred.connect(lambda take_id: self._takes.choose(take_id, line_id))
        dialog.blindness_changed.connect(self._keep_blindness)
        dialog.finished.connect(lambda _: session.bridge.run(_end(comparison)))
        open_dialog(dialog)
        comparison.open()

    def edit_chosen(self) -> None:
        """Open the editor of the chosen take."""
        self.edit(self._takes.chosen)

    def edit(self, take: Take | None) -> None:
        from studio.app.inspector.take_editor import TakeEditor  # noqa: PLC0415 - on demand

        if take is not None:
            self._session.playback.stop()
            open_dialog(TakeEditor(self._session, take, self._window))

    def cut_silence(self, take_ids: Sequence[str]) -> None:
        """Open the dialog that shortens the pauses in takes, which may belong to several lines."""
        from studio.app.inspector.silence_dialog import SilenceDialog  # noqa: PLC0415 - on demand

        script = self._session.editor.script
        takes = [script.take(take_id) for take_id in take_ids if take_id in script.line_of_take]
        if takes:
            self._session.playback.stop()
            dialog = SilenceDialog(self._session, takes, self._window)
            dialog.message.connect(self._takes.status_message)
            open_dialog(dialog)

    def join(self, take_ids: Sequence[str]) -> None:
        """Open the dialog that joins two takes of the current line."""
        from studio.app.inspector.take_joiner import TakeJoiner  # noqa: PLC0415 - on demand

        takes = sorted(filter(None, map(self._takes.take, take_ids)), key=lambda take: take.number)
        if len(takes) == 2:
            self._session.playback.stop()
            open_dialog(TakeJoiner(self._session, takes[0], takes[1], self._window))

    def drag(self, take_id: str, source: QWidget) -> None:
        take = self._takes.take(take_id)
        if take is not None:
            self.files.start_drag(take, source)

    def open_menu(self, take_id: str | None, place: QPoint, selected: Sequence[str]) -> None:
        """Open the menu of a take, of the ``selected`` takes, and of the removed takes of the current line."""
        self.menu(take_id, selected).popup(place)

    def menu(self, take_id: str | None, selected: Sequence[str] = ()) -> QMenu:
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        take = None if take_id is None else self._takes.take(take_id)
        if take is not None:
            self._add_take(menu, take)
            menu.addSeparator()
        for action_id in ("speak.final", "play.accept", "play.best", "play.compare_takes"):
            menu.addAction(self._actions[action_id])
        join = menu.addAction(icon("merge"), self.tr("Join two takes…"))
        join.setToolTip(self.tr("Select two takes to join the start of one to the end of the other"))
        # The two selected takes, or the only two takes of the line.
        pair = list(selected) if len(selected) > 1 else [each.id for each in self._takes.takes]
        join.setEnabled(len(pair) == 2)
        join.triggered.connect(lambda: self.join(pair))
        removed = menu.addMenu(icon("undo"), self.tr("Restore removed take"))
        removed.setEnabled(bool(self._takes.removed_takes))
        for each in self._takes.removed_takes[:_MAX_REMOVED_SHOWN]:
            words = self.tr("Take {number}, {seconds:.1f} s")
            text = words.format(number=each.number, seconds=each.audio_seconds)
            removed.addAction(text).triggered.connect(lambda _=False, wanted=each: self._takes.restore(wanted))
        return menu

    def _add_take(self, menu: QMenu, take: Take) -> None:
        takes = self._takes
        play = menu.addAction(icon("play"), self.tr("Play or stop"))
        play.triggered.connect(lambda: takes.toggle_play(take.id))
        choose = menu.addAction(icon("state-ready"), self.tr("Use this take"))
        choose.setEnabled(takes.chosen is None or takes.chosen.id != take.id)
        choose.triggered.connect(lambda: takes.choose(take.id))
        keep = menu.addAction(icon("keep"), self.tr("Keep"))
        keep.setCheckable(True)
        keep.setChecked(take.is_kept)
        keep.triggered.connect(lambda is_kept: takes.set_kept(take.id, is_kept=is_kept))
        menu.addAction(icon("split"), self.tr("Edit take…")).triggered.connect(lambda: self.edit(take))
        menu.addAction(self.tr("Cut silence…")).triggered.connect(lambda: self.cut_silence([take.id]))
        menu.addSeparator()
        export = menu.addAction(icon("export"), self.tr("Export this take…"))
        export.triggered.connect(lambda: self.files.choose_file(take))
        seed = menu.addAction(icon("duplicate"), self.tr("Copy seed"))
        seed.triggered.connect(lambda: QGuiApplication.clipboard().setText(str(take.seed)))
        menu.addSeparator()
        menu.addAction(icon("remove"), self.tr("Remove")).triggered.connect(lambda: takes.remove(take.id))

    def _keep_blindness(self, is_blind: bool) -> None:
        self._session.settings[COMPARES_BLINDLY] = is_blind


async def _end(comparison: Comparison) -> None:
    await comparison.close()
    comparison.deleteLater()
