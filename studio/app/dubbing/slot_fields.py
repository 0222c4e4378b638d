"""Inspector fields for a line's slot: its start and end in the video."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QWidget

from studio.app.widgets.number_field import NumberField
from studio.project.lines import Line, Slot

_MAX_SECONDS = 24 * 3600.0


class SlotFields(QWidget):
    """Start and end of the current line's slot, in seconds. Hidden for a line without a slot."""

    slot_changed = Signal(str, object)  # id of the line, Slot

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line: Line | None = None
        self.start = NumberField(maximum=_MAX_SECONDS, step=0.1, decimals=3)
        self.end = NumberField(maximum=_MAX_SECONDS, step=0.1, decimals=3)
        self.start.setAccessibleName(self.tr("Start of slot"))
        self.end.setAccessibleName(self.tr("End of slot"))
        rows = QFormLayout(self)
        rows.setContentsMargins(12, 4, 12, 4)
        for words, field in ((self.tr("Slot start"), self.start), (self.tr("Slot end"), self.end)):
            field.setSuffix(" " + self.tr("s"))
            field.number_changed.connect(self._report)
            rows.addRow(words, field)
        self.show_line(None)

    def show_line(self, line: Line | None) -> None:
        if self._line is not None and (line is None or line.id != self._line.id):
            self.commit()
        self._line = line
        slot = line.slot if line is not None else None
        self.setVisible(slot is not None)
        self.setEnabled(line is not None and not line.is_locked)
        if slot is not None:
            self.start.show_number(slot.start_seconds)
            self.end.show_number(slot.end_seconds)

    def commit(self) -> None:
        """Report digits that are still being typed."""
        self.start.commit()
        self.end.commit()

    def _report(self) -> None:
        """Report the new slot. A start after the end moves the end, and vice versa."""
        if self._line is None or self._line.slot is None:
            return
        before = self._line.slot
        start, end = self.start.value(), self.end.value()
        if start > end:
            if start != round(before.start_seconds, 3):
                end = start + before.seconds
            else:
                start = end
        slot = Slot(start, end)
        if slot != before:
            self.slot_changed.emit(self._line.id, slot)
