"""A user of the running program, who has eyes, a keyboard and a mouse.

Keys and clicks are sent through the X server, and everything is awaited: a key is pressed only when the expected window
has the focus, and a control is clicked only when it is enabled and nothing covers it.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QModelIndex, QPoint, QRect
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QMenu,
    QPushButton,
    QTabWidget,
    QWidget,
)
from shiboken6 import isValid

from studio.errors import StudioError

if TYPE_CHECKING:
    from studio.app.session import Session
    from studio.app.window import MainWindow
    from studio.app.window_manager import WindowManager

PATIENCE_SECONDS = 180.0
_LOOK_SECONDS = 0.05
_TYPING_MILLISECONDS = 12
_DRAG_STEPS = 12
_MARK_PIXELS = 20
_NO_SOUND_CARD = "no-output-device"

Window = TypeVar("Window", bound=QWidget)
Area = Callable[[], QRect] | None  # the part of a widget to click, which may move


class JourneyFailed(Exception):
    """Something that was awaited did not happen."""


@dataclass
class Effort:
    """What a journey costs the user."""

    keys: int = 0  # key presses, each combination counted once, without typed text
    letters: int = 0  # of typed text
    clicks: int = 0  # a double click counts twice
    drags: int = 0


@dataclass
class User:
    """Operates the program. ``place`` is the window that the user looks at: keys go there or fail."""

    manager: WindowManager
    folder: Path
    pictures: Path | None = None
    effort: Effort = field(default_factory=Effort)
    errors: list[StudioError] = field(default_factory=list)
    done: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    num_pictures: int = 0

    def __post_init__(self) -> None:
        self.session.failed.connect(self._on_error)
        self.place: QWidget = self.window

    @property
    def window(self) -> MainWindow:
        return self.manager.window

    @property
    def session(self) -> Session:
        return self.window.session

    # Looking.

    async def until(self, condition: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until ``condition`` is true. ``what`` names it in the error."""
        end = asyncio.get_running_loop().time() + seconds
        while not condition():
            if asyncio.get_running_loop().time() > end:
                raise JourneyFailed(f"Not within {seconds:.0f} s: {what}.\n{self.state}")
            await asyncio.sleep(_LOOK_SECONDS)

    @property
    def state(self) -> str:
        """What an error report needs: focus, windows, errors and the latest steps."""
        windows = [
            f"{_words(widget)}{' (active)' if widget.isActiveWindow() else ''}"
            for widget in QApplication.topLevelWidgets()
            if widget.isVisible()
        ]
        return "\n".join(
            (
                f"focus: {_words(QApplication.focusWidget())}; popup: {_words(QApplication.activePopupWidget())}",
                f"expected window: {_words(self.place)}",
                f"windows: {windows}",
                f"notice: {self.window.notices.words!r}",
                f"errors: {[str(error) for error in self.errors]}",
                f"steps: {list(self.done)}",
            )
        )

    async def control(self, kind: type[Window], name: str) -> Window:
        """Wait for a visible control of ``kind`` with this label or accessible name in the expected window."""

        def found() -> list[Window]:
            labels = {label.buddy(): _plain(label.text()) for label in self.place.findChildren(QLabel) if label.buddy()}
            controls = [each for each in self.place.findChildren(kind) if each.isVisible()]
            return [each for each in controls if name in (each.accessibleName(), labels.get(each), _text_of(each))]

        await self.until(lambda: len(found()) == 1, f"there is one {kind.__name__} named {name!r}")
        return found()[0]

    async def dialog(self, kind: type[Window]) -> Window:
        """Wait until a window of ``kind`` has the focus, and look at it."""

        def found() -> list[Window]:
            return [each for each in QApplication.topLevelWidgets() if isinstance(each, kind) and _has_focus(each)]

        await self.until(found, f"a {kind.__name__} has the focus")
        self.place = found()[0]
        return found()[0]

    async def back(self) -> None:
        """Look at the main window once it has the focus again."""
        self.place = self.window
        await self.until(lambda: _has_focus(self.window), "the main window has the focus")

    async def focused(self, control: QWidget) -> None:
        """Wait until ``control`` has the keyboard focus."""
        await self.until(lambda: _contains_focus(control), f"{_words(control)} has the focus")

    async def picture(self, name: str) -> None:
        """Take a picture of the screen if pictures are wanted."""
        if self.pictures is None:
            return
        await asyncio.sleep(0.8)  # for pending paint events and thumbnails
        self.num_pictures += 1
        shown = [each.frameGeometry() for each in QApplication.topLevelWidgets() if each.isVisible()]
        area = reduce(QRect.united, shown).intersected(QApplication.primaryScreen().geometry())
        file = self.pictures / f"{self.num_pictures:02} {name}.png"
        QApplication.primaryScreen().grabWindow(0, area.x(), area.y(), area.width(), area.height()).save(str(file))

    def _on_error(self, error: StudioError) -> None:
        self.errors.append(error)

    def require_no_errors(self) -> None:
        """Fail if the program reported an error, except that the computer has no sound card."""
        if any(error.code != _NO_SOUND_CARD for error in self.errors):
            raise JourneyFailed(f"There were errors.\n{self.state}")

    # Keyboard.

    async def press(self, keys: str, times: int = 1) -> None:
        """Press a combination in the expected window, for example ``ctrl+Return``."""
        for _ in range(times):
            await self._focus_is_expected(keys)
            self.effort.keys += 1
            await self._send(f"press {keys}", "key", "--clearmodifiers", keys)

    async def type(self, text: str) -> None:
        """Type text that a US keyboard has."""
        await self._focus_is_expected(text)
        self.effort.letters += len(text)
        await self._send(f"type {text!r}", "type", "--delay", str(_TYPING_MILLISECONDS), "--", text)

    async def _focus_is_expected(self, keys: str) -> None:
        await self.until(
            lambda: QApplication.activePopupWidget() is not None or _has_focus(self.place),
            f"{_words(self.place)} has the focus, for {keys!r}",
        )

    # Mouse.

    async def click(self, target: QWidget, area: Area = None, *, times: int = 1, button: int = 1) -> None:
        """Click the middle of ``target``, or of its ``area``, once it can be clicked."""
        point = await self._reachable(target, area)
        self.effort.clicks += times
        where = ("mousemove", "--sync", str(point.x()), str(point.y()))
        await self._send(
            f"click {_words(target)}", *where, "click", "--repeat", str(times), "--delay", "60", str(button)
        )

    async def click_button(self, words: str) -> None:
        """Click the button with these words in the expected window, or the mark of a check box."""
        button = await self.control(QAbstractButton, words)
        is_check_box = isinstance(button, QCheckBox)
        await self.click(button, lambda: QRect(0, 0, _MARK_PIXELS, button.height()) if is_check_box else button.rect())

    async def click_row(self, view: QAbstractItemView, index: QModelIndex, *, times: int = 1) -> None:
        await self.click(view.viewport(), lambda: view.visualRect(index), times=times)

    async def click_tab(self, tabs: QTabWidget, words: str) -> None:
        """Show the page whose title starts with ``words``."""
        page = next(at for at in range(tabs.count()) if tabs.tabText(at).startswith(words))
        await self.click(tabs.tabBar(), lambda: tabs.tabBar().tabRect(page))
        await self.until(lambda: tabs.currentIndex() == page, f"the page {words!r} is shown")

    async def choose_in_menu(self, *titles: str) -> None:
        """Open a menu of the main window, or a chain of submenus, and click the entry."""
        bar = self.window.menuBar()
        action = _action(bar.actions(), titles[0])
        await self.click(bar, lambda: bar.actionGeometry(action))
        for title in titles[1:]:
            menu = action.menu()
            assert isinstance(menu, QMenu)
            await self.until(menu.isVisible, f"the menu {_plain(menu.title())} is open")
            action = _action(menu.actions(), title)
            await self.click(menu, lambda menu=menu, action=action: menu.actionGeometry(action))

    async def choose(self, box: QComboBox, words: str) -> None:
        """Open a list and click the entry that contains ``words``."""
        row = next((row for row in range(box.count()) if words in box.itemText(row)), None)
        if row is None:
            raise JourneyFailed(f"{words!r} is not in {[box.itemText(at) for at in range(box.count())]}.\n{self.state}")
        await self.click(box)
        view = box.view()
        await self.until(view.isVisible, f"the list of {_words(box)} is open")
        index = box.model().index(row, box.modelColumn())
        if not _shows(view, index):
            await self.press("End" if row > box.count() // 2 else "Home")
            await asyncio.sleep(_LOOK_SECONDS)
        while not _shows(view, index):
            await self.press("Up" if row < view.currentIndex().row() else "Down")
        await self.click_row(view, index)
        await self.until(lambda: box.currentIndex() == row and not view.isVisible(), f"{words!r} is chosen")

    async def drop(self, path: Path, target: QWidget, area: Area = None) -> None:
        """Drag a file from a file manager to ``target``. Let it go when the program says what will happen."""
        async with self._file_manager(path) as start:
            end = await self._reachable(target, area)
            await self._send(f"drag {path.name}", "mousemove", "--sync", *start, "mousedown", "1")
            parts = self.manager.parts
            assert parts is not None
            overlay = parts.drops.overlay
            for step in range(1, _DRAG_STEPS + 1):
                at = [
                    str(round(int(a) + (b - int(a)) * step / _DRAG_STEPS))
                    for a, b in zip(start, (end.x(), end.y()), strict=True)
                ]
                await self._send("drag", "mousemove", "--sync", *at)
            await self.until(overlay.isVisible, "the program shows what the drop would do")
            self.effort.drags += 1
            # The overlay must have answered the latest position, or the file is not accepted.
            await asyncio.sleep(0.3)
            await self.picture("drop")
            await self._send("let go", "mouseup", "1")
            await self.until(lambda: not overlay.isVisible(), "the file has been dropped")

    @contextlib.asynccontextmanager
    async def _file_manager(self, path: Path) -> AsyncIterator[tuple[str, str]]:
        """Run a file manager that shows ``path``, and return where."""
        loop = asyncio.get_running_loop()
        program = Path(__file__).with_name("file_manager.py")
        process = subprocess.Popen([sys.executable, str(program), str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            x, y = (await loop.run_in_executor(None, process.stdout.readline)).split()
            yield x, y
        finally:
            process.terminate()
            await loop.run_in_executor(None, process.wait)

    async def _reachable(self, target: QWidget, area: Area) -> QPoint:
        """Wait until ``target`` is visible, enabled, at rest and not covered. Return the point to click."""
        seen: list[QPoint] = []

        def is_reachable() -> bool:
            if not target.isVisible() or not target.isEnabled():
                return False
            place = (area or target.rect)()
            if place.isEmpty():  # in a hidden column or row
                return False
            point = target.mapToGlobal(place.center())
            seen.append(point)
            at_rest = len(seen) > 1 and seen[-2] == point
            under = QApplication.widgetAt(point)
            return at_rest and under is not None and (under is target or target.isAncestorOf(under))

        await self.until(is_reachable, f"{_words(target)} can be clicked")
        return seen[-1]

    async def _send(self, step: str, *arguments: str) -> None:
        self.done.append(step)
        sent = await asyncio.get_running_loop().run_in_executor(
            None, lambda: subprocess.run(["xdotool", *arguments], capture_output=True, text=True, check=False)
        )
        if sent.returncode != 0:
            raise JourneyFailed(f"xdotool {arguments}: {sent.stderr}\n{self.state}")

    # Steps that several journeys share.

    async def hears_everything(self) -> None:
        """Wait until nothing is spoken or played."""
        queue, transport = self.session.queue, self.session.playback.player
        await self.until(
            lambda: queue.current is None and not queue.waiting and not transport.is_playing,
            "everything has been spoken and played",
            seconds=900,
        )

    async def quit(self) -> None:
        """Quit without saving. This is not part of the journey."""
        effort, self.effort = self.effort, Effort()
        await self.back()
        await self.press("ctrl+q")
        with contextlib.suppress(RuntimeError):  # the window is gone
            await self.until(
                lambda: not self.window.isVisible() or any(map(_is_question, QApplication.topLevelWidgets())),
                "the program asks whether to save, or ends",
            )
            for question in filter(_is_question, QApplication.topLevelWidgets()):
                self.place = question
                await self.click_button("Don't save")
        self.effort = effort


def _is_question(widget: QWidget) -> bool:
    buttons = widget.findChildren(QPushButton)
    return widget.isVisible() and _has_focus(widget) and any(_plain(each.text()) == "Don't save" for each in buttons)


def _has_focus(window: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return (
        isValid(window)
        and window.isVisible()
        and window.isActiveWindow()
        and focus is not None
        and focus.window() is window
    )


def _shows(view: QAbstractItemView, index: QModelIndex) -> bool:
    return view.viewport().rect().contains(view.visualRect(index).center())


def _contains_focus(control: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return focus is not None and (focus is control or control.isAncestorOf(focus))


def _action(actions: list[QAction], title: str) -> QAction:
    found = next((each for each in actions if _plain(each.text()) == title), None)
    if found is None:
        raise JourneyFailed(f"{title!r} is not in {[_plain(each.text()) for each in actions]}")
    return found


def _plain(text: str) -> str:
    return text.replace("&", "")


def _words(widget: QWidget | None) -> str:
    if widget is None or not isValid(widget):
        return "nothing"
    return f"{type(widget).__name__} {widget.accessibleName() or widget.windowTitle() or _text_of(widget)!r}"


def _text_of(widget: QWidget) -> str:
    return _plain(widget.text()) if isinstance(widget, QAbstractButton | QLabel) else ""
