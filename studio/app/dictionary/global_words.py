"""The person's own dictionary, read once and given to every project that is opened."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand

from studio.app.script.project_editor import ProjectEditor
from studio.errors import StudioError
from studio.project.dictionary import PronunciationDictionary
from studio.project.global_dictionary import load_global_dictionary, save_global_dictionary


class GlobalWords(QObject):
    """``dictionary`` holds for all projects. ``failed`` tells what was wrong with the file; nothing is lost then."""

    failed = Signal(object)  # StudioError

    def __init__(self, editor: ProjectEditor, parent: QObject | None = None, *, path: Path | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._path = path
        self.dictionary = PronunciationDictionary()
        editor.project_replaced.connect(self._give)

    def load(self) -> None:
        try:
            self.dictionary = load_global_dictionary(self._path)
        except StudioError as error:
            self.failed.emit(error)
        if self.dictionary.entries:
            self._give()

    def change(self, dictionary: PronunciationDictionary) -> None:
        """Keeps it in the file, and from now on speaks by it: a step of undo. Raises ``DiskFull`` and ``CannotWrite``."""
        before = self.dictionary
        if dictionary != before:
            self._keep(dictionary)
            self._editor.undo_stack.push(_Step(self, before, dictionary, self.tr("Words of all projects")))

    def keep_or_tell(self, dictionary: PronunciationDictionary) -> None:
        try:
            self._keep(dictionary)
        except StudioError as error:
            self.failed.emit(error)

    def _keep(self, dictionary: PronunciationDictionary) -> None:
        save_global_dictionary(dictionary, self._path)
        self.dictionary = dictionary
        self._give()

    def _give(self) -> None:
        if self._editor.project.global_dictionary != self.dictionary:
            self._editor.project.global_dictionary = self.dictionary
            self._editor.all_lines_changed()


class _Step(QUndoCommand):
    """A change that has been made already."""

    def __init__(
        self, words: GlobalWords, before: PronunciationDictionary, after: PronunciationDictionary, title: str
    ) -> None:
        super().__init__(title)
        self._words = words
        self._before = before
        self._after = after
        self._is_pushed = False

    def redo(self) -> None:
        if self._is_pushed:
            self._words.keep_or_tell(self._after)
        self._is_pushed = True

    def undo(self) -> None:
        self._words.keep_or_tell(self._before)
