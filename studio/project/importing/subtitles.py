"""Subtitles in SubRip (.srt) and WebVTT (.vtt): one line per speech, with its time in the video as its slot.

Sources: the description of WebVTT by the W3C; SubRip has no specification.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import pairwise

import regex

from studio.project.importing.dialogue import subtitle_speeches
from studio.project.lines import DEFAULT_PAUSE_SECONDS, MAX_PAUSE_SECONDS, Line, Slot, new_id
from studio.project.splitting import unwrap

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.](\d{1,3})"
_TIMES = regex.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}.*")
_FORMATTING = regex.compile(
    r"</?(?:i|b|u|s|font|c|lang|ruby|v)\b[^<>]*>|<rt>.*?</rt>|<[\d:.]+>|\{\\[^{}]*\}", regex.IGNORECASE
)
_VOICE = regex.compile(r"<v(?:\.[^\s>]*)?[ \t]+(?P<name>[^>]+)>(?P<text>(?:(?!<v[ .]).)*)", regex.DOTALL)
_LETTER = regex.compile(r"[\p{L}\p{N}]")


@dataclass(slots=True)
class _Cue:
    slot: Slot
    lines: list[str]


def lines_of_subtitles(text: str, *, finds_speakers: bool = True) -> list[Line]:
    """Return the speeches of ``text`` in order of time, or none without time stamps.

    A subtitle with several speakers becomes several lines, which share its time in proportion to their lengths. The gap
    before the next line becomes the pause. Without ``finds_speakers``, only the voice tags of WebVTT name speakers.
    """
    cues = sorted(_cues(text), key=lambda cue: cue.slot.start_seconds)
    speeches = [speech for cue in cues for speech in _speeches(cue, finds_speakers=finds_speakers)]
    gaps = [after.slot.start_seconds - before.slot.end_seconds for before, after in pairwise(speeches)]
    return [
        Line(
            id=new_id(),
            text=speech.text,
            character=speech.character,
            slot=speech.slot,
            pause_after_seconds=min(max(0.0, round(gap, 3)), MAX_PAUSE_SECONDS),
        )
        for speech, gap in zip(speeches, [*gaps, DEFAULT_PAUSE_SECONDS], strict=False)
    ]


@dataclass(frozen=True, slots=True)
class _Speech:
    character: str | None
    text: str
    slot: Slot


def _cues(text: str) -> list[_Cue]:
    is_vtt = text.lstrip("\ufeff").startswith("WEBVTT")
    found: list[_Cue] = []
    is_in_cue = False
    for line in text.splitlines():
        times = _TIMES.fullmatch(line)
        if times:
            _drop_number(found)
            start, end = _seconds(times.groups()[:4]), _seconds(times.groups()[4:])
            found.append(_Cue(Slot(start, max(start, end)), []))
            is_in_cue = True
        elif is_vtt and not line.strip():
            is_in_cue = False  # the rest is the name of the next cue, or a comment
        elif found and is_in_cue:
            found[-1].lines.append(line)
    return found


def _drop_number(cues: list[_Cue]) -> None:
    """Remove the number of the next cue from the end of the last one.

    Keep a number that is the only text of a cue: some files have no cue numbers.
    """
    lines = cues[-1].lines if cues else []
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) > 1 and lines[-1].strip().isdigit():
        lines.pop()


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return (
        int(hours or 0) * 3600
        + int(minutes or 0) * 60
        + int(seconds or 0)
        + int((fraction or "0").ljust(3, "0")) / 1000
    )


def _speeches(cue: _Cue, *, finds_speakers: bool) -> list[_Speech]:
    text = "\n".join(cue.lines)
    named: list[tuple[str | None, str]] = [
        (html.unescape(match["name"].strip()), match["text"]) for match in _VOICE.finditer(text)
    ]
    lines = [_FORMATTING.sub("", line) for line in cue.lines]
    parts = named or (subtitle_speeches(lines) if finds_speakers else [(None, "\n".join(lines))])
    spoken = [(name, words) for name, part in parts if _LETTER.search(words := _words(part))]
    total = sum(len(words) for _, words in spoken)
    speeches: list[_Speech] = []
    start = cue.slot.start_seconds
    for name, words in spoken:
        is_last = len(speeches) == len(spoken) - 1
        end = cue.slot.end_seconds if is_last else round(start + cue.slot.seconds * len(words) / total, 3)
        speeches.append(_Speech(name, words, Slot(start, end)))
        start = end
    return speeches


def _words(part: str) -> str:
    plain = _FORMATTING.sub("", part)
    return unwrap(html.unescape("\n".join(line.strip() for line in plain.split("\n"))))
