"""Layout of the window: menus, toolbar and docks, saved and restored."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QTabWidget, QToolBar, QWidget

from studio.app.actions import EDIT, FILE, GROUPS, HELP, PLAY, SPEAK, VIEW, VOICES, Actions
from studio.app.widgets.screen_fit import available_size, fit_to_screen
from studio.errors import StudioError
from studio.settings import WINDOW_GEOMETRY, WINDOW_LAYOUT
from studio.settings_store import Settings

# Increase it when docks or toolbars are added, so that older saved layouts are ignored.
_LAYOUT_VERSION = 1
_SIZE = (1280, 820)
# Below these sizes docks are stacked as tabs: three columns, or a dock below, would leave too little for the script.
# A screen of 1280 by 800 at 200 % is that small.
_NARROW_SCREEN_PIXELS = 720
_SHORT_SCREEN_PIXELS = 440
_MENUS: dict[str, tuple[str | None, ...]] = {
    FILE: ("file.new", "file.open", "file.save", "file.save_as", None, "file.import", "file.export", None,
           "file.models", "file.engines", "file.settings", None, "file.quit"),
    EDIT: ("edit.undo", "edit.redo", None, "edit.new_line", "edit.paste_lines", "edit.duplicate", "edit.remove", None,
           "edit.split", "edit.merge", "edit.move_up", "edit.move_down", None, "edit.lock", None, "edit.find",
           "edit.replace", None, "edit.pronunciation"),
    SPEAK: ("speak.line", "speak.takes", "speak.stale", None, "speak.recording", None, "speak.pause", "speak.cancel"),
    PLAY: ("play.toggle", "play.from_here", "play.stop", None, "play.previous_take", "play.next_take", "play.compare",
           "play.compare_takes", None, "play.keep", "play.remove_take", "play.restore_take"),
    VOICES: ("voices.new", "voices.record"),
    VIEW: ("view.reset",),
    HELP: ("help.guide", "help.shortcuts", "help.doctor", None, "help.about"),
}  # fmt: skip
_TOOLBAR = (
    "file.new", "file.open", "file.save", None, "file.import", "file.export", None, "edit.undo", "edit.redo", None,
    "speak.line", "speak.stale", None, "play.toggle", "play.from_here", "play.stop", None, "voices.record",
)  # fmt: skip

# Context menu of a line.
LINE_ACTIONS = (
    "speak.line", "speak.takes", "play.toggle", "play.from_here", "edit.new_line", "edit.duplicate", "edit.merge",
    "edit.lock", "edit.remove",
)  # fmt: skip


def fill_menu_bar(window: QMainWindow, actions: Actions) -> dict[str, QMenu]:
    """Fill the menu bar and return the menus by group. Missing actions are skipped."""
    menus = {}
    for group in GROUPS:
        menu = window.menuBar().addMenu(actions.menu_title(group))
        for action_id in _MENUS[group]:
            if action_id is None:
                menu.addSeparator()
            elif action_id in actions:
                menu.addAction(actions[action_id])
        menus[group] = menu
    return menus


def make_toolbar(window: QMainWindow, actions: Actions, title: str) -> QToolBar:
    bar = QToolBar(title, window)
    bar.setObjectName("toolbar")
    bar.setMovable(False)
    for action_id in _TOOLBAR:
        if action_id is None:
            bar.addSeparator()
        elif action_id in actions:
            bar.addAction(actions[action_id])
    for action_id in ("speak.line", "speak.stale"):
        button = bar.widgetForAction(actions[action_id])
        if button is not None:
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)  # type: ignore[attr-defined]
    window.addToolBar(bar)
    return bar


class Docks:
    """Voices on the left, inspector on the right, take, queue and log below."""

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
        for dock, content in ((self.voices, voices), (self.inspector, inspector), (self.bottom, self.tabs)):
            dock.setWidget(content)

    @property
    def all(self) -> tuple[QDockWidget, ...]:
        return self.voices, self.inspector, self.bottom

    def reset(self) -> None:
        """Restore the default layout."""
        for dock, area in zip(
            self.all,
            (
                Qt.DockWidgetArea.LeftDockWidgetArea,
                Qt.DockWidgetArea.RightDockWidgetArea,
                Qt.DockWidgetArea.BottomDockWidgetArea,
            ),
            strict=True,
        ):
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
            dock.show()
        room = available_size()
        if room.width() < _NARROW_SCREEN_PIXELS:
            self._window.tabifyDockWidget(self.voices, self.inspector)
        if room.height() < _SHORT_SCREEN_PIXELS:
            self._window.tabifyDockWidget(self.voices, self.bottom)
        self.voices.raise_()
        distribute(self._window)

    def _dock(self, name: str, title: str) -> QDockWidget:
        dock = QDockWidget(title, self._window)
        dock.setObjectName(name)
        dock.setWidget(QWidget())
        return dock


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
