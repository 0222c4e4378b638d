"""Table of quotations with their speakers, for the dialog that assigns them."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QPalette

from studio.app.theme.colors import theme_colors
from studio.app.theme.voice_colors import voice_color
from studio.app.translation import QT_TRANSLATE_NOOP
from studio.app.widgets.painting_guard import paints_safely
from studio.project.attribution.attribution import AttributedQuotation, Attribution

SPEAKER, TEXT, REASON = range(3)
_CONTEXT = "QuotationModel"
# Reasons that are not words of the text. ``line`` is the number of a quotation.
_REASONS = {
    "corrected": QT_TRANSLATE_NOOP("QuotationModel", "assigned by you"),
    "continues line {line}": QT_TRANSLATE_NOOP("QuotationModel", "continues {line}"),
    "same paragraph as line {line}": QT_TRANSLATE_NOOP("QuotationModel", "same paragraph as {line}"),
    "alternates with line {line}": QT_TRANSLATE_NOOP("QuotationModel", "alternates with {line}"),
    "addressed in line {line}": QT_TRANSLATE_NOOP("QuotationModel", "addressed in {line}"),
    "named nearby": QT_TRANSLATE_NOOP("QuotationModel", "named nearby"),
    "no cue": QT_TRANSLATE_NOOP("QuotationModel", "not named"),
}
_Index = QModelIndex | QPersistentModelIndex


@paints_safely
class QuotationModel(QAbstractTableModel):
    """One row for each quotation: its speaker, text and the reason. Doubtful speakers have a question mark."""

    def __init__(self, palette: QPalette) -> None:
        super().__init__()
        self._palette = palette
        self.quotations: tuple[AttributedQuotation, ...] = ()

    def show_attribution(self, attribution: Attribution) -> None:
        """Show the speakers of the same quotations, or of the first ones."""
        if len(attribution.quotations) != len(self.quotations):
            self.beginResetModel()
            self.quotations = attribution.quotations
            self.endResetModel()
        else:
            self.quotations = attribution.quotations
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, REASON))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(self.quotations)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else REASON + 1

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:  # noqa: N802
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation is Qt.Orientation.Vertical:
            return str(section + 1)
        return (self.tr("Speaker"), self.tr("Quotation"), self.tr("Reason"))[section]

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        quotation, column = self.quotations[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return (self._speaker(quotation), quotation.text, _reason(quotation))[column]
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._color(quotation, column)
        return None

    def _speaker(self, quotation: AttributedQuotation) -> str:
        name = quotation.speaker or self.tr("Narrator")
        return self.tr("{name}?").format(name=name) if quotation.is_doubtful else name

    def _color(self, quotation: AttributedQuotation, column: int) -> QColor | None:
        colors = theme_colors(self._palette)
        if column == REASON:
            return QColor(colors.quiet)
        if column == TEXT:
            return None
        if quotation.is_doubtful:
            return QColor(colors.warn)
        return QColor(colors.quiet) if quotation.speaker is None else voice_color(quotation.speaker, self._palette)


def _reason(quotation: AttributedQuotation) -> str:
    known = _REASONS.get(quotation.reason)
    if known is None:
        return quotation.reason
    number = "" if quotation.other is None else str(quotation.other + 1)
    return QCoreApplication.translate(_CONTEXT, known).format(line=number)
