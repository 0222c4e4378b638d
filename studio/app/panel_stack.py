"""Panels above the script: expanded if they fit, otherwise collapsed to a line each.

Decision: a custom layout. Reason: the minimum size of a Qt layout is that of its contents, which would make the
window taller than a small screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.app.widgets.collapsible_panel import CollapsiblePanel
from studio.app.widgets.painting_guard import paints_safely

# Minimum height of the script: its header and two lines.
_SCRIPT_PIXELS = 130


@paints_safely
class PanelStack(QWidget):
    """Distributes the spare height of ``centre`` among ``panels``, in order."""

    def __init__(self, panels: Sequence[CollapsiblePanel], script: QWidget, centre: QWidget) -> None:
        super().__init__(centre)
        self._panels = panels
        self._script = script
        self._centre = centre
        self._height = 0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        # The script gets the remaining height; its size hint must not shrink the panels.
        script.setMinimumHeight(script.minimumSizeHint().height())
        script.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        for panel in panels:
            panel.setParent(self)
            panel.installEventFilter(self)
        centre.installEventFilter(self)
        self.hide()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.minimumSizeHint().width(), self._height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        sizes = [panel.folded_size for panel in self._shown]
        return QSize(max((size.width() for size in sizes), default=0), sum(size.height() for size in sizes))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        kinds = (QEvent.Type.Resize, QEvent.Type.LayoutRequest)
        if watched is not self._centre:
            kinds = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent)
        if event.type() in kinds:
            self._distribute()
        return False

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._distribute()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._distribute()
        super().resizeEvent(event)

    @property
    def _shown(self) -> list[CollapsiblePanel]:
        return [panel for panel in self._panels if not panel.isHidden()]

    @property
    def _available_height(self) -> int:
        others = [
            widget
            for widget in self._centre.children()
            if isinstance(widget, QWidget) and widget not in (self, self._script) and not widget.isHidden()
        ]
        return self._centre.height() - _SCRIPT_PIXELS - sum(widget.sizeHint().height() for widget in others)

    def _distribute(self) -> None:
        shown, width = self._shown, self._centre.width()
        rest = self._available_height - sum(panel.folded_size.height() for panel in shown)
        top = 0
        for panel in shown:
            whole, folded = panel.whole_size(width), panel.folded_size
            fits = whole.width() <= width and whole.height() - folded.height() <= rest
            rest -= whole.height() - folded.height() if fits else 0
            panel.set_folded(not fits)
            height = whole.height() if fits else folded.height()
            panel.setGeometry(0, top, width, height)
            top += height
        if top != self._height:
            self._height = top
            self.updateGeometry()
        self.setVisible(bool(shown))
