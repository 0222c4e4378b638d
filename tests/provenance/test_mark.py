"""The imperceptible mark: what it changes, and where it is found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from studio import paths
from studio.audio.files import AudioWriter
from studio.audio.resampling import Samples, resample_steeply
from studio.errors import UnreadableClip
from studio.provenance.mark import CODE_LIMIT_AT_OTHER_SPEEDS, Marker, MarkState, find_mark
from studio.provenance.mark_code import file_id, keyed_code, number_of

RATE = 24_000


def read_voice(name: str, rate: int = RATE) -> Samples:
    samples, voice_rate = soundfile.read(paths.resources() / "voices" / f"{name}.wav", dtype="float32")
    return resample_steeply(samples, voice_rate, rate)


def write(path: Path, samples: Samples, rate: int = RATE, *, is_marked: bool) -> Path:
    with AudioWriter(path, rate, process=Marker(rate) if is_marked else None) as writer:
        writer.write(samples)
    return path


def band_powers(samples: Samples) -> np.ndarray:
    """Return the power of each band of 15.6 Hz below 2 kHz of sound of 32 kHz."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, 2048)[::320] * np.hanning(2049)[:2048]
    return (np.abs(np.fft.rfft(frames)[:, :128]) ** 2).sum(axis=0)


@pytest.mark.parametrize("name", ["Ada", "Max"])
def test_at_full_strength_the_mark_is_that_of_resemble_perth(name: str) -> None:
    """The golden values are the changes of the bands in decibels that resemble-perth 1.0.1 makes in the same clip."""
    samples = read_voice(name, 32_000)
    change = 10 * np.log10(band_powers(Marker(32_000, 1.0)(samples)) / band_powers(samples))
    wanted = np.array(json.loads((Path(__file__).parent / "perth_changes.json").read_text("utf-8"))[name])
    assert np.corrcoef(change, wanted)[0, 1] > 0.99
    assert np.abs(change - wanted).max() < 0.5


@pytest.mark.parametrize("name", ["Ada", "Angus", "Max", "Miles"])
def test_a_marked_voice_is_found_and_an_unmarked_one_is_not(tmp_path: Path, name: str) -> None:
    samples = read_voice(name)
    marked = find_mark(write(tmp_path / "marked.mp3", samples, is_marked=True))
    unmarked = find_mark(write(tmp_path / "unmarked.mp3", samples, is_marked=False))
    assert (marked.state, unmarked.state) == (MarkState.FOUND, MarkState.NOT_FOUND)
    assert marked.probability is not None
    assert unmarked.probability is not None
    assert marked.probability > 0.5 > unmarked.probability


def test_the_mark_is_found_in_speech_that_was_played_faster(tmp_path: Path) -> None:
    samples = np.concatenate([read_voice(name) for name in ("Ada", "Miles", "Linda")])
    faster = resample_steeply(Marker(RATE)(samples), 21_000, 20_000)
    found = find_mark(write(tmp_path / "faster.wav", faster, is_marked=False))
    assert found.state is MarkState.FOUND
    assert found.speed == pytest.approx(1.05, abs=0.01)


def test_the_marked_part_of_a_long_file_is_found(tmp_path: Path) -> None:
    clips = [read_voice(name) for name in ("Ada", "Angus", "Linda", "Max", "Miles")]
    spoken = np.concatenate(clips * 3)[: 40 * RATE]
    joined = np.concatenate([spoken, Marker(RATE)(spoken)])
    found = find_mark(write(tmp_path / "long.wav", joined, is_marked=False))
    assert found.state is MarkState.FOUND
    assert found.end_seconds > 40


def test_pieces_are_marked_like_the_whole() -> None:
    samples = read_voice("Ada")
    marker = Marker(RATE)
    pieces = [marker(piece) for piece in np.array_split(samples, [1, 5, 5, 4_000, 60_000])]
    np.testing.assert_allclose(np.concatenate(pieces), Marker(RATE)(samples), atol=1e-6)


def test_a_line_of_two_seconds_is_found_after_compression(tmp_path: Path) -> None:
    for name in ("Ada", "Angus", "Max", "Miles"):
        samples = read_voice(name)[RATE // 2 : RATE // 2 + 2 * RATE]
        assert find_mark(write(tmp_path / "marked.mp3", samples, is_marked=True)).state is MarkState.FOUND
        assert find_mark(write(tmp_path / "unmarked.mp3", samples, is_marked=False)).state is MarkState.NOT_FOUND


def test_the_mark_of_earlier_versions_is_found(tmp_path: Path) -> None:
    samples = np.concatenate([read_voice(name) for name in ("Ada", "Miles", "Linda")])
    old = find_mark(write(tmp_path / "old.wav", Marker(RATE, code="")(samples), is_marked=False))
    assert (old.state, old.codes) == (MarkState.FOUND, ())


@pytest.mark.parametrize("change", ["none", "mp3", "cut", "faster", "lines"])
def test_the_number_of_a_file_is_read_with_its_key_only(tmp_path: Path, change: str) -> None:
    clips = [read_voice(name) for name in 2 * ("Ada", "Angus", "Linda", "Max", "Miles")]
    number = file_id("a book", "chapter 1")
    code = keyed_code(number, b"a key")
    if change == "lines":  # each is marked for itself, at its place in the file
        starts = np.cumsum([0, *map(len, clips)])
        marked = np.concatenate(
            [Marker(RATE, code=code, start=int(start))(clip) for start, clip in zip(starts, clips, strict=False)]
        )
    else:
        marked = Marker(RATE, code=code)(np.concatenate(clips))
    if change == "cut":
        marked = marked[round(3.3 * RATE) :]
    elif change == "faster":
        marked = resample_steeply(marked, 25, 24)
    found = find_mark(write(tmp_path / f"marked.{'mp3' if change == 'mp3' else 'wav'}", marked, is_marked=False))
    assert number_of(found.codes, b"a key") == number
    assert number_of(found.codes, b"another key") == ""
    assert number_of(found.codes, b"") == ""


def test_silence_stays_silent() -> None:
    assert not Marker(RATE)(np.zeros(RATE, np.float32)).any()


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_the_mark_is_found_at_every_rate(tmp_path: Path, rate: int) -> None:
    path = write(tmp_path / "marked.wav", read_voice("Miles", rate), rate, is_marked=True)
    assert find_mark(path).state is MarkState.FOUND


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), np.zeros(RATE, np.float32), np.ones(900, np.float32)])
def test_too_little_sound_is_not_checked(tmp_path: Path, samples: Samples) -> None:
    found = find_mark(write(tmp_path / "short.wav", samples, is_marked=False))
    assert (found.state, found.probability) == (MarkState.NOT_CHECKED, None)


def test_a_file_without_sound_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.wav"
    path.write_text("no sound")
    with pytest.raises(UnreadableClip):
        find_mark(path)


def test_a_short_unmarked_sound_is_not_taken_for_a_marked_one() -> None:
    """A second of unmarked speech whose score (6.0) is above the limit of longer sounds (5.5)."""
    found = find_mark(Path(__file__).parent / "one_second.flac")
    assert (found.state, round(found.score)) == (MarkState.NOT_FOUND, 6)
    assert found.limit > CODE_LIMIT_AT_OTHER_SPEEDS
