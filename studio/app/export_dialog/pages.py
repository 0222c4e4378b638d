"""Other parts of the export dialog: the preview of file names, and the question about other files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QCheckBox, QLabel, QListView, QMessageBox, QWidget

from studio.app.export_dialog.export_options import PreviewedNames
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.translation import join_phrases
from studio.app.widgets.controls import in_column
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.painting_guard import paints_safely
from studio.errors import StudioError
from studio.export.forecast import ExportForecast, FileChange

_MAX_NAMES = 5


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    change: FileChange | None = None  # None if not yet known
    is_unused: bool = False


@paints_safely
class _Files(QAbstractListModel):
    """File names and what happens to each file. The tool tips repeat the names, because long names are cut off."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette_of = parent.palette
        self._rows: list[_Row] = []

    def set_rows(self, rows: Iterable[_Row]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:  # noqa: N802
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.name
            case Qt.ItemDataRole.DecorationRole:
                return self._icon(row)
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return "\n".join(filter(None, (row.name, self._words(row))))
        return None

    def _icon(self, row: _Row) -> QIcon | None:
        colors = theme_colors(self._palette_of())
        if row.is_unused:
            return icon("info", colors.quiet)
        icons = {
            FileChange.NEW: ("add", colors.accent),
            FileChange.REPLACED: ("retry", colors.warn),
            FileChange.KEPT: ("state-ready", colors.quiet),
        }
        return icon(*icons[row.change]) if row.change is not None else None

    def _words(self, row: _Row) -> str:
        if row.is_unused:
            return self.tr("of an earlier export; kept")
        words = {
            FileChange.NEW: self.tr("new"),
            FileChange.REPLACED: self.tr("will be replaced"),
            FileChange.KEPT: self.tr("up to date"),
        }
        return words[row.change] if row.change is not None else ""


class NamePreview(QWidget):
    """List of the files that an export makes, replaces and keeps, or the reason why there are no files."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._forecast: ExportForecast | None = None
        self._files = _Files(self)
        self.list = QListView()
        self.list.setModel(self._files)
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.list.setMinimumWidth(240)
        self.list.setAccessibleName(self.tr("File names"))
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.only_changes = QCheckBox(self.tr("Show only changes"))
        self.problem = ErrorLine()
        in_column(self.label, self.problem, (self.list, 1), self.only_changes, parent=self, margins=0)
        self.only_changes.toggled.connect(self._show_forecast)
        self.only_changes.hide()

    def show_names(self, names: PreviewedNames) -> None:
        """Show the names at once; ``show_forecast`` follows."""
        self._forecast = None
        self.problem.clear()
        self.label.show()
        self.label.setText(self.tr("%n file(s):", "", names.num_files))
        more = (self.tr("… and %n more line(s)", "", names.num_more),) if names.num_more else ()
        self._files.set_rows(map(_Row, [*map(str, names.line_files), *more, *map(str, names.script_files)]))

    def show_forecast(self, forecast: ExportForecast) -> None:
        """Show what happens to each file."""
        self._forecast = forecast
        self.only_changes.setVisible(bool(forecast.count(FileChange.KEPT)))
        self._show_forecast()

    def show_problem(self, error: StudioError) -> None:
        self._forecast = None
        self.label.hide()
        self.only_changes.hide()
        self.problem.show_error(error)
        self._files.set_rows(())

    def _show_forecast(self) -> None:
        found = self._forecast
        if found is None:
            return
        counts = (
            (self.tr("%n new", "", found.count(FileChange.NEW)), FileChange.NEW),
            (self.tr("%n replaced", "", found.count(FileChange.REPLACED)), FileChange.REPLACED),
            (self.tr("%n up to date", "", found.count(FileChange.KEPT)), FileChange.KEPT),
        )
        parts = join_phrases(words for words, change in counts if found.count(change))
        words = self.tr("%n file(s): {changes}", "", len(found.changes))
        self.label.setText(words.format(changes=parts))
        hides_kept = self.only_changes.isChecked() and not self.only_changes.isHidden()
        rows = [
            _Row(str(file), change) for file, change in found.changes if not (hides_kept and change is FileChange.KEPT)
        ]
        unused = [_Row(str(file), is_unused=True) for file in found.orphans]
        self._files.set_rows([*rows, *unused])


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
