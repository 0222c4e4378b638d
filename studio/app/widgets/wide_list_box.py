"""Combo box whose list is wider than the box itself."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyle, QStyledItemDelegate

from studio.app.widgets.screen_fit import available_size


class WideListBox(QComboBox):
    """Shows its entries in full, within the width of the screen."""

    delegate_type: type[QStyledItemDelegate] | None = None  # paints the list; created when it opens

    def showPopup(self) -> None:  # noqa: N802
        if self.delegate_type is not None and not isinstance(self.itemDelegate(), self.delegate_type):
            self.setItemDelegate(self.delegate_type(self))
        view = self.view()
        view.setTextElideMode(Qt.TextElideMode.ElideRight)
        scroll_bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        width = view.sizeHintForColumn(self.modelColumn()) + 2 * view.frameWidth() + scroll_bar
        view.setMinimumWidth(min(width, available_size().width()))
        super().showPopup()
