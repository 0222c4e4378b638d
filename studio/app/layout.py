"""Layout of the window: toolbar, docks and panels, saved and restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSizePolicy, QTabWidget, QToolBar, QVBoxLayout, QWidget

from studio.app.actions import Actions
from studio.app.widgets.collapsible_panel import CollapsiblePanel
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.screen_fit import available_size, fit_to_screen
from studio.errors import StudioError
from studio.settings import WINDOW_GEOMETRY, WINDOW_LAYOUT
from studio.settings_store import Settings

# Increase the version when docks or toolbars are added, so that older saved layouts are ignored.
_LAYOUT_VERSION = 2
_SIZE = (1280, 820)
# Minimum height of the script: its header and two lines.
_SCRIPT_PIXELS = 130
# On smaller screens docks are stacked as tabs: three columns, or a dock below, would leave too little for the script.
# A screen of 1280 by 800 pixels at 200 % is that small.
_NARROW_SCREEN_PIXELS = 720
_SHORT_SCREEN_PIXELS = 440
_TOOLBAR = (
    "file.open", "file.save", None, "file.import", "file.export", None, "edit.undo", "edit.redo", None,
    "edit.filter", None, "voices.record",
)  # fmt: skip

# Context menu of a line.
LINE_ACTIONS = (
    "speak.line", "speak.takes", "play.toggle", "play.from_here", "edit.new_line", "edit.duplicate", "edit.merge",
    "edit.lock", "edit.remove", "edit.chapter", "edit.scene", "edit.note", "edit.spoken", "edit.select_character", "edit.select_voice",
)  # fmt: skip


def make_toolbar(window: QMainWindow, actions: Actions, title: str) -> QToolBar:
    bar = QToolBar(title, window)
    bar.setObjectName("toolbar")
    bar.setMovable(False)
    for action_id in _TOOLBAR:
        if action_id is None:
            bar.addSeparator()
        else:
            bar.addAction(actions[action_id])
    window.addToolBar(bar)
    return bar


class Docks:
    """Voices on the left, inspector on the right, queue and log below, hidden until they are asked for."""

    def __init__(self, window: QMainWindow, titles: tuple[str, str, str]) -> None:
        self._window = window
        self.voices = self._dock("voices", titles[0])
        self.inspector = self._dock("inspector", titles[1])
        self.bottom = self._dock("bottom", titles[2])
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setAccessibleName(titles[2])
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.reset()

    def fill(self, voices: QWidget, inspector: QWidget) -> None:
        """Set the contents, in Tab key order."""
        for dock, content in zip(self.all, (voices, inspector, self.tabs), strict=True):
            dock.setWidget(content)

    @property
    def all(self) -> tuple[QDockWidget, ...]:
        return self.voices, self.inspector, self.bottom

    def reset(self) -> None:
        """Restore the default layout."""
        side = Qt.DockWidgetArea
        areas = (side.LeftDockWidgetArea, side.RightDockWidgetArea, side.BottomDockWidgetArea)
        for dock, area in zip(self.all, areas, strict=True):
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
            dock.setVisible(dock is not self.bottom)
        room = available_size()
        if room.width() < _NARROW_SCREEN_PIXELS:
            self._window.tabifyDockWidget(self.voices, self.inspector)
        if room.height() < _SHORT_SCREEN_PIXELS:
            self._window.tabifyDockWidget(self.voices, self.bottom)
        self.voices.raise_()
        distribute(self._window)

    def toggle_tab(self, index: int) -> None:
        """Show the tab of the queue or the log, or hide the dock if it already shows this tab."""
        if self.bottom.isVisible() and self.tabs.currentIndex() == index:
            self.bottom.hide()
            return
        self.tabs.setCurrentIndex(index)
        self.bottom.show()
        self.bottom.raise_()

    def _dock(self, name: str, title: str) -> QDockWidget:
        dock = QDockWidget(title, self._window)
        dock.setObjectName(name)
        dock.setWidget(QWidget())
        return dock


def stacked(*widgets: QWidget) -> QWidget:
    """Return a widget with ``widgets`` below each other, without gaps."""
    column = QWidget()
    layout = QVBoxLayout(column)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    for widget in widgets:
        layout.addWidget(widget)
    return column


def distribute(window: QMainWindow) -> None:
    """Size the docks so that most of the window is left to the script."""
    found = (window.findChild(QDockWidget, name) for name in ("voices", "inspector", "bottom"))
    voices, inspector, bottom = (cast("QDockWidget", dock) for dock in found)
    widths = [min(250, max(180, window.width() * 20 // 100)), min(330, max(264, window.width() * 25 // 100))]
    columns = 1 if inspector in window.tabifiedDockWidgets(voices) else 2  # tabbed docks share one column
    window.resizeDocks([voices, inspector][:columns], widths[:columns], Qt.Orientation.Horizontal)
    window.resizeDocks([bottom], [min(230, max(150, window.height() * 28 // 100))], Qt.Orientation.Vertical)


def restore_layout(window: QMainWindow, docks: Docks, settings: Settings) -> None:
    """Restore the saved layout, or the default one if it does not fit on this screen."""
    geometry = QByteArray.fromBase64(settings[WINDOW_GEOMETRY].encode())
    if geometry.isEmpty() or not window.restoreGeometry(geometry):
        window.resize(fit_to_screen(*_SIZE))
    layout = QByteArray.fromBase64(settings[WINDOW_LAYOUT].encode())
    if layout.isEmpty() or not window.restoreState(layout, _LAYOUT_VERSION):
        distribute(window)
        return
    least = window.minimumSizeHint()
    if least.boundedTo(available_size()) != least:
        docks.reset()


def save_layout(window: QMainWindow, settings: Settings) -> None:
    """Save the layout for the next start. Write errors are ignored: they must not prevent closing."""
    geometry = bytes(window.saveGeometry().toBase64().data()).decode()
    layout = bytes(window.saveState(_LAYOUT_VERSION).toBase64().data()).decode()
    try:
        settings.change({WINDOW_GEOMETRY: geometry, WINDOW_LAYOUT: layout})
    except StudioError:
        return


@paints_safely
class PanelStack(QWidget):
    """Panels above the script: expanded if they fit, otherwise collapsed to a line each.

    The spare height of ``centre`` goes to ``panels`` in their order. Decision: a custom layout. Reason: a Qt layout is
    at least as high as the minimum size of its contents, which would make the window taller than a small screen.
    """

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
