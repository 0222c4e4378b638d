"""A picture any viewer opens, louder brighter and low bands below."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from training.trainers.spectrogram_picture import write_spectrograms


def test_pictures_stand_beside_and_above_each_other(tmp_path: Path) -> None:
    quiet, rising = np.full((10, 8), -20.0), np.tile(np.linspace(2.0, -11.5, 8), (10, 1))
    write_spectrograms(tmp_path / "sub" / "mels.png", [[quiet, rising], [rising]])
    content = (tmp_path / "sub" / "mels.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert (width, height) == (2 * 2 * (10 + 4), 2 * 2 * (8 + 4))
    (length,) = struct.unpack(">I", content[33:37])
    lines = np.frombuffer(zlib.decompress(content[41 : 41 + length]), np.uint8).reshape(height, width + 1)
    pixels = lines[::2, 1::2]
    assert (lines[:, 0] == 0).all()
    assert (pixels[4:12, 0:10] == 0).all()  # quiet
    assert pixels[11, 14] == 255  # the lowest band of the rising one, at the bottom
    assert pixels[4, 14] == 0
    assert pixels[23, 0] == 255
