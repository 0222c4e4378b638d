"""Preview of a table, with a list above each column to choose its meaning."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QTableWidget, QTableWidgetItem, QWidget

from studio.app.translation import QT_TRANSLATE_NOOP
from studio.app.widgets.painting_guard import paints_safely
from studio.project.importing.columns import Field
from studio.project.importing.tables import ColumnMapping, Table

_ROWS_SHOWN = 50
_MAX_PIXELS = 320
_MIN_PIXELS = 120
_CONTEXT = "ColumnTable"
_UNUSED = QT_TRANSLATE_NOOP("ColumnTable", "Not used")
_FIELDS = {
    Field.TEXT: QT_TRANSLATE_NOOP("ColumnTable", "Text"),
    Field.ID: QT_TRANSLATE_NOOP("ColumnTable", "ID"),
    Field.CHARACTER: QT_TRANSLATE_NOOP("ColumnTable", "Character"),
    Field.VOICE: QT_TRANSLATE_NOOP("ColumnTable", "Voice"),
    Field.STYLE: QT_TRANSLATE_NOOP("ColumnTable", "Style"),
    Field.FILE_NAME: QT_TRANSLATE_NOOP("ColumnTable", "File name"),
    Field.SPEED: QT_TRANSLATE_NOOP("ColumnTable", "Speed"),
    Field.PAUSE: QT_TRANSLATE_NOOP("ColumnTable", "Pause"),
    Field.NOTE: QT_TRANSLATE_NOOP("ColumnTable", "Note"),
    Field.LANGUAGE: QT_TRANSLATE_NOOP("ColumnTable", "Language"),
    Field.CHAPTER: QT_TRANSLATE_NOOP("ColumnTable", "Chapter"),
    Field.SCENE: QT_TRANSLATE_NOOP("ColumnTable", "Scene"),
}


@paints_safely
class ColumnTable(QTableWidget):
    """The first row contains the lists, the other rows the start of the table."""

    mapping_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes: list[QComboBox] = []
        self.setAccessibleName(self.tr("Columns"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    @property
    def mapping(self) -> dict[Field, int]:
        """The chosen columns by meaning."""
        fields = ((box.currentData(), at) for at, box in enumerate(self.boxes))
        return {field: at for field, at in fields if field is not None}

    def show_table(self, table: Table, mapping: ColumnMapping) -> None:
        """Show the first rows of ``table`` with the initial ``mapping``."""
        self.clear()
        rows = table.rows[:_ROWS_SHOWN]
        self.setColumnCount(len(table.columns))
        self.setRowCount(1 + len(rows))
        self.setHorizontalHeaderLabels(list(table.columns))
        field_of = {at: field for field, at in mapping.items()}
        self.boxes = [self._box(name, field_of.get(at)) for at, name in enumerate(table.columns)]
        for at, box in enumerate(self.boxes):
            self.setCellWidget(0, at, box)
            box.currentIndexChanged.connect(lambda _, changed=box: self._on_chosen(changed))
            for row, cells in enumerate(rows, 1):
                item = QTableWidgetItem(cells[at].replace("\n", " "))
                item.setToolTip(cells[at])
                self.setItem(row, at, item)
        self._mark_unused()
        if self.boxes:
            self.setRowHeight(0, self.boxes[0].sizeHint().height() + 4)
        self._fit_columns()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Fit the columns with the style of the dialog, which the table has only now."""
        super().showEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        self.resizeColumnsToContents()
        for at in range(len(self.boxes)):
            self.setColumnWidth(at, min(max(self.columnWidth(at), _MIN_PIXELS), _MAX_PIXELS))

    def _box(self, name: str, field: Field | None) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(self.tr("Meaning of the column {name}").format(name=name))
        box.addItem(QCoreApplication.translate(_CONTEXT, _UNUSED), None)
        for each, words in _FIELDS.items():
            box.addItem(QCoreApplication.translate(_CONTEXT, words), each)
        box.setCurrentIndex(0 if field is None else 1 + list(_FIELDS).index(field))
        return box

    def _on_chosen(self, changed: QComboBox) -> None:
        """Clear the meaning of the column that had it before: each meaning has one column."""
        field = changed.currentData()
        for box in self.boxes:
            if box is not changed and field is not None and box.currentData() == field:
                box.blockSignals(True)
                box.setCurrentIndex(0)
                box.blockSignals(False)
        self._mark_unused()
        self.mapping_changed.emit()

    def _mark_unused(self) -> None:
        """Dim the cells of columns without a meaning."""
        for at, box in enumerate(self.boxes):
            brush = self.palette().text() if box.currentData() is not None else self.palette().placeholderText()
            for row in range(1, self.rowCount()):
                item = self.item(row, at)
                if item is not None:
                    item.setForeground(brush)
