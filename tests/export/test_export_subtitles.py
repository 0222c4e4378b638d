"""SubRip and WebVTT output."""

from __future__ import annotations

import json
import re

from studio.export.speech_source import ExportItem
from studio.export.subtitles import LineTiming, SubtitleFormat, as_subtitle
from studio.take_checks.records import WordTime

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


def words_of(text: str, *times: tuple[float, float]) -> tuple[WordTime, ...]:
    found = list(re.finditer(r"[\w’']+", text))
    return tuple(
        WordTime(match[0], start, end, *match.span()) for match, (start, end) in zip(found, times, strict=True)
    )


def timed(text: str, *times: tuple[float, float]) -> LineTiming:
    item = ExportItem("a", 1, text, "Anna", words=words_of(text, *times))
    return LineTiming(item, 24_000, 48_000, 0, 24_000)


def test_words_are_single_subtitles_with_their_punctuation() -> None:
    written = SubtitleFormat.SRT.write([timed("Well, no.", (0.1, 0.5), (0.6, 1.2))], has_words=True)
    assert written == ("1\n00:00:01,100 --> 00:00:01,500\nWell,\n\n2\n00:00:01,600 --> 00:00:02,200\nno.\n")


def test_webvtt_and_lrc_time_the_words_within_their_line() -> None:
    timing = timed("Well, no.", (0.1, 0.5), (0.6, 1.2))
    assert SubtitleFormat.VTT.write([timing], has_words=True).splitlines()[-1] == (
        "<v Anna><00:00:01.100>Well, <00:00:01.600>no."
    )
    assert SubtitleFormat.LRC.write([timing], has_words=True) == "[00:01.00]<00:01.10>Well, <00:01.60>no.\n"
    assert SubtitleFormat.LRC.write([timing]) == "[00:01.00]Well, no.\n"


def test_json_has_the_words_of_each_line() -> None:
    (line,) = json.loads(SubtitleFormat.JSON.write([timed("Well, no.", (0.1, 0.5), (0.6, 1.2))]))["lines"]
    assert (line["text"], line["from_seconds"], line["to_seconds"]) == ("Well, no.", 1.0, 3.0)
    assert line["words"][1] == {"text": "no.", "from_seconds": 1.6, "to_seconds": 2.2}


def test_a_line_without_word_times_is_one_subtitle() -> None:
    assert SubtitleFormat.SRT.write([timed("...")], has_words=True).count("-->") == 1


def test_chinese_characters_have_no_spaces_between_them() -> None:
    item = ExportItem("a", 1, "你好。", words=(WordTime("你", 0.0, 0.2, 0, 1), WordTime("好", 0.2, 0.4, 1, 2)))
    timing = LineTiming(item, 0, 24_000, 0, 24_000)
    assert SubtitleFormat.LRC.write([timing], has_words=True) == "[00:00.00]<00:00.00>你<00:00.20>好。\n"


def test_tags_are_not_shown_with_words_and_times_stay_within_the_line() -> None:
    item = ExportItem(
        "a", 1, "No [laughter] way", words=(WordTime("No", 0.0, 0.2, 0, 2), WordTime("way", 1.5, 9.0, 14, 17))
    )
    written = SubtitleFormat.SRT.write([LineTiming(item, 0, 48_000, 0, 24_000)], has_words=True)
    assert written == "1\n00:00:00,000 --> 00:00:00,200\nNo\n\n2\n00:00:01,500 --> 00:00:02,000\nway\n"
