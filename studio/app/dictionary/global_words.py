"""The pronunciation dictionary shared by all projects. Each project receives it when opened."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.app.script.project_editor import ProjectEditor
from studio.app.undo import UndoCommand
from studio.errors import StudioError
from studio.project.dictionary import PronunciationDictionary, load_global_dictionary, save_global_dictionary


class GlobalWords(QObject):
    """The shared dictionary, its file and its undo steps."""

    failed = Signal(object)  # StudioError: the file cannot be read or written; the dictionary in memory is unchanged

    def __init__(self, editor: ProjectEditor, parent: QObject | None = None, *, path: Path | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._path = path
        self.dictionary = PronunciationDictionary()
        editor.project_replaced.connect(self._update_project)

    def load(self) -> None:
        """Read the file. Call it once."""
        try:
            self.dictionary = load_global_dictionary(self._path)
        except StudioError as error:
            self.failed.emit(error)
        if self.dictionary.entries:
            self._update_project()

    def change(self, dictionary: PronunciationDictionary) -> None:
        """Replace the dictionary as an undoable step. Raises ``DiskFull`` and ``CannotWrite``."""
        before = self.dictionary
        if dictionary != before:
            self.save(dictionary)
            title = self.tr("Change shared dictionary")
            self._editor.undo_stack.push(_DictionaryCommand(self, before, dictionary, title))

    def save(self, dictionary: PronunciationDictionary) -> None:
        """Write ``dictionary`` to the file and use it. Raises ``DiskFull`` and ``CannotWrite``."""
        save_global_dictionary(dictionary, self._path)
        self.dictionary = dictionary
        self._update_project()

    def _update_project(self) -> None:
        if self._editor.project.global_dictionary != self.dictionary:
            self._editor.project.global_dictionary = self.dictionary
            self._editor.all_lines_changed()


class _DictionaryCommand(UndoCommand):
    """A change of the dictionary that has already been saved."""

    def __init__(
        self, words: GlobalWords, before: PronunciationDictionary, after: PronunciationDictionary, title: str
    ) -> None:
        super().__init__(title, words.failed.emit, is_applied=True)
        self._words = words
        self._before = before
        self._after = after

    def apply(self) -> None:
        self._words.save(self._after)

    def revert(self) -> None:
        self._words.save(self._before)
