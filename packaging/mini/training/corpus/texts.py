"""Texts that the teacher reads, from the packages that ``train.py teacher`` downloads, and from templates.

They are used for training only and not distributed.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import yaml

from training.corpus.templates import fill_in, fill_in_mandarin
from training.corpus.utterance import CorpusFailed

_MAX_ENGLISH, _MAX_MANDARIN = 140, 48  # characters
_NUM_TEMPLATES = 6000
_NUM_WORD_LISTS = 3000
_SEED = 5
# Hundredths of the texts of each kind that are never in training.
_VALIDATION_PERCENT, _TEST_PERCENT = 3, 2

_DATA = Path(__file__).with_name("data")
# Offensive texts.
_UNWANTED_WORDS = re.compile(
    r"\b(fuck\w*|shit\w*|sex\w*|rape\w*|whore\w*|nigg\w*|bitch\w*|cunt\w*|damn\w*|bastard\w*|asshole\w*|penis|vagina|"
    r"breasts?|naked|nazi\w*|hitler|kill\w*|suicide|jews?|negro\w*|orgasm\w*|virgin\w*|lesbian\w*|homosexual\w*)\b",
    re.IGNORECASE,
)
_WHO_SAID_IT = re.compile(r"^\s*--.*", re.MULTILINE | re.DOTALL)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_QUOTATION = re.compile(r"[A-Z][a-z']*(?:[,;:]? [A-Za-z][a-z']*(?:-[a-z]+)*)+[.!?]")
_MAX_QUOTATION = 95
_MIN_WORDS, _MAX_WORDS = 3, 17

_MARKUP = re.compile(r"\x1b\[[\d;]*m|<[^>]+>")
_ENGLISH_SENTENCE = re.compile(r"[\"“]?[A-Z][A-Za-z0-9 ,;:'’\"“”%$()—–-]+[.!?][\"”]?")
_MANDARIN_SENTENCE = re.compile(r"[\u4e00-\u9fff0-9A-Za-z，、；：“”《》（）% -]+[。！？]?")
_NOT_SPOKEN = re.compile(r"\n\s*--.*|《[^》]*》\s*\n|作者：.*")  # who wrote it, and titles
_MANDARIN_ENDS = re.compile(r"(?<=[。！？])")
_UNWANTED_MANDARIN = re.compile(
    r"共产|主席|革命|法轮|杀|奸|娼|妓|淫|屌|操你|屄|毒品|自杀|纳粹|日寇|鬼子|毛泽东|习近平|国民党"
)
_QUOTED = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Source:
    """Texts of one kind. ``weight`` is the share of a language's lines that are of this kind."""

    kind: str
    weight: float
    texts: tuple[str, ...]


def english_sources(folder: Path) -> tuple[Source, ...]:
    """Raise ``CorpusFailed`` if ``folder``, that of the teacher, lacks a package."""
    random = np.random.default_rng(_SEED)
    return (
        _source("quotation", 22, _quotations(folder)),
        _source("example", 32, _dictionary_examples(folder)),
        _source("manual", 8, _pages(folder, "C", _english_sentences)),
        _source("dialogue", 6, _dialogues(folder, "english", _english_sentences)),
        _source("template", 26, fill_in(_NUM_TEMPLATES, random)),
        _source("words", 6, _english_words(folder, random)),
    )


def mandarin_sources(folder: Path) -> tuple[Source, ...]:
    """Raise ``CorpusFailed`` if ``folder``, that of the teacher, lacks a package."""
    random = np.random.default_rng(_SEED)
    fortunes = folder / "texts/usr/share/games/fortunes"
    quoted = [quote for quote in _read(fortunes / "chinese").split("\n%\n") if "──" not in quote]
    poems = [quote for name in ("tang300", "song100") for quote in _read(fortunes / name).split("\n%\n")]
    return (
        _source("quotation", 14, (text for quote in quoted for text in _mandarin_sentences(quote))),
        _source("poem", 3, (text for poem in poems for text in _mandarin_sentences(poem))),
        _source("manual", 33, [*_pages(folder, "zh_CN", _mandarin_sentences), *_reference(folder)]),
        _source("dialogue", 5, _dialogues(folder, "chinese", _mandarin_sentences)),
        _source("template", 37, fill_in_mandarin(_NUM_TEMPLATES, random)),
        _source("words", 8, _mandarin_words(random)),
    )


def test_sentences(language: str) -> tuple[str, ...]:
    """Return the sentences for evaluation in "en" or "zh", which are in no corpus."""
    return _lines(f"test_sentences_{language}.txt")


