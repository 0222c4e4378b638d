"""SubRip subtitles: one line per cue, with the gap to the next cue as pause."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import regex

from studio.project.lines import LONGEST_PAUSE_SECONDS
from studio.project.splitting import unwrap

_TIME = r"(\d{1,3}):(\d{2}):(\d{2})[,.](\d{1,3})"
_TIMES = regex.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}.*")
_FORMATTING = regex.compile(r"</?(?:i|b|u|s|font|c)\b[^<>]*>|\{\\[^{}]*\}", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cue:
    """Text of a subtitle. ``pause_after_seconds`` is None for the last cue."""

    text: str
    pause_after_seconds: float | None


@dataclass(slots=True)
class _TimedText:
    start_seconds: float
    end_seconds: float
    lines: list[str]


def cues(text: str) -> list[Cue]:
    """Return the cues of ``text`` in order, empty without time stamps."""
    timed: list[_TimedText] = []
    for line in text.splitlines():
        times = _TIMES.fullmatch(line)
        if times:
            _drop_number(timed)
            timed.append(_TimedText(_seconds(times.groups()[:4]), _seconds(times.groups()[4:]), []))
        elif timed:
            timed[-1].lines.append(line)
    shown = [(entry, words) for entry in timed if (words := _words(entry.lines))]
    if not shown:
        return []
    pauses: list[float | None] = [
        min(max(0.0, round(after.start_seconds - before.end_seconds, 3)), LONGEST_PAUSE_SECONDS)
        for (before, _), (after, _) in pairwise(shown)
    ]
    return [Cue(words, pause) for (_, words), pause in zip(shown, [*pauses, None], strict=True)]


def _drop_number(timed: list[_TimedText]) -> None:
    """Remove the number of the next cue from the end of the last one.

    Keep a number that is the only text of a cue, as some files have no cue numbers.
    """
    lines = timed[-1].lines if timed else []
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) > 1 and lines[-1].strip().isdigit():
        lines.pop()


def _seconds(parts: tuple[str, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _words(lines: list[str]) -> str:
    return unwrap("\n".join(_FORMATTING.sub("", line).strip() for line in lines))
