"""Voices of the corpus: mixtures of the teacher's voices, which are in no published voice.

A mixture has three parts: the timbre, and the manner of reading English and Mandarin. The manner is that of native
voices of the same gender, so that a timbre of any origin has no foreign intonation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

# The voices of the teacher by first letter, which is their language, and gender. The weight is their quality.
_ENGLISH = {
    "us": {
        "f": {"heart": 4, "bella": 4, "nicole": 1, "aoede": 2, "kore": 2, "sarah": 2, "nova": 1, "sky": 1, "alloy": 1},
        "m": {"fenrir": 3, "michael": 3, "puck": 3, "echo": 1, "eric": 1, "liam": 1, "onyx": 1},
    },
    "gb": {
        "f": {"emma": 3, "isabella": 2, "alice": 1, "lily": 1},
        "m": {"fable": 2, "george": 2, "daniel": 1, "lewis": 1},
    },
}
_MANDARIN = {
    "f": {"xiaobei": 1, "xiaoni": 1, "xiaoxiao": 1, "xiaoyi": 1},
    "m": {"yunjian": 1, "yunxi": 1, "yunxia": 1, "yunyang": 1},
}
# Timbres of the other languages.
_FOREIGN = {
    "f": ("ef_dora", "ff_siwis", "hf_alpha", "hf_beta", "if_sara", "jf_alpha", "jf_gongitsune", "jf_nezumi", "pf_dora"),
    "m": ("em_alex", "em_santa", "hm_omega", "hm_psi", "im_nicola", "jm_kumo", "pm_alex", "pm_santa"),
}
# No training voice contains these, so that the strangers are timbres of which nothing was heard.
_STRANGERS = {"f": ("af_kore", "bf_lily", "zf_xiaoyi"), "m": ("am_puck", "bm_lewis", "zm_yunyang")}
_NUM_TRAINING, _NUM_VALIDATION, _NUM_STRANGERS = 384, 24, 6
_GB_SHARE = 0.3
_SEED = 20


class Split(Enum):
    TRAIN = "train"
    VALIDATION = "validation"
    STRANGER = "stranger"


Mixture = dict[str, float]


@dataclass(frozen=True, slots=True)
class VoiceRecipe:
    """``timbre``, ``english`` and ``mandarin`` map voices of the teacher to weights whose sum is 1.

    ``pitch`` and ``rate`` are factors of the voice itself. ``accent`` of English is "us" or "gb". The voice reads
    ``weight`` times as many lines as one of weight 1.
    """

    name: str
    gender: str
    accent: str
    split: Split
    timbre: Mixture
    english: Mixture
    mandarin: Mixture
    pitch: float
    rate: float
    weight: int = 1


def voice_recipes() -> tuple[VoiceRecipe, ...]:
    """Return all voices. The result is always the same."""
    random = np.random.default_rng(_SEED)
    recipes: list[VoiceRecipe] = []
    for split, count in (
        (Split.TRAIN, _NUM_TRAINING),
        (Split.VALIDATION, _NUM_VALIDATION),
        (Split.STRANGER, _NUM_STRANGERS),
    ):
        recipes += [_voice(split, number, random) for number in range(count)]
    return tuple(recipes)


def _voice(split: Split, number: int, random: np.random.Generator) -> VoiceRecipe:
    gender = "fm"[number % 2]
    accent = "gb" if random.random() < _GB_SHARE else "us"
    held_back = _STRANGERS[gender]
    english = {f"{accent_letter(accent)}{gender}_{name}": weight for name, weight in _ENGLISH[accent][gender].items()}
    mandarin = {f"z{gender}_{name}": weight for name, weight in _MANDARIN[gender].items()}
    if split is Split.STRANGER:
        timbre = _mixed(dict.fromkeys(held_back, 1.0), 2, random)
    else:
        timbre = _mixed(_timbres(gender, accent, held_back), int(random.integers(2, 4)), random)
    return VoiceRecipe(
        name=f"{split.value}-{number:03d}",
        gender=gender,
        accent=accent,
        split=split,
        timbre=timbre,
        english=_mixed(_without(english, held_back), 2, random),
        mandarin=_mixed(_without(mandarin, held_back), 2, random),
        pitch=round(float(np.exp(random.uniform(-0.14, 0.14))), 3),
        rate=round(float(np.exp(random.uniform(-0.1, 0.12))), 3),
    )


def accent_letter(accent: str) -> str:
    return {"us": "a", "gb": "b"}[accent]


def _timbres(gender: str, accent: str, held_back: Sequence[str]) -> dict[str, float]:
    """Return timbres of both accents, of Mandarin, and of other languages, with the weights of being chosen."""
    weights: dict[str, float] = dict.fromkeys(_FOREIGN[gender], 0.7)
    for each, genders in _ENGLISH.items():
        share = 1.0 if each == accent else 0.6
        weights |= {
            f"{accent_letter(each)}{gender}_{name}": share * quality for name, quality in genders[gender].items()
        }
    weights |= {f"z{gender}_{name}": 3.0 for name in _MANDARIN[gender]}
    return _without(weights, held_back)


def _without(weights: dict[str, float] | dict[str, int], names: Sequence[str]) -> dict[str, float]:
    return {name: float(weight) for name, weight in weights.items() if name not in names}


def _mixed(weights: dict[str, float], count: int, random: np.random.Generator) -> Mixture:
    """Draw ``count`` different voices by their weights, and a share of each of at least a seventh."""
    names = list(weights)
    chances = np.array(list(weights.values()))
    chosen = random.choice(len(names), size=count, replace=False, p=chances / chances.sum())
    shares = random.dirichlet([2.0] * count) * (1.0 - count / 7.0) + 1.0 / 7.0
    rounded = [round(float(share), 3) for share in shares[:-1]]
    return {
        names[int(number)]: share
        for number, share in zip(chosen, [*rounded, round(1.0 - sum(rounded), 3)], strict=True)
    }
