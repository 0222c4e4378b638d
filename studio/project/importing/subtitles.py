"""Subtitles: one line per speech, with its time in the video as its slot.

pysubs2 reads all formats. Files with faults are common in SubRip (.srt) and WebVTT (.vtt), and pysubs2 is strict about
times, so these are first rewritten with the times that it reads and without the comments of WebVTT.
Sources: the description of WebVTT by the W3C; SubRip has no specification.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import regex

from studio.messages import Message, message
from studio.project.importing.dialogue import is_song, subtitle_speeches, without_capitals, without_sounds
from studio.project.lines import DEFAULT_PAUSE_SECONDS, MAX_PAUSE_SECONDS, Line, Slot, new_id
from studio.project.splitting import unwrap

_TIME = r"(?:(\d{1,4})[ \t]?:[ \t]?)?(\d{1,3})[ \t]?:[ \t]?(\d{1,2})(?:[ \t]?[,.:;][ \t]?(\d{1,6}))?"
_ARROW = r"(?:-{1,3}[ \t]?[>»]|[–—=]>|→)"
_TIMES = regex.compile(rf"[ \t]*{_TIME}[ \t]*{_ARROW}[ \t]*{_TIME}(?![\d:]).*")
_DIGIT = regex.compile(r"\d")
_COLON_OF_TIME = regex.compile(r"(?<=\d):(?=\d\d\.)")
_END_OF_CUE = "\n0"  # pysubs2 takes a number at the end of a cue for the number of the next one
_BREAK = regex.compile(r"\\[Nn]|<br\b[^<>]*>", regex.IGNORECASE)
# Tags of HTML and WebVTT, of SubStation Alpha, and of MicroDVD. Two tags are those of the models.
_FORMATTING = regex.compile(
    r"<rt>[^<>]*</rt>|</?(?!(?:strong|laughter)>)[a-z][^<>]*>|<[\d:.&#;]+>|\{\\[^{}]*\}|\{[a-z]{1,2}:[^{}]*\}",
    regex.IGNORECASE,
)
_VOICE = regex.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]+)>")
_LETTER = regex.compile(r"[\p{L}\p{N}]")
# Overrides of SubStation Alpha. The work of pysubs2 for these grows with the square of their number.
_OVERRIDE = regex.compile(r"\{[^{}]*\}")
_DRAWING = regex.compile(r"\{[^{}]*\\p[1-9]")
_MAX_LINE_LENGTH = 10_000  # longer lines of these formats contain drawings
_OTHER_FORMATS = ("ass", "ssa", "microdvd", "mpl2", "sami", "tmp")
# Names of styles whose words are on the screen or sung, such as “Signs”, “Sign_Top” and “OP Romaji”.
_SIGN_STYLE = regex.compile(
    r"(?<![a-z])(?:signs?|titles?|typeset(?:ting)?|credits?|songs?|karaoke|lyrics?|op|ed)(?![a-z])", regex.IGNORECASE
)
_NO_NAMES = ("", "NTP")  # NTP is what Sub Station Alpha writes
_USUAL_FRAMES_PER_SECOND = 24_000 / 1001
_MIN_ROLLING = 0.5  # share of the captions that repeat words of the one before
_MAX_WORDS_COMPARED = 60
_MAX_NUMBERS_NAMED = 5
_MAX_GAP_SECONDS = 1.0  # between captions that roll


@dataclass(slots=True)
class _Cue:
    """A subtitle: its lines, when it is shown, its speaker if the format names one, and whether it is a sign or song."""

    slot: Slot
    lines: list[str]
    speaker: str | None = None
    is_sign: bool = False


def lines_of_subtitles(text: str, *, finds_speakers: bool = True, speaks_sounds: bool = False) -> list[Line]:
    """Return the speeches of ``text`` in order of time, or none without time stamps.

    A subtitle with several speakers becomes several lines, which share its time in proportion to their lengths. The gap
    before the next line becomes the pause. Without ``finds_speakers``, only tags of the format name speakers. Sounds,
    songs and signs become lines that are spoken only with ``speaks_sounds``.
    """
    cues = _without_repeats(_read(text))
    speeches = [
        speech for cue in cues for speech in _speeches(cue, finds_speakers=finds_speakers, speaks_sounds=speaks_sounds)
    ]
    spoken = [speech for speech in speeches if speech.is_spoken]
    gaps = {id(before): after.slot.start_seconds - before.slot.end_seconds for before, after in pairwise(spoken)}
    return [
        Line(
            id=new_id(),
            text=speech.text,
            character=speech.character,
            slot=speech.slot,
            is_spoken=speech.is_spoken,
            pause_after_seconds=min(max(0.0, round(gaps.get(id(speech), DEFAULT_PAUSE_SECONDS), 3)), MAX_PAUSE_SECONDS),
        )
        for speech in speeches
    ]


def notices_of_subtitles(text: str) -> tuple[Message, ...]:
    """Return notices about subtitles that are left out because their times cannot be read."""
    numbers = _with_plain_times(text)[1] if _has_times(text) else []
    if not numbers:
        return ()
    named = [str(number) for number in numbers[:_MAX_NUMBERS_NAMED]]
    return (
        message(
            "Subtitles whose times cannot be read are left out (line {numbers} of the file).",
            numbers=[*named, "…"] if len(numbers) > len(named) else named,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Speech:
    character: str | None
    text: str
    slot: Slot
    is_spoken: bool


def _read(text: str) -> list[_Cue]:
    """Return the subtitles in order of time, or none if the format is unknown. Tags that name speakers stay in lines."""
    import pysubs2  # noqa: PLC0415 - takes 40 ms, and is needed for few files
    from pysubs2.formats import autodetect_format  # noqa: PLC0415

    is_timed = _has_times(text)
    try:
        kind = "vtt" if is_timed else "ass" if "[Events]" in text else autodetect_format(text)
        if is_timed:
            text, _ = _with_plain_times(text)
        elif kind not in _OTHER_FORMATS:
            return []
        elif kind != "sami":  # which may have all subtitles in one line
            text = "\n".join(line for line in text.splitlines() if len(line) <= _MAX_LINE_LENGTH)
        try:
            events = pysubs2.SSAFile.from_string(text, format_=kind, keep_html_tags=True)
        except pysubs2.UnknownFPSError:
            events = pysubs2.SSAFile.from_string(text, format_=kind, fps=_USUAL_FRAMES_PER_SECOND)
        shown = sorted(events, key=lambda event: event.start)
    except (pysubs2.Pysubs2Error, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError):
        return []
    cues = [
        _Cue(
            Slot(event.start / 1000, max(event.start, event.end) / 1000),
            event.text.split(r"\N") if is_timed else _OVERRIDE.sub("", event.text).replace(r"\n", r"\N").split(r"\N"),
            speaker=event.name.strip() if event.name.strip() not in _NO_NAMES else None,
            is_sign=_SIGN_STYLE.search(event.style) is not None,
        )
        for event in shown
        if event.start >= 0 and not event.is_comment and not _DRAWING.search(event.text)
    ]
    # Layers of decorated text repeat it.
    return [next(group) for _, group in groupby(cues, key=lambda cue: (cue.slot, cue.lines))]


def _has_times(text: str) -> bool:
    """Return whether a text is a SubRip or WebVTT file."""
    return any(map(_TIMES.fullmatch, text.splitlines()))


def _with_plain_times(text: str) -> tuple[str, list[int]]:
    """Return the cues of a SubRip or WebVTT file with WebVTT's times, and the numbers of lines with unreadable times."""
    text = text.removeprefix("\ufeff")
    is_vtt = text.startswith("WEBVTT")
    kept: list[str] = []
    unreadable: list[int] = []
    is_in_cue = is_numbered = False
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        times = _TIMES.fullmatch(line)
        if times or ("-->" in line and _DIGIT.search(line)):
            if not kept and not unreadable:
                is_numbered = not is_vtt and before.strip().isdigit()
            elif is_in_cue and not is_numbered:
                kept.append(_END_OF_CUE)
            is_in_cue = times is not None
            if times:
                kept.append(f"{_plain_time(times.groups()[:4])} --> {_plain_time(times.groups()[4:])}")
            else:
                unreadable.append(number)
        elif is_in_cue and is_vtt and not line.strip() and (not line or _is_text(kept[-1])):
            kept.append(_END_OF_CUE)
            is_in_cue = False  # the rest is the name of the next cue, or a comment
        elif is_in_cue and (line.strip() or kept[-1].strip()):
            kept.append(_COLON_OF_TIME.sub("&#58;", line.replace("-->", " ")))  # two times would be those of a cue
        before = line if line.strip() else before
    return "\n".join([*kept, _END_OF_CUE] if is_in_cue else kept), unreadable


