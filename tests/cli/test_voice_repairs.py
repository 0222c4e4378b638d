"""`timbre voices passages` and `timbre voices repair`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fake_checks import FakeChecks, good_check
from terminal import Terminal

from studio import paths
from studio.audio.files import read_audio
from studio.take_checks.clip_repair import TEST_SENTENCES
from studio.take_checks.records import TakeCheck
from studio.take_checks.requests import CheckRequest

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    clip = read_audio(paths.resources() / "voices" / "Max.wav")
    noise = np.random.default_rng(0).standard_normal(len(clip.samples))
    path = tmp_path / "noisy.wav"
    soundfile.write(path, clip.samples + 0.3 * np.sqrt(np.mean(clip.samples**2.0)) * noise, clip.sample_rate)
    return path


def changing(num_before: int, *, before: float, after: float) -> FakeChecks:
    """Return checks in which the similarity changes after the first ``num_before`` sentences."""
    num_checked = 0

    def check(request: CheckRequest) -> TakeCheck:
        nonlocal num_checked
        num_checked += 1
        return replace(good_check(request), similarity=before if num_checked <= num_before else after)

    return FakeChecks(result=check)


def test_a_noisy_voice_gets_a_repaired_copy(timbre: Terminal, noisy: Path) -> None:
    timbre("voices", "add", "Anna", noisy, "--transcript", "What she said.")
    timbre.change(open_checks=changing(len(TEST_SENTENCES["en"]), before=0.6, after=0.75))
    ran = timbre("voices", "repair", "Anna", "--model", "quiet", "--write", "spoken")
    assert ran.status == 0, ran.err
    assert "similarity 0.600  as it is" in ran.out
    assert "similarity 0.750  cleaned (noise)  <- added" in ran.out
    assert "added Anna repaired" in ran.err
    assert "Anna is unchanged" in ran.err
    assert timbre.library.get("Anna repaired").transcript == "What she said."
    assert timbre.library.get("Anna").clip.read_bytes() == noisy.read_bytes()
    assert (timbre.folder / "spoken" / "2 cleaned 1.wav").is_file()


def test_nothing_is_added_without_gain(timbre: Terminal, noisy: Path) -> None:
    timbre("voices", "add", "Anna", noisy)
    timbre.change(open_checks=changing(len(TEST_SENTENCES["en"]), before=0.75, after=0.6))
    values = timbre("voices", "repair", "Anna", "--model", "quiet", "--json").json
    assert values["added"] is None
    assert [each["origin"] for each in values["candidates"]] == ["as-is", "cleaned"]
    assert [voice.name for voice in timbre.library.voices()] == ["Anna"]


def test_a_clean_voice_is_left_alone(timbre: Terminal) -> None:
    timbre("voices", "add", "Anna", paths.resources() / "voices" / "Ada.wav")
    timbre.change(open_checks=FakeChecks())
    ran = timbre("voices", "repair", "Anna", "--model", "quiet")
    assert ran.status == 0
    assert "no fault that can be repaired" in ran.err
    assert timbre.opened == []


def test_passages_of_a_long_recording_are_listed_and_written(timbre: Terminal, tmp_path: Path) -> None:
    clip = read_audio(paths.resources() / "voices" / "Max.wav")
    pause = np.zeros(clip.sample_rate, np.float32)
    long = tmp_path / "long.wav"
    soundfile.write(long, np.concatenate([part for _ in range(12) for part in (clip.samples, pause)]), clip.sample_rate)
    timbre.change(open_checks=FakeChecks())
    values = timbre("voices", "passages", long, "--count", "3", "--write", "parts", "--json").json
    assert len(values["passages"]) == 3
    assert len(values["speakers"]) == 1
    assert {path.name for path in (timbre.folder / "parts").iterdir()} == {f"long {number}.wav" for number in (1, 2, 3)}
    for number in (1, 2, 3):
        assert timbre("voices", "add", f"Anna {number}", timbre.folder / "parts" / f"long {number}.wav").status == 0
    assert timbre("voices", "passages", long, "--speaker", "2").status == 2
    assert "0:" in timbre("voices", "passages", long).out
