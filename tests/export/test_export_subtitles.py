"""SubRip and WebVTT output."""

from __future__ import annotations

from studio.export.speech_source import ExportItem
from studio.export.subtitles import LineTiming, SubtitleFormat, as_subtitle

RATE = 10_000


def timing(start_seconds: float, end_seconds: float, text: str, voice: str = "") -> LineTiming:
    start = round(start_seconds * RATE)
    return LineTiming(ExportItem(text, 1, text, voice), start, round(end_seconds * RATE) - start, 0, RATE)


TIMINGS = (
    timing(0.0, 1.2344, "Hello [laughter] <strong>there</strong>.", "Anna"),
    timing(1.5, 3661.0004, "1 < 2 &\n\n--> [pause 0.5] done", "Ben & Co"),
    timing(3662.0, 3663.0, "[breath]"),
    timing(3663.0, 3664.0, "她叫[j][ǐ]。"),
)


def test_srt() -> None:
    assert SubtitleFormat.SRT.write(TIMINGS) == (
        "1\n00:00:00,000 --> 00:00:01,234\nHello there.\n\n"
        "2\n00:00:01,500 --> 01:01:01,000\n1 < 2 & → done\n\n"
        "3\n01:01:03,000 --> 01:01:04,000\n她叫。\n"
    )


def test_vtt() -> None:
    assert SubtitleFormat.VTT.write(TIMINGS) == (
        "WEBVTT\n\n"
        "00:00:00.000 --> 00:00:01.234\n<v Anna>Hello there.\n\n"
        "00:00:01.500 --> 01:01:01.000\n<v Ben &amp; Co>1 &lt; 2 &amp; --&gt; done\n\n"
        "01:01:03.000 --> 01:01:04.000\n她叫。\n"
    )


def test_brackets_that_are_not_tags_are_kept() -> None:
    for text in ("see [1] and [a longer remark]", "a < b and c > d", "wait [pause 99] for it"):
        assert as_subtitle(text) == text
