"""Spectrograms as grey PNG images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.corpus.utterance import FloatArray
from training.png import write_grey_png

_SIZE = 512
_HOP = 96
_MIN_DB, _MAX_DB = -95.0, -20.0
_BLANK_ROWS = 6


def write_picture(path: Path, sounds: Sequence[FloatArray], *, most_columns: int = 1000) -> None:
    """Write the spectrograms one below the other, up to 12 kHz each, with 4 ms per column."""
    pictures = [_picture(sound)[:, :most_columns] for sound in sounds]
    width = max(picture.shape[1] for picture in pictures)
    rows = []
    for picture in pictures:
        rows.append(np.pad(picture, ((0, 0), (0, width - picture.shape[1]))))
        rows.append(np.full((_BLANK_ROWS, width), 255, np.uint8))
    write_grey_png(path, np.concatenate(rows[:-1]))


def _picture(sound: FloatArray) -> npt.NDArray[np.uint8]:
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(sound, _SIZE // 2), _SIZE)[::_HOP]
    magnitude = np.abs(np.fft.rfft(frames * np.hanning(_SIZE))) * (4.0 / _SIZE)
    decibels = 20.0 * np.log10(np.maximum(magnitude, 1e-9))
    share = (decibels - _MIN_DB) / (_MAX_DB - _MIN_DB)
    return (255.0 * np.clip(share, 0.0, 1.0)).astype(np.uint8).T[::-1]
