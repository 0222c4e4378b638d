"""Bar above the script that shows only some lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from studio.app.script.filtering import LineFilter
from studio.app.script.line_model import LineModel
from studio.app.script.line_statuses import LineStatusStore
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.script_bar import ScriptBar
from studio.app.script.script_view import ScriptView
from studio.app.widgets.controls import icon_button, text_label
from studio.project.lines import LineState, LineStyle
from studio.voices.voice import name_key

_VOICE, _CHARACTER = "voice", "character"
_MIN_COMBO_LETTERS = 8


class FilterBar(ScriptBar):
    """Hidden until it is opened; closing it shows all lines again."""

    def __init__(
        self,
        editor: ProjectEditor,
        model: LineModel,
        view: ScriptView,
        line_statuses: LineStatusStore,
        *,
        style_text: Callable[[LineStyle], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        self._lines = model
        self._view = view
        self._style_text = style_text
        self._text = QLineEdit(clearButtonEnabled=True)
        self._text.setPlaceholderText(self.tr("Filter"))
        self._text.setAccessibleName(self.tr("Text of the shown lines"))
        self._who = self._box(self.tr("Voice or character of the shown lines"))
        self._state = self._box(self.tr("State of the shown lines"))
        self._style = self._box(self.tr("Style of the shown lines"))
        self._has_note = QCheckBox(self.tr("Has note"))
        self._needs_review = QCheckBox(self.tr("Needs review"))
        self._needs_review.setToolTip(self.tr("Lines whose take has problems that you have not accepted"))
        self._speaks_shown = QCheckBox(self.tr("Speak only these"))
        self._speaks_shown.setToolTip(self.tr("“Speak all changed lines” leaves out the lines that are not shown"))
        self._found = text_label("", "quiet", wraps=False)
        self._close = icon_button(
            "close", self.tr("Show all lines (Esc)"), self.close_bar, name=self.tr("Show all lines")
        )
        self._update_timer = QTimer(self, singleShot=True)  # combines many changes into one update
        self._update_timer.timeout.connect(self._update)
        self._found.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._lay_out(
            (self._text, self._who, self._state, self._style, self._close),
            (self._needs_review, self._has_note, self._speaks_shown, self._found),
        )
        self._connect(line_statuses)
        self.hide()

    def _connect(self, line_statuses: LineStatusStore) -> None:
        self._text.textChanged.connect(self._update)
        for box in (self._who, self._state, self._style):
            box.activated.connect(self._update)
        self._has_note.toggled.connect(self._update)
        self._needs_review.toggled.connect(self._update)
        self._editor.script_changed.connect(self._update_later)
        self._editor.project_replaced.connect(self.close_bar)
        line_statuses.changed.connect(self._update_later)

    @property
    def speakable_ids(self) -> frozenset[str] | None:
        """Ids of the lines that “Speak all changed lines” is limited to; None for all lines."""
        return self._view.hidden_rows.shown if self._speaks_shown.isChecked() and not self.isHidden() else None

    def toggle(self) -> None:
        """Open the bar; close it if it has the focus."""
        if not self.isHidden() and self.isAncestorOf(self.focusWidget() or self):
            self.close_bar()
            return
        self._fill_boxes()
        self.show()
        self._text.setFocus()
        self._text.selectAll()
        self._update()

    def show_text(self, words: str) -> None:
        """Show only lines with ``words``."""
        self._text.setText(words)

    def toggle_character(self, name: str) -> None:
        """Show only the lines of a character, or all lines again."""
        self._fill_boxes()
        # Characters follow voices. A voice that is missing from the library counts as a character.
        rows = [row for row in range(1, self._who.count()) if name_key(self._who.itemData(row)[1]) == name_key(name)]
        if not rows or (not self.isHidden() and self._who.currentIndex() == rows[-1]):
            self.close_bar()
            return
        self.show()
        self._who.setCurrentIndex(rows[-1])
        self._update()

    def toggle_review(self) -> None:
        """Show only the lines to review, or all lines again."""
        if not self.isHidden() and self._needs_review.isChecked():
            self.close_bar()
            return
        self._fill_boxes()
        self.show()
        self._needs_review.setChecked(True)
        self._view.setFocus()
        self._update()

    def close_bar(self) -> None:
        if self.isHidden():
            return
        self.hide()
        with QSignalBlocker(self._text), QSignalBlocker(self._has_note), QSignalBlocker(self._needs_review):
            self._text.clear()
            self._has_note.setChecked(False)
            self._needs_review.setChecked(False)
        for box in (self._who, self._state, self._style):
            box.setCurrentIndex(0)
        self._view.hidden_rows.filter(None)
        if (line_id := self._view.current_line_id) is not None:
            self._view.go_to(line_id)
        self._view.setFocus()

    def _box(self, name: str) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(_MIN_COMBO_LETTERS)
        return box

    def _fill_boxes(self) -> None:
        """List the voices, characters and styles that the script uses."""
        lines = self._editor.script.lines
        voices = _distinct(line.voice for line in lines)
        characters = _distinct(line.character for line in lines)
        styles = {self._style_text(line.style): line.style for line in lines if not line.style.is_plain}
        who: list[tuple[str, object]] = [(self.tr("Any voice"), None)]
        who += [(name, (_VOICE, name)) for name in voices]
        who += [(self.tr("Character: {name}").format(name=name), (_CHARACTER, name)) for name in characters]
        _fill(self._who, who)
        _fill(
            self._state,
            [(self.tr("Any state"), None), *((self._lines.state_text(state), state) for state in LineState)],
        )
        plain: list[tuple[str, object]] = [(self.tr("Any style"), None), (self.tr("No style"), LineStyle())]
        _fill(self._style, plain + [(name, styles[name]) for name in sorted(styles)])

    @property
    def _filter(self) -> LineFilter:
        kind, name = self._who.currentData() or (None, None)
        return LineFilter(
            text=self._text.text().strip(),
            voice=name if kind == _VOICE else None,
            character=name if kind == _CHARACTER else None,
            state=self._state.currentData(),
            style=self._style.currentData(),
            has_note=self._has_note.isChecked(),
            needs_review=self._needs_review.isChecked(),
        )

    def _update_later(self, *_: object) -> None:
        if not self.isHidden():
            self._update_timer.start()

    def _update(self) -> None:
        if self.isHidden():
            return
        lines, wanted = self._editor.script.lines, self._filter
        shown = None
        if not wanted.is_empty:
            # The line being edited stays visible, even if it no longer matches.
            edited = self._view.current_line_id if self._view.text_field is not None else None
            shown = frozenset(
                line.id for line in lines if line.id == edited or wanted.matches(line, self._lines.state_of(line))
            )
        self._view.hidden_rows.filter(shown)
        self._view.leave_hidden_line()
        num_shown = len(lines) if shown is None else len(shown)
        words = self.tr("{shown} of {count} lines shown").format(shown=num_shown, count=len(lines))
        self._found.setText(words)
        self._found.setAccessibleName(words)

    # Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self._view.setFocus()
        else:
            super().keyPressEvent(event)


def _fill(box: QComboBox, entries: list[tuple[str, object]]) -> None:
    """Replace the entries of ``box`` and keep the chosen one."""
    chosen = box.currentData()
    with QSignalBlocker(box):
        box.clear()
        for words, data in entries:
            box.addItem(words, data)
        box.setCurrentIndex(next((row for row, (_, data) in enumerate(entries) if data == chosen), 0))


def _distinct(names: Iterable[str | None]) -> list[str]:
    """Return the names in alphabetical order, without those that differ only in case."""
    found = {name_key(name): name for name in names if name}
    return [found[key] for key in sorted(found)]
