"""Calibration clips and held-out clips, cut from the bundled voices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from studio import paths
from studio.audio.files import read_audio
from studio.model.checkpoint import Checkpoint
from studio.model.stages import FloatArray, FlowPrompt
from studio.voices.features import kaldi_fbank, prompt_mel, whisper_log_mel

_TOKENIZER_RATE = 16_000
_LONGEST_SECONDS = 15.0
# One block of prompt and one of speech, each with look-ahead tokens.
_PROMPT_TOKENS, _SPOKEN_TOKENS = 28, 25


@dataclass(frozen=True, slots=True)
class CalibrationClip:
    """The prompt of one voice, and ``tokens`` of the same or another voice to decode with it.

    ``mel`` (80, frames) is the second voice's own mel of the tokens.
    """

    prompt: FlowPrompt = field(repr=False)
    tokens: tuple[int, ...]
    mel: FloatArray = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Voice:
    tokens: tuple[int, ...]
    mel: FloatArray = field(repr=False)
    embedding: FloatArray = field(repr=False)

    def prompt(self, start: int) -> FlowPrompt:
        stop = start + _PROMPT_TOKENS
        return FlowPrompt(self.tokens[start:stop], np.ascontiguousarray(self.mel[2 * start : 2 * stop]), self.embedding)


def calibration_clips(
    checkpoint: Checkpoint, count: int, *, held_out: bool = False, seed: int = 1
) -> list[CalibrationClip]:
    """Return ``count`` random clips of the calibration voices, or of the held-out voice.

    Raises the errors of reading the clips and loading the front end.
    """
    names = sorted(path.name for path in (paths.resources() / "voices").glob("*.wav"))
    chosen = names[-1:] if held_out else names[:-1]
    voices = [_encode_voice(checkpoint, name) for name in chosen]
    generator = np.random.default_rng(seed)
    clips = []
    for _ in range(count):
        speaking, spoken = (voices[int(generator.integers(len(voices)))] for _ in range(2))
        prompt_start = int(generator.integers(len(speaking.tokens) - _PROMPT_TOKENS))
        start = int(generator.integers(len(spoken.tokens) - _SPOKEN_TOKENS))
        stop = start + _SPOKEN_TOKENS
        mel = np.ascontiguousarray(spoken.mel[2 * start : 2 * stop].T)
        clips.append(CalibrationClip(speaking.prompt(prompt_start), spoken.tokens[start:stop], mel))
    return clips


def _encode_voice(checkpoint: Checkpoint, name: str) -> _Voice:
    clip = read_audio(paths.resources() / "voices" / name)
    at_16k = clip.resampled(_TOKENIZER_RATE)
    tokens = checkpoint.load_speech_tokenizer(1).tokenize(whisper_log_mel(at_16k)[:, : int(100 * _LONGEST_SECONDS)])
    mel = prompt_mel(clip.resampled(checkpoint.prompt_mel.sample_rate), checkpoint.prompt_mel)
    num_tokens = min(len(tokens), len(mel) // 2)
    embedding = checkpoint.load_speaker_encoder(1).embed(kaldi_fbank(at_16k))
    return _Voice(tokens[:num_tokens], mel[: 2 * num_tokens], embedding)
