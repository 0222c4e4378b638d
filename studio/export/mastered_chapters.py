"""Mastering of the lines of an export, chapter by chapter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from studio.audio.resampling import Samples
from studio.export.plan import ExportSettings
from studio.export.standard_mastering import SampleFile, StandardMastering, read_room_tone
from studio.export.subtitles import LineTiming


def mastered(
    audio: Iterator[Samples], timings: Sequence[LineTiming], settings: ExportSettings, check: Callable[[], None]
) -> Iterator[Samples]:
    """Yield ``audio``, the lines and the pauses after them, mastered to the standard of ``settings`` if there is one.

    ``check`` is called regularly and may raise.
    """
    if settings.standard is None:
        yield from audio
        return
    rate = settings.sample_rate
    room_tone = None if settings.room_tone is None else read_room_tone(settings.room_tone, rate)
    mastering = StandardMastering(settings.standard, rate, room_tone=room_tone, check=check)
    for _, lines in groupby(timings, key=lambda timing: settings.chapter_key(timing.item)):
        with SampleFile(rate) as body:
            pause = None  # room tone follows the last line
            for _ in lines:
                if pause is not None:
                    body.write(pause)
                body.write(next(audio))
                pause = next(audio)
            yield from mastering.master(body)
