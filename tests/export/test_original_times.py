"""Exports at the original times of a video, exact to the sample."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from speech_fakes import RATE, FakeSpeechSource, hum, items_of

from studio.audio.encoding import WAV_16, WAV_FLOAT
from studio.audio.resampling import resample_steeply
from studio.errors import UnusableSetting
from studio.export.exporter import Exporter, ExportResult
from studio.export.joined_files import FilePer
from studio.export.mastering import LoudnessTarget
from studio.export.original_times import mix, overlaps, overruns, timings_at_slots
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.speech_source import ExportItem
from studio.export.subtitles import SubtitleFormat
from studio.project.lines import Slot

TEXTS = ("First.", "Second one.", "Third.", "Fourth.")
SLOTS = (Slot(1.2345, 2.0), Slot(3.1, 4.5), None, Slot(7.77777, 9.0))


def dubbed(slots: tuple[Slot | None, ...] = SLOTS, characters: tuple[str, ...] = ("",) * 4) -> list[ExportItem]:
    return [
        replace(item, slot=slot, character=character)
        for item, slot, character in zip(items_of(TEXTS), slots, characters, strict=True)
    ]


def export(
    folder: Path, items: list[ExportItem], source: FakeSpeechSource | None = None, **options: object
) -> ExportResult:
    settings = ExportSettings(
        **{"encoding": WAV_FLOAT, "joined_name": "dub", "has_line_files": False, "at_times": True, **options}
    )
    plan = ExportPlan.make(items, folder / "target", settings)
    return Exporter(plan, source or FakeSpeechSource(), journals=folder / "journals").run()


def read(path: Path) -> np.ndarray:
    return soundfile.read(path, dtype="float32")[0]


def expected(items: list[ExportItem], starts: list[int], rate: int = RATE) -> np.ndarray:
    sounds = [hum(0.1 * len(item.text), 90 + 7 * item.index) for item in items]
    sounds = [sound if rate == RATE else resample_steeply(sound, RATE, rate) for sound in sounds]
    whole = np.zeros(max(start + len(sound) for start, sound in zip(starts, sounds, strict=True)), np.float32)
    for start, sound in zip(starts, sounds, strict=True):
        whole[start : start + len(sound)] += sound
    return whole


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000])
def test_every_line_begins_at_the_sample_of_its_time(tmp_path: Path, rate: int) -> None:
    """A line without a time follows the line before and its pause; everything between is digital silence."""
    items = dubbed()
    (path,) = export(tmp_path, items, sample_rate=rate).files
    third = round(3.1 * rate) + -(-len(hum(1.1, 0.0)) * rate // RATE) + round(0.3 * rate)
    starts = [round(1.2345 * rate), round(3.1 * rate), third, round(7.77777 * rate)]
    np.testing.assert_array_equal(read(path), expected(items, starts, rate))


def test_lines_of_a_later_time_may_come_first(tmp_path: Path) -> None:
    slots = (Slot(5.0, 6.0), Slot(0.0, 1.0), Slot(2.0, 4.0), Slot(9.0, 10.0))
    items = dubbed(slots)
    result = export(tmp_path, items, subtitles=frozenset({SubtitleFormat.SRT}), has_manifest=True)
    audio, subtitles, table = result.files
    starts = [round(slot.start_seconds * RATE) for slot in slots]
    np.testing.assert_array_equal(read(audio), expected(items, starts))
    assert subtitles.read_text("utf-8").split("\n")[:7] == [
        *("1", "00:00:00,000 --> 00:00:01,100", "Second one.", ""),
        *("2", "00:00:02,000 --> 00:00:02,600", "Third."),
    ]
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert [row["start_seconds"] for row in rows] == ["5.000", "0.000", "2.000", "9.000"]
    assert {row["file"] for row in rows} == {"dub.wav"}


def test_overlapping_lines_are_mixed_and_reported(tmp_path: Path) -> None:
    slots = (Slot(1.0, 1.5), Slot(1.25, 3.0), Slot(1.75, 2.0), Slot(9.0, 10.0))
    items = dubbed(slots)
    result = export(tmp_path, items)
    starts = [round(slot.start_seconds * RATE) for slot in slots]
    np.testing.assert_allclose(read(result.files[0]), expected(items, starts), atol=1e-7)
    # The first and second overlap in the video too.
    assert [(each.item.text, each.next_item.text) for each in overlaps(result.timings)] == []
    assert [(each.item.text, round(each.seconds, 6)) for each in overruns(result.timings)] == [
        ("Third.", 0.35),
        ("First.", 0.1),
    ]


def test_a_line_that_runs_into_the_next_is_reported(tmp_path: Path) -> None:
    slots = (Slot(1.0, 1.4), Slot(1.5, 3.0), Slot(4.0, 5.0), Slot(9.0, 10.0))
    result = export(tmp_path, dubbed(slots))
    (overlap,) = overlaps(result.timings)
    assert (overlap.item.text, overlap.next_item.text) == ("First.", "Second one.")
    assert overlap.seconds == pytest.approx(0.1)


def test_the_sum_of_loud_lines_is_limited(tmp_path: Path) -> None:
    loud = 0.9 * np.sign(hum(1.0, 100.0))
    source = FakeSpeechSource(sounds={text: loud.astype(np.float32) for text in TEXTS})
    slots = (Slot(0.0, 1.0), Slot(0.5, 1.0), Slot(3.0, 4.0), Slot(5.0, 6.0))
    (path,) = export(tmp_path, dubbed(slots), source, encoding=WAV_16).files
    assert np.abs(read(path)).max() < 0.999
    target = LoudnessTarget(-20.0, -3.0)
    (path,) = export(tmp_path / "loud", dubbed(slots), source, loudness=target).files
    assert np.abs(read(path)).max() <= 10 ** (-3.0 / 20)


def test_one_file_per_character_with_the_length_of_the_whole(tmp_path: Path) -> None:
    items = dubbed(characters=("Mira", "BANDIT", "mira", "Bandit"))
    subtitles = frozenset({SubtitleFormat.SRT})
    result = export(tmp_path, items, joined_per=FilePer.CHARACTER, subtitles=subtitles, has_manifest=True)
    assert [path.name for path in result.files] == ["dub Mira.wav", "dub BANDIT.wav", "dub.srt", "dub.csv"]
    mira, bandit = read(result.files[0]), read(result.files[1])
    whole = read(export(tmp_path / "whole", items).files[0])
    assert len(mira) == len(bandit) == len(whole)
    np.testing.assert_array_equal(mira + bandit, whole)
    assert not mira[round(3.1 * RATE) : round(4.2 * RATE)].any()
    rows = list(csv.DictReader(result.files[3].read_text("utf-8-sig").splitlines()))
    assert [row["file"] for row in rows] == ["dub Mira.wav", "dub BANDIT.wav", "dub Mira.wav", "dub BANDIT.wav"]


def test_one_file_per_language_with_the_length_of_the_whole(tmp_path: Path) -> None:
    texts = ("Where is the boat?", "船在哪里？", "It left.", "它走了。")
    items = [replace(item, text=text) for item, text in zip(dubbed(), texts, strict=True)]
    result = export(tmp_path, items, joined_per=FilePer.LANGUAGE)
    assert [path.name for path in result.files] == ["dub en.wav", "dub zh.wav"]
    english, chinese = (read(path) for path in result.files)
    whole = read(export(tmp_path / "whole", items).files[0])
    assert len(english) == len(chinese) == len(whole)
    np.testing.assert_array_equal(english + chinese, whole)
    assert english[round(1.3 * RATE) : round(2.0 * RATE)].any()
    assert not chinese[: round(3.1 * RATE)].any()


def test_lines_without_a_character_are_joined_by_voice(tmp_path: Path) -> None:
    result = export(tmp_path, dubbed(), joined_per=FilePer.CHARACTER)
    assert [path.name for path in result.files] == ["dub Anna.wav"]


def test_only_moved_lines_are_exported_again(tmp_path: Path) -> None:
    assert export(tmp_path, dubbed(), has_line_files=True).num_made == 5
    assert export(tmp_path, dubbed(), has_line_files=True).num_made == 0
    moved = (Slot(1.5, 2.0), *SLOTS[1:])
    again = export(tmp_path, dubbed(moved), has_line_files=True)
    assert again.num_made == 1
    assert read(again.files[4])[: round(1.5 * RATE)].any() == np.False_


def test_times_do_not_affect_other_exports(tmp_path: Path) -> None:
    """The recipe of an export without times is the same as before."""
    items = dubbed()
    plain = ExportSettings(joined_name="dub")
    assert ExportPlan.make(items, tmp_path, plain).script_recipe(
        ExportPlan.make(items, tmp_path, plain).joined_files[0].file
    ) == ExportPlan.make(items_of(TEXTS), tmp_path, plain).script_recipe(
        ExportPlan.make(items, tmp_path, plain).joined_files[0].file
    )


def test_a_script_without_times_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnusableSetting, match="No line has a time"):
        export(tmp_path, dubbed((None,) * 4))
    with pytest.raises(UnusableSetting, match="original times"):
        ExportSettings(joined_name="dub", joined_per=FilePer.CHARACTER)


def test_timings_of_lines_before_the_first_time() -> None:
    lines = [(item, 24_000) for item in dubbed((None, Slot(5.0, 6.0), None, None))]
    starts = [timing.start_samples for timing in timings_at_slots(lines, RATE, lambda _: 2400)]
    assert starts == [0, 120_000, 146_400, 172_800]


def test_long_silence_is_written_in_blocks() -> None:
    parts = iter([(10_000_000, np.ones(4, np.float32))])
    blocks = list(mix(parts, 10_000_010, lambda samples: samples))
    assert sum(map(len, blocks)) == 10_000_010
    assert max(map(len, blocks)) == 1 << 20
    assert [len(block) for block in blocks if block.any()] == [4]


def test_chapters_have_no_original_times() -> None:
    with pytest.raises(UnusableSetting, match="Chapters"):
        ExportSettings(joined_name="dub", at_times=True, has_audiobook=True)
