"""Likeness of a take and its prompt, by the speaker encoder of the model folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio import paths
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.model.onnx_networks import SpeakerEncoder
from studio.storage.disk import require_regular_file
from studio.voices.features import KALDI_SAMPLE_RATE, quick_kaldi_fbank

Embedding = npt.NDArray[np.float32]

ENCODER_FILE = "campplus.onnx"
# Below this, the embedding depends more on the words than on the voice.
_MIN_SECONDS = 0.6
# A longer take changes the embedding little.
_MAX_SECONDS = 8.0
# Usual similarity if the clips of the bundled voices cannot be read.
_USUAL_SIMILARITY = 0.7
# A bundled voice that is more similar to the prompt than this is its own voice.
_OWN_SIMILARITY = 0.85


@dataclass(frozen=True, slots=True)
class Likeness:
    """Similarities of a take.

    Attributes:
        similarity: Cosine similarity to the prompt.
        usual: Similarity of two recordings of the same voice, by this encoder.
        nearest: Highest similarity to a bundled voice that is not the prompt's own.
        start, end: Similarity of the first and last part of a long take to the prompt, or None for short takes.
    """

    similarity: float
    usual: float
    nearest: float = 1.0
    start: float | None = None
    end: float | None = None


class LikenessMeter:
    """Measures likeness with the encoder of one model folder. It keeps the embeddings of recent prompts."""

    def __init__(self, encoder_path: Path) -> None:
        self._encoder = SpeakerEncoder(encoder_path, num_threads=1)
        self._of_clip = lru_cache(maxsize=64)(self._embed_clip)
        self._bundled: tuple[float, tuple[Embedding, ...]] | None = None

    def measure(self, samples: npt.NDArray[np.float32], sample_rate: int, prompt_clip: Path) -> Likeness | None:
        """Compare a take with a clip; return None if it is too short. Raise the errors of a clip that cannot be read."""
        take = Waveform(samples, sample_rate)
        if take.seconds < _MIN_SECONDS:
            return None
        require_regular_file(prompt_clip)
        prompt = self._of_clip(prompt_clip, prompt_clip.stat().st_mtime_ns)
        at_16k = take.resampled(KALDI_SAMPLE_RATE)
        fbank = quick_kaldi_fbank(at_16k)
        num_frames = round(_MAX_SECONDS * 100)
        middle = max(0, (len(fbank) - num_frames) // 2)
        whole = self._embedded(fbank[middle : middle + num_frames])
        start = end = None
        if take.seconds >= _DRIFT_SECONDS:
            part = round(_PART_SECONDS * 100)
            start = float(self._embedded(fbank[:part]) @ prompt)
            end = float(self._embedded(fbank[-part:]) @ prompt)
        usual, others = self._calibration()
        nearest = max((float(whole @ each) for each in others if each @ prompt < _OWN_SIMILARITY), default=1.0)
        return Likeness(float(whole @ prompt), usual, nearest, start, end)

    def embed(self, recording: Waveform, spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...] | None, ...]:
        """Return the normalised embedding (192,) of each span in seconds, or None if it is too short."""
        at_16k = recording.resampled(KALDI_SAMPLE_RATE)
        found: list[tuple[float, ...] | None] = []
        for start, end in spans:
            part = at_16k.samples[round(start * KALDI_SAMPLE_RATE) : round(end * KALDI_SAMPLE_RATE)]
            is_long = len(part) >= _MIN_SECONDS * KALDI_SAMPLE_RATE
            found.append(tuple(self._embedded(_fbank(Waveform(part, KALDI_SAMPLE_RATE))).tolist()) if is_long else None)
        return tuple(found)

    def _calibration(self) -> tuple[float, tuple[Embedding, ...]]:
        """Return the median similarity of the halves of each bundled voice's clip, and the embeddings of these clips."""
        if self._bundled is None:
            found, voices = [], []
            for clip in sorted((paths.resources() / "voices").glob("*.wav")):
                fbank = _fbank(read_audio(clip))
                half = len(fbank) // 2
                found.append(float(self._embedded(fbank[:half]) @ self._embedded(fbank[half:])))
                voices.append(self._embedded(fbank))
            self._bundled = float(np.median(found)) if found else _USUAL_SIMILARITY, tuple(voices)
        return self._bundled

    def _embed_clip(self, clip: Path, _modified: int) -> Embedding:
        return self._embedded(_fbank(read_audio(clip)))

    def _embedded(self, fbank: npt.NDArray[np.float32]) -> Embedding:
        """Return the normalised embedding of a filter bank (frames, 80)."""
        embedding = self._encoder.embed(fbank - fbank.mean(axis=0))
        unit: Embedding = embedding / max(float(np.linalg.norm(embedding)), 1e-9)
        return unit


# Takes from this length on are checked for drift, by parts of this length at both ends.
_DRIFT_SECONDS, _PART_SECONDS = 6.0, 2.5


def _fbank(clip: Waveform) -> npt.NDArray[np.float32]:
    return quick_kaldi_fbank(clip.resampled(KALDI_SAMPLE_RATE))
