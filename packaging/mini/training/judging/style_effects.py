"""Measures of styles: fast, slow, high, low, whispered, loud and soft, compared with the voice's default style."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.corpus.acoustics import f0_of
from training.corpus.effects import active_level_dbfs
from training.corpus.speakers import NAMED_TIMBRES
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME, FloatArray
from training.judging.chain import Said, Wanted
from training.judging.examination import Examination
from training.judging.outcome import Outcome, Requirement, at_least, at_most, below

_ACTIVE_RANGE_DB = 30.0


@dataclass(frozen=True, slots=True)
class _Features:
    """Features of a style over some sentences."""

    seconds: float  # total duration from the first phone to the last
    f0_hz: float
    voiced_share: float
    level_dbfs: float


def style_effects(examination: Examination) -> list[Outcome]:
    """Return medians over some sentences of the two timbres with the most training data."""
    plain = _features(examination, None)
    requirements: dict[str, tuple[str, str, Requirement | None]] = {
        "speed.fast": ("rate", "fast: rate relative to the default", at_least(1.25)),
        "speed.slow": ("rate", "slow: rate relative to the default", at_most(0.8)),
        "pitch.high": ("f0", "high: F0 relative to the default", at_least(1.15)),
        "pitch.low": ("f0", "low: F0 relative to the default", at_most(0.87)),
        "voice.whisper": ("voiced", "whispered: share of voiced frames", below(0.2)),
        "volume.loud": ("level", "loud: dB relative to the default", None),
        "volume.soft": ("level", "soft: dB relative to the default", None),
    }
    outcomes = []
    for preset, (kind, description, requirement) in requirements.items():
        features = _features(examination, preset)
        value = {
            "rate": plain.seconds / features.seconds,
            "f0": features.f0_hz / plain.f0_hz,
            "voiced": features.voiced_share,
            "level": features.level_dbfs - plain.level_dbfs,
        }[kind]
        note = f"default {plain.voiced_share:.2f}" if kind == "voiced" else ""
        outcomes.append(Outcome(f"wish.{preset}", description, value, requirement, note))
    return outcomes


def active_seconds(samples: FloatArray) -> float:
    """Return the time between the first and the last frame within 30 dB of the loudest one."""
    active = np.flatnonzero(_is_active(samples))
    return float((active[-1] - active[0] + 1) * 0.02) if len(active) else 0.0


def voiced_share(samples: FloatArray) -> float:
    """Return the share of voiced frames among those that are not silent."""
    is_active = _is_active(samples)
    f0 = f0_of(samples)[: len(is_active)]
    return float(np.mean(f0[is_active[: len(f0)]] > 0)) if is_active.any() else 0.0


def _features(examination: Examination, preset: str | None) -> _Features:
    said: list[Said] = []
    for speaker in NAMED_TIMBRES:
        clip = examination.originals.clip(speaker)
        texts = examination.sentences[: max(2, examination.few // 2)]
        said += [
            examination.chain.say(Wanted(text, clip, preset=preset, is_zero_shot=False, seed=seed))
            for seed, text in enumerate(texts)
        ]
    voiced = [f0[f0 > 0] for f0 in (f0_of(each.samples) for each in said)]
    # Relative to the median of each utterance, because the two timbres differ.
    medians = [float(np.median(f0)) for f0 in voiced if len(f0)]
    return _Features(
        seconds=max(0.02, sum(active_seconds(each.samples) for each in said)),
        f0_hz=float(np.exp(np.mean(np.log(medians)))) if medians else float("nan"),
        voiced_share=float(np.mean([voiced_share(each.samples) for each in said])),
        level_dbfs=float(np.mean([active_level_dbfs(each.samples) for each in said])),
    )


def _is_active(samples: FloatArray) -> np.ndarray:
    num_frames = max(1, len(samples) // SAMPLES_PER_HALF_FRAME)
    power = (
        (samples[: num_frames * SAMPLES_PER_HALF_FRAME].astype(np.float64) ** 2).reshape(num_frames, -1).mean(axis=1)
    )
    is_active: np.ndarray = power >= max(power.max(), 1e-9) * 10 ** (-_ACTIVE_RANGE_DB / 10)
    return is_active
