"""Trimming of leading silence, and splitting of recordings at silence."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from studio.audio.waveform import Waveform
from studio.pipeline import speech_stream as speech_module
from studio.pipeline.request import RequestControl
from studio.pipeline.silence import LeadingSilence, split_at_silence, without_leading_silence
from studio.pipeline.speech_stream import SentenceTask, SpeechOptions, SpeechStream
from studio.pipeline.token_source import FixedTokens

RATE = 24_000
RECORDING_RATE = 16_000
FADE = 120
KEPT = 1_200
FRAME = 240


def noise(seconds: float, dbfs: float) -> np.ndarray:
    samples = np.random.default_rng(round(1000 * seconds)).standard_normal(round(seconds * RATE))
    return (samples * 10.0 ** (dbfs / 20.0)).astype(np.float32)


def silent(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE), np.float32)


def trimmed(*pieces: np.ndarray) -> np.ndarray:
    return np.concatenate(list(without_leading_silence(pieces, RATE)))


@pytest.mark.parametrize("floor_dbfs", [-200.0, -75.0, -62.0])
@pytest.mark.parametrize("speech_dbfs", [-10.0, -20.0, -35.0, -48.0])
def test_fifty_milliseconds_of_silence_are_kept(floor_dbfs: float, speech_dbfs: float) -> None:
    """For levels from a loud voice to a whisper, each with its noise floor."""
    before, spoken = noise(0.4, floor_dbfs), noise(1.0, speech_dbfs)
    result = trimmed(np.concatenate([before, spoken]))
    assert len(result) == KEPT + len(spoken)
    np.testing.assert_array_equal(result[KEPT:], spoken)
    np.testing.assert_array_equal(result[FADE:KEPT], before[-KEPT + FADE :])
    assert abs(result[0]) == 0.0


def test_a_soft_beginning_is_part_of_the_speech() -> None:
    """An s is about 25 dB below the following vowel."""
    spoken = np.concatenate([noise(0.1, -45.0), noise(0.5, -20.0)])
    result = trimmed(np.concatenate([silent(0.3), spoken]))
    np.testing.assert_array_equal(result[KEPT:], spoken)


def test_noise_slightly_below_the_speech_is_not_silence() -> None:
    sound = np.concatenate([noise(0.4, -48.0), noise(1.0, -20.0)])
    np.testing.assert_array_equal(trimmed(sound), sound)


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05])
def test_a_short_silence_is_kept(seconds: float) -> None:
    sound = np.concatenate([silent(seconds), noise(1.0, -20.0)])
    np.testing.assert_array_equal(trimmed(sound), sound)


@pytest.mark.parametrize("sound", [silent(0.0), silent(0.001), silent(2.0), noise(1.0, -70.0)])
def test_silence_alone_is_returned_in_full(sound: np.ndarray) -> None:
    np.testing.assert_array_equal(trimmed(sound), sound)


def test_audio_too_short_for_a_decision_is_returned_at_its_end() -> None:
    spoken = noise(0.03, -20.0)
    result = trimmed(silent(0.5), spoken)
    np.testing.assert_array_equal(result[KEPT:], spoken)


@pytest.mark.parametrize(("dbfs", "most_seconds"), [(-20.0, 0.11), (-45.0, 0.41)])
def test_no_more_audio_is_held_back_than_needed(dbfs: float, most_seconds: float) -> None:
    silence = LeadingSilence(RATE)
    blocks = np.array_split(np.concatenate([silent(0.3), noise(2.0, dbfs)]), 2300)
    held_blocks = len(list(itertools.takewhile(lambda block: not len(silence.process(block)), blocks)))
    assert held_blocks / 1000 - 0.3 <= most_seconds


SOUND = np.concatenate([noise(0.37, -65.0), noise(0.05, -42.0), noise(0.8, -22.0)])


@pytest.mark.slow
@given(cuts=st.lists(st.integers(0, len(SOUND)), max_size=12))
def test_the_result_does_not_depend_on_the_chunks(cuts: list[int]) -> None:
    pieces = np.split(SOUND, sorted(cuts))
    np.testing.assert_array_equal(trimmed(*pieces), trimmed(SOUND))
    assert len(trimmed(SOUND)) < len(SOUND)


# In a request.


class Speaker:
    """Return a ``SpeechStream`` with given audio for its sentences, and a clock that counts chunks."""

    chunk_samples = 4_800

    def __init__(self, monkeypatch: pytest.MonkeyPatch, sounds: list[np.ndarray]) -> None:
        self.num_made = 0
        coming = iter(sounds)
        speaker = self

        class FakeUtterance:
            decoded_tokens = 0

            def __init__(self, *_: object) -> None:
                self._sound = torch.from_numpy(next(coming))

            def stream(self, _schedule: object) -> Iterator[torch.Tensor]:
                for chunk in self._sound.split(speaker.chunk_samples):
                    speaker.num_made += 1
                    yield chunk

            def record_times(self) -> None: ...

            def whole(self, _speed: float) -> torch.Tensor:
                speaker.num_made += 1
                return self._sound

        monkeypatch.setattr(speech_module, "Utterance", FakeUtterance)
        monkeypatch.setattr(SpeechStream, "_now", lambda _: float(self.num_made))
        monkeypatch.setattr(SpeechStream, "_update_start_estimate", lambda *_: None)
        monkeypatch.setattr(SpeechStream, "_record_part", lambda *_: None)
        monkeypatch.setattr(SpeechStream, "_sample_rate", RATE)
        monkeypatch.setattr(SpeechStream, "_schedule", lambda self: object() if self.options.is_streaming else None)

    def speak(self, parts: list[SentenceTask], **options: Any) -> tuple[np.ndarray, SpeechStream]:
        nothing: Any = None
        speech = SpeechStream(nothing, nothing, SpeechOptions(**options), RequestControl(), lambda _: nothing, 0.0)
        return np.concatenate([chunk.samples for chunk in speech.stream(parts)]), speech


def sentence() -> SentenceTask:
    return SentenceTask(open_feed=lambda: FixedTokens([1]))


PAUSE = SentenceTask(open_feed=None, pause_seconds=0.5)
QUIET_START = np.concatenate([silent(0.4), noise(1.0, -20.0)])


@pytest.mark.parametrize("is_streaming", [True, False])
def test_a_request_starts_with_its_first_audible_chunk(monkeypatch: pytest.MonkeyPatch, is_streaming: bool) -> None:
    heard, speech = Speaker(monkeypatch, [QUIET_START]).speak(
        [sentence()], is_streaming=is_streaming, trims_leading_silence=True
    )
    np.testing.assert_array_equal(heard, trimmed(QUIET_START))
    assert speech.audio_seconds == len(heard) / RATE


@pytest.mark.parametrize("is_streaming", [True, False])
def test_leading_silence_is_kept_on_request(monkeypatch: pytest.MonkeyPatch, is_streaming: bool) -> None:
    heard, _ = Speaker(monkeypatch, [QUIET_START]).speak([sentence()], is_streaming=is_streaming)
    np.testing.assert_array_equal(heard, QUIET_START)


def test_requested_pauses_and_pauses_between_sentences_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    later = Speaker(monkeypatch, [QUIET_START, QUIET_START])
    heard, _ = later.speak([sentence(), PAUSE, sentence()], trims_leading_silence=True)
    np.testing.assert_array_equal(heard, np.concatenate([trimmed(QUIET_START), silent(0.5), QUIET_START]))
    first = Speaker(monkeypatch, [QUIET_START])
    heard, _ = first.speak([PAUSE, sentence()], trims_leading_silence=True)
    np.testing.assert_array_equal(heard, np.concatenate([silent(0.5), QUIET_START]))


@pytest.mark.parametrize("trims", [True, False])
def test_the_first_audio_time_is_that_of_the_first_audible_chunk(monkeypatch: pytest.MonkeyPatch, trims: bool) -> None:
    """Two chunks of 0.2 s are silent, the third is not."""
    _, speech = Speaker(monkeypatch, [QUIET_START]).speak([sentence()], trims_leading_silence=trims)
    assert speech.first_sound_seconds == 3.0


def test_a_leading_pause_does_not_count_as_first_audio(monkeypatch: pytest.MonkeyPatch) -> None:
    _, speech = Speaker(monkeypatch, [noise(1.0, -20.0)]).speak([PAUSE, sentence()], trims_leading_silence=True)
    assert speech.first_sound_seconds == 1.0


def speech_with_pauses(seconds: float, pauses: list[float]) -> Waveform:
    samples = np.random.default_rng(3).normal(0, 0.1, int(seconds * RECORDING_RATE)).astype(np.float32)
    for pause in pauses:
        samples[int(pause * RECORDING_RATE) : int((pause + 0.4) * RECORDING_RATE)] = 0.0
    return Waveform(samples, RECORDING_RATE)


def test_a_short_recording_is_not_split() -> None:
    waveform = speech_with_pauses(29.0, [10.0])
    assert [piece.seconds for piece in split_at_silence(waveform)] == [29.0]


def test_recordings_are_split_in_pauses_without_loss() -> None:
    waveform = speech_with_pauses(70.0, [22.0, 47.0])
    pieces = split_at_silence(waveform)
    assert np.array_equal(np.concatenate([piece.samples for piece in pieces]), waveform.samples)
    assert all(piece.seconds <= 29.5 for piece in pieces)
    assert pieces[0].seconds == pytest.approx(22.2, abs=0.2)
    assert pieces[0].seconds + pieces[1].seconds == pytest.approx(47.2, abs=0.2)
