"""Finding and replacing in the script: which place is the current one, and what of it is shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from PySide6.QtCore import QObject, Signal

from studio.app.script.find_bar import FindBar
from studio.app.script.finding import Match, find_places, replace_places
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.script_view import ScriptView
from studio.project.script import Script


class Search(QObject):
    """Between the bar, which knows nothing of lines, and the table, which shows where the places are."""

    message = Signal(str)

    def __init__(self, editor: ProjectEditor, view: ScriptView, bar: FindBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._view = view
        self._bar = bar
        self._places: list[Match] = []
        self._current: Match | None = None
        self._left: Match | None = None  # where the search goes on from, also once its text was replaced
        bar.find_requested.connect(self._find)
        bar.replace_requested.connect(self._replace)
        bar.replace_all_requested.connect(self._replace_all)
        bar.pattern_changed.connect(self._begin_anew)
        bar.closed.connect(self._show)
        editor.script_changed.connect(self._on_script_changed)
        editor.project_replaced.connect(self._begin_anew)

    def open(self, *, replaces: bool) -> None:
        field = self._view.writing_field
        self._bar.open(replaces=replaces, selected_text=field.textCursor().selectedText() if field else "")

    # What is asked for.

    def _begin_anew(self) -> None:
        self._current = self._left = None
        self._look()

    def _find(self, step: int) -> None:
        if not self._places:
            return
        here = self._where_to_go_on()
        if step > 0:
            index = bisect_right(self._places, here, key=self._where) % len(self._places)
        else:
            index = bisect_left(self._places, here, key=self._where) - 1
        self._current = self._left = self._places[index]
        self._view.go_to(self._current.line_id)
        self._show()

    def _replace(self) -> None:
        if self._current is None:
            self._find(1)
            return
        found, bar = self._current, self._bar
        change = replace_places(
            self._editor.script,
            bar.pattern,
            bar.replacement,
            is_case_sensitive=bar.is_case_sensitive,
            only=found,
        )
        end = found.start + len(bar.replacement)
        self._left = Match(found.line_id, end - 1, end)  # what was put in is not looked through again
        if change is not None:
            self._editor.push(change, self.tr("Replace"))
        self._find(1)

    def _replace_all(self) -> None:
        bar, num_places = self._bar, len(self._places)
        change = replace_places(
            self._editor.script, bar.pattern, bar.replacement, is_case_sensitive=bar.is_case_sensitive
        )
        if change is not None:
            self._editor.push(change, self.tr("Replace all"))
            self.message.emit(self.tr("%n place(s) replaced", "", num_places))

    # Inside.

    def _where(self, place: Match) -> tuple[int, int]:
        return self._editor.script.index_of[place.line_id], place.start

    def _where_to_go_on(self) -> tuple[int, int]:
        """From the last place, or from the line somebody has gone to since."""
        line_id = self._view.current_line_id
        if self._left is not None and self._left.line_id == line_id:
            return self._where(self._left)
        return self._editor.script.index_of.get(line_id or "", 0), -1

    def _on_script_changed(self, before: Script, after: Script) -> None:
        if self._bar.is_open and before.lines is not after.lines:
            self._look()

    def _look(self) -> None:
        bar = self._bar
        self._places = find_places(self._editor.script, bar.pattern, is_case_sensitive=bar.is_case_sensitive)
        if self._current is not None and self._current not in self._places:
            self._current = None
        self._show()

    def _show(self) -> None:
        if not self._bar.is_open:
            self._view.mark_places([], None)
            return
        number = None
        if self._current is not None:
            number = bisect_left(self._places, self._where(self._current), key=self._where) + 1
        self._bar.show_count(len(self._places), number)
        self._view.mark_places(self._places, self._current)
