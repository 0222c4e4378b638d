"""Spoken consents are compared with the voice and the sentence."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from fake_checks import FakeChecks

from studio import paths
from studio.audio.files import read_audio
from studio.errors import ClipTooShort, SyntheticClip
from studio.provenance.mark import Marker
from studio.provenance.spoken_consents import MIN_SIMILARITY, compare_spoken_consent, consent_sentence
from studio.take_checks.records import Transcript
from studio.take_checks.service import TakeCheckService
from studio.voices.voice import SpokenWords

VOICES = paths.resources() / "voices"
SENTENCE = consent_sentence("Jane Doe", "en")


@pytest.fixture
def checks() -> FakeChecks:
    return FakeChecks()


@pytest.fixture
def real_checks() -> Iterator[TakeCheckService]:
    with contextlib.closing(TakeCheckService()) as checks:
        yield checks


def part_of(voice: str, path: Path, from_share: float, to_share: float) -> Path:
    clip = read_audio(VOICES / f"{voice}.wav")
    start, end = (round(len(clip.samples) * share) for share in (from_share, to_share))
    soundfile.write(path, clip.samples[start:end], clip.sample_rate)
    return path


def test_the_sentence_has_the_name_and_the_language() -> None:
    assert "Jane Doe" in SENTENCE
    assert consent_sentence("王芳", "zh") == "我是王芳，我同意用我的声音制作合成语音。"
    assert consent_sentence("Jane Doe", "nl") == SENTENCE


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_same_speaker_is_similar_and_another_one_is_not(real_checks: TakeCheckService, tmp_path: Path) -> None:
    prompt = part_of("Ada", tmp_path / "prompt.wav", 0.0, 0.5)
    same = part_of("Ada", tmp_path / "same.wav", 0.5, 1.0)
    found = compare_spoken_consent(same, prompt, SENTENCE, real_checks)
    other = compare_spoken_consent(VOICES / "Angus.wav", prompt, SENTENCE, real_checks)
    assert found.similarity is not None
    assert other.similarity is not None
    assert found.similarity >= MIN_SIMILARITY > other.similarity


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_other_words_are_noticed(real_checks: TakeCheckService) -> None:
    pytest.importorskip("pocketsphinx", reason="there are no wheels for this version of Python")
    clip = VOICES / "Miles.wav"
    said = clip.with_suffix(".txt").read_text("utf-8").strip()
    assert compare_spoken_consent(clip, clip, said, real_checks).words is SpokenWords.SAID
    assert compare_spoken_consent(clip, clip, SENTENCE, real_checks).words is SpokenWords.OTHER


def test_without_a_recogniser_the_words_are_not_compared(checks: FakeChecks) -> None:
    checks.transcribe_with = lambda _: Transcript("", error_code="recognizer-not-found")
    clip = VOICES / "Miles.wav"
    found = compare_spoken_consent(clip, None, SENTENCE, checks)  # type: ignore[arg-type]
    assert (found.words, found.similarity, found.sentence) == (SpokenWords.UNKNOWN, None, SENTENCE)


def test_speech_of_this_program_is_no_consent(checks: FakeChecks, tmp_path: Path) -> None:
    clip = read_audio(VOICES / "Miles.wav")
    marked = tmp_path / "marked.wav"
    soundfile.write(marked, Marker(clip.sample_rate)(clip.samples), clip.sample_rate)
    with pytest.raises(SyntheticClip, match="contains the mark of synthetic speech"):
        compare_spoken_consent(marked, None, SENTENCE, checks)  # type: ignore[arg-type]


def test_a_clip_without_a_sentence_is_refused(checks: FakeChecks, tmp_path: Path) -> None:
    short = part_of("Miles", tmp_path / "short.wav", 0.0, 0.1)
    with pytest.raises(ClipTooShort):
        compare_spoken_consent(short, None, SENTENCE, checks)  # type: ignore[arg-type]
