"""What is trained on, validated with and judged by never mixes, and everybody is heard from early on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from training.corpus.plan import Job, planned_shards, planned_word_shards
from training.corpus.speakers import NAMED_TIMBRES, STRANGER, speaker_recipes
from training.corpus.styles import ACCENTS, DEFAULT_ACCENT, DELIVERY_OF_STYLE
from training.corpus.templates import fill_in
from training.corpus.texts import Texts, read_texts, read_word_sentences, sentences_in
from training.corpus.texts import prompt_sentences as read_prompt_sentences
from training.corpus.texts import test_sentences as read_test_sentences
from training.corpus.utterance import CorpusFailed

QUOTATIONS = """Nothing is so useless as a general maxim.
		-- Lord Macaulay
%
The garden of our neighbor is full of weeds.  He likes them, however.
%
Version 2.0 costs $30!
"""


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    (tmp_path / "wisdom").write_text(QUOTATIONS, encoding="utf-8")
    (tmp_path / "wisdom.dat").write_bytes(b"\xff\x00")
    return read_texts(tmp_path)


def test_the_judges_sentences_are_many_distinct_and_short() -> None:
    sentences = read_test_sentences()
    assert len(set(sentences)) == len(sentences) >= 48
    assert {len(sentence.split()) for sentence in sentences} <= set(range(4, 11))
    assert len({sentence.split()[-1] for sentence in sentences}) > 0.9 * len(sentences)


def test_no_sentence_is_for_two_things(texts: Texts) -> None:
    parts = [set(texts.train), set(texts.validation), set(texts.test), set(texts.prompt)]
    assert sum(len(part) for part in parts) == len(set.union(*parts))
    assert set(read_test_sentences()) == parts[2]
    assert set(read_prompt_sentences()) == parts[3]
    assert min(len(part) for part in parts) >= 8


def test_only_plain_sentences_are_taken_from_quotations(texts: Texts) -> None:
    assert sentences_in(QUOTATIONS.split("\n%\n", maxsplit=1)[0]) == ["Nothing is so useless as a general maxim."]
    assert sentences_in("Version 2.0 costs $30!") == []
    assert sentences_in("NO SHOUTING HERE.  He likes them, however.") == ["He likes them, however."]
    assert "The garden of our neighbor is full of weeds." in {*texts.train, *texts.validation}


def test_texts_are_the_same_every_time(tmp_path: Path, texts: Texts) -> None:
    assert read_texts(tmp_path) == texts


def test_missing_quotations_say_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(CorpusFailed, match="apt-get install fortunes"):
        read_texts(tmp_path / "nowhere")


def test_templates_leave_no_gap() -> None:
    sentences = fill_in(800, np.random.default_rng(0))
    assert len(set(sentences)) > 700
    assert not [sentence for sentence in sentences if set(sentence) & set("{}0123456789_|")]


def test_the_stranger_and_whoever_validates_are_not_among_those_we_learn_from() -> None:
    recipes = {recipe.name: recipe for recipe in speaker_recipes()}
    assert len(recipes) == len(speaker_recipes())
    assert [name for name, recipe in recipes.items() if recipe.split == "stranger"] == [STRANGER]
    assert {recipes[name].split for name in NAMED_TIMBRES} == {"train"}
    assert sum(recipe.split == "validation" for recipe in recipes.values()) >= 20
    assert not [name for name, recipe in recipes.items() if recipe.voice == "rms" and recipe.split == "train"]
    variants = {
        split: {recipe.voice for recipe in recipes.values() if recipe.split == split and recipe.engine == "espeak"}
        for split in ("train", "validation")
    }
    assert variants["train"] & variants["validation"] == set()


def test_the_plan_gives_the_hours_asked_for_and_keeps_texts_apart(texts: Texts) -> None:
    recipes = speaker_recipes()
    jobs = [job for shard in planned_shards(recipes, texts, hours=2.0, seed=0) for job in shard]
    assert sum(job.expected_seconds for job in jobs) == pytest.approx(7200, rel=0.25)
    split_of = {recipe.name: recipe.split for recipe in recipes}
    assert {job.speaker for job in jobs} == set(split_of)
    for job in jobs:
        assert job.text in getattr(texts, job.split)
        assert split_of[job.speaker] == "train" or job.split != "train"
    named = sum(job.expected_seconds for job in jobs if job.speaker in NAMED_TIMBRES and job.split != "test")
    assert named == pytest.approx(0.22 * 7200, rel=0.15)


def test_the_plan_is_the_same_for_the_same_seed(texts: Texts) -> None:
    recipes = speaker_recipes()
    assert planned_shards(recipes, texts, hours=1.0, seed=1) == planned_shards(recipes, texts, hours=1.0, seed=1)
    assert planned_shards(recipes, texts, hours=1.0, seed=1) != planned_shards(recipes, texts, hours=1.0, seed=2)


def test_accents_are_said_by_speakers_without_one_and_often_with_the_same_words(texts: Texts) -> None:
    recipes = {recipe.name: recipe for recipe in speaker_recipes()}
    jobs = [job for shard in planned_shards(list(recipes.values()), texts, hours=8.0, seed=0) for job in shard]
    accented = [job for job in jobs if job.style.startswith("accent:")]
    assert {job.style for job in accented} == {f"accent:{accent}" for accent in ACCENTS}
    assert len(ACCENTS) >= 4
    assert {(recipes[job.speaker].engine, recipes[job.speaker].accent) for job in accented} == {
        ("espeak", DEFAULT_ACCENT)
    }
    normal = {(job.speaker, job.text) for job in jobs if job.style == "normal"}
    assert sum((job.speaker, job.text) in normal for job in accented) > 0.4 * len(accented)


def test_rate_and_pitch_of_the_styles_are_far_beyond_what_is_asked_of_the_model() -> None:
    assert DELIVERY_OF_STYLE["fast"].rate >= 1.35
    assert DELIVERY_OF_STYLE["slow"].rate <= 0.7
    assert DELIVERY_OF_STYLE["high"].f0 >= 1.25
    assert DELIVERY_OF_STYLE["low"].f0 <= 0.8


def test_a_slow_job_lasts_longer() -> None:
    slow, fast = (Job("The same words.", STRANGER, style, "train").expected_seconds for style in ("slow", "fast"))
    assert slow > 1.5 * fast


def test_every_word_of_the_list_is_said_once(tmp_path: Path) -> None:
    words = ["apple", "zebra", "cloud", "harbor", "lantern", "o'clock", "Paris", "sex", "xy", "pencil", "marble"]
    (tmp_path / "words").write_text("\n".join(words), encoding="utf-8")
    sentences = read_word_sentences(tmp_path / "words")
    said = " ".join(sentence[:-1].lower() for sentence in sentences).split()
    assert {word: said.count(word) for word in words} == {
        word: int(word not in {"o'clock", "Paris", "sex", "xy"}) for word in words
    }
    assert all(sentence[0].isupper() and sentence[-1] in ".?" for sentence in sentences)


def test_a_missing_word_list_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(CorpusFailed, match="apt-get install wamerican-small"):
        read_word_sentences(tmp_path / "nowhere")


def test_word_lists_are_said_by_those_we_learn_from() -> None:
    recipes = {recipe.name: recipe for recipe in speaker_recipes()}
    shards = planned_word_shards(list(recipes.values()), ("One.", "Two.", "Three."), hours=2.0, seed=0)
    jobs = [job for shard in shards for job in shard]
    assert {recipes[job.speaker].split for job in jobs} == {"train"}
    assert {job.split for job in jobs} == {"train"}
    named = sum(job.expected_seconds for job in jobs if job.speaker in NAMED_TIMBRES)
    assert named == pytest.approx(0.3 * 7200, rel=0.1)
