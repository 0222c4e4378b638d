"""The guesser of words that are in no lexicon learns from those that are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from studio.text.letter_sounds import LETTER_SOUNDS_FILE
from studio.text.letter_sounds import LetterSounds as Guesser
from training.shipping.respellings import VOCABULARY_FOLDER, respelled
from training.trainers import letter_sounds
from training.trainers.letter_sounds import LETTERS, SOUNDS, LetterSounds, guessed, read_words, without_stress
from training.trainers.options import TrainingFailed, TrainingOptions

SYMBOLS = {"b": "b", "d": "d", "f": "f", "k": "k", "m": "m", "a": "æ", "i": "ɪ", "o": "ɑ"}


@pytest.fixture
def teacher(tmp_path: Path) -> Path:
    """Write lexicons of a language with one sound for each letter."""
    data = tmp_path / "teacher" / "misaki" / "data"
    data.mkdir(parents=True)
    words = [first + vowel + last for first in "bdfkm" for vowel in "aio" for last in "bdfkm"]
    words += [one + other for one in words[:20] for other in words[20:60:3]]
    silver = {word: "".join(SYMBOLS[letter] for letter in word) for word in words}
    gold = {"bab": {"DEFAULT": "bˈæb", "VERB": "bæb"}, "NASA": "nˈæsə", "x-ray": "ˈɛks", "Bob": "bˈɑb", "fix": "fɪ7"}
    (data / "us_silver.json").write_text(json.dumps(silver), "utf-8")
    (data / "us_gold.json").write_text(json.dumps(gold), "utf-8")
    return tmp_path / "teacher"


def test_words_are_those_of_letters_and_the_verified_ones_win(teacher: Path) -> None:
    words = read_words(teacher)
    pairs = dict([*words.train, *words.validation])
    assert pairs["bab"] == respelled("bˈæb") != respelled("bæb")
    assert pairs["bob"] == respelled("bɑb")  # a name does not replace a word
    assert not {"nasa", "NASA", "x-ray"} & set(pairs)
    assert words == read_words(teacher)


def test_forms_of_one_word_are_on_the_same_side(teacher: Path) -> None:
    words = read_words(teacher)
    sides = [{word[:5] for word, _ in side} for side in (words.train, words.validation)]
    assert sides[1]
    assert sides[0] & sides[1] == set()


def test_a_missing_lexicon_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(TrainingFailed, match=r"train\.py teacher"):
        read_words(tmp_path)


def test_a_guess_does_not_depend_on_longer_words_beside_it() -> None:
    torch.manual_seed(0)
    network = LetterSounds(width=32, num_blocks=2).eval()
    torch.nn.init.normal_(network.head.weight)
    alone = guessed(network, ["bad"])
    assert guessed(network, ["bad", "considerably"])[:1] == alone
    assert set(alone[0]) <= set(SOUNDS[1:])


def test_stress_can_be_left_out() -> None:
    assert without_stress(respelled("kˌɑnsəkwˈɛnʃᵊl")) == "kɑnsəkwɛnʃᵊl"
    assert len(set(LETTERS)) == len(LETTERS)


@pytest.mark.slow
def test_a_short_run_learns_the_sounds_of_letters_and_can_be_continued(teacher: Path, tmp_path: Path) -> None:
    settings = {"width": "32", "num_blocks": "2", "batch": "32"}
    values = letter_sounds.train(TrainingOptions(teacher, tmp_path / "work", minutes=0.2, settings=settings))
    assert values["wrong_symbols_without_stress"] < 0.5
    letter_sounds.train(TrainingOptions(teacher, tmp_path / "work", minutes=0.22, settings=settings))
    network = letter_sounds.load_network(tmp_path / "work" / "letter_sounds.pt")
    assert len(guessed(network, ["dofkim"])[0]) >= 2
    words = ["bab", "dofkim", "o", "mi'fib"]
    program = Guesser(tmp_path / "work" / VOCABULARY_FOLDER / LETTER_SOUNDS_FILE)
    found = [program.respelled(word) for word in words]
    assert found == [sounds or word for sounds, word in zip(guessed(network, words), words, strict=True)]
