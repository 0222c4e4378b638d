"""Combo box whose list is wider than the box itself."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyle

from studio.app.widgets.screen_fit import available_size


class WideListBox(QComboBox):
    """Shows its entries in full, within the width of the screen."""

    def showPopup(self) -> None:  # noqa: N802
        view = self.view()
        view.setTextElideMode(Qt.TextElideMode.ElideRight)
        scroll_bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        width = view.sizeHintForColumn(self.modelColumn()) + 2 * view.frameWidth() + scroll_bar
        view.setMinimumWidth(min(width, available_size().width()))
        super().showPopup()
