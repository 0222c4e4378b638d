"""Words about lengths and slots in the rows of the script."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from studio.app.script.outline import seconds_of
from studio.project.lines import Line
from studio.project.script import Script


@dataclass(frozen=True, slots=True)
class SlotFit:
    """Length of the chosen take and of the line's time in a video."""

    words: str
    is_overrun: bool


def slot_fit(script: Script, line: Line) -> SlotFit | None:
    """Return None for a line without a slot."""
    if line.slot is None or not line.is_spoken:
        return None
    from studio.project.dubbing import overrun_seconds  # noqa: PLC0415 - after the first paint

    seconds = seconds_of(script, line)
    if not seconds:
        words = QCoreApplication.translate("RowWords", "slot {slot:.1f} s").format(slot=line.slot.seconds)
        return SlotFit(words, is_overrun=False)
    words = QCoreApplication.translate("RowWords", "{take:.1f} / {slot:.1f} s")
    is_overrun = overrun_seconds(line.slot, seconds, script.speech_slots) > 0.0
    return SlotFit(words.format(take=seconds, slot=line.slot.seconds), is_overrun)


def time_text(seconds: float) -> str:
    """Format a length as ``0:07.5``."""
    minutes, tenths = divmod(round(10 * seconds), 600)
    return f"{minutes}:{tenths // 10:02d}.{tenths % 10}"
