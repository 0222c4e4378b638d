"""Measures of similarity to the prompt: timbre, by an independent speaker encoder, and pitch."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studio.audio.waveform import Waveform
from studio.model.onnx_networks import SpeakerEncoder
from studio.voices.features import KALDI_SAMPLE_RATE, kaldi_fbank
from training.corpus.acoustics import f0_of
from training.corpus.speakers import NAMED_TIMBRES
from training.corpus.utterance import SAMPLE_RATE, FloatArray
from training.judging.chain import Said
from training.judging.examination import Examination, NotMeasured
from training.judging.outcome import Outcome, at_least

_NEARER_SHARE = 0.85
_NEAR_F0 = 0.15
_NEAR_F0_SHARE = 0.85
_SENTENCES_A_SPEAKER = 2
_MIN_HZ, _MAX_HZ = 60.0, 500.0


class TimbreJudge:
    """A speaker encoder at ``path``, trained with different speakers and a different seed from the model's."""

    def __init__(self, path: Path) -> None:
        """Raise ``MissingModelFile`` and ``DamagedModelFile``."""
        self._encoder = SpeakerEncoder(path, num_threads=1)

    def direction(self, samples: FloatArray) -> FloatArray:
        embedding = self._encoder.embed(kaldi_fbank(Waveform(samples, SAMPLE_RATE).resampled(KALDI_SAMPLE_RATE)))
        return embedding / np.float32(max(1e-9, float(np.linalg.norm(embedding))))


def timbre(examination: Examination) -> list[Outcome]:
    """Return the share of cases in which an utterance is closer to its own prompt than to another speaker's."""
    if examination.judge is None:
        raise NotMeasured("Timbre needs --judge FILE: a speaker encoder of another seed and other speakers.")
    judge = TimbreJudge(examination.judge)
    speakers = _speakers(examination)
    prompts = {name: judge.direction(examination.originals.clip(name).utterance.samples) for name in speakers}
    nearer: list[bool] = []
    real: list[bool] = []
    for name, said, number in _cloned(examination):
        nearer += _is_nearer(judge.direction(said.samples), name, prompts)
        original = examination.originals.say(name, examination.sentences[number]).samples
        real += _is_nearer(judge.direction(original), name, prompts)
    return [
        Outcome(
            "timbre",
            "pairs in which the output is nearer to its own prompt than to another speaker's",
            float(np.mean(nearer)),
            at_least(_NEARER_SHARE),
            f"{len(nearer)} pairs of {len(speakers)} speakers; the same speakers' own speech {np.mean(real):.2f}",
        )
    ]


def pitch(examination: Examination) -> list[Outcome]:
    """Compare the pitch of the clone with that of its prompt."""
    ratios = np.array(
        [
            median_f0_hz(said.samples) / median_f0_hz(examination.originals.clip(name).utterance.samples)
            for name, said, _ in _cloned(examination)
        ]
    )
    return [
        Outcome(
            "pitch",
            f"outputs whose F0 median is within {_NEAR_F0:.0%} of the prompt's",
            float(np.mean(np.abs(ratios - 1.0) <= _NEAR_F0)),
            at_least(_NEAR_F0_SHARE),
            f"{len(ratios)} outputs; ratios {np.nanmin(ratios):.2f} to {np.nanmax(ratios):.2f}",
        )
    ]


def median_f0_hz(samples: FloatArray) -> float:
    """Return the median F0, or NaN if nothing is voiced."""
    f0 = f0_of(samples, floor_hz=_MIN_HZ, ceiling_hz=_MAX_HZ)
    return float(np.median(f0[f0 > 0])) if (f0 > 0).any() else float("nan")


def _speakers(examination: Examination) -> list[str]:
    """Return the unseen speakers and the two speakers with the most training data."""
    return [*NAMED_TIMBRES, *examination.originals.strangers()][: max(2, examination.few)]


def _cloned(examination: Examination) -> list[tuple[str, Said, int]]:
    """Yield the speaker, the synthesized speech, and the number of the sentence."""
    cloned = []
    for place, name in enumerate(_speakers(examination)):
        clip = examination.originals.clip(name)
        for turn in range(_SENTENCES_A_SPEAKER):
            number = (place * _SENTENCES_A_SPEAKER + turn) % len(examination.sentences)
            cloned.append((name, examination.said(clip, examination.sentences[number], number), number))
    return cloned


def _is_nearer(direction: FloatArray, own: str, prompts: dict[str, FloatArray]) -> list[bool]:
    return [bool(direction @ prompts[own] > direction @ prompts[other]) for other in prompts if other != own]
