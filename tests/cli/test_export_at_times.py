"""`timbre export` of subtitles at their original times."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import noise_models
import numpy as np
import pytest
import soundfile

from studio.project.changes import CompositeChange, EditDetails, InsertLines
from studio.project.lines import Line, Slot
from studio.project.project import Project

pytestmark = pytest.mark.usefixtures("no_spare_silence")

RATE, WORD_SAMPLES = 24_000, 2_400
NOISE = noise_models.V3.name


def time_of(seconds: float) -> str:
    return f"00:{int(seconds // 60):02}:{seconds % 60:06.3f}".replace(".", ",")


def cue(number: int, start: float, seconds: float, text: str) -> str:
    return f"{number}\n{time_of(start)} --> {time_of(start + seconds)}\n{text}\n\n"


@pytest.fixture
def film(timbre, clip: Path):  # type: ignore[no-untyped-def]
    """Return a function that exports subtitles with a model that needs a tenth of a second per word.

    The model "quiet" has no list of styles. With a model that has one, fast words are a quarter shorter.
    """
    timbre.library.add(clip, "Anna", "What is said.")

    def export(cues: str, *arguments: str, out: str = "dub.wav", model: str = "quiet"):  # type: ignore[no-untyped-def]
        Path("film.srt").write_text(cues, "utf-8")
        return timbre("export", "film.srt", "-o", out, "--model", model, "--voice", "Anna", "--at-times", *arguments)

    return export


def test_one_file_with_every_line_at_its_time(film) -> None:  # type: ignore[no-untyped-def]
    cues = cue(1, 1.25, 1.0, "One two three.") + cue(2, 4.0, 1.0, "Four five.")
    ran = film(cues, "--subtitles", "srt")
    assert ran.status == 0, ran.err
    assert sorted(path.name for path in Path().glob("dub.*")) == ["dub.srt", "dub.wav"]
    assert int(soundfile.info("dub.wav").frames) == 4 * RATE + 2 * WORD_SAMPLES
    assert Path("dub.srt").read_text("utf-8").startswith("1\n00:00:01,250 --> 00:00:01,550\nOne two three.")


def test_a_project_with_a_guide_track_gives_files_as_long_as_it(timbre, clip: Path) -> None:  # type: ignore[no-untyped-def]
    timbre.library.add(clip, "Anna", "What is said.")
    soundfile.write("film.wav", np.zeros(7 * 16_000, np.float32), 16_000)
    with Project.create(Path("drafts").absolute()) as project:
        lines = (
            Line("a", "One two three.", "Anna", character="Mira", slot=Slot(1.0, 2.0)),
            Line("b", "Four five.", "Anna", character="Tom", slot=Slot(3.0, 4.0)),
        )
        details = replace(project.script.details, guide_track=str(Path("film.wav").absolute()))
        project.apply(CompositeChange((InsertLines(0, lines), EditDetails(details))))
        project.save(Path("film.timbre").absolute())
    ran = timbre("export", "film.timbre", "--for", "dub-characters", "--model", "quiet", "--out", "tracks")
    assert ran.status == 0, ran.err
    tracks = {path.name: soundfile.info(path) for path in Path("tracks").iterdir()}
    assert {name: (info.frames, info.samplerate) for name, info in tracks.items()} == {
        "film Mira.wav": (7 * 48_000, 48_000),
        "film Tom.wav": (7 * 48_000, 48_000),
    }


def test_the_format_follows_the_name_of_the_file(film) -> None:  # type: ignore[no-untyped-def]
    assert film(cue(1, 1.0, 1.0, "One two three."), out="dub.flac").status == 0
    assert soundfile.info("dub.flac").format == "FLAC"


@pytest.mark.slow
def test_60_cues_of_which_20_are_too_long(film) -> None:  # type: ignore[no-untyped-def]
    """After fitting, no line is more than 0.1 s too long, or it is reported."""
    cues = ""
    for number in range(60):
        num_words = 4 if number % 3 else 6 + number // 4
        cues += cue(number + 1, 0.5 + 4 * number, 0.5, " ".join(["word"] * num_words) + ".")
    ran = film(cues, "--json")
    assert ran.status == 0, ran.err
    assert len(json.loads(ran.out)["overruns"]) == 20
    ran = film(cues, "--fit", "--json", "--replace")
    values = json.loads(ran.out)
    reported = {overrun["line"] for overrun in values["overruns"]}
    assert 0 < len(reported) < 20
    assert {code.partition(":")[0] for code in values["warnings"]} == {"overrun"}
    for timing in values["timings"]:
        assert timing["start_samples"] == round((0.5 + 4 * (timing["line"] - 1)) * RATE)
        assert timing["num_samples"] <= 0.6 * RATE or timing["line"] in reported
    line = min(reported)
    assert f"line {line}: " in ran.err
    again = json.loads(film(cues, "--fit", "--json", "--replace").out)
    assert again["num_made"] == 0


def test_a_repeated_export_fits_cached_speech(film) -> None:  # type: ignore[no-untyped-def]
    cues = cue(1, 1.0, 0.5, "One two three four five six.")
    assert film(cues).status == 0
    assert film(cues, "--fit", "--replace").status == 0
    assert int(soundfile.info("dub.wav").frames) == RATE + round(0.5 * RATE)


def test_short_lines_are_lengthened_if_wanted(film) -> None:  # type: ignore[no-untyped-def]
    cues = cue(1, 1.0, 1.0, "One two three four five.")
    assert film(cues, "--fit").status == 0
    assert int(soundfile.info("dub.wav").frames) == RATE + 5 * WORD_SAMPLES
    assert film(cues, "--fit", "--fit-short", "--replace").status == 0
    assert int(soundfile.info("dub.wav").frames) == RATE + round(5 * WORD_SAMPLES / 0.85)


def test_one_file_per_character(film) -> None:  # type: ignore[no-untyped-def]
    cues = cue(1, 1.0, 1.0, "MARTHA: One two.") + cue(2, 3.0, 1.0, "JOHN: Three.")
    ran = film(cues, "--files", "characters")
    assert ran.status == 0, ran.err
    assert sorted(path.name for path in Path().glob("*.wav")) == ["dub John.wav", "dub Martha.wav"]
    john, _ = soundfile.read("dub John.wav", dtype="float32")
    assert len(john) == 3 * RATE + WORD_SAMPLES
    assert not np.any(john[: 3 * RATE])


def test_one_file_per_language(film) -> None:  # type: ignore[no-untyped-def]
    cues = cue(1, 1.0, 1.0, "Where is it?") + cue(2, 3.0, 1.0, "在那里。")
    ran = film(cues, "--files", "languages")
    assert ran.status == 0, ran.err
    assert sorted(path.name for path in Path().glob("*.wav")) == ["dub en.wav", "dub zh.wav"]
    chinese, _ = soundfile.read("dub zh.wav", dtype="float32")
    assert not np.any(chinese[: 3 * RATE])


def num_samples(ran) -> dict[int, int]:  # type: ignore[no-untyped-def]
    return {timing["line"]: timing["num_samples"] for timing in ran.json["timings"]}


# The first line fits, the second fits if it is stretched, the third if it is also spoken faster, the fourth never.
LONG_CUES = "".join(
    cue(n, 4.0 * n, 1.0, " ".join(["word"] * num) + ".") for n, num in ((1, 8), (2, 12), (3, 15), (4, 20))
)


def test_lines_that_stretching_cannot_fit_are_spoken_again_faster(film, timbre) -> None:  # type: ignore[no-untyped-def]
    ran = film(LONG_CUES, "--fit", "--json", model=NOISE)
    assert ran.status == 0, ran.err
    lengths = num_samples(ran)
    assert lengths[1] == 8 * WORD_SAMPLES
    assert abs(lengths[2] - RATE) <= 0.01 * RATE
    assert abs(lengths[3] - RATE) <= 0.01 * RATE
    assert abs(lengths[4] - 15 * WORD_SAMPLES / 1.25) <= 0.01 * RATE
    assert [each["line"] for each in ran.json["overruns"]] == [4]
    assert "spoken-faster: 2 lines were spoken again faster: 3, 4" in ran.json["warnings"]
    presets = [request.preset for request in timbre.opened[-1].requests]
    assert Counter(presets) == {None: 4, "speed.fast": 2}
    assert film(LONG_CUES, "--fit", "--json", model=NOISE).json["num_made"] == 0


def test_all_overlong_lines_or_none_are_spoken_again(film, timbre) -> None:  # type: ignore[no-untyped-def]
    assert film(LONG_CUES, "--fit", "--fit-retake", "never", model=NOISE).status == 0
    assert all(request.preset is None for request in timbre.opened[-1].requests)
    ran = film(LONG_CUES, "--fit", "--fit-retake", "always", "--replace", "--json", model=NOISE)
    assert "spoken-faster: 3 lines were spoken again faster: 2, 3, 4" in ran.json["warnings"]
    assert num_samples(ran)[2] == 12 * WORD_SAMPLES * 3 // 4


def test_lines_with_a_style_keep_it(film, timbre) -> None:  # type: ignore[no-untyped-def]
    ran = film(LONG_CUES, "--fit", "--preset", "emotion.happy", "--json", model=NOISE)
    assert ran.status == 0, ran.err
    assert {request.preset for request in timbre.opened[-1].requests} == {"emotion.happy"}
    assert {each["line"] for each in ran.json["overruns"]} == {3, 4}


def test_limits_out_of_range_are_an_error(film) -> None:  # type: ignore[no-untyped-def]
    ran = film(cue(1, 1.0, 1.0, "One."), "--fit", "--fit-limits", "0.1", "3")
    assert ran.status != 0
    assert "out of range" in ran.err


def test_a_script_without_times_is_an_error(timbre, clip: Path) -> None:  # type: ignore[no-untyped-def]
    timbre.library.add(clip, "Anna", "What is said.")
    Path("story.txt").write_text("One.", "utf-8")
    ran = timbre("export", "story.txt", "-o", "out", "--model", "quiet", "--voice", "Anna", "--at-times")
    assert ran.status != 0
    assert "No line has a time" in ran.err
