"""Find and replace bar below the script."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from studio.app.script.edits import Match, find_matches, replace_matches
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.script_view import ScriptView
from studio.app.theme.icons import icon
from studio.project.script import Script


class FindBar(QWidget):
    """Input and buttons only: emits requests and shows the number of matches."""

    find_requested = Signal(int)  # 1: next match, -1: previous match
    replace_requested = Signal()
    replace_all_requested = Signal()
    pattern_changed = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._find = QLineEdit(clearButtonEnabled=True)
        self._find.setPlaceholderText(self.tr("Find"))
        self._find.setAccessibleName(self.tr("Find"))
        self._replacement = QLineEdit()
        self._replacement.setPlaceholderText(self.tr("Replace with"))
        self._replacement.setAccessibleName(self.tr("Replace with"))
        self._is_case_sensitive = QToolButton(autoRaise=True)
        self._is_case_sensitive.setCheckable(True)
        self._is_case_sensitive.setText("Aa")
        self._is_case_sensitive.setToolTip(self.tr("Match case"))
        self._is_case_sensitive.setAccessibleName(self.tr("Match case"))
        self._previous = self._button(self.tr("Previous match"), "up")
        self._next = self._button(self.tr("Next match"), "down")
        self._close = self._button(self.tr("Close"), "close")
        self._found = QLabel()
        self._found.setProperty("role", "quiet")
        self._replace = QPushButton(self.tr("Replace"))
        self._replace_all = QPushButton(self.tr("Replace all"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        for widgets in (
            (self._find, self._is_case_sensitive, self._previous, self._next, self._found, self._close),
            (self._replacement, self._replace, self._replace_all),
        ):
            row = QHBoxLayout()
            for widget in widgets:
                row.addWidget(widget)
            layout.addLayout(row)
        # Both fields come first in the tab order, before the buttons between them.
        first = (self._find, self._replacement, self._replace, self._replace_all, self._is_case_sensitive)
        for before, after in pairwise(first):
            QWidget.setTabOrder(before, after)
        self._find.textChanged.connect(self.pattern_changed)
        self._is_case_sensitive.toggled.connect(self.pattern_changed)
        self._find.returnPressed.connect(lambda: self.find_requested.emit(1))
        self._replacement.returnPressed.connect(self.replace_requested)
        self._next.clicked.connect(lambda: self.find_requested.emit(1))
        self._previous.clicked.connect(lambda: self.find_requested.emit(-1))
        self._replace.clicked.connect(self.replace_requested)
        self._replace_all.clicked.connect(self.replace_all_requested)
        self._close.clicked.connect(self.close_bar)
        self.hide()

    @property
    def is_open(self) -> bool:
        return not self.isHidden()

    @property
    def pattern(self) -> str:
        return self._find.text()

    @property
    def replacement(self) -> str:
        return self._replacement.text()

    @property
    def is_case_sensitive(self) -> bool:
        return self._is_case_sensitive.isChecked()

    def open(self, *, replaces: bool, selected_text: str = "") -> None:
        for widget in (self._replacement, self._replace, self._replace_all):
            widget.setVisible(replaces)
        self.show()
        if selected_text:
            self._find.setText(selected_text)
        self._find.setFocus()
        self._find.selectAll()
        self.pattern_changed.emit()

    def close_bar(self) -> None:
        self.hide()
        self.closed.emit()

    def show_count(self, num_matches: int, number: int | None = None) -> None:
        """Show the number of matches and the current one, counting from 1."""
        spoken = ""
        if not self.pattern:
            words = ""
        elif number is not None:
            words = self.tr("{number} of {count}").format(number=number, count=num_matches)
            spoken = self.tr("Match {number} of {count}").format(number=number, count=num_matches)
        elif num_matches:
            words = self.tr("%n match(es)", "", num_matches)
        else:
            words = self.tr("Not found")
        self._show(words, spoken or words)
        for button in (self._next, self._previous, self._replace, self._replace_all):
            button.setEnabled(num_matches > 0)

    def _show(self, words: str, spoken: str) -> None:
        """Show ``words`` and announce ``spoken`` to screen readers, as the focus stays in the field."""
        self._found.setText(words)
        if spoken != self._found.accessibleName():
            self._found.setAccessibleName(spoken)
            if spoken:
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._found, spoken))

    def event(self, event: QEvent) -> bool:
        # Esc closes the bar and does not trigger shortcuts of the window.
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)

    def _button(self, name: str, icon_name: str) -> QToolButton:
        button = QToolButton(autoRaise=True)
        button.setIcon(icon(icon_name))
        button.setToolTip(name)
        button.setAccessibleName(name)
        return button


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
        field = self._view.text_field
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
