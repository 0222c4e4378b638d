"""Navigation in the script: jumps to lines that need attention and between chapters, and selection of a chapter."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from studio.app.script.line_model import LineModel
from studio.app.script.outline import Section
from studio.app.script.row_words import time_text
from studio.app.script.script_view import ScriptView
from studio.app.widgets.screen_fit import fit_to_screen
from studio.project.lines import Heading, LineState

_SIZE = (420, 480)


class ScriptNavigation(QObject):
    """Jumps from the current line of ``view``."""

    message = Signal(str)

    def __init__(self, model: LineModel, view: ScriptView) -> None:
        super().__init__(view)
        self._lines = model
        self._view = view

    def next_failed(self) -> None:
        self._go_to_next(LineState.FAILED, self.tr("No line has failed."))

    def next_to_review(self, step: int = 1) -> bool:
        """Go to the next (1) or previous (-1) line to review, and return whether there is one."""
        return self._go_to_next(LineState.CHECK, self.tr("No line needs review."), step)

    def next_section(self, step: int) -> None:
        """Go to the next (1) or previous (-1) chapter or scene."""
        row = self._view.currentIndex().row()
        rows = [section.row for section in self._lines.sections]
        found = [each for each in rows if each > row] if step > 0 else [each for each in reversed(rows) if each < row]
        if found:
            self._view.go_to(self._lines.line_at(found[0]).id)
        else:
            self.message.emit(self.tr("There are no more chapters or scenes."))

    def select_chapter(self) -> None:
        """Select the section of the current heading, or else the chapter of the current line."""
        if not self._has_sections():
            return
        row = self._view.currentIndex().row()
        around = [section for section in self._lines.sections if section.row <= row < section.end]
        own = [section for section in around if section.row == row]
        chapters = [section for section in around if section.heading is Heading.CHAPTER]
        if found := own or chapters or around:
            first, end = found[-1].row, found[-1].end
        else:  # before the first chapter
            first, end = 0, self._lines.sections[0].row
        lines = self._lines.script.lines[first:end]
        self._view.commit_text()
        self._view.select_lines([line.id for line in lines])
        self.message.emit(self.tr("%n line(s) selected", "", len(lines)))

    def _has_sections(self) -> bool:
        if not self._lines.sections:
            self.message.emit(self.tr("The script has no chapters. Select a line and press Ctrl+Alt+1 to start one."))
        return bool(self._lines.sections)

    def open_outline(self) -> None:
        """Show a list of chapters and scenes to choose from."""
        if not self._has_sections():
            return
        dialog = OutlineDialog(self._lines.sections, self._view.currentIndex().row(), self._view.window())
        dialog.chosen.connect(lambda row: self._view.go_to(self._lines.line_at(row).id))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _go_to_next(self, state: LineState, none_words: str, step: int = 1) -> bool:
        """Go to the next (1) or previous (-1) line in ``state``; after the end, continue from the other end."""
        lines, here = self._lines.script.lines, self._view.currentIndex().row()
        is_wanted: Callable[[int], bool] = lambda row: self._lines.state_of(lines[row]) is state  # noqa: E731
        rows = [*range(here + 1, len(lines)), *range(here + 1)]
        if step < 0:
            rows = [*reversed(rows[:-1]), here]
        found = next((row for row in rows if lines[row].is_spoken and is_wanted(row)), None)
        if found is None:
            self.message.emit(none_words)
            return False
        self._view.go_to(lines[found].id)
        return True


class OutlineDialog(QDialog):
    """List of chapters and scenes."""

    chosen = Signal(int)  # row of the heading

    def __init__(self, sections: list[Section], current_row: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Chapters and scenes"))
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Chapters and scenes"))
        for section in sections:
            indent = "    " if section.heading is Heading.SCENE else ""
            title = section.title or self.tr("Untitled")
            words = indent + self.tr("{title} ({count})").format(title=title, count=section.num_lines)
            item = QListWidgetItem(f"{words}  {time_text(section.seconds)}" if section.seconds else words)
            item.setData(Qt.ItemDataRole.UserRole, section.row)
            self.list.addItem(item)
            if section.row <= current_row:
                self.list.setCurrentItem(item)
        self.list.itemActivated.connect(self._choose)
        QVBoxLayout(self).addWidget(self.list)
        self.resize(fit_to_screen(*_SIZE))

    def _choose(self, item: QListWidgetItem) -> None:
        self.accept()
        self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))
