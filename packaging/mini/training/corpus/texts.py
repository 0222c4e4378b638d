"""Texts of the corpus: quotations, sentences from templates, word lists, and sentences for evaluation.

The quotations are from the Debian package ``fortunes``, the word list from ``wamerican-small`` (SCOWL). They are used
for training only and not distributed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.corpus.templates import fill_in
from training.corpus.utterance import CorpusFailed

FORTUNES_FOLDER = Path("/usr/share/games/fortunes")
WORDS_FILE = Path("/usr/share/dict/american-english-small")
_DATA = Path(__file__).with_name("data")
# Pictures, other languages, source code, and offensive texts.
_UNWANTED_FILES = {"ascii-art", "drugs", "ethnic", "perl", "debian", "linuxcookie", "off"}
_UNWANTED_WORDS = re.compile(
    r"\b(fuck\w*|shit\w*|sex\w*|rape\w*|whore\w*|nigg\w*|bitch\w*|cunt\w*|damn\w*|bastard\w*|asshole\w*|penis|vagina|"
    r"breasts?|naked|nazi\w*|hitler|kill\w*|suicide|jews?|negro\w*|orgasm\w*|virgin\w*|lesbian\w*|homosexual\w*)\b",
    re.IGNORECASE,
)
_WHO_SAID_IT = re.compile(r"^\s*--.*", re.MULTILINE | re.DOTALL)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SENTENCE = re.compile(r"[A-Z][a-z']*(?:[,;:]? [A-Za-z][a-z']*(?:-[a-z]+)*)+[.!?]")
_MAX_CHARACTERS = 95
_MIN_WORDS, _MAX_WORDS = 3, 17
_VALIDATION_SHARE = 0.03
_NUM_OF_OUR_OWN = 3500
_NUM_WORD_STRINGS = 2200
# Separators between the words of the list, often only a space.
_LINKS = (
    "",
    "",
    "",
    "",
    "",
    "the",
    "the",
    "a",
    "and",
    "of the",
    "in",
    "to",
    "with",
    "for",
    "is",
    "was",
    "his",
    "on",
    "my",
)
_QUESTION_SHARE = 0.08
_SEED = 3


@dataclass(frozen=True, slots=True)
class Texts:
    """Disjoint sets of sentences by purpose."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]
    prompt: tuple[str, ...]


def test_sentences() -> tuple[str, ...]:
    """Return distinct sentences of 4 to 10 words for evaluation, which are not used in training."""
    return _lines("test_sentences.txt")


def prompt_sentences() -> tuple[str, ...]:
    """Return sentences of about 3 s for prompts."""
    return _lines("prompt_sentences.txt")


def read_texts(fortunes: Path = FORTUNES_FOLDER) -> Texts:
    """Return the texts, which are always the same. Raise ``CorpusFailed`` if the quotations are not installed."""
    generator = np.random.default_rng(_SEED)
    quotations = _quotations(fortunes)
    sentences = quotations + fill_in(_NUM_OF_OUR_OWN, generator)
    words = [word for word, count in _vocabulary(sentences).items() if count >= 2]
    sentences += _word_strings(words, generator)
    kept = set(test_sentences()) | set(prompt_sentences())
    sentences = [sentence for sentence in dict.fromkeys(sentences) if sentence not in kept]
    order = generator.permutation(len(sentences))
    num_validation = round(_VALIDATION_SHARE * len(sentences))
    shuffled = [sentences[number] for number in order]
    return Texts(
        train=tuple(shuffled[num_validation:]),
        validation=tuple(shuffled[:num_validation]),
        test=test_sentences(),
        prompt=prompt_sentences(),
    )


def read_word_sentences(words_file: Path = WORDS_FILE) -> tuple[str, ...]:
    """Return every word of the list once, in groups. The quotations have too few words for learning spelling.

    Raise ``CorpusFailed`` if the list is not installed.
    """
    if not words_file.exists():
        raise CorpusFailed(f"There is no word list {words_file}. Install it: apt-get install wamerican-small")
    generator = np.random.default_rng(_SEED)
    words = sorted({word for word in words_file.read_text("utf-8").split() if re.fullmatch(r"[a-z]{3,13}", word)})
    waiting = [
        word for word in (words[number] for number in generator.permutation(len(words))) if not is_unwanted(word)
    ]
    sentences: list[str] = []
    while waiting:
        spoken: list[str] = []
        for _ in range(int(generator.integers(3, 7))):
            if waiting:
                spoken += [*_LINKS[int(generator.integers(len(_LINKS)))].split(), waiting.pop()]
        end = "?" if generator.random() < _QUESTION_SHARE else "."
        sentence = " ".join(spoken) + end
        sentences.append(sentence[0].upper() + sentence[1:])
    return tuple(sentences)


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a quotation that consist of words and commas only."""
    flat = " ".join(_WHO_SAID_IT.sub("", text).split()).replace("--", ", ").replace(" ,", ",")
    found = (part.strip() for part in _ENDS.split(flat))
    return [
        part
        for part in found
        if _SENTENCE.fullmatch(part)
        and part[1] != ":"
        and len(part) <= _MAX_CHARACTERS
        and _MIN_WORDS <= len(part.split()) <= _MAX_WORDS
        and not is_unwanted(part)
    ]


def is_unwanted(text: str) -> bool:
    return _UNWANTED_WORDS.search(text) is not None


def _quotations(folder: Path) -> list[str]:
    paths = [path for path in sorted(folder.glob("*")) if path.is_file() and not path.suffix]
    if not paths:
        raise CorpusFailed(f"There are no quotations in {folder}. Install them: apt-get install fortunes")
    wanted = [path for path in paths if path.name not in _UNWANTED_FILES]
    quotations = [quote for path in wanted for quote in path.read_text("utf-8", "replace").split("\n%\n")]
    return list(dict.fromkeys(sentence for quote in quotations for sentence in sentences_in(quote)))


def _vocabulary(sentences: list[str]) -> Counter[str]:
    # Lower case inside a sentence, because the pronunciation of names does not follow from their letters.
    inner = (word.strip(",;:.!?") for sentence in sentences for word in sentence.split()[1:])
    return Counter(word for word in inner if re.fullmatch(r"[a-z]{3,11}", word))


def _word_strings(words: list[str], generator: np.random.Generator) -> list[str]:
    """Return unrelated words, which a model must read by their letters."""
    strings: list[str] = []
    for _ in range(_NUM_WORD_STRINGS):
        drawn = [words[int(number)] for number in generator.integers(0, len(words), size=int(generator.integers(2, 8)))]
        drawn[0] = drawn[0].capitalize()
        strings.append((", " if generator.random() < 0.25 else " ").join(drawn) + ".")
    return strings


def _lines(name: str) -> tuple[str, ...]:
    return tuple((_DATA / name).read_text(encoding="utf-8").splitlines())
