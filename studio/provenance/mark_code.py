"""The time-varying part of the mark. Anyone can detect it, and only the holder of the key can verify its number.

Decided: between 2 and 6 kHz, each band is louder in one half of a slot of 1.5 s, and as much quieter in the other, by a
fixed pattern of signs (1 dB) and by another one (0.9 dB) that stands for six bits of the code. Because: what tells voices
apart, and the rooms of recordings, is the same in both halves and cancels out, so that single lines are found, and eight
slots carry a number. Unused patterns measure the chance level in the same sound.

The code of 48 bits is a number and its authentication by the signing key. It is not secret, and can be copied.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NUM_BANDS, BAND_HZ, LOWEST_HZ = 128, 31.25, 2000.0
SLOT_SECONDS, NUM_SLOTS = 1.5, 8
GAIN_DB, SYMBOL_GAIN_DB = 1.0, 0.9
_BITS_PER_SLOT, _NUM_SYMBOLS = 6, 32  # a symbol has two signs
_ID_DIGITS, _DIGITS = 8, 12  # hexadecimal
# Without a key.
PLAIN_CODE = _DIGITS * "0"
_NUM_COMPARED = 48  # unused patterns

Array = npt.NDArray[np.float64]
Levels = npt.NDArray[np.float32]


def _patterns() -> Array:
    """Return orthogonal rows of signs (patterns, bands): that of the mark, those of the symbols, and unused ones."""
    rows = np.ones((1, 1))
    while len(rows) < NUM_BANDS:
        rows = np.block([[rows, rows], [rows, -rows]])
    digest = np.frombuffer(hashlib.sha256(b"Timbre Studio").digest(), np.uint8)
    signs = 1.0 - 2.0 * np.unpackbits(digest)[:NUM_BANDS]
    mixed: Array = rows * signs
    return mixed


PATTERNS = _patterns()
_COMPARED = PATTERNS[[0, *range(NUM_BANDS - _NUM_COMPARED, NUM_BANDS)]]


def file_id(*parts: str) -> str:
    """Return a number for a file that is determined by ``parts``, as eight hexadecimal digits."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:_ID_DIGITS]


def keyed_code(number: str, key: bytes) -> str:
    """Return the code, as 12 hexadecimal digits, of a number of ``file_id``."""
    return number + hmac.new(key, number.encode(), hashlib.sha256).hexdigest()[: _DIGITS - _ID_DIGITS]


def number_of(codes: Sequence[str], key: bytes) -> str:
    """Return the number in the first of ``codes`` that was made with ``key``, or "" if none was."""
    if not key:
        return ""
    return next((code[:_ID_DIGITS] for code in codes if keyed_code(code[:_ID_DIGITS], key) == code), "")


def is_code(text: str) -> bool:
    return len(text) == _DIGITS and all(letter in "0123456789abcdef" for letter in text)


def gains_of(code: str) -> Array:
    """Return the gain in dB of each band in each half of the slots: (halves, bands)."""
    bits, halves = int(code, 16), []
    for slot in range(NUM_SLOTS):
        symbol = bits >> (_BITS_PER_SLOT * slot) & (2 * _NUM_SYMBOLS - 1)
        sign = 1.0 if symbol < _NUM_SYMBOLS else -1.0
        gains = GAIN_DB * PATTERNS[0] + sign * SYMBOL_GAIN_DB * PATTERNS[1 + symbol % _NUM_SYMBOLS]
        halves += [gains, -gains]
    return np.array(halves)


@dataclass(frozen=True, slots=True)
class SlotSearch:
    """Searches the levels in dB of the bands in loud frames, (frames, bands). The frames that are not loud are zeros."""

    levels: Levels
    sums: Levels  # of the patterns of the mark and the unused ones over the frames before each frame

    @classmethod
    def of(cls, levels: Levels) -> SlotSearch:
        return cls(levels, _sums(levels, _COMPARED))

    def place(self, frames_per_slot: float) -> tuple[float, int]:
        """Return where the mark is strongest, and how strong in standard deviations of the unused patterns."""
        offsets = np.arange(-round(frames_per_slot), 0)
        found = _differences(self.sums, offsets, frames_per_slot).sum(axis=1)
        spread = np.sqrt((found[:, 1:] ** 2).mean()) + 1e-6
        best = int(found[:, 0].argmax())
        return float(found[best, 0] / spread), int(offsets[best])

    def codes(self, frames_per_slot: float, offset: int) -> tuple[str, ...]:
        """Return what the symbols say if the code begins with each of the slots."""
        sums = _sums(self.levels, PATTERNS[1 : 1 + _NUM_SYMBOLS])
        (strengths,) = _differences(sums, np.array([offset]), frames_per_slot)
        slots = np.zeros((NUM_SLOTS, _NUM_SYMBOLS))
        for slot, each in enumerate(strengths):
            slots[slot % NUM_SLOTS] += each
        symbols = np.abs(slots).argmax(axis=1)
        values = [int(symbol) + _NUM_SYMBOLS * bool(slots[slot, symbol] < 0) for slot, symbol in enumerate(symbols)]
        return tuple(
            f"{sum(values[(first + slot) % NUM_SLOTS] << _BITS_PER_SLOT * slot for slot in range(NUM_SLOTS)):012x}"
            for first in range(NUM_SLOTS)
        )


def _sums(levels: Levels, patterns: Array) -> Levels:
    found = np.zeros((len(levels) + 1, len(patterns)), np.float32)
    np.cumsum(levels @ patterns.T.astype(np.float32), axis=0, out=found[1:])
    return found


def _differences(sums: Levels, offsets: npt.NDArray[np.int_], frames_per_slot: float) -> Levels:
    """Return the first half less the second half of each slot, of shape (offsets, slots, patterns)."""
    num_frames = len(sums) - 1
    num_slots = int(num_frames / frames_per_slot) + 2
    ends = offsets[:, None] + np.round(frames_per_slot / 2 * np.arange(2 * num_slots + 1)).astype(int)
    halves = np.diff(sums[np.clip(ends, 0, num_frames)], axis=1)
    differences: Levels = halves[:, ::2] - halves[:, 1::2]
    return differences