def _is_text(line: str) -> bool:
    return bool(line.strip()) and "-->" not in line


def _plain_time(parts: tuple[str | None, ...]) -> str:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{f'{fraction or 0:0<3}'[:3]}"


# Rolling captions.


def _without_repeats(cues: list[_Cue]) -> list[_Cue]:
    """Return the cues; if captions roll, each without the words that the one before has shown."""
    overlaps = [_overlap(before, after) for before, after in pairwise(cues)]
    if len(overlaps) < 2 or sum(map(bool, overlaps)) < _MIN_ROLLING * len(overlaps):
        return cues
    return [replace(cue, lines=_lines_after(cue.lines, count)) for cue, count in zip(cues, [0, *overlaps], strict=True)]


def _overlap(before: _Cue, after: _Cue) -> int:
    """Return how many words at the end of a caption begin the next one."""
    if after.slot.start_seconds - before.slot.end_seconds > _MAX_GAP_SECONDS:
        return 0
    shown, new = _plain("\n".join(before.lines)).split(), _plain("\n".join(after.lines)).split()
    longest = min(len(shown), len(new), _MAX_WORDS_COMPARED)
    return next((count for count in range(longest, 0, -1) if shown[-count:] == new[:count]), 0)


def _lines_after(lines: list[str], num_words: int) -> list[str]:
    """Return the plain text of ``lines`` without its first words."""
    if not num_words:
        return lines
    kept: list[str] = []
    for line in lines:
        words = _plain(line).split()
        kept.append(" ".join(words[num_words:]))
        num_words = max(0, num_words - len(words))
    return kept


