"""Checks for a screen before Qt starts, because Qt aborts the process without one. Does not import Qt."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from studio.errors import NoScreen

_MAX_WAIT_SECONDS = 2.0
_X, _WAYLAND = "xcb", "wayland"


def x_answers(display: str) -> bool:
    """Return whether an X server accepts connections on ``display``, using the library that Qt uses."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # Qt also needs the library, and reports that it is missing
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
    xcb.xcb_connection_has_error.argtypes = (ctypes.c_void_p,)
    xcb.xcb_disconnect.argtypes = (ctypes.c_void_p,)
    connection = xcb.xcb_connect(os.fsencode(display), None)
    is_connected: bool = xcb.xcb_connection_has_error(connection) == 0
    xcb.xcb_disconnect(connection)
    return is_connected


def wayland_answers(display: str) -> bool:
    """Return whether a Wayland compositor accepts connections on ``display``."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_MAX_WAIT_SECONDS)
        try:
            connection.connect(str(Path(os.environ.get("XDG_RUNTIME_DIR", "/run"), display)))
        except OSError:
            return False
    return True


def require_screen(environment: Mapping[str, str]) -> str | None:
    """Return the Qt platform to use, or None to let Qt choose. Raises ``NoScreen`` if no window can be shown."""
    if not sys.platform.startswith("linux"):
        return None
    requested = environment.get("QT_QPA_PLATFORM", "")
    platforms = {each.partition(":")[0] for each in requested.split(";")} if requested else {_X, _WAYLAND}
    if platforms - {_X, _WAYLAND}:
        return None  # platforms that need no display, such as offscreen
    screens = [
        (platform, variable, name, answers)
        for platform, variable, answers in ((_X, "DISPLAY", x_answers), (_WAYLAND, "WAYLAND_DISPLAY", wayland_answers))
        if platform in platforms and (name := environment.get(variable))
    ]
    if not screens:
        raise NoScreen(
            "No screen is available to show the window on.",
            remedy="`timbre --help` lists what works in a terminal.",
        )
    reached = [platform for platform, _, name, answers in screens if answers(name)]
    if not reached:
        raise NoScreen(
            "The screen {name}, set by {variable}, cannot be reached.",
            remedy="Start the program on the desktop itself; `timbre --help` lists what works in a terminal.",
            name=screens[0][2],
            variable=screens[0][1],
        )
    # If both displays are set, Qt may try only the unreachable one.
    return reached[0] if len(reached) < len(screens) else None
