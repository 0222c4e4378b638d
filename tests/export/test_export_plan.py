"""Export plans: file names, recipes, formats, progress estimates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
import soundfile
from speech_fakes import items_of

from studio.audio.encoding import ENCODINGS, FLAC_16, MP3, WAV_16, WAV_FLOAT, encoding_named
from studio.audio.files import AudioWriter
from studio.errors import UnusableSetting
from studio.export.mastering import LoudnessTarget
from studio.export.names import short_enough
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.progress import Pace
from studio.export.provenance import Provenance, licence_of_model
from studio.export.subtitles import SubtitleFormat

ITEMS = items_of(["One.", "Two.", "Three."])


def plan(**options: object) -> ExportPlan:
    return ExportPlan.make(ITEMS, Path("folder"), ExportSettings(**options))


def test_files_of_the_script_and_of_lines_have_different_names() -> None:
    options = {"joined_name": "001", "has_manifest": True, "subtitles": frozenset(SubtitleFormat), "pattern": "{index}"}
    files = [str(file) for file in plan(**options).files]
    assert files == [
        "001-2.wav",
        "002.wav",
        "003.wav",
        "001.wav",
        "001.lrc",
        "001.srt",
        "001.vtt",
        "001.words.json",
        "001.csv",
    ]


def test_lines_keep_their_numbers_in_the_script() -> None:
    few = ExportPlan.make([replace(ITEMS[2], index=1234)], Path(), ExportSettings(pattern="{index}"))
    assert [str(file) for file in few.line_files] == ["1234.wav"]


def test_recipes_differ_where_audio_differs() -> None:
    base = plan().line_recipe(ITEMS[0])
    assert plan(pattern="{index}").line_recipe(ITEMS[0]) == base
    different = {
        plan(encoding=FLAC_16).line_recipe(ITEMS[0]),
        plan(loudness=LoudnessTarget(-16)).line_recipe(ITEMS[0]),
        plan(loudness=LoudnessTarget(-16, -2)).line_recipe(ITEMS[0]),
        plan(is_trimmed=True).line_recipe(ITEMS[0]),
        plan().line_recipe(replace(ITEMS[0], key="another")),
        plan().line_recipe(replace(ITEMS[0], text="Other words for the title.")),
        base,
    }
    assert len(different) == 7


def test_pauses_and_order_affect_only_the_joined_file() -> None:
    options = {"joined_name": "all", "has_manifest": True}
    one, other = plan(**options), plan(**options, pause_seconds=2.0)
    assert one.line_recipe(ITEMS[0]) == other.line_recipe(ITEMS[0])
    (joined,) = one.joined_files
    assert one.script_recipe(joined.file) != other.script_recipe(joined.file)
    renamed = plan(**options, pattern="{index}")
    assert one.script_recipe(joined.file) == renamed.script_recipe(joined.file)
    assert one.script_recipe(one.manifest_file) != renamed.script_recipe(one.manifest_file)  # type: ignore[arg-type]


def test_names_are_shortened_to_the_path_limit_of_windows() -> None:
    folder = Path("C:/" + "x" * 200)
    short = short_enough(PurePosixPath("Anna/" + "word " * 30), folder, ".flac", is_windows=True)
    assert len(f"{folder}/{short}-10.flac") <= 259
    assert short.parent.name == "Anna"
    assert short_enough(PurePosixPath("word"), folder, ".flac", is_windows=True) == PurePosixPath("word")
    with pytest.raises(UnusableSetting, match="is too long"):
        short_enough(PurePosixPath("word"), Path("C:/" + "x" * 250), ".flac", is_windows=True)


def test_formats_have_names_and_suffixes() -> None:
    assert encoding_named("FLAC") is FLAC_16
    assert encoding_named(".mp3") is MP3
    assert all(encoding_named(name) is encoding for name, encoding in ENCODINGS.items())
    with pytest.raises(UnusableSetting, match="Did you mean flac24 or flac16"):
        encoding_named("flac8")


def test_wav_files_beyond_four_gigabytes_use_rf64(tmp_path: Path) -> None:
    assert WAV_16.holding(2**31 - 2**20) is WAV_16
    large = WAV_FLOAT.holding(2**30)
    assert (large.file_format, large.subtype) == ("RF64", "FLOAT")
    assert MP3.holding(2**40) is MP3
    with AudioWriter(tmp_path / "a.wav", 24_000, encoding=large, tags={"title": "Title"}) as writer:
        writer.write(np.full(1000, 0.5, np.float32))
    samples, rate = soundfile.read(tmp_path / "a.wav", dtype="float32")
    assert (len(samples), rate, samples[0]) == (1000, 24_000, 0.5)


def test_the_licence_is_read_from_the_model_card(tmp_path: Path) -> None:
    assert licence_of_model(tmp_path) == ""
    card = tmp_path / "README.md"
    card.write_text("---\nlicense: apache-2.0\nlanguage: zh\n---\n# A model\n", "utf-8")
    assert licence_of_model(tmp_path) == "apache-2.0"
    card.write_text("---\nlanguage: zh\nlicense: 'cc-by-nc-4.0'  # ask first\n---\n# A model\n", "utf-8")
    assert licence_of_model(tmp_path) == "cc-by-nc-4.0"
    for other in ("# A model", "---\nlicense: [a\n---\n", "---\n- a\n---\n", "---\na: b\n---\nlicense: MIT\n"):
        card.write_text(other, "utf-8")
        assert licence_of_model(tmp_path) == ""


def test_a_model_without_a_card_has_the_licence_of_the_catalogue(tmp_path: Path) -> None:
    assert licence_of_model(tmp_path / "studio-mini") == "Apache-2.0"
    assert licence_of_model(tmp_path / "my-own-model") == ""


def test_tags_are_short_and_on_one_line() -> None:
    tags = Provenance("Model", "Apache-2.0").tags(title="line\n" * 100, voice="Anna")
    assert len(tags["title"]) == 200
    assert "\n" not in tags["title"]
    assert "album" not in tags
    assert tags["comment"] == (
        "Synthetic speech, made by a computer with the model Model. Licence of the model: Apache-2.0."
    )


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_estimate_is_based_on_finished_work() -> None:
    clock = Clock()
    pace = Pace(letters_to_speak=300, lines_to_write=3, clock=clock)
    assert pace.remaining_seconds is None
    assert pace.share == 0
    pace.begin()
    clock.now += 50
    pace.spoke(100)
    clock.now += 1
    pace.wrote()
    assert pace.remaining_seconds == pytest.approx(200 * 0.5 + 2)
    assert pace.share == pytest.approx(51 / 153)
    pace.skipped(letters=200, lines=2)
    assert pace.remaining_seconds == 0
    assert pace.share == 1


def test_spoken_lines_per_minute_are_counted_while_speaking() -> None:
    clock = Clock()
    pace = Pace(letters_to_speak=300, lines_to_write=3, clock=clock)
    pace.begin()
    assert pace.lines_per_minute is None
    for _ in range(2):
        clock.now += 15
        pace.spoke(100)
        clock.now += 30
        pace.wrote()
    assert pace.lines_per_minute == pytest.approx(4)


def test_writing_does_not_affect_the_estimate_of_speaking() -> None:
    clock = Clock()
    pace = Pace(letters_to_speak=300, lines_to_write=3, clock=clock)
    pace.begin()
    clock.now += 20
    pace.wrote()
    assert pace.remaining_seconds is None
