"""Timing of each line in the joined audio, and subtitles: SubRip, WebVTT, LRC and JSON, including single words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import regex

from studio.errors import StyleNotSupported
from studio.export.speech_source import ExportItem
from studio.take_checks.records import WordTime
from studio.text.tags import TagSet, find_marks
from studio.text.tokenizer import COSYVOICE2_TEXT, COSYVOICE3_TEXT

_BLANKS = regex.compile(r"\s+")
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
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
    LRC = ".lrc"
    JSON = ".words.json"

    def write(self, timings: Iterable[LineTiming], *, has_words: bool = False) -> str:
        """Return the subtitles of all lines, except those that contain only tags.

        With ``has_words``, SubRip contains a subtitle for each word, and WebVTT and LRC the time of each word in its
        line. JSON always contains word times. Lines without word times are written as a whole.
        """
        shown = [(timing, text) for timing in timings if (text := as_subtitle(timing.item.text))]
        match self:
            case SubtitleFormat.SRT:
                return _srt(shown, has_words=has_words)
            case SubtitleFormat.VTT:
                return _vtt(shown, has_words=has_words)
            case SubtitleFormat.LRC:
                return _lrc(shown, has_words=has_words)
            case SubtitleFormat.JSON:
                lines = [_json_line(timing, text) for timing, text in shown]
                return json.dumps({"lines": lines}, ensure_ascii=False, indent=1) + "\n"


Shown = list[tuple[LineTiming, str]]


def _srt(shown: Shown, *, has_words: bool) -> str:
    cues: list[tuple[float, float, str]] = []
    for timing, text in shown:
        words = shown_words(timing) if has_words else []
        cues += words or [(timing.start_seconds, timing.start_seconds + timing.seconds, text)]
    # An arrow in the text would be parsed as a time stamp.
    return "\n".join(
        f"{number}\n{_span(start, end, ',')}\n{text.replace('-->', '→')}\n"
        for number, (start, end, text) in enumerate(cues, 1)
    )


def _vtt(shown: Shown, *, has_words: bool) -> str:
    blocks = []
    for timing, text in shown:
        words = shown_words(timing) if has_words else []
        timed = "".join(f"<{_time(start, '.')}>{_escaped(word)}" for start, _, word in with_spaces(words))
        span = _span(timing.start_seconds, timing.start_seconds + timing.seconds, ".")
        blocks.append(f"{span}\n{_vtt_voice(timing.item)}{timed or _escaped(text)}\n")
    return "\n".join(["WEBVTT\n", *blocks])


def _lrc(shown: Shown, *, has_words: bool) -> str:
    lines = []
    for timing, text in shown:
        words = shown_words(timing) if has_words else []
        timed = "".join(f"<{_lrc_time(start)}>{word}" for start, _, word in with_spaces(words))
        lines.append(f"[{_lrc_time(timing.start_seconds)}]{timed or text}\n")
    return "".join(lines)


def _json_line(timing: LineTiming, text: str) -> dict[str, Any]:
    return {
        "text": text,
        "voice": timing.item.voice,
        "from_seconds": round(timing.start_seconds, 3),
        "to_seconds": round(timing.start_seconds + timing.seconds, 3),
        "words": [
            {"text": word, "from_seconds": round(start, 3), "to_seconds": round(end, 3)}
            for start, end, word in shown_words(timing)
        ],
    }


def shown_words(timing: LineTiming) -> list[tuple[float, float, str]]:
    """Return start, end and text of each timed word, with its punctuation, in the joined audio.

    Text between two words, such as a word that was not recognised, is shown with the word before it.
    """
    text, words = timing.item.text, timing.item.words
    shown = []
    for position, word in enumerate(words):
        start = word.text_start if position else 0
        end = words[position + 1].text_start if position + 1 < len(words) else len(text)
        if piece := as_subtitle(text[start:end]):
            first, last = _within(word, timing)
            shown.append((first, last, piece))
    return shown


def _within(word: WordTime, timing: LineTiming) -> tuple[float, float]:
    start = min(word.from_seconds, timing.seconds)
    return timing.start_seconds + start, timing.start_seconds + min(max(start, word.to_seconds), timing.seconds)


def with_spaces(words: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Return the words with a space after each that is not followed by a Chinese or Japanese character."""
    following = [word for _, _, word in words[1:]]
    return [
        (start, end, word if position >= len(following) or _WIDE.match(following[position]) else f"{word} ")
        for position, (start, end, word) in enumerate(words)
    ]


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

    both = (*COSYVOICE3_TEXT.tags.inline, *COSYVOICE2_TEXT.tags.inline)
    return TagSet(tuple(dict.fromkeys(both)), COSYVOICE3_TEXT.tags.phones)


def _vtt_voice(item: ExportItem) -> str:
    return f"<v {_escaped(item.voice)}>" if item.voice else ""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _span(start: float, end: float, point: str) -> str:
    return f"{_time(start, point)} --> {_time(end, point)}"


def _time(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{milliseconds // 1000:02}{point}{milliseconds % 1000:03}"


def _lrc_time(seconds: float) -> str:
    minutes, hundredths = divmod(round(seconds * 100), 6000)
    return f"{minutes:02}:{hundredths // 100:02}.{hundredths % 100:02}"