# Speeches.


def _speeches(cue: _Cue, *, finds_speakers: bool, speaks_sounds: bool) -> list[_Speech]:
    parts = [part for part in _parts(cue, finds_speakers=finds_speakers) if _LETTER.search(part[1])]
    last = max((at for at, (_, _, is_sound) in enumerate(parts) if speaks_sounds or not is_sound), default=0)
    total = sum(len(words) for _, words, is_sound in parts if speaks_sounds or not is_sound)
    speeches: list[_Speech] = []
    start = cue.slot.start_seconds
    for at, (name, words, is_sound) in enumerate(parts):
        if is_sound and not speaks_sounds:
            speeches.append(_Speech(name, words, cue.slot, is_spoken=False))
            continue
        end = round(start + cue.slot.seconds * len(words) / total, 3)
        end = cue.slot.end_seconds if at == last else min(end, cue.slot.end_seconds)
        speeches.append(_Speech(name, words, Slot(start, end), is_spoken=True))
        start = end
    return speeches


def _parts(cue: _Cue, *, finds_speakers: bool) -> Iterator[tuple[str | None, str, bool]]:
    """Yield speaker, text, and whether it is a sound, song or sign, for each part of a subtitle."""
    first, *rest = _VOICE.split("\n".join(cue.lines))
    named: list[tuple[str | None, str]] = [(cue.speaker, first)]
    named += [(html.unescape(name.strip()), words) for name, words in zip(rest[::2], rest[1::2], strict=True)]
    for speaker, words in named:
        plain = _plain(words)
        if cue.is_sign:
            yield None, unwrap(plain), True
            continue
        is_found = finds_speakers and speaker is None
        for name, speech in subtitle_speeches(plain.split("\n")) if is_found else [(speaker, plain)]:
            if is_song(speech):
                yield None, unwrap(speech), True
                continue
            for part, is_sound in without_sounds(speech):
                yield without_capitals(name) if is_found and name else name, unwrap(part), is_sound


def _plain(text: str) -> str:
    """Return the text without tags and entities, without spaces around its lines."""
    text = _FORMATTING.sub("", _BREAK.sub("\n", text)).replace("\\h", " ")
    return "\n".join(line.strip() for line in html.unescape(text).split("\n"))
