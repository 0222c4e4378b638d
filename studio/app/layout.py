"""Layout of the window: toolbar, docks and panels, saved and restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QSizePolicy,
    QStatusBar,
    QTabWidget,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.actions import Actions
from studio.app.widgets.deferred_page import DeferredPage
from studio.app.widgets.screen_fit import available_size, fit_to_screen
from studio.errors import StudioError
from studio.settings import WINDOW_GEOMETRY, WINDOW_LAYOUT
from studio.settings_store import Settings

# Increase the version when docks or toolbars are added.
_LAYOUT_VERSION = 2
_LAYOUT_WITH_TAKE = 1  # In version 1, the dock below the script showed the take.
_SIZE = (1280, 820)
# On smaller screens docks are stacked as tabs: three columns, or a dock below, would leave too little space for the
# script. An example is a screen of 1280 by 800 pixels at 200 %.
_NARROW_SCREEN_PIXELS = 720
_SHORT_SCREEN_PIXELS = 440
_ICON_PIXELS = 20
_TOOLBAR = (
    "file.open", "file.save", None, "file.import", "file.export", None, "edit.undo", "edit.redo", None,
    "edit.filter", None, "voices.record",
)  # fmt: skip

# Context menu of a line.
LINE_ACTIONS = (
    "speak.line", "speak.takes", "play.toggle", "play.from_here", "edit.new_line", "edit.duplicate", "edit.merge",
    "edit.lock", "edit.remove", "edit.chapter", "edit.scene", "edit.note", "edit.spoken", "edit.select_chapter",
    "edit.select_character", "edit.select_voice",
)  # fmt: skip


class LabelledToolBar(QToolBar):
    """Shows titles beside the icons if there is room for all of them; undo and redo, whose titles change, have none."""

    def __init__(self, title: str, window: QMainWindow) -> None:
        super().__init__(title, window)
        self._labelled_width = 0

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if not self._labelled_width:
            self._show_titles(are_shown=True)
            self._labelled_width = self.sizeHint().width()
        self._show_titles(are_shown=self.width() >= self._labelled_width)

    def _show_titles(self, *, are_shown: bool) -> None:
        style = Qt.ToolButtonStyle
        wanted = style.ToolButtonTextBesideIcon if are_shown else style.ToolButtonIconOnly
        if self.toolButtonStyle() != wanted:
            self.setToolButtonStyle(wanted)
            for action in self.actions():
                if action.objectName() in ("edit.undo", "edit.redo"):
                    cast("QToolButton", self.widgetForAction(action)).setToolButtonStyle(style.ToolButtonIconOnly)


def make_toolbar(window: QMainWindow, actions: Actions, title: str) -> QToolBar:
    bar = LabelledToolBar(title, window)
    bar.setObjectName("toolbar")
    bar.setMovable(False)
    bar.setIconSize(QSize(_ICON_PIXELS, _ICON_PIXELS))
    for action_id in _TOOLBAR:
        if action_id is None:
            bar.addSeparator()
        else:
            bar.addAction(actions[action_id])
    window.addToolBar(bar)
    return bar


class Docks:
    """Voices on the left, inspector on the right; queue and log below, hidden at first."""

    def __init__(self, window: QMainWindow, titles: tuple[str, str, str]) -> None:
        self._window = window
        self.voices = self._dock("voices", titles[0])
        self.inspector = self._dock("inspector", titles[1])
        self.bottom = self._dock("bottom", titles[2])
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setAccessibleName(titles[2])
        self._pages: list[DeferredPage] = []
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.reset()

    def fill(self, voices: QWidget, inspector: QWidget) -> None:
        """Set the contents, in Tab key order."""
        for dock, content in zip(self.all, (voices, inspector, self.tabs), strict=True):
            dock.setWidget(content)

    def add_tab(self, make: Callable[[], QWidget], icon: QIcon, title: str) -> None:
        """Add a tab below the script. ``make`` returns its content and is called when it is first shown."""
        self._pages.append(DeferredPage(make))
        self.tabs.addTab(self._pages[-1], icon, title)

    def fill_tabs(self) -> None:
        """Create the contents of the tabs, for example to know their size."""
        for page in self._pages:
            page.fill()
        for widget in (self.tabs, self.bottom):
            widget.updateGeometry()  # Qt has stored the size without the contents

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
        for bar in self._window.findChildren(QToolBar):  # its actions are also in the menus
            bar.setVisible(room.height() >= _SHORT_SCREEN_PIXELS)
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


class BottomBar(QStatusBar):
    """Holds bars below the docks, and is painted whole only if their height changes.

    QStatusBar paints all of itself after each layout of a widget in it, even if nothing has moved.
    """

    def __init__(self, *bars: QWidget) -> None:
        super().__init__()
        holder = QWidget()
        self.column = QVBoxLayout(holder)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        for bar in bars:
            self.column.addWidget(bar)
        self._height = -1
        # The policy of a status bar that QMainWindow makes.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setSizeGripEnabled(False)
        self.addPermanentWidget(holder, 1)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            before, self._height = self._height, self.column.sizeHint().height()
            if before == self._height:
                return True
        return super().event(event)


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
    if window.restoreState(layout, _LAYOUT_WITH_TAKE):
        docks.bottom.hide()
    elif layout.isEmpty() or not window.restoreState(layout, _LAYOUT_VERSION):
        distribute(window)
        return
    if not docks.bottom.isHidden():
        docks.fill_tabs()
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
