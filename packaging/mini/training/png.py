"""Writer of grey PNG images, without a library."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt


def write_grey_png(path: Path, grey: npt.NDArray[np.uint8]) -> None:
    """Write ``grey`` (rows, columns), with 0 for black. Create the folder if it is missing."""
    height, width = grey.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), grey], axis=1)  # each line begins with its filter type, 0
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    blocks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_block(kind, content) for kind, content in blocks))


def _block(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
