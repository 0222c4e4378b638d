"""The centre of the window: the table of lines, and find and replace below it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.app.script import edits
from studio.app.script.find_bar import FindBar
from studio.app.script.line_model import Column, LineModel
from studio.app.script.line_statuses import LineStatusStore
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.script_view import ScriptView
from studio.app.script.search import Search
from studio.app.script.style_list import StyleList
from studio.app.theme.colors import theme_colors
from studio.app.widgets.painting_guard import paints_safely
from studio.project.changes import Change, CompositeChange, InsertLines, RemoveLines
from studio.project.lines import Line
from studio.project.script import Script


class ScriptPage(QWidget):
    """What is done to lines is done here; what is done with them (speaking, playing) elsewhere."""

    current_line_changed = Signal(object)  # line id or None
    selection_changed = Signal()
    own_words_wanted = Signal()
    message = Signal(str)  # a short word for the status bar

    def __init__(
        self,
        editor: ProjectEditor,
        line_statuses: LineStatusStore,
        styles: StyleList,
        split_text: Callable[[str], list[str]],
        parent: QWidget | None = None,
    ) -> None:
        """``split_text`` cuts what was pasted into texts for lines."""
        super().__init__(parent)
        self._editor = editor
        self._split_text = split_text
        self._model = LineModel(editor, line_statuses, styles.words, self)
        self.view = _PlaceholderView(self._model, styles, self)
        self._find_bar = FindBar(self)
        self._last_opened: str | None = None  # the last line of it, until somebody goes elsewhere
        self._search = Search(editor, self.view, self._find_bar, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.view, 1)
        layout.addWidget(self._find_bar)
        styles.changed.connect(self._model.words_changed)
        editor.stepped.connect(self._show_changed)
        self.view.current_line_changed.connect(self._on_current_line)
        self.view.selection_changed.connect(self.selection_changed)
        self.view.own_words_wanted.connect(self.own_words_wanted)
        self.view.line_finished.connect(self.go_on_writing)
        self.view.texts_pasted.connect(self.paste_into_field)
        self.view.lines_dragged.connect(self.move_lines_to)
        self._search.message.connect(self.message)
        self._find_bar.closed.connect(self.view.setFocus)

    @property
    def selected_line_ids(self) -> list[str]:
        return self.view.selected_line_ids

    @property
    def selected_lines(self) -> list[Line]:
        script = self._editor.script
        return [script.line(line_id) for line_id in self.selected_line_ids if line_id in script.index_of]

    @property
    def current_line(self) -> Line | None:
        line_id = self.view.current_line_id
        return self._editor.project.line(line_id) if line_id and self._editor.project.has_line(line_id) else None

    def number_of(self, line_id: str) -> int:
        """As the table counts, from 1."""
        return self._editor.script.index_of[line_id] + 1

    # Lines.

    def new_line(self) -> None:
        """Below the current one, to be written at once."""
        self.view.commit_writing()
        self._insert_texts([""], self.tr("New line"), starts_writing=True)

    def go_on_writing(self) -> None:
        """After Enter: in the next line, or in a new one at the end."""
        line_id = self.view.current_line_id
        index = self._editor.script.index_of.get(line_id or "")
        if index is None or index + 1 == len(self._editor.script.lines):
            if index is not None and not self._editor.script.lines[index].text.strip():
                return
            self.new_line()
        else:
            self.view.go_to(self._editor.script.lines[index + 1].id, starts_writing=True)

    def paste_text(self, text: str) -> None:
        """A line for each piece of it, below the current line; an empty current line makes way."""
        texts = self._split_text(text)
        if texts:
            self._insert_texts(texts, self.tr("Paste lines"))
            told = self.tr("%n line(s) pasted", "", len(texts))
            if len(texts) > 1:
                told += self.tr(": all are chosen, so a voice, a style or Ctrl+Enter is for all of them")
            self.message.emit(told)

    def paste_lines(self) -> None:
        self.paste_into_field(QGuiApplication.clipboard().text())

    def paste_into_field(self, text: str) -> None:
        self.view.commit_writing()
        self.paste_text(text)

    def insert_lines(self, lines: list[Line]) -> None:
        """Of a text that was opened, below the current line; of these, only the first is chosen: it may be a book."""
        if lines:
            change = edits.insert_lines(self._editor.script, self._index_below(), lines)
            self._do_below(change, self.tr("Import lines"))
            self.view.go_to(lines[0].id)
            self._last_opened = lines[-1].id
            self.message.emit(self.tr("%n line(s) imported", "", len(lines)))

    def insert_recording(self, line: Line) -> None:
        """A line whose sound will be that of a recording, below the current one."""
        self.view.commit_writing()
        self._do_below(InsertLines(self._index_below(), (line,)), self.tr("Speak a recording"))
        self.view.go_to(line.id)

    def duplicate(self) -> None:
        if ids := self.selected_line_ids:
            change = edits.duplicate(self._editor.script, ids)
            self._do(change, self.tr("Duplicate lines"))
            self.view.select_lines([line.id for line in change.lines])

    def remove(self) -> None:
        ids = [line_id for line_id in self.selected_line_ids if not self._editor.project.line(line_id).is_locked]
        if not ids:
            return
        row = self._editor.script.index_of[ids[0]]
        self._do(edits.remove(self._editor.script, ids), self.tr("Remove lines"))
        lines = self._editor.script.lines
        self.view.go_to(lines[min(row, len(lines) - 1)].id)
        self.message.emit(self.tr("%n line(s) removed", "", len(ids)))

    def split(self) -> None:
        field, line = self.view.writing_field, self.current_line
        if field is None or line is None:
            self.message.emit(self.tr("To split a line, put the cursor where it is to be cut."))
            return
        offset = field.textCursor().position()
        self.view.commit_writing()
        change = edits.split(self._editor.script, line.id, offset)
        if change is not None:
            self._do(change, self.tr("Split line"))
            lines = self._editor.script.lines
            self.view.go_to(lines[self._editor.script.index_of[line.id] + 1].id)

    def merge(self) -> None:
        self.view.commit_writing()
        ids = self.selected_line_ids
        change = edits.merge(self._editor.script, ids)
        if change is not None:
            self._do(change, self.tr("Merge lines"))
            self.view.go_to(ids[0])

    def move_lines(self, step: int) -> None:
        ids = self.selected_line_ids
        change = edits.move(self._editor.script, ids, step)
        if change is not None:
            self._do(change, self.tr("Move lines"))
            self.view.select_lines(ids)

    def move_lines_to(self, ids: list[str], index: int) -> None:
        """These lines come before the line that is now at ``index``, where they were dragged."""
        change = edits.move_to(self._editor.script, ids, index)
        if change is not None:
            self._do(change, self.tr("Move lines"))
            self.view.select_lines(ids)

    def toggle_lock(self) -> None:
        ids = self.selected_line_ids
        is_locked = not all(self._editor.project.line(line_id).is_locked for line_id in ids)
        self.set_field("is_locked", is_locked, self.tr("Lock line") if is_locked else self.tr("Unlock line"))

    def assign_voice(self, name: str) -> None:
        self.set_field("voice", name, self.tr("Change voice"))

    def give_voice(self, line_id: str, name: str) -> None:
        """To one line, unless it went or was locked meanwhile."""
        if self._editor.project.has_line(line_id) and not self._editor.project.line(line_id).is_locked:
            change = edits.set_field(self._editor.script, [line_id], "voice", name)
            if change is not None:
                self._do(change, self.tr("Change voice"))

    def set_field(self, field: str, value: object, title: str, merges: bool = False) -> None:
        """For all selected lines."""
        self.edit_lines(self.selected_line_ids, field, value, title, merges)

    def edit_lines(self, line_ids: list[str], field: str, value: object, title: str, merges: bool = False) -> None:
        """For those of the lines that still exist and are not locked; only the lock itself is changed there."""
        script = self._editor.script
        existing = [line_id for line_id in line_ids if line_id in script.index_of]
        ids = [line_id for line_id in existing if field == "is_locked" or not script.line(line_id).is_locked]
        if existing and not ids:
            self.message.emit(self.tr("Locked lines stay as they are: Ctrl+L unlocks them."))
        change = edits.set_field(script, ids, field, value)
        if change is not None:
            self._editor.push(change, title, merge_key=f"{field}:{','.join(ids)}" if merges else None)

    def open_find(self, *, replaces: bool) -> None:
        self._search.open(replaces=replaces)

    # Inside.

    def _show_changed(self, before: Script, after: Script) -> None:
        """Go to the first line that undo or redo changed, unless one of those lines is in sight."""
        rows, area, model = edits.changed_rows(before, after), self.view.viewport().rect(), self._model
        in_sight = (self.view.visualRect(model.index(row, Column.TEXT)).intersects(area) for row in rows)
        if rows and not any(in_sight):
            self.view.go_to(after.lines[rows[0]].id)

    def _do(self, change: Change, title: str) -> None:
        self._editor.push(change, title)

    def _index_below(self) -> int:
        """Not between lines that came together: those that are chosen, or a text that has just been opened."""
        index_of = self._editor.script.index_of
        above = [index_of[line_id] for line_id in (*self.selected_line_ids, self._last_opened) if line_id in index_of]
        return max(above) + 1 if above else len(self._editor.script.lines)

    def _on_current_line(self, line_id: str | None) -> None:
        self._last_opened = None
        self.current_line_changed.emit(line_id)

    def _insert_texts(self, texts: list[str], title: str, *, starts_writing: bool = False) -> None:
        change = edits.insert_texts(self._editor.script, self._index_below(), texts)
        self._do_below(change, title, keeps_empty=starts_writing)
        if starts_writing:
            self.view.go_to(change.lines[0].id, starts_writing=True)
        else:
            self.view.select_lines([line.id for line in change.lines])

    def _do_below(self, change: Change, title: str, *, keeps_empty: bool = False) -> None:
        """An empty line that somebody pastes over is not kept above what was pasted."""
        line = self.current_line
        if line is not None and not line.text.strip() and line.chosen_take is None and not keeps_empty:
            change = CompositeChange((change, RemoveLines((line.id,))))
        self._do(change, title)


@paints_safely
class _PlaceholderView(ScriptView):
    """Says what to do while the script is empty."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        if self._lines.rowCount() > 1 or (self._lines.rowCount() == 1 and self._lines.line_at(0).text):
            return
        if self.writing_field is not None:
            return
        painter = QPainter(self.viewport())
        painter.setPen(theme_colors(self.palette()).quiet)
        top = self.rowHeight(0) if self._lines.rowCount() else 0
        area = QRect(0, top, self.viewport().width(), self.viewport().height() - top)
        words = self.tr(
            "Write a line and press Ctrl+Enter to hear it.\n\n"
            "Paste or open a text: it becomes lines.\n"
            "Drop a recording on the window to make a voice of it."
        )
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), words)
