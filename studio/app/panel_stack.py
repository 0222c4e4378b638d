"""The place over the script for panels that tell and ask: whole where there is room, else a line of each.

Decided: it lays its panels out by itself, because it must be able to be smaller than what it shows wants to be.
With a layout, whose smallest size is that of its contents, two panels make the window taller than a small screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.app.widgets.collapsible_panel import CollapsiblePanel
from studio.app.widgets.painting_guard import paints_safely

# What stays of the script: its head and two lines.
_SCRIPT_PIXELS = 130


@paints_safely
class PanelStack(QWidget):
    """Shares out what height the ``centre`` can do without; the first of ``panels`` has its part first."""

    def __init__(self, panels: Sequence[CollapsiblePanel], script: QWidget, centre: QWidget) -> None:
        super().__init__(centre)
        self._panels = panels
        self._script = script
        self._centre = centre
        self._height = 0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        # It gets what is left; what it would like to have is not taken from the panels.
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
            self._share_out()
        return False

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._share_out()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._share_out()
        super().resizeEvent(event)

    @property
    def _shown(self) -> list[CollapsiblePanel]:
        return [panel for panel in self._panels if not panel.isHidden()]

    @property
    def _room(self) -> int:
        others = [
            widget
            for widget in self._centre.children()
            if isinstance(widget, QWidget) and widget not in (self, self._script) and not widget.isHidden()
        ]
        return self._centre.height() - _SCRIPT_PIXELS - sum(widget.sizeHint().height() for widget in others)

    def _share_out(self) -> None:
        shown, width = self._shown, self._centre.width()
        rest = self._room - sum(panel.folded_size.height() for panel in shown)
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
