"""Whether there is a screen, asked before Qt is: Qt ends the process, in words for programmers. No Qt here."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.errors import NoScreen

_LONGEST_WAIT_SECONDS = 2.0
_X, _WAYLAND = "xcb", "wayland"

Answers = Callable[[str], bool]


def x_answers(display: str) -> bool:
    """Whether an X server can be used under that name: the question Qt will ask, asked by the same library."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # Qt needs it as well; that it is missing is for the set-up to say
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
    xcb.xcb_connection_has_error.argtypes = (ctypes.c_void_p,)
    xcb.xcb_disconnect.argtypes = (ctypes.c_void_p,)
    connection = xcb.xcb_connect(os.fsencode(display), None)
    is_there: bool = xcb.xcb_connection_has_error(connection) == 0
    xcb.xcb_disconnect(connection)
    return is_there


def wayland_answers(display: str) -> bool:
    """Whether a compositor listens under that name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_LONGEST_WAIT_SECONDS)
        try:
            connection.connect(str(Path(os.environ.get("XDG_RUNTIME_DIR", "/run"), display)))
        except OSError:
            return False
    return True


def require_screen(
    environment: Mapping[str, str], *, has_x: Answers = x_answers, has_wayland: Answers = wayland_answers
) -> str | None:
    """The Qt platform to ask for; None: Qt finds it by itself. Raises ``NoScreen`` where no window can be shown."""
    if not sys.platform.startswith("linux"):
        return None
    asked_for = environment.get("QT_QPA_PLATFORM", "")
    platforms = {each.partition(":")[0] for each in asked_for.split(";")} if asked_for else {_X, _WAYLAND}
    if platforms - {_X, _WAYLAND}:
        return None  # one that needs no screen, for tests, or that only developers know
    screens = [
        (platform, variable, name, answers)
        for platform, variable, answers in ((_X, "DISPLAY", has_x), (_WAYLAND, "WAYLAND_DISPLAY", has_wayland))
        if platform in platforms and (name := environment.get(variable))
    ]
    if not screens:
        raise NoScreen(
            "There is no screen here to show the window on.",
            remedy="`timbre --help` lists what works in a terminal.",
        )
    reached = [platform for platform, _, name, answers in screens if answers(name)]
    if not reached:
        raise NoScreen(
            "The screen {name}, which {variable} names, cannot be reached from here.",
            remedy="Start the program on the desktop itself; `timbre --help` lists what works in a terminal.",
            name=screens[0][2],
            variable=screens[0][1],
        )
    # Of two that are named Qt may try the one that does not answer, and give up.
    return reached[0] if len(reached) < len(screens) else None
