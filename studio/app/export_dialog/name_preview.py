"""Preview of the file names that an export creates."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QLabel, QListView, QVBoxLayout, QWidget

from studio.app.export_dialog.export_options import PreviewedNames
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.painting_guard import paints_safely
from studio.errors import StudioError

_ROOT = QModelIndex()


@paints_safely
class _Names(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()

    def show(self, names: tuple[str, ...]) -> None:
        self.beginResetModel()
        self._names = names
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._names)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        shown = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        return self._names[index.row()] if index.isValid() and role in shown else None


class NamePreview(QWidget):
    """List of file names, or the reason why there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = _Names(self)
        self.list = QListView()
        self.list.setModel(self._names)
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.list.setMinimumWidth(240)
        self.list.setAccessibleName(self.tr("File names"))
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.problem = ErrorLine()
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.addWidget(self.label)
        rows.addWidget(self.problem)
        rows.addWidget(self.list, 1)

    def show_names(self, names: PreviewedNames) -> None:
        self.problem.clear()
        self.label.show()
        self.label.setText(self.tr("%n file(s):", "", names.num_files))
        more = (self.tr("… and %n more line(s)", "", names.num_more),) if names.num_more else ()
        self._names.show((*map(str, names.line_files), *more, *map(str, names.script_files)))

    def show_problem(self, error: StudioError) -> None:
        self.label.hide()
        self.problem.show_error(error)
        self._names.show(())
