"""Assignment of the quotations in a script to characters: offers it after an import, and applies it."""

from __future__ import annotations

from collections.abc import Iterable

import regex
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.background import run_in_thread
from studio.app.importing.speakers_dialog import SpeakersDialog
from studio.app.notifications import NotificationBar
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.project.attribution.attribution import Attribution
from studio.project.casting import LibraryNames
from studio.project.full_cast import Dialogue, FullCast, assignment_change
from studio.project.lines import Line

_MIN_QUOTATIONS = 5  # of an imported text, for an offer
_OPENING_MARK = regex.compile(r"[“«„「『]|(?:^|\s)[\"‘—](?=\S)")


class SpeakersController(QObject):
    """Opens the dialog for the open script."""

    message = Signal(str)  # for the status bar
    divided = Signal()

    def __init__(self, session: Session, script: ScriptPage, notices: NotificationBar, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._script = script
        self._notices = notices
        self._window = window
        self.dialog: SpeakersDialog | None = None
        session.editor.project_replaced.connect(self._close)

    def open(self) -> None:
        """Find the quotations of the script, and show them with their speakers."""
        self._script.view.commit_text()
        self._session.bridge.run(self._open())

    def offer(self, lines: Iterable[Line]) -> None:
        """Offer to assign the quotations of imported lines."""
        found = [line for line in lines if line.slot is None and not line.character and _OPENING_MARK.search(line.text)]
        if len(found) >= _MIN_QUOTATIONS:
            words = self.tr("This text has dialogue. It can be divided into the lines of its characters.")
            self._notices.show_hint(words, offer=self.tr("Assign speakers…"), call=self.open, is_about_script=True)

    async def _open(self) -> None:
        self.message.emit(self.tr("Finding speakers"))
        dialogue, attribution, known = await run_in_thread(_read, self._session.editor.script.lines)
        self.message.emit("")
        self._close()
        if not attribution.quotations:
            self._notices.show_hint(self.tr("This script has no quotations."), is_about_script=True)
            return
        dialog = self.dialog = SpeakersDialog(dialogue, attribution, known, self._window)
        dialog.assigned.connect(lambda *chosen: self._session.bridge.run(self._apply(*chosen)))
        dialog.finished.connect(self._on_finished)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _close(self) -> None:
        if self.dialog is not None:
            self.dialog.done(0)

    def _on_finished(self) -> None:
        self.dialog = None

    async def _apply(self, full_cast: FullCast, attribution: Attribution) -> None:
        voices = await run_in_thread(self._session.library.voices)
        styles = self._session.model_selection.styles
        usable = LibraryNames(voice.name for voice in voices if voice.works_with(styles.generation))
        change = assignment_change(self._session.editor.script, full_cast, attribution, usable)
        self._session.editor.push(change, self.tr("Assign speakers"))
        self.divided.emit()
        self.message.emit(self.tr("%n quotation(s) assigned", "", len(attribution.quotations)))


def _read(lines: Iterable[Line]) -> tuple[Dialogue, Attribution, dict[int, str | None]]:
    dialogue = Dialogue(lines)
    known = dialogue.known_speakers()
    return dialogue, dialogue.attribution(known), known
