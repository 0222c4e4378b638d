"""Find and replace bar below the script."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolButton, QWidget

from studio.app.script.edits import Match, find_matches, replace_matches
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.script_bar import ScriptBar
from studio.app.script.script_view import ScriptView
from studio.app.widgets.controls import icon_button, text_label
from studio.project.lines import Line
from studio.project.script import Script


class FindBar(ScriptBar):
    """Searches the script and replaces matches. ``view`` highlights the matches while the bar is open."""

    message = Signal(str)  # for the status bar

    def __init__(
        self,
        editor: ProjectEditor,
        view: ScriptView,
        parent: QWidget | None = None,
        *,
        details_of: Callable[[Line], Iterable[str]],
    ) -> None:
        """``details_of`` returns the other texts of a line that can be searched."""
        super().__init__(parent)
        self._details_of = details_of
        self._origin: str | None = None  # line where a search begins while typing
        self._editor = editor
        self._view = view
        self._matches: list[Match] = []
        self._current: Match | None = None
        self._resume_from: Match | None = None  # where the search continues, even after this match was replaced
        self._find = QLineEdit(clearButtonEnabled=True)
        self._replacement = QLineEdit()
        for field, name in ((self._find, self.tr("Find")), (self._replacement, self.tr("Replace with"))):
            field.setPlaceholderText(name)
            field.setAccessibleName(name)
        self._is_case_sensitive = QToolButton(autoRaise=True)
        self._is_case_sensitive.setCheckable(True)
        self._is_case_sensitive.setText("Aa")
        self._is_case_sensitive.setToolTip(self.tr("Match case"))
        self._is_case_sensitive.setAccessibleName(self.tr("Match case"))
        self._searches_details = icon_button("more", self.tr("Also find voices, styles, file names, IDs and notes"))
        self._searches_details.setCheckable(True)
        self._previous = icon_button("up", self.tr("Previous match"), partial(self._go, -1))
        self._next = icon_button("down", self.tr("Next match"), partial(self._go, 1))
        self._close = icon_button("close", self.tr("Close"), self.close_bar)
        self._found = text_label("", "quiet", wraps=False)
        self._replace = QPushButton(self.tr("Replace"))
        self._replace_all = QPushButton(self.tr("Replace all"))
        self._lay_out(
            (
                self._find,
                self._is_case_sensitive,
                self._searches_details,
                self._previous,
                self._next,
                self._found,
                self._close,
            ),
            (self._replacement, self._replace, self._replace_all),
        )
        # Both fields come first in the tab order, before the buttons between them.
        first = (
            self._find, self._replacement, self._replace, self._replace_all, self._is_case_sensitive,
            self._searches_details,
        )  # fmt: skip
        for before, after in pairwise(first):
            QWidget.setTabOrder(before, after)
        self._connect()
        self.hide()

    def _connect(self) -> None:
        self._find.textChanged.connect(self._on_typed)
        self._searches_details.toggled.connect(self._restart)
        self._is_case_sensitive.toggled.connect(self._restart)
        self._find.returnPressed.connect(partial(self._go, 1))
        self._replacement.returnPressed.connect(self._replace_current)
        self._replace.clicked.connect(self._replace_current)
        self._replace_all.clicked.connect(self._replace_matches)
        self._editor.script_changed.connect(self._on_script_changed)
        self._editor.project_replaced.connect(self._restart)

    def open(self, *, replaces: bool) -> None:
        """Show the bar and search for the selected text; ``replaces`` also shows the replacement field."""
        for widget in (self._replacement, self._replace, self._replace_all):
            widget.setVisible(replaces)
        self.show()
        self._origin = self._view.current_line_id
        field = self._view.text_field
        if field is not None and field.textCursor().hasSelection():
            self._find.setText(field.textCursor().selectedText())
        self._find.setFocus()
        self._find.selectAll()
        self._restart()

    def close_bar(self) -> None:
        self.hide()
        self._view.mark_matches([], None)
        self._view.setFocus()

    # Searching.

    def _restart(self) -> None:
        self._current = self._resume_from = None
        self._update()

    def _on_typed(self) -> None:
        """Show the first match from the line where the search began, or that line if nothing matches."""
        self._restart()
        script = self._editor.script
        if self.isHidden() or self._origin not in script.index_of:
            return
        start = script.index_of[self._origin], -1
        row = bisect_right(self._matches, start, key=self._position_of)
        found = self._matches[row % len(self._matches)] if self._matches else None
        self._view.go_to(self._origin if found is None else found.line_id)

    def _go(self, step: int, _is_checked: bool = False) -> None:
        """Go to the next (1) or previous (-1) match."""
        if not self._matches:
            return
        here = self._search_start()
        if step > 0:
            index = bisect_right(self._matches, here, key=self._position_of) % len(self._matches)
        else:
            index = bisect_left(self._matches, here, key=self._position_of) - 1
        self._current = self._resume_from = self._matches[index]
        self._origin = self._current.line_id
        self._view.go_to(self._current.line_id)
        self._show()

    def _replace_current(self) -> None:
        """Replace the current match and go to the next one."""
        match = self._current
        if match is not None and match.start < match.end:
            end = match.start + len(self._replacement.text())
            self._resume_from = Match(match.line_id, end - 1, end)  # do not search the replacement
            self._push_replacement(self.tr("Replace"), match)
        self._go(1)

    def _replace_matches(self) -> None:
        num_matches = sum(match.start < match.end for match in self._matches)
        if self._push_replacement(self.tr("Replace all"), None):
            self.message.emit(self.tr("%n match(es) replaced", "", num_matches))

    def _push_replacement(self, title: str, only: Match | None) -> bool:
        wanted, replacement = self._find.text(), self._replacement.text()
        is_case_sensitive = self._is_case_sensitive.isChecked()
        change = replace_matches(
            self._editor.script, wanted, replacement, is_case_sensitive=is_case_sensitive, only=only
        )
        if change is not None:
            self._editor.push(change, title)
        return change is not None

    def _position_of(self, match: Match) -> tuple[int, int]:
        return self._editor.script.index_of[match.line_id], match.start

    def _search_start(self) -> tuple[int, int]:
        """Return the position of the last match, or of the current line if the user has selected another one."""
        line_id = self._view.current_line_id
        if self._resume_from is not None and self._resume_from.line_id == line_id:
            return self._position_of(self._resume_from)
        return self._editor.script.index_of.get(line_id or "", 0), -1

    def _on_script_changed(self, before: Script, after: Script) -> None:
        if not self.isHidden() and before.lines is not after.lines:
            self._update()

    def _update(self) -> None:
        is_case_sensitive = self._is_case_sensitive.isChecked()
        details_of = self._details_of if self._searches_details.isChecked() else lambda _: ()
        self._matches = find_matches(
            self._editor.script, self._find.text(), is_case_sensitive=is_case_sensitive, details_of=details_of
        )
        if self._current is not None and self._current not in self._matches:
            self._current = None
        self._show()

    # Display.

    def _show(self) -> None:
        if self.isHidden():
            return
        count, announcement = len(self._matches), ""
        if not self._find.text():
            words = ""
        elif self._current is not None:
            number = bisect_left(self._matches, self._position_of(self._current), key=self._position_of) + 1
            words = self.tr("{number} of {count}").format(number=number, count=count)
            announcement = self.tr("Match {number} of {count}").format(number=number, count=count)
        else:
            words = self.tr("%n match(es)", "", count) if count else self.tr("Not found")
        self._found.setText(words)
        self._announce(announcement or words)
        for button in (self._next, self._previous, self._replace, self._replace_all):
            button.setEnabled(count > 0)
        self._view.mark_matches(self._matches, self._current)

    def _announce(self, words: str) -> None:
        """Announce ``words`` to screen readers, because the focus stays in the field."""
        if words != self._found.accessibleName():
            self._found.setAccessibleName(words)
            if words:
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._found, words))
