"""Speakers of the corpus: how each timbre is created, and which are excluded from training.

A timbre is the voice of a synthesizer, played faster or slower (which shifts pitch and resonances together), with an
individual pitch and equaliser. flite's ``rms`` is the unseen speaker ("stranger"), which is in no training set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.corpus.effects import EQUALISER_HZ
from training.corpus.flite import VOICES
from training.corpus.styles import ACCENTS, DEFAULT_ACCENT
from training.corpus.utterance import Speaker

# Users hear these two first, so they are trained most.
NAMED_TIMBRES = ("flite-slt@1.00", "flite-awb@1.00")
STRANGER = "flite-rms@1.00"

# eSpeak variants that sound human: no echoes, robots or whispers (which are a style here).
_TRAINING_VARIANTS = (
    "m1 m3 m4 m5 m6 m7 f1 f2 f3 f5 Alex Alicia Andrea Annie AnxiousAndy Denis Diogo Gene Gene2 Henrique Hugo Jacky "
    "Marco Mario Michael Mike Nguyen Reed Tweaky adam anika antonio aunty belinda benjamin boris caleb croak david ed "
    "edward edward2 grandma grandpa gustave iven2 iven4 john klatt klatt2 klatt4 klatt6 marcelo miguel mike2 pablo "
    "pedro rob robert sandro steph travis"
).split()
_VALIDATION_VARIANTS = "m2 m8 f4 Andy Lee ian linda max norbert paul quincy shelby victor klatt3".split()
_SPEAKERS_A_VARIANT = 3
_USUAL_PITCH = 50
_OTHER_ACCENT_SHARE = 0.35
_EQUALISER_SPREAD_DB = 3.0
_SEED = 11

# (voice, playback speed, factor of the resulting F0)
_TRAINING_FLITE = (
    [("slt", ratio, f0) for ratio in (0.80, 0.84, 0.88, 0.92, 0.95, 1.05, 1.09, 1.13) for f0 in (0.82, 1.0, 1.15)]
    + [("awb", ratio, f0) for ratio in (0.85, 0.89, 0.93, 0.96, 1.05, 1.10, 1.15, 1.20) for f0 in (0.78, 0.95, 1.2)]
    + [("kal16", ratio, f0) for ratio in (0.90, 1.00, 1.08, 1.16) for f0 in (0.95, 1.25)]
)
_VALIDATION_FLITE = (
    ("slt", 0.86, 0.9),
    ("slt", 0.98, 1.08),
    ("slt", 1.11, 0.95),
    ("awb", 0.87, 1.05),
    ("awb", 1.02, 0.85),
    ("awb", 1.13, 1.1),
    ("kal16", 0.94, 1.1),
    ("kal16", 1.12, 1.0),
)


@dataclass(frozen=True, slots=True)
class SpeakerRecipe:
    """Recipe of a timbre. ``pitch`` is the setting of eSpeak, or the F0 of flite in Hz after the change of speed."""

    name: str
    engine: str
    voice: str
    accent: str
    pitch: int
    pitch_range: int
    resample_ratio: float
    equaliser_db: tuple[float, ...]
    split: str

    def speaker(self, median_f0_hz: float) -> Speaker:
        return Speaker(
            name=self.name,
            engine=self.engine,
            voice=self.voice,
            accent=self.accent,
            pitch=self.pitch,
            resample_ratio=self.resample_ratio,
            split=self.split,
            median_f0_hz=median_f0_hz,
        )


def speaker_recipes() -> list[SpeakerRecipe]:
    """Return all timbres. The result is deterministic."""
    generator = np.random.default_rng(_SEED)
    plain = (0.0,) * len(EQUALISER_HZ)
    recipes = [
        _flite("slt", 1.0, 1.0, plain, "train", name=NAMED_TIMBRES[0]),
        _flite("awb", 1.0, 1.0, plain, "train", name=NAMED_TIMBRES[1]),
        _flite("rms", 1.0, 1.0, plain, "stranger", name=STRANGER),
    ]
    for split, voices in (("train", _TRAINING_FLITE), ("validation", _VALIDATION_FLITE)):
        recipes += [_flite(*voice, _equaliser(generator), split) for voice in voices]
    recipes += [
        _espeak(variant, number, "train", generator)
        for variant in _TRAINING_VARIANTS
        for number in range(_SPEAKERS_A_VARIANT)
    ]
    recipes += [_espeak(variant, 0, "validation", generator) for variant in _VALIDATION_VARIANTS]
    return recipes


def _flite(
    voice: str, ratio: float, f0_factor: float, equaliser_db: tuple[float, ...], split: str, *, name: str = ""
) -> SpeakerRecipe:
    f0_hz = round(VOICES[voice].f0_mean_hz * ratio * f0_factor)
    return SpeakerRecipe(
        name=name or f"flite-{voice}-f{f0_hz}@{ratio:.2f}",
        engine="flite",
        voice=voice,
        accent=DEFAULT_ACCENT,
        pitch=f0_hz,
        pitch_range=50,
        resample_ratio=ratio,
        equaliser_db=equaliser_db,
        split=split,
    )


def _espeak(variant: str, number: int, split: str, generator: np.random.Generator) -> SpeakerRecipe:
    """Return the timbres of a variant: the first unchanged and in the default accent, the others varied."""
    accent, pitch, ratio = DEFAULT_ACCENT, _USUAL_PITCH, 1.0
    if number:
        if generator.random() < _OTHER_ACCENT_SHARE:
            accent = str(generator.choice(["en", *ACCENTS.values()]))
        pitch = int(generator.integers(38, 65))
        ratio = round(float(generator.uniform(0.88, 1.18)), 2)
    return SpeakerRecipe(
        name=f"espeak-{variant}-{accent}-p{pitch}@{ratio:.2f}",
        engine="espeak",
        voice=variant,
        accent=accent,
        pitch=pitch,
        pitch_range=int(generator.integers(40, 66)),
        resample_ratio=ratio,
        equaliser_db=_equaliser(generator) if number else (0.0,) * len(EQUALISER_HZ),
        split=split,
    )


def _equaliser(generator: np.random.Generator) -> tuple[float, ...]:
    return tuple(round(float(gain), 1) for gain in generator.normal(0.0, _EQUALISER_SPREAD_DB, len(EQUALISER_HZ)))
