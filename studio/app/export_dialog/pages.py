"""Parts of the export dialog besides the form: the name preview, and the question about other files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QListView,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from studio.app.export_dialog.export_options import PreviewedNames
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.painting_guard import paints_safely
from studio.errors import StudioError

_LEAST_SECONDS = 1.0  # the speed is unknown before this much time has passed
_STEPS = 1000
_MAX_NAMES = 5


@paints_safely
class _Names(QStringListModel):
    """List of file names that are also their tool tips, because long ones are cut."""

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return super().data(index, Qt.ItemDataRole.DisplayRole if role == Qt.ItemDataRole.ToolTipRole else role)


class NamePreview(QWidget):
    """List of the file names that an export creates, or the reason why there are none."""

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
        self._names.setStringList([*map(str, names.line_files), *more, *map(str, names.script_files)])

    def show_problem(self, error: StudioError) -> None:
        self.label.hide()
        self.problem.show_error(error)
        self._names.setStringList([])


class ReplaceQuestion(QMessageBox):
    """Question before an export replaces files of another script or program.

    Emits ``confirmed`` or ``cancelled``, then deletes itself.
    """

    confirmed = Signal()
    cancelled = Signal()

    def __init__(self, folder: Path, files: Sequence[PurePosixPath], parent: QWidget) -> None:
        super().__init__(parent)
        self.setIcon(QMessageBox.Icon.Warning)
        self.setWindowTitle(self.tr("Replace files"))
        self.setText(self.tr("Replace %n file(s)?", "", len(files)))
        names = "\n".join(str(file) for file in files[:_MAX_NAMES])
        more = self.tr("and %n more", "", len(files) - _MAX_NAMES) if len(files) > _MAX_NAMES else ""
        reason = self.tr(
            "These files in {folder} belong to another script or other lines, or were changed after the export:"
        )
        self.setInformativeText("\n".join(filter(None, (reason.format(folder=folder), names, more))))
        self._replace = self.addButton(self.tr("Replace"), QMessageBox.ButtonRole.DestructiveRole)
        self.setDefaultButton(self.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        self.finished.connect(self._on_finished)

    def _on_finished(self, _: int) -> None:
        self.deleteLater()
        (self.confirmed if self.clickedButton() is self._replace else self.cancelled).emit()
