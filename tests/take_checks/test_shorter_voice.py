"""Voices of the best four seconds of a longer clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import soundfile
from fake_checks import FakeChecks, good_check

from studio import paths
from studio.audio.files import read_audio
from studio.errors import UnusableSetting
from studio.take_checks.records import Transcript
from studio.take_checks.service import TakeCheckService
from studio.take_checks.shorter_voice import SHORT_SECONDS, add_shorter_voice, can_be_shorter
from studio.voices.library import Voice, VoiceLibrary

FOLDER = paths.resources() / "models" / "studio-mini"


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Nine seconds of speech: a bundled clip twice, with a pause."""
    speech = read_audio(paths.resources() / "voices" / "Miles.wav")
    pause = np.zeros(speech.sample_rate // 2, np.float32)
    path = tmp_path / "long.wav"
    soundfile.write(path, np.concatenate([speech.samples, pause, speech.samples]), speech.sample_rate)
    return path


@pytest.fixture
def library(tmp_path: Path) -> VoiceLibrary:
    return VoiceLibrary(tmp_path / "voices", built_in=tmp_path / "none")


@pytest.fixture
def long_voice(library: VoiceLibrary, clip: Path) -> Voice:
    voice = library.add(clip, "Linda", "The words of the recording.", notes="old").voice
    assert voice.clip_seconds > 6.0
    return voice


def test_the_best_part_becomes_a_voice_with_similarity_and_transcript(library: VoiceLibrary, long_voice: Voice) -> None:
    checks = FakeChecks(result=lambda request: replace(good_check(request), similarity=0.93))
    checks.transcribe_with = lambda _request: Transcript("Some words.")
    shorter = add_shorter_voice(library, long_voice, cast("TakeCheckService", checks), FOLDER)
    (request,) = checks.requests
    assert (request.prompt_clip, request.model_folder, request.recognizer) == (long_voice.clip, FOLDER, "off")
    assert len(request.samples) / request.sample_rate <= SHORT_SECONDS + 0.2
    assert (shorter.similarity, shorter.voice.name) == (0.93, "Linda 3 s")
    assert (shorter.voice.transcript, shorter.voice.notes) == ("Some words.", "old")
    assert shorter.voice.clip_seconds <= SHORT_SECONDS + 0.2
    assert shorter.share == pytest.approx(shorter.voice.clip_seconds / read_audio(long_voice.clip).seconds, abs=0.02)
    assert library.get("Linda 3 s") == shorter.voice
    assert library.get("Linda") == long_voice
    assert not can_be_shorter(shorter.voice)


def test_without_a_transcript_none_is_recognised(library: VoiceLibrary, clip: Path) -> None:
    voice = library.add(clip, "Linda").voice
    checks = FakeChecks()
    shorter = add_shorter_voice(library, voice, cast("TakeCheckService", checks), FOLDER)
    assert shorter.voice.transcript is None
    assert not checks.transcript_requests


def test_a_short_clip_is_refused(library: VoiceLibrary, long_voice: Voice) -> None:
    short = add_shorter_voice(library, long_voice, cast("TakeCheckService", FakeChecks()), FOLDER).voice
    with pytest.raises(UnusableSetting, match="cannot be shortened"):
        add_shorter_voice(library, short, cast("TakeCheckService", FakeChecks()), FOLDER)


@pytest.mark.slow
def test_the_similarity_is_measured_by_the_check_process(library: VoiceLibrary, clip: Path) -> None:
    voice = library.add(clip, "Linda").voice
    checks = TakeCheckService()
    try:
        similarity = add_shorter_voice(library, voice, checks, FOLDER).similarity
    finally:
        checks.close()
    assert similarity is not None
    assert 0.7 < similarity < 1.0
