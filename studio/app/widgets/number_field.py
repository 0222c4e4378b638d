"""Number field of the inspector. It reports only complete numbers, and can show that the selected lines differ."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QWidget


class NumberField(QDoubleSpinBox):
    """Spin box that reports a number when it is complete and does not change digits while they are typed.

    A number is complete after Enter, an arrow key or the wheel, when the focus leaves, and after ``commit``.
    """

    number_changed = Signal(float)

    def __init__(
        self, *, minimum: float = 0.0, maximum: float, step: float = 1.0, decimals: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, minimum=minimum, maximum=maximum, singleStep=step, decimals=decimals)
        self.setKeyboardTracking(False)
        self._is_typed = False
        self._is_mixed = False
        self._hidden_suffix = ""  # while the field is mixed
        self.lineEdit().textEdited.connect(self._on_text_edited)
        self.valueChanged.connect(self._report)
        self.editingFinished.connect(self.commit)

    def show_number(self, number: float, *, is_mixed: bool = False) -> None:
        """Show ``number`` without reporting it. ``is_mixed`` means that the selected lines have different numbers."""
        if self._is_typed:
            return
        with QSignalBlocker(self), QSignalBlocker(self.lineEdit()):
            if self.value() != number:  # setting an equal number reformats the text
                self.setValue(number)
            self._show_mixed(is_mixed)

    def commit(self) -> None:
        """Report digits that are still being typed."""
        if not self._is_typed:
            return
        if self._is_mixed and not self.cleanText():  # typed and deleted again
            self._is_typed = False
            return
        self.interpretText()
        if self._is_typed:  # the number did not change for this line, but may for others
            self._report(self.value())

    def _show_mixed(self, is_mixed: bool) -> None:
        was_mixed, self._is_mixed = self._is_mixed, is_mixed
        if is_mixed:
            self._hidden_suffix = self._hidden_suffix if was_mixed else self.suffix()
            self.setSuffix("")
            self.lineEdit().clear()
            self.lineEdit().setPlaceholderText(self.tr("(mixed)"))
        elif was_mixed:
            self.setSuffix(self._hidden_suffix)

    def _on_text_edited(self) -> None:
        self._is_typed = True

    def _report(self, number: float) -> None:
        self._is_typed = False
        self._show_mixed(False)
        self.number_changed.emit(round(number, self.decimals()))
