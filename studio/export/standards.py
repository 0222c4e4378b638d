"""Standards for the levels of finished audio: the limits of ACX and of EBU R128.

ACX is the audiobook platform of Audible. Its audio submission requirements
(https://help.acx.com/s/article/what-are-the-acx-audio-submission-requirements): RMS between -23 and -18 dB, peaks of at
most -3 dB, a noise floor of at most -60 dB RMS, one chapter in each file, at most 120 minutes, 0.5 to 1 s of room tone
at the head and 1 to 5 s at the tail, MP3 at 44.1 kHz with a constant bit rate of at least 192 kbit/s.

EBU R128 (https://tech.ebu.ch/publications/r128), for broadcasting: an integrated loudness of -23 LUFS within 0.5 LU,
and a true peak of at most -1 dBTP.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from studio.errors import UnusableSetting
from studio.export.levels import Levels

# Encoding to MP3 or AAC raises peaks by a few tenths of a decibel.
_ROOM_FOR_ENCODING_DB = 0.5


@dataclass(frozen=True, slots=True)
class Range:
    """Allowed values, including both ends."""

    lowest: float = -math.inf
    highest: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.lowest <= value <= self.highest


class Criterion(Enum):
    """Quantities that a standard limits."""

    RMS = "rms"
    PEAK = "peak"
    TRUE_PEAK = "true-peak"
    FLOOR = "floor"
    LOUDNESS = "loudness"
    HEAD = "head"
    TAIL = "tail"
    LENGTH = "length"
    SAMPLE_RATE = "sample-rate"


@dataclass(frozen=True, slots=True)
class LevelFinding:
    """A measured value and whether it meets the standard. ``value`` is None for silence, which has no level."""

    criterion: Criterion
    value: float | None
    allowed: Range

    @property
    def is_met(self) -> bool:
        return self.value is not None and self.value in self.allowed


@dataclass(frozen=True, slots=True)
class AudioStandard:
    """Limits of a standard, and the targets of mastering.

    Attributes:
        limits: The allowed values; other quantities are not limited.
        aim: The level of mastered audio: RMS in dBFS or loudness in LUFS.
        head_seconds, tail_seconds: The room tone of mastered audio.
        floor_dbfs: The level of the pauses of mastered audio, None to leave them unchanged.
    """

    name: str
    title: str
    limits: Mapping[Criterion, Range] = field(hash=False)
    aim: float
    head_seconds: float = 0.0
    tail_seconds: float = 0.0
    floor_dbfs: float | None = None

    @property
    def aims_at_rms(self) -> bool:
        return Criterion.RMS in self.limits

    @property
    def ceiling_dbtp(self) -> float:
        """The true peak of mastered audio."""
        limit = min(self.limits[each].highest for each in (Criterion.PEAK, Criterion.TRUE_PEAK) if each in self.limits)
        return limit - _ROOM_FOR_ENCODING_DB

    def check(self, levels: Levels) -> tuple[LevelFinding, ...]:
        """Return a finding for each limit, in the order of ``Criterion``."""
        values = {
            Criterion.RMS: levels.rms_dbfs,
            Criterion.PEAK: levels.peak_dbfs,
            Criterion.TRUE_PEAK: levels.true_peak_dbtp,
            Criterion.FLOOR: levels.floor_dbfs,
            Criterion.LOUDNESS: levels.loudness_lufs,
            Criterion.HEAD: levels.head_seconds,
            Criterion.TAIL: levels.tail_seconds,
            Criterion.LENGTH: levels.seconds,
            Criterion.SAMPLE_RATE: float(levels.sample_rate),
        }
        return tuple(LevelFinding(each, values[each], self.limits[each]) for each in Criterion if each in self.limits)


ACX = AudioStandard(
    name="acx",
    title="ACX",
    limits={
        Criterion.RMS: Range(-23.0, -18.0),
        Criterion.PEAK: Range(highest=-3.0),
        Criterion.FLOOR: Range(highest=-60.0),
        Criterion.HEAD: Range(0.5, 1.0),
        Criterion.TAIL: Range(1.0, 5.0),
        Criterion.LENGTH: Range(highest=120.0 * 60.0),
        Criterion.SAMPLE_RATE: Range(44_100.0, 44_100.0),
    },
    aim=-20.0,
    head_seconds=0.75,
    tail_seconds=2.0,
    floor_dbfs=-66.0,
)
EBU_R128 = AudioStandard(
    name="r128",
    title="EBU R128",
    limits={Criterion.TRUE_PEAK: Range(highest=-1.0), Criterion.LOUDNESS: Range(-23.5, -22.5)},
    aim=-23.0,
)
STANDARDS = {each.name: each for each in (ACX, EBU_R128)}


def standard_named(name: str) -> AudioStandard:
    """Return the standard with that name. Raise ``UnusableSetting``."""
    found = STANDARDS.get(name.strip().lower())
    if found is None:
        raise UnusableSetting(
            "“{name}” is not a known standard.", remedy="Choose one of {known}.", name=name, known=list(STANDARDS)
        )
    return found
