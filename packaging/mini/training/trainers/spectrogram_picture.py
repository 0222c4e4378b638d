"""Spectrograms as PNG files, in rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.png import write_grey_png

_MIN_NATS, _MAX_NATS = -11.5, 2.0  # range of a mel band in nats
_GAP = 4
_MAGNIFIED = 2


def write_spectrograms(path: Path, rows: Sequence[Sequence[npt.NDArray[np.floating]]]) -> None:
    """Write ``rows`` of mels (frames, bands) side by side, low bands at the bottom, louder bands brighter."""
    strips = [np.concatenate([_with_gap(_picture(mel)) for mel in row], axis=1) for row in rows]
    width = max(strip.shape[1] for strip in strips)
    pixels = np.concatenate(
        [np.pad(strip, ((0, 0), (0, width - strip.shape[1])), constant_values=128) for strip in strips]
    )
    pixels = pixels.repeat(_MAGNIFIED, axis=0).repeat(_MAGNIFIED, axis=1)
    write_grey_png(path, pixels)


def _picture(mel: npt.NDArray[np.floating]) -> npt.NDArray[np.uint8]:
    level = np.clip((mel.T[::-1] - _MIN_NATS) / (_MAX_NATS - _MIN_NATS), 0.0, 1.0)
    picture: npt.NDArray[np.uint8] = (255.0 * level).astype(np.uint8)
    return picture


def _with_gap(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.pad(picture, ((_GAP, 0), (0, _GAP)), constant_values=128)
