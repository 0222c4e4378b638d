"""Find and replace bar below the script."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from studio.app.theme.icons import icon


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
