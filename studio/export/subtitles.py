"""Writers of SubRip and WebVTT subtitles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from studio.export.spoken_words import as_subtitle


@dataclass(frozen=True, slots=True)
class Cue:
    """A subtitle. Times are in the joined audio."""

    start_seconds: float
    end_seconds: float
    text: str
    voice: str = ""


class SubtitleFormat(Enum):
    """A subtitle format. The value is the file suffix."""

    SRT = ".srt"
    VTT = ".vtt"

    def write(self, cues: Iterable[Cue]) -> str:
        return _WRITERS[self](cues)


def _srt(cues: Iterable[Cue]) -> str:
    blocks = (
        f"{number}\n{_time(cue.start_seconds, ',')} --> {_time(cue.end_seconds, ',')}\n{_srt_text(cue)}\n"
        for number, cue in enumerate(_shown(cues), 1)
    )
    return "\n".join(blocks)


def _vtt(cues: Iterable[Cue]) -> str:
    blocks = (
        f"{_time(cue.start_seconds, '.')} --> {_time(cue.end_seconds, '.')}\n{_vtt_text(cue)}\n" for cue in _shown(cues)
    )
    return "\n".join(["WEBVTT\n", *blocks])


_WRITERS: dict[SubtitleFormat, Callable[[Iterable[Cue]], str]] = {SubtitleFormat.SRT: _srt, SubtitleFormat.VTT: _vtt}


def _shown(cues: Iterable[Cue]) -> Iterable[Cue]:
    return (cue for cue in cues if as_subtitle(cue.text))


def _srt_text(cue: Cue) -> str:
    # An arrow in the text would be parsed as a time stamp.
    return as_subtitle(cue.text).replace("-->", "→")


def _vtt_text(cue: Cue) -> str:
    words = _escaped(as_subtitle(cue.text))
    return f"<v {_escaped(cue.voice)}>{words}" if cue.voice else words


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{milliseconds // 1000:02}{point}{milliseconds % 1000:03}"
