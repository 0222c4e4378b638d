"""Correlation of the pitch of two readings of the same text."""

from __future__ import annotations

import numpy as np

from training.corpus.acoustics import f0_of, mel_of
from training.corpus.utterance import FloatArray

_MIN_FRAMES = 20  # of 20 ms, voiced in both readings


def pitch_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return the correlation of log F0 at corresponding times, or NaN if too little is voiced. The rate is 24 kHz."""
    pitches = f0_of(one), f0_of(other)
    path = _path(mel_of(one), mel_of(other))
    path = path[(path[:, 0] < len(pitches[0])) & (path[:, 1] < len(pitches[1]))]
    pairs = np.stack([pitch[path[:, side]] for side, pitch in enumerate(pitches)])
    voiced = pairs[:, (pairs > 0).all(axis=0)]
    if voiced.shape[1] < _MIN_FRAMES:
        return float("nan")
    return float(np.corrcoef(np.log(voiced))[0, 1])


def _path(one: FloatArray, other: FloatArray) -> np.ndarray:
    """Return pairs of frames (length, 2) that correspond in dynamic time warping."""
    shapes = [mel - mel.mean(axis=0) for mel in (one, other)]
    distances = np.sqrt(((shapes[0][:, None] - shapes[1][None]) ** 2).mean(axis=2))
    rows, columns = distances.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0.0
    for row in range(rows):
        for column in range(columns):
            before = min(total[row, column], total[row, column + 1], total[row + 1, column])
            total[row + 1, column + 1] = distances[row, column] + before
    place = (rows - 1, columns - 1)
    found = [place]
    while place != (0, 0):
        row, column = place
        steps = ((row - 1, column - 1), (row - 1, column), (row, column - 1))
        place = min((step for step in steps if min(step) >= 0), key=lambda step: total[step[0] + 1, step[1] + 1])
        found.append(place)
    return np.array(found[::-1])
