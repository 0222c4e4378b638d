"""Controller of find and replace: the matches and the current match."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from PySide6.QtCore import QObject, Signal

from studio.app.script.find_bar import FindBar
from studio.app.script.finding import Match, find_matches, replace_matches
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.script_view import ScriptView
from studio.project.script import Script


class Search(QObject):
    """Connects the find bar with the script view, which highlights the matches."""

    message = Signal(str)

    def __init__(self, editor: ProjectEditor, view: ScriptView, bar: FindBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._view = view
        self._bar = bar
        self._matches: list[Match] = []
        self._current: Match | None = None
        self._resume_from: Match | None = None  # where the search continues, also after its text was replaced
        bar.find_requested.connect(self._find)
        bar.replace_requested.connect(self._replace)
        bar.replace_all_requested.connect(self._replace_all)
        bar.pattern_changed.connect(self._restart)
        bar.closed.connect(self._show)
        editor.script_changed.connect(self._on_script_changed)
        editor.project_replaced.connect(self._restart)

    def open(self, *, replaces: bool) -> None:
        field = self._view.writing_field
        self._bar.open(replaces=replaces, selected_text=field.textCursor().selectedText() if field else "")

    def _restart(self) -> None:
        self._current = self._resume_from = None
        self._update()

    def _find(self, step: int) -> None:
        if not self._matches:
            return
        here = self._search_start()
        if step > 0:
            index = bisect_right(self._matches, here, key=self._position_of) % len(self._matches)
        else:
            index = bisect_left(self._matches, here, key=self._position_of) - 1
        self._current = self._resume_from = self._matches[index]
        self._view.go_to(self._current.line_id)
        self._show()

    def _replace(self) -> None:
        if self._current is None:
            self._find(1)
            return
        found, bar = self._current, self._bar
        change = replace_matches(
            self._editor.script,
            bar.pattern,
            bar.replacement,
            is_case_sensitive=bar.is_case_sensitive,
            only=found,
        )
        end = found.start + len(bar.replacement)
        self._resume_from = Match(found.line_id, end - 1, end)  # do not search the replacement
        if change is not None:
            self._editor.push(change, self.tr("Replace"))
        self._find(1)

    def _replace_all(self) -> None:
        bar, num_matches = self._bar, len(self._matches)
        change = replace_matches(
            self._editor.script, bar.pattern, bar.replacement, is_case_sensitive=bar.is_case_sensitive
        )
        if change is not None:
            self._editor.push(change, self.tr("Replace all"))
            self.message.emit(self.tr("%n match(es) replaced", "", num_matches))

    def _position_of(self, match: Match) -> tuple[int, int]:
        return self._editor.script.index_of[match.line_id], match.start

    def _search_start(self) -> tuple[int, int]:
        """Return the position of the last match, or of the current line if it has changed since."""
        line_id = self._view.current_line_id
        if self._resume_from is not None and self._resume_from.line_id == line_id:
            return self._position_of(self._resume_from)
        return self._editor.script.index_of.get(line_id or "", 0), -1

    def _on_script_changed(self, before: Script, after: Script) -> None:
        if self._bar.is_open and before.lines is not after.lines:
            self._update()

    def _update(self) -> None:
        bar = self._bar
        self._matches = find_matches(self._editor.script, bar.pattern, is_case_sensitive=bar.is_case_sensitive)
        if self._current is not None and self._current not in self._matches:
            self._current = None
        self._show()

    def _show(self) -> None:
        if not self._bar.is_open:
            self._view.mark_matches([], None)
            return
        number = None
        if self._current is not None:
            number = bisect_left(self._matches, self._position_of(self._current), key=self._position_of) + 1
        self._bar.show_count(len(self._matches), number)
        self._view.mark_matches(self._matches, self._current)
