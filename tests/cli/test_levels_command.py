"""`timbre levels`: table, JSON, exit status and correction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from studio.audio.m4b import BookFacts, Chapter, write_m4b

av = pytest.importorskip("av")
RATE = 44_100


def speech(seconds: float = 3.0, level: float = 0.1) -> np.ndarray:
    times = np.arange(round(seconds * RATE)) / RATE
    voice = sum(np.sin(2 * np.pi * 120 * k * times + k * k) / k for k in range(1, 20))
    return (level * voice * (0.55 + 0.45 * np.sin(8 * np.pi * times))).astype(np.float32)


def test_files_that_fail_are_listed_and_corrected(timbre) -> None:  # type: ignore[no-untyped-def]
    soundfile.write("quiet.wav", speech(level=0.02), 24_000)
    ran = timbre("levels", "quiet.wav")
    assert ran.status == 1
    assert "FAILS" in ran.out
    assert "24000!" in ran.out
    fixed = timbre("levels", "quiet.wav", "--fix")
    assert fixed.status == 0, fixed.out
    assert "originals" in fixed.err
    assert soundfile.info(Path("originals/quiet.wav")).samplerate == 24_000
    assert soundfile.info("quiet.wav").samplerate == RATE
    assert " ok" in timbre("levels", "quiet.wav").out


def test_an_mp3_keeps_its_tags(timbre) -> None:  # type: ignore[no-untyped-def]
    with soundfile.SoundFile("a.mp3", "w", RATE, 1, "MPEG_LAYER_III", format="MP3") as file:
        file.title, file.artist = "One", "Jane"
        file.write(speech())
    assert timbre("levels", "a.mp3", "--fix").status == 0
    with soundfile.SoundFile("a.mp3") as file:
        assert (file.title, file.artist) == ("One", "Jane")
    assert timbre("levels", "a.mp3", "--fix").err == "", "it is not mastered again"


def test_chapters_of_an_audiobook_are_checked_one_by_one(timbre) -> None:  # type: ignore[no-untyped-def]
    loud, quiet = speech(2.0, 0.2), speech(2.0, 0.01)
    facts = BookFacts(chapters=(Chapter("Loud", 0, 2 * RATE), Chapter("Quiet", 2 * RATE, 4 * RATE)))
    with write_m4b(Path("a.m4b"), RATE, facts) as book:
        book.write(np.concatenate([loud, quiet]))
    ran = timbre("levels", "a.m4b", "--standard", "r128", "--json")
    assert ran.status == 1
    first, second = ran.json["files"]
    assert (first["chapter"], second["chapter"]) == ("Loud", "Quiet")
    assert first["loudness_lufs"] - second["loudness_lufs"] == pytest.approx(26.0, abs=1.0)
    assert second["verdicts"] == {"loudness": False, "true-peak": True}
    assert (first["seconds"], second["seconds"]) == pytest.approx((2.0, 2.0), abs=0.06)
    assert timbre("levels", "a.m4b", "--fix").status == 2
    assert Path("a.m4b").is_file()


def test_a_file_without_audio_is_an_error(timbre) -> None:  # type: ignore[no-untyped-def]
    Path("a.wav").write_text("no audio")
    assert timbre("levels", "a.wav").status == 4
    assert timbre("levels", "missing.wav", "--fix").status == 4
