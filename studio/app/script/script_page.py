"""Central page of the window: the script with its bars for finding and filtering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from studio.app.script import edits
from studio.app.script.line_model import Column, LineModel
from studio.app.script.line_statuses import LineStatusStore
from studio.app.script.navigation import ScriptNavigation
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.script_view import ScriptView
from studio.app.script.style_list import StyleList
from studio.app.widgets.controls import in_column
from studio.app.widgets.focus import place_in_tab_order
from studio.app.widgets.peaks import WaveformPeaks
from studio.project.changes import Change, CompositeChange, InsertLines, RemoveLines
from studio.project.lines import Heading, Line
from studio.project.script import Script, removed_group

if TYPE_CHECKING:
    from studio.app.script.filter_bar import FilterBar
    from studio.app.script.find_bar import FindBar


class ScriptPage(QWidget):
    """Edits lines. Other classes synthesise and play them."""

    current_line_changed = Signal(object)  # line id or None
    dialogue_pasted = Signal(str)  # a text in which most paragraphs begin with a speaker's name
    message = Signal(str)  # for the status bar

    def __init__(
        self,
        editor: ProjectEditor,
        line_statuses: LineStatusStore,
        styles: StyleList,
        split_text: Callable[[str], list[list[str]]],
        parent: QWidget | None = None,
        *,
        outline_of: Callable[[str], WaveformPeaks | None] = lambda _: None,
    ) -> None:
        """``split_text`` splits pasted text into paragraphs of lines; ``outline_of`` returns the thumbnail of a take."""
        super().__init__(parent)
        self._editor = editor
        self._split_text = split_text
        self._style_text = styles.label
        self._model = LineModel(editor, line_statuses, styles.label, self)
        self.view = ScriptView(self._model, styles, self)
        self.view.text_delegate.outline_of = outline_of
        self.navigation = ScriptNavigation(self._model, self.view)
        self._last_imported: str | None = None  # id of an imported text's last line, until another line is selected
        self._line_statuses = line_statuses
        self._column = in_column((self.view, 1), parent=self, margins=0, spacing=0)
        styles.changed.connect(self._model.refresh_styles)
        editor.stepped.connect(self._show_changed)
        self.view.current_line_changed.connect(self._on_current_line)
        self.view.text_delegate.line_finished.connect(self._on_line_finished)
        self.view.text_delegate.texts_pasted.connect(self.paste_text)
        self.view.lines_dragged.connect(self.move_lines_to)
        self.navigation.message.connect(self.message)

    @cached_property
    def find_bar(self) -> FindBar:
        """The bar that finds and replaces text, created when it is first opened."""
        from studio.app.script.find_bar import FindBar  # noqa: PLC0415 - after the first paint

        bar = FindBar(self._editor, self.view, self, details_of=self._details_of)
        self._column.addWidget(bar)
        place_in_tab_order(self.view, bar)
        bar.message.connect(self.message)
        return bar

    @cached_property
    def filter_bar(self) -> FilterBar:
        """The bar that shows only some lines, created when it is first opened."""
        from studio.app.script.filter_bar import FilterBar  # noqa: PLC0415 - after the first paint

        bar = FilterBar(
            self._editor, self._model, self.view, self._line_statuses, style_text=self._style_text, parent=self
        )
        self._column.insertWidget(0, bar)
        return bar

    @property
    def speakable_ids(self) -> frozenset[str] | None:
        """Ids of the lines that “Speak all changed lines” is limited to; None for all lines."""
        return self.filter_bar.speakable_ids if "filter_bar" in self.__dict__ else None

    def toggle_filter(self) -> None:
        self.filter_bar.toggle()

    def toggle_character(self, name: str) -> None:
        self.filter_bar.toggle_character(name)

    def toggle_review(self) -> None:
        self.filter_bar.toggle_review()

    @property
    def selected_line_ids(self) -> list[str]:
        return self.view.selected_line_ids

    @property
    def selected_lines(self) -> list[Line]:
        script = self._editor.script
        return [script.line(line_id) for line_id in self.selected_line_ids if line_id in script.index_of]

    @property
    def selected_take_ids(self) -> list[str]:
        """The chosen takes of the selected lines."""
        return [line.chosen_take for line in self.selected_lines if line.chosen_take is not None]

    @property
    def current_line(self) -> Line | None:
        line_id = self.view.current_line_id
        return self._editor.project.line(line_id) if line_id and self._editor.project.has_line(line_id) else None

    def _details_of(self, line: Line) -> tuple[str, ...]:
        """Return the other texts of a line that the find bar searches."""
        row_id = "" if line.origin is None else line.origin.key
        style = self._style_text(line.style)
        return line.voice or "", line.character or "", style, line.file_name or "", line.note, row_id

    def number_of(self, line_id: str) -> int:
        """Return the number of a line, counting from 1."""
        return self._editor.script.index_of[line_id] + 1

    def new_line(self) -> None:
        """Insert a line below the current one and edit it."""
        self.view.commit_text()
        self._insert_texts([[""]], self.tr("New line"), starts_editing=True)

    def _on_line_finished(self, is_at_end: bool) -> None:
        """Edit a new line below after Enter at the end of a text, otherwise the next line that is shown."""
        line = self.current_line
        if line is None:
            return
        script, shown = self._editor.script, self.view.hidden_rows.shown
        below = script.lines[script.index_of[line.id] + 1 :]
        if line.text.strip() and ((is_at_end and shown is None) or not below):
            self.new_line()
        elif (following := next((each for each in below if shown is None or each.id in shown), None)) is not None:
            self.view.go_to(following.id, starts_editing=True)

    def paste_text(self, text: str) -> None:
        """Insert ``text`` as lines below the current one. A dialogue is left to the receiver of ``dialogue_pasted``."""
        from studio.project.importing.dialogue import is_dialogue  # noqa: PLC0415 - after the first paint

        if is_dialogue(text):
            self.view.commit_text()
            self.dialogue_pasted.emit(text)
        else:
            self._paste_plain(text)

    def _paste_plain(self, text: str) -> None:
        """Insert ``text``, split into lines, below the current line; an empty current line is replaced."""
        self.view.commit_text()
        paragraphs = self._split_text(text)
        if paragraphs:
            self._insert_texts(paragraphs, self.tr("Paste lines"))
            num_lines = sum(map(len, paragraphs))
            message = self.tr("%n line(s) pasted", "", num_lines)
            if num_lines > 1:
                message += self.tr(" and selected: voice, style and Ctrl+Enter apply to all")
            self.message.emit(message)

    def copy(self) -> None:
        """Copy the selected lines to the clipboard."""
        from studio.app.script.clipboard import make_mime_data  # noqa: PLC0415 - after the first paint

        self.view.commit_text()
        if lines := self.selected_lines:
            QGuiApplication.clipboard().setMimeData(make_mime_data(lines, self._style_text))
            self.message.emit(self.tr("%n line(s) copied", "", len(lines)))

    def cut(self) -> None:
        """Copy the selected lines and remove those that are not locked."""
        self.copy()
        self._remove(self.tr("Cut lines"))

    def paste(self) -> None:
        """Insert the lines of the clipboard below the current one, or a text as lines."""
        from studio.app.script.clipboard import lines_from  # noqa: PLC0415 - after the first paint

        mime = QGuiApplication.clipboard().mimeData()
        lines = lines_from(mime)
        if lines is None:
            self.paste_text(mime.text())
            return
        self.view.commit_text()
        # Two lines with the same file name would be exported to one file.
        used = {line.file_name for line in self._editor.script.lines}
        lines = [replace(line, file_name=None) if line.file_name in used else line for line in lines]
        change = edits.insert_lines(self._editor.script, self._index_below(), lines)
        self._do_below(change, self.tr("Paste lines"))
        self.view.select_lines([line.id for line in lines])
        self.message.emit(self.tr("%n line(s) pasted", "", len(lines)))

    def paste_lines(self) -> None:
        """Insert the text of the clipboard as lines, without looking for speakers."""
        self._paste_plain(QGuiApplication.clipboard().text())

    def insert_lines(self, lines: list[Line], others: Sequence[Change] = ()) -> None:
        """Insert imported lines below the current one, with ``others`` as one undo step.

        Select only the first line: there may be thousands.
        """
        if lines:
            insertion = edits.insert_lines(self._editor.script, self._index_below(), lines)
            self._do_below(CompositeChange((insertion, *others)) if others else insertion, self.tr("Import lines"))
            self.view.go_to(lines[0].id)
            self.view.setFocus()
            self._last_imported = lines[-1].id
            self.message.emit(self.tr("%n line(s) imported", "", len(lines)))

    def show_updated(self, line_ids: list[str], words: str) -> None:
        """Go to the first of the lines that were updated, and show the message ``words``."""
        if line_ids:
            self.view.go_to(line_ids[0])
        self.message.emit(words)

    def insert_recording(self, line: Line) -> None:
        """Insert a line for a recording to be converted below the current one."""
        self.view.commit_text()
        self._do_below(InsertLines(self._index_below(), (line,)), self.tr("Convert recording"))
        self.view.go_to(line.id)

    def duplicate(self) -> None:
        if ids := self.selected_line_ids:
            change = edits.duplicate(self._editor.script, ids)
            self._push(change, self.tr("Duplicate lines"))
            self.view.select_lines([line.id for line in change.lines])

    def remove(self) -> None:
        self._remove(self.tr("Remove lines"))

    def _remove(self, title: str) -> None:
        script = self._editor.script
        ids = [line_id for line_id in self.selected_line_ids if not script.line(line_id).is_locked]
        for line in map(script.line, tuple(ids)):
            if line.heading and line.origin is not None and line.origin.is_removed:
                ids = list(dict.fromkeys((*ids, *removed_group(script, line.origin.source))))
        if not ids:
            return
        row = self._editor.script.index_of[ids[0]]
        self._push(edits.remove(self._editor.script, ids), title)
        lines = self._editor.script.lines
        self.view.go_to(lines[min(row, len(lines) - 1)].id)
        self.message.emit(self.tr("%n line(s) removed", "", len(ids)))

    def split(self) -> None:
        field, line = self.view.text_field, self.current_line
        if field is None or line is None:
            self.message.emit(self.tr("To split a line, place the cursor at the split position."))
            return
        offset = field.textCursor().position()
        self.view.commit_text()
        if self._push(edits.split(self._editor.script, line.id, offset), self.tr("Split line")):
            lines = self._editor.script.lines
            self.view.go_to(lines[self._editor.script.index_of[line.id] + 1].id)

    def merge(self) -> None:
        self.view.commit_text()
        ids = self.selected_line_ids
        if self._push(edits.merge(self._editor.script, ids), self.tr("Merge lines")):
            self.view.go_to(ids[0])

    def move_lines(self, step: int) -> None:
        ids = self.selected_line_ids
        if self._push(edits.move(self._editor.script, ids, step), self.tr("Move lines")):
            self.view.select_lines(ids)

    def move_lines_to(self, ids: list[str], index: int) -> None:
        """Move dragged lines before the line at ``index``."""
        if self._push(edits.move_to(self._editor.script, ids, index), self.tr("Move lines")):
            self.view.select_lines(ids)

    def toggle_lock(self) -> None:
        ids = self.selected_line_ids
        is_locked = not all(self._editor.project.line(line_id).is_locked for line_id in ids)
        self.set_field("is_locked", is_locked, self.tr("Lock line") if is_locked else self.tr("Unlock line"))

    def toggle_heading(self, heading: Heading) -> None:
        """Make the selected lines headings, or ordinary lines if all of them are such headings."""
        is_set = all(line.heading is heading for line in self.selected_lines)
        title = self.tr("Chapter heading") if heading is Heading.CHAPTER else self.tr("Scene heading")
        self._set_structure(title, heading=Heading.NONE if is_set else heading)

    def toggle_spoken(self) -> None:
        """Make the selected lines notes, or spoken lines if all of them are notes."""
        self._set_structure(
            self.tr("Note, not spoken"), is_spoken=not any(line.is_spoken for line in self.selected_lines)
        )

    def make_spoken_text(self) -> None:
        """Make the selected lines ordinary, spoken lines."""
        self._set_structure(self.tr("Spoken text"), heading=Heading.NONE, is_spoken=True)

    def _set_structure(self, title: str, **fields: object) -> None:
        self.view.commit_text()
        ids = [line.id for line in self.selected_lines if not line.is_locked]
        self._push(edits.set_structure(self._editor.script, ids, **fields), title)

    def assign_voice(self, name: str) -> None:
        self.set_field("voice", name, self.tr("Change voice"))

    def give_voice(self, line_id: str, name: str) -> None:
        """Set the voice of a line, unless the line has been removed or locked meanwhile."""
        if self._editor.project.has_line(line_id) and not self._editor.project.line(line_id).is_locked:
            self._push(edits.set_field(self._editor.script, [line_id], "voice", name), self.tr("Change voice"))

    def set_field(self, field: str, value: object, title: str, merges: bool = False) -> None:
        """Set ``field`` of all selected lines."""
        self.edit_lines(self.selected_line_ids, field, value, title, merges)

    def edit_lines(self, line_ids: list[str], field: str, value: object, title: str, merges: bool = False) -> None:
        """Set ``field`` of the lines that still exist; locked lines change only ``is_locked``."""
        script = self._editor.script
        existing = [line_id for line_id in line_ids if line_id in script.index_of]
        ids = [line_id for line_id in existing if field == "is_locked" or not script.line(line_id).is_locked]
        if existing and not ids:
            self.message.emit(self.tr("Locked lines are not changed. Press Ctrl+L to unlock them."))
        if field == "character":
            change = edits.set_character(script, ids, str(value) if value else None)
        else:
            change = edits.set_field(script, ids, field, value)
        if change is not None:
            self._editor.push(change, title, merge_key=f"{field}:{','.join(ids)}" if merges else None)

    def _show_changed(self, before: Script, after: Script) -> None:
        """Go to the first line that undo or redo changed, unless a changed line is visible."""
        rows, area, model = edits.changed_rows(before, after), self.view.viewport().rect(), self._model
        visible = (self.view.visualRect(model.index(row, Column.TEXT)).intersects(area) for row in rows)
        if rows and not any(visible):
            self.view.go_to(after.lines[rows[0]].id)

    def _push(self, change: Change | None, title: str) -> bool:
        """Apply ``change`` as an undo step; return whether there was a change."""
        if change is not None:
            self._editor.push(change, title)
        return change is not None

    def _index_below(self) -> int:
        """Return the row below the selected lines and below any text just imported, so that neither is split."""
        index_of = self._editor.script.index_of
        above = [index_of[line_id] for line_id in (*self.selected_line_ids, self._last_imported) if line_id in index_of]
        return max(above) + 1 if above else len(self._editor.script.lines)

    def _on_current_line(self, line_id: str | None) -> None:
        self._last_imported = None
        self.current_line_changed.emit(line_id)

    def _insert_texts(self, paragraphs: list[list[str]], title: str, *, starts_editing: bool = False) -> None:
        change = edits.insert_texts(self._editor.script, self._index_below(), paragraphs)
        self._do_below(change, title, keeps_empty=starts_editing)
        if starts_editing:
            self.view.go_to(change.lines[0].id, starts_editing=True)
        else:
            self.view.select_lines([line.id for line in change.lines])

    def _do_below(self, change: Change, title: str, *, keeps_empty: bool = False) -> None:
        """Apply ``change``, and replace an empty current line unless ``keeps_empty``."""
        line = self.current_line
        if line is not None and not line.text.strip() and line.chosen_take is None and not keeps_empty:
            change = CompositeChange((change, RemoveLines((line.id,))))
        self._push(change, title)
