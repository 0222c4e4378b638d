"""Renders the program's icon, ``resources/timbre-studio.svg``, in the sizes and formats of the desktops.

    python -m frozen.drawing FOLDER

Writes ``timbre-studio-SIZE.png``, ``timbre-studio.ico`` (Windows) and ``timbre-studio.icns`` (macOS). Needs Qt.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[2] / "resources" / "timbre-studio.svg"
NAME = "timbre-studio"
# The freedesktop sizes, which include those of Windows and macOS.
SIZES_PIXELS = (16, 22, 24, 32, 48, 64, 128, 256, 512, 1024)
_OF_WINDOWS = (16, 24, 32, 48, 64, 128, 256)
# Apple's names of PNG images by size; the second names are for high-density screens.
_OF_MACOS = ((b"icp4", 16), (b"icp5", 32), (b"ic11", 32), (b"icp6", 64), (b"ic12", 64), (b"ic07", 128), (b"ic08", 256),
             (b"ic13", 256), (b"ic09", 512), (b"ic14", 512), (b"ic10", 1024))  # fmt: skip


def draw(folder: Path) -> None:
    from PySide6.QtCore import QBuffer, QIODevice  # noqa: PLC0415 - the tests of the files need no Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter  # noqa: PLC0415
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication.instance() or QGuiApplication([NAME])
    drawing = QSvgRenderer(str(PICTURE))
    pictures = {}
    for size in SIZES_PIXELS:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        drawing.render(painter)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]  # typed for the names of files alone
        pictures[size] = bytes(buffer.data().data())
    del application
    folder.mkdir(parents=True, exist_ok=True)
    for size, picture in pictures.items():
        (folder / f"{NAME}-{size}.png").write_bytes(picture)
    (folder / f"{NAME}.ico").write_bytes(as_ico(pictures))
    (folder / f"{NAME}.icns").write_bytes(as_icns(pictures))


def as_ico(pictures: Mapping[int, bytes]) -> bytes:
    """Return a Windows icon of PNG images by size: directory entries of 16 bytes, then the images."""
    sizes = [size for size in _OF_WINDOWS if size in pictures]
    offset = 6 + 16 * len(sizes)
    head, body = struct.pack("<HHH", 0, 1, len(sizes)), b""
    for size in sizes:
        side = size % 256  # 256 is stored as 0
        head += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(pictures[size]), offset + len(body))
        body += pictures[size]
    return head + body


def as_icns(pictures: Mapping[int, bytes]) -> bytes:
    """Return a macOS icon of PNG images by size: blocks of name, length and image."""
    body = b""
    for name, size in _OF_MACOS:
        if size in pictures:
            body += name + struct.pack(">I", 8 + len(pictures[size])) + pictures[size]
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
