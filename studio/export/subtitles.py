"""Timing of each line in the joined audio, and SubRip and WebVTT subtitles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache

import regex

from studio.errors import StyleNotSupported
from studio.export.speech_source import ExportItem
from studio.text.tags import TagSet, find_marks

_BLANKS = regex.compile(r"\s+")
_BEFORE_POINT = regex.compile(r" (?=[,.;:!?，。；：！？、])")


@dataclass(frozen=True, slots=True)
class LineTiming:
    """A line in the joined audio: it begins at ``start_samples``, and ``pause_samples`` of silence follow it."""

    item: ExportItem
    start_samples: int
    num_samples: int
    pause_samples: int
    sample_rate: int

    @property
    def start_seconds(self) -> float:
        return self.start_samples / self.sample_rate

    @property
    def seconds(self) -> float:
        return self.num_samples / self.sample_rate

    @property
    def end_samples(self) -> int:
        """The end of the pause."""
        return self.start_samples + self.num_samples + self.pause_samples


class SubtitleFormat(Enum):
    """A subtitle format. The value is the file suffix."""

    SRT = ".srt"
    VTT = ".vtt"

    def write(self, timings: Iterable[LineTiming]) -> str:
        """Return the subtitles of all lines, except those that contain only tags."""
        shown = [(timing, text) for timing in timings if (text := as_subtitle(timing.item.text))]
        if self is SubtitleFormat.SRT:
            # An arrow in the text would be parsed as a time stamp.
            return "\n".join(
                f"{number}\n{_span(timing, ',')}\n{text.replace('-->', '→')}\n"
                for number, (timing, text) in enumerate(shown, 1)
            )
        blocks = (f"{_span(timing, '.')}\n{_vtt_voice(timing.item)}{_escaped(text)}\n" for timing, text in shown)
        return "\n".join(["WEBVTT\n", *blocks])


def as_subtitle(text: str) -> str:
    """Return ``text`` on one line, without tags, pauses and pronunciations."""
    try:
        marks = find_marks(text, _all_tags())
    except StyleNotSupported:  # invalid tags are shown as text
        marks = ()
    words = ""
    position = 0
    for mark in marks:
        words += text[position : mark.start] + " "
        position = mark.end
    return _BEFORE_POINT.sub("", _BLANKS.sub(" ", words + text[position:])).strip()


@cache
def _all_tags() -> TagSet:
    """Return the tags of all model generations."""
    # Imported here because it loads text normalization, which the export dialog does not need.
    from studio.text.prompt_form import COSYVOICE2_TEXT, COSYVOICE3_TEXT  # noqa: PLC0415

    both = (*COSYVOICE3_TEXT.tags.inline, *COSYVOICE2_TEXT.tags.inline)
    return TagSet(tuple(dict.fromkeys(both)), COSYVOICE3_TEXT.tags.phones)


def _vtt_voice(item: ExportItem) -> str:
    return f"<v {_escaped(item.voice)}>" if item.voice else ""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _span(timing: LineTiming, point: str) -> str:
    start, end = timing.start_seconds, timing.start_seconds + timing.seconds
    return f"{_time(start, point)} --> {_time(end, point)}"


def _time(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{milliseconds // 1000:02}{point}{milliseconds % 1000:03}"
