"""The plan of the corpus: a list of jobs, each with speaker, text and style. It depends only on hours and seed.

The jobs are shuffled before they are divided into shards, so that the first shards contain all speakers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from training.corpus.speakers import NAMED_TIMBRES, STRANGER, SpeakerRecipe
from training.corpus.styles import ACCENTS, DEFAULT_ACCENT, DELIVERY_OF_STYLE
from training.corpus.texts import Texts

_SHARD_SECONDS = 600.0
# Shares of all hours. The speakers of eSpeak share the rest.
_SHARE_OF_NAMED_TIMBRE = 0.11
_SHARE_OF_OTHER_FLITE = 0.27
_WORD_SHARE_OF_NAMED_TIMBRE = 0.15
_WORD_SHARE_OF_OTHER_FLITE = 0.30
_SECONDS_OF_VALIDATION_SPEAKER = 75.0
_SECONDS_OF_STRANGER = 300.0
_VALIDATION_TEXT_SHARE = 0.03
# Part of the texts are also spoken without the accent, for comparison.
_SAME_WORDS_SHARE = 0.6

_OTHER_STYLES = {"fast": 7, "slow": 7, "high": 5, "low": 5, "whisper": 5, "loud": 3, "soft": 3}
_NORMAL_WEIGHT_FLITE = 70
_NORMAL_WEIGHT_ESPEAK = 42
_ACCENT_WEIGHT = 5

# Approximate duration of a text, accurate enough to distribute the hours.
_SECONDS_A_CHARACTER = 0.062
_SECONDS_AROUND = 0.45


@dataclass(frozen=True, slots=True)
class Job:
    text: str
    speaker: str
    style: str
    split: str

    @property
    def expected_seconds(self) -> float:
        return _SECONDS_AROUND + _SECONDS_A_CHARACTER * len(self.text) / DELIVERY_OF_STYLE[self.style].rate


def planned_shards(recipes: list[SpeakerRecipe], texts: Texts, *, hours: float, seed: int) -> list[list[Job]]:
    """Return the jobs of each shard of about ten minutes."""
    generator = np.random.default_rng(seed)
    return _dealt(_planned(recipes, texts, hours, generator), generator)


def planned_word_shards(
    recipes: list[SpeakerRecipe], sentences: tuple[str, ...], *, hours: float, seed: int
) -> list[list[Job]]:
    """Return jobs with word lists for the language model, spoken by training speakers and mostly by flite."""
    generator = np.random.default_rng([seed, 1])
    waiting = _shuffled_for_ever(sentences, generator)
    jobs: list[Job] = []
    for recipe, seconds in _training_seconds(
        recipes, 3600.0 * hours, of_named=_WORD_SHARE_OF_NAMED_TIMBRE, of_other_flite=_WORD_SHARE_OF_OTHER_FLITE
    ):
        jobs += _jobs(recipe, seconds, waiting, "train", generator)
    return _dealt(jobs, generator)


def _dealt(jobs: list[Job], generator: np.random.Generator) -> list[list[Job]]:
    mixed = [jobs[number] for number in generator.permutation(len(jobs))]
    num_shards = max(1, round(sum(job.expected_seconds for job in mixed) / _SHARD_SECONDS))
    return [mixed[number::num_shards] for number in range(num_shards)]


def _planned(recipes: list[SpeakerRecipe], texts: Texts, hours: float, generator: np.random.Generator) -> list[Job]:
    seconds = 3600.0 * hours
    kept_seconds = sum(_kept_seconds(recipe) for recipe in recipes)
    shares = _training_seconds(
        recipes,
        seconds,
        of_named=_SHARE_OF_NAMED_TIMBRE,
        of_other_flite=_SHARE_OF_OTHER_FLITE,
        kept_seconds=kept_seconds,
    )
    seconds_of = {recipe.name: share for recipe, share in shares}
    to_train = _shuffled_for_ever(texts.train, generator)
    to_validate = _shuffled_for_ever(texts.validation, generator)
    jobs: list[Job] = []
    for recipe in recipes:
        if recipe.split == "train":
            jobs += _training_jobs(recipe, seconds_of[recipe.name], to_train, to_validate, generator)
        else:
            # Their sentences are not used in training, so that all of them can be used for evaluation.
            jobs += _jobs(recipe, _kept_seconds(recipe), to_validate, "validation", generator)
        if recipe.name in (*NAMED_TIMBRES, STRANGER):
            jobs += [Job(text, recipe.name, "normal", "test") for text in texts.test]
    return jobs


def _training_seconds(
    recipes: list[SpeakerRecipe], seconds: float, *, of_named: float, of_other_flite: float, kept_seconds: float = 0.0
) -> list[tuple[SpeakerRecipe, float]]:
    """Return the seconds of each training speaker. The speakers of eSpeak share the rest equally."""
    train = [recipe for recipe in recipes if recipe.split == "train"]
    num_flite = sum(recipe.engine == "flite" for recipe in train) - len(NAMED_TIMBRES)
    num_espeak = sum(recipe.engine == "espeak" for recipe in train)
    flite_seconds = of_other_flite * seconds
    espeak_seconds = max(0.0, seconds - kept_seconds - len(NAMED_TIMBRES) * of_named * seconds - flite_seconds)
    shares = []
    for recipe in train:
        if recipe.name in NAMED_TIMBRES:
            share = of_named * seconds
        elif recipe.engine == "flite":
            share = flite_seconds / num_flite
        else:
            share = espeak_seconds / num_espeak
        shares.append((recipe, share))
    return shares


def _kept_seconds(recipe: SpeakerRecipe) -> float:
    return {"train": 0.0, "validation": _SECONDS_OF_VALIDATION_SPEAKER, "stranger": _SECONDS_OF_STRANGER}[recipe.split]


def _training_jobs(
    recipe: SpeakerRecipe,
    seconds: float,
    to_train: Iterator[str],
    to_validate: Iterator[str],
    generator: np.random.Generator,
) -> list[Job]:
    jobs = _jobs(recipe, (1.0 - _VALIDATION_TEXT_SHARE) * seconds, to_train, "train", generator)
    return jobs + _jobs(recipe, _VALIDATION_TEXT_SHARE * seconds, to_validate, "validation", generator)


def _jobs(
    recipe: SpeakerRecipe, seconds: float, texts: Iterator[str], split: str, generator: np.random.Generator
) -> list[Job]:
    styles, weights = _styles(recipe)
    jobs: list[Job] = []
    said_normally: list[str] = []
    planned = 0.0
    while planned < seconds:
        style = styles[int(generator.choice(len(styles), p=weights))]
        is_same_words = style.startswith("accent:") and said_normally and generator.random() < _SAME_WORDS_SHARE
        text = said_normally.pop() if is_same_words else next(texts)
        if style == "normal":
            said_normally.append(text)
        job = Job(text, recipe.name, style, split)
        jobs.append(job)
        planned += job.expected_seconds
    return jobs


def _styles(recipe: SpeakerRecipe) -> tuple[list[str], list[float]]:
    """Return styles and their weights. Only speakers without an accent learn other accents."""
    if recipe.split == "stranger":  # the pitch of this voice cannot be changed
        return ["normal"], [1.0]
    weights = {"normal": _NORMAL_WEIGHT_FLITE, **_OTHER_STYLES}
    if recipe.engine == "espeak" and recipe.accent == DEFAULT_ACCENT:
        weights["normal"] = _NORMAL_WEIGHT_ESPEAK
        weights |= {f"accent:{accent}": _ACCENT_WEIGHT for accent in ACCENTS}
    total = sum(weights.values())
    return list(weights), [weight / total for weight in weights.values()]


def _shuffled_for_ever(texts: tuple[str, ...], generator: np.random.Generator) -> Iterator[str]:
    while True:
        for number in generator.permutation(len(texts)):
            yield texts[number]
