"""Casting: opens the table of characters, applies its choices, and selects the lines of a character or voice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from studio.app.background import run_in_thread
from studio.app.importing.cast_dialog import CastDialog
from studio.app.script.edits import set_character
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.project.casting import Cast, LibraryNames, Role, casting_change, collect_roles, with_suggestions
from studio.project.changes import EditLines
from studio.project.lines import Line
from studio.voices.library import Voice
from studio.voices.voice import name_key


class CastingController(QObject):
    """Casts the characters of the open script."""

    message = Signal(str)  # for the status bar

    def __init__(self, session: Session, script: ScriptPage, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._script = script
        self._window = window
        self._uncast: frozenset[str] = frozenset()
        self.dialog: CastDialog | None = None
        session.editor.project_replaced.connect(self.close)

    def open(self) -> None:
        """Show the table of all characters."""
        self.offer(())

    def offer(self, uncast: Collection[str]) -> None:
        """Show the table, with suggested voices for the ``uncast`` characters, by key."""
        # Several imported files share one table.
        self._uncast = frozenset(uncast) | (self._uncast if self.dialog is not None else frozenset())
        self._session.bridge.run(self._open())

    def close(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()

    def suggest(self) -> None:
        """Give suggested voices to the characters without one."""
        self._session.bridge.run(self._suggest())

    async def _open(self) -> None:
        voices = await run_in_thread(self._session.library.voices)
        roles = self._roles(voices, self._uncast)
        self.close()
        self._show(roles, voices)

    async def _suggest(self) -> None:
        voices = await run_in_thread(self._session.library.voices)
        uncast = {role.key for role in self._roles(voices, ()) if role.member.voice is None}
        roles = [role for role in self._roles(voices, uncast) if role.key in uncast and role.member.voice]
        self._apply(roles, {role.key: role.member for role in roles})

    def _roles(self, voices: Sequence[Voice], uncast: Collection[str]) -> tuple[Role, ...]:
        """Return the characters of the script, with suggested voices for the ``uncast`` ones."""
        names, script = LibraryNames(voice.name for voice in voices), self._session.editor.script
        usable = LibraryNames(
            voice.name for voice in voices if voice.works_with(self._session.model_selection.styles.generation)
        )
        return with_suggestions(collect_roles(script.lines, script.details.cast, names), uncast, usable)

    def _show(self, roles: tuple[Role, ...], voices: list[Voice]) -> None:
        player = self._session.playback.make_player(self)
        dialog = self.dialog = CastDialog(roles, voices, self._session.model_selection.styles, player, self._window)
        dialog.applied.connect(lambda members: self._apply(roles, members))
        dialog.finished.connect(self._on_finished)
        dialog.finished.connect(player.deleteLater)
        dialog.open()

    def _on_finished(self) -> None:
        self.dialog = None

    def _apply(self, roles: Sequence[Role], members: Cast) -> None:
        change = casting_change(self._session.editor.script, roles, members)
        if change is not None:
            self._session.editor.push(change, self.tr("Cast"))
            self.message.emit(self.tr("%n character(s) cast", "", len(roles)))

    def assign(self, roles: Sequence[Role], voice: str) -> None:
        """Assign ``voice`` to characters, which keep their styles."""
        self._apply(tuple(roles), {role.key: replace(role.member, voice=voice) for role in roles})

    def open_speaker_menu(self, line_id: str, place: QPoint, voices: Iterable[str]) -> None:
        """Offer the characters of the script for a line, or ``voices`` if there are none."""
        editor = self._session.editor
        line = editor.script.line(line_id)
        names = {name_key(each.character): each.character for each in editor.script.lines if each.character}
        is_cast = bool(names)
        if not is_cast:
            names = {name_key(name): name for name in voices}
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        current = name_key((line.character if is_cast else line.voice) or "")
        for key, name in sorted(names.items()):
            action = menu.addAction(name, partial(self._speak_as if is_cast else self._speak_with, line, name))
            action.setCheckable(True)
            action.setChecked(key == current)
            action.setEnabled(not line.is_locked)
        menu.popup(place)

    def _speak_as(self, line: Line, character: str) -> None:
        """Give a line another character, with the voice that this character has."""
        change = set_character(self._session.editor.script, (line.id,), character)
        if change is not None:
            self._session.editor.push(change, self.tr("Change speaker"))

    def _speak_with(self, line: Line, voice: str) -> None:
        self._session.editor.push(EditLines({line.id: {"voice": voice}}), self.tr("Change voice"))

    def select_character(self) -> None:
        """Select all lines of the current line's character."""
        line = self._script.current_line
        if line is None or not line.character:
            self.message.emit(self.tr("This line has no character."))
        else:
            key = name_key(line.character)
            self._select(lambda other: name_key(other.character or "") == key)

    def select_voice(self) -> None:
        """Select all lines with the current line's voice."""
        line = self._script.current_line
        if line is None or not line.voice:
            self.message.emit(self.tr("This line has no voice."))
        else:
            key = name_key(line.voice)
            self._select(lambda other: name_key(other.voice or "") == key)

    def _select(self, is_wanted: Callable[[Line], bool]) -> None:
        ids = [line.id for line in self._session.editor.script.lines if is_wanted(line)]
        self.select_lines(ids)

    def select_lines(self, ids: list[str]) -> None:
        self._script.view.commit_text()
        self._script.view.select_lines(ids)
        self.message.emit(self.tr("%n line(s) selected", "", len(ids)))