def prompt_sentences(language: str) -> tuple[str, ...]:
    """Return sentences of four to eight seconds for prompts, in "en" or "zh"."""
    return _lines(f"prompt_sentences_{language}.txt")


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a quotation that consist of words and commas only."""
    flat = " ".join(_WHO_SAID_IT.sub("", text).split()).replace("--", ", ").replace(" ,", ",")
    found = (part.strip() for part in _ENDS.split(flat))
    return [
        part
        for part in found
        if _QUOTATION.fullmatch(part)
        and part[1] != ":"
        and len(part) <= _MAX_QUOTATION
        and _MIN_WORDS <= len(part.split()) <= _MAX_WORDS
        and not is_unwanted(part)
    ]


def is_unwanted(text: str) -> bool:
    return _UNWANTED_WORDS.search(text) is not None


def split_of(text: str) -> str:
    """Return "train", "validation" or "test". It depends on the text only, so that more texts change nothing."""
    percent = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % 100
    if percent < _TEST_PERCENT:
        return "test"
    return "validation" if percent < _TEST_PERCENT + _VALIDATION_PERCENT else "train"


def _source(kind: str, weight: float, texts: Iterator[str] | list[str]) -> Source:
    distinct = tuple(dict.fromkeys(texts))
    if not distinct:
        raise CorpusFailed(
            f"There are no texts of the kind {kind}. Create the teacher's folder again: train.py teacher"
        )
    return Source(kind, weight, distinct)


def _quotations(folder: Path) -> Iterator[str]:
    for path in sorted((folder / "texts/usr/share/games/fortunes").glob("*")):
        if path.is_file() and not path.suffix and path.name not in _NOT_PROSE:
            for quote in _read(path).split("\n%\n"):
                yield from sentences_in(quote)


_NOT_PROSE = {"ascii-art", "drugs", "ethnic", "perl", "debian", "linuxcookie", "off", "chinese", "tang300", "song100"}


def _dictionary_examples(folder: Path) -> Iterator[str]:
    """Yield the examples of WordNet's verbs, nouns and adjectives, as sentences."""
    for part in ("verb", "noun", "adj", "adv"):
        for line in _read(folder / f"texts/usr/share/wordnet/data.{part}").splitlines():
            for example in _QUOTED.findall(line):
                words = example.split()
                if 4 <= len(words) <= 20 and example.isascii() and not is_unwanted(example):
                    text = example[0].upper() + example[1:]
                    text = text if text[-1] in ".!?" else f"{text}."
                    if _ENGLISH_SENTENCE.fullmatch(text):
                        yield text


def _pages(folder: Path, language: str, sentences: Callable[[str], Iterator[str]]) -> Iterator[str]:
    for path in sorted((folder / f"texts/usr/share/help/{language}").rglob("*.page")):
        for paragraph in re.findall(r"<(?:p|desc)>(.*?)</(?:p|desc)>", _read(path), re.DOTALL):
            yield from sentences(paragraph)


def _reference(folder: Path) -> Iterator[str]:
    """Yield the sentences of the Chinese manuals of LibreOffice and Debian."""
    for path in sorted((folder / "texts/usr/share").rglob("*.html")):
        for paragraph in re.findall(r"<p[^>]*>(.*?)</p>", _read(path), re.DOTALL):
            yield from _mandarin_sentences(paragraph)


def _dialogues(folder: Path, language: str, sentences: Callable[[str], Iterator[str]]) -> Iterator[str]:
    for path in sorted((folder / f"chatterbot_corpus/data/{language}").glob("*.yml")):
        if path.stem in ("coding", "tech_support", "politics", "ai", "psychology"):
            continue
        for turns in yaml.safe_load(_read(path))["conversations"]:
            for turn in turns:
                yield from sentences(str(turn))


def _english_sentences(text: str) -> Iterator[str]:
    flat = " ".join(html.unescape(_MARKUP.sub("", text)).split())
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", flat):
        if _ENGLISH_SENTENCE.fullmatch(part) and len(part) <= _MAX_ENGLISH and not is_unwanted(part):
            yield part


def _mandarin_sentences(text: str) -> Iterator[str]:
    plain = _NOT_SPOKEN.sub("", html.unescape(_MARKUP.sub("", text)))
    flat = re.sub(r"\s+", "", plain)
    for part in _MANDARIN_ENDS.split(flat):
        num_han = len(re.findall(r"[\u4e00-\u9fff]", part))
        if not (4 <= num_han <= _MAX_MANDARIN and _MANDARIN_SENTENCE.fullmatch(part) and num_han > 0.7 * len(part)):
            continue
        # Other characters than those of this code are traditional or rare.
        if _is_simplified(part) and not _UNWANTED_MANDARIN.search(part):
            yield part if part[-1] in "。！？" else f"{part}。"


def _is_simplified(text: str) -> bool:
    try:
        text.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _english_words(folder: Path, random: np.random.Generator) -> list[str]:
    """Return single words and short lists that cover the lexicon."""
    words = sorted(
        word
        for word in json.loads(_read(folder / "misaki/data/us_gold.json"))
        if re.fullmatch(r"[a-z]{3,14}", word) and not is_unwanted(word)
    )
    return list(_word_lists(words, random, separator=", ", end="."))


def _mandarin_words(random: np.random.Generator) -> list[str]:
    return list(_word_lists(_frequent_words(), random, separator="，", end="。"))


@lru_cache(maxsize=1)
def _frequent_words() -> list[str]:
    """Return the words of jieba's dictionary that are not rare."""
    import jieba  # noqa: PLC0415 - of the training's requirements

    rows = (line.split() for line in Path(jieba.__file__).with_name("dict.txt").read_text("utf-8").splitlines())
    return sorted(
        row[0]
        for row in rows
        if int(row[1]) >= 60
        and re.fullmatch(r"[\u4e00-\u9fff]{1,4}", row[0])
        and _is_simplified(row[0])
        and not _UNWANTED_MANDARIN.search(row[0])
    )


def _word_lists(words: list[str], random: np.random.Generator, *, separator: str, end: str) -> Iterator[str]:
    order = iter([words[number] for number in random.permutation(len(words))] * 2)
    for _ in range(_NUM_WORD_LISTS):
        count = int(random.choice([1, 2, 3, 4, 5], p=[0.3, 0.1, 0.2, 0.2, 0.2]))
        drawn = separator.join(next(order) for _ in range(count))
        yield drawn[0].upper() + drawn[1:] + (end if random.random() < 0.9 else {".": "?", "。": "？"}[end])


def _lines(name: str) -> tuple[str, ...]:
    return tuple((_DATA / name).read_text("utf-8").splitlines())


def _read(path: Path) -> str:
    if not path.is_file():
        raise CorpusFailed(f"{path} is missing. Create the teacher's folder again: train.py teacher")
    return path.read_text("utf-8", "replace")
