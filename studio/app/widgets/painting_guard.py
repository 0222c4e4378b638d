"""Protection against exceptions in Python code that Qt calls while it paints.

An exception that leaves a model's ``data``, a delegate or a ``paintEvent`` unwinds through Qt's C++ code, which is
not exception-safe, so the program may crash without a message. Every class whose methods Qt calls while painting is
decorated with ``paints_safely``.
"""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPixmap

_log = logging.getLogger(__name__)
_Class = TypeVar("_Class", bound=type)

# Methods that Qt calls while it paints or lays out widgets, with the result that each returns after an error.
FALLBACKS: dict[str, Callable[[], object]] = {
    "columnCount": int,
    "data": lambda: None,
    "filterAcceptsRow": lambda: True,
    "flags": lambda: Qt.ItemFlag.NoItemFlags,
    "headerData": lambda: None,
    "initStyleOption": lambda: None,
    "minimumSizeHint": QSize,
    "paint": lambda: None,
    "paintEvent": lambda: None,
    "pixmap": QPixmap,
    "rowCount": int,
    "sizeHint": QSize,
}
_PLACEHOLDER = "…"
# Painting repeats many times a second, so each defect is logged only once.
_logged: set[tuple[str, str]] = set()


def paints_safely(guarded: _Class) -> _Class:
    """Decorate a class so that the methods Qt calls while painting log errors and return a neutral result."""
    for name, fallback in FALLBACKS.items():
        if name in vars(guarded):
            setattr(guarded, name, _guarded(vars(guarded)[name], fallback))
    return guarded


def _guarded(method: Callable[..., Any], fallback: Callable[[], object]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: object, *arguments: object, **options: object) -> Any:
        try:
            return method(self, *arguments, **options)
        except Exception as error:  # noqa: BLE001 - boundary to Qt, see the module's docstring
            _log_once(method.__qualname__, error)
            # The frames refer to painters, which must be destroyed before control returns to Qt.
            traceback.clear_frames(error.__traceback__)
            _draw_placeholder(arguments)
            return fallback()

    return call


def _log_once(name: str, error: Exception) -> None:
    defect = (name, type(error).__name__)
    if defect not in _logged:
        _logged.add(defect)
        _log.error("unexpected error while painting: %s", name, exc_info=error)


def _draw_placeholder(arguments: tuple[object, ...]) -> None:
    """Draw a placeholder if ``arguments`` belong to a delegate's ``paint``."""
    if len(arguments) < 2 or not isinstance(arguments[0], QPainter):
        return
    rect = getattr(arguments[1], "rect", arguments[1])
    if isinstance(rect, QRect):
        arguments[0].drawText(rect, int(Qt.AlignmentFlag.AlignCenter), _PLACEHOLDER)
