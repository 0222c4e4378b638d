"""The corpus as input of the speech language model: spoken text, speaker, style and tokens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from studio.text.language import Language
from studio.text.prompt_form import COSYVOICE3_TEXT
from studio.text.split import ParagraphEnd
from studio.text.spoken import finish, shown, spoken_transcript
from training.corpus.store import Corpus
from training.corpus.utterance import IntArray, Speaker

NORMAL = "normal"


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """An utterance without audio. ``spoken`` is its text in words, as the program normalises it."""

    spoken: str
    speaker: Speaker
    style: str
    split: str
    tokens: IntArray = field(repr=False)


def spoken_form(text: str) -> str:
    """Return ``text`` in words and with an end mark, as the program's text pipeline converts a paragraph."""
    spoken = spoken_transcript(text, COSYVOICE3_TEXT.tags)
    return shown(finish(spoken, Language.ENGLISH, ParagraphEnd.PARAGRAPH))


def read_lines(corpus: Corpus, memory: Path) -> list[Line]:
    """Return all lines except those of unseen speakers. ``memory`` is a file that stores spoken forms."""
    entries = [corpus.entry(index) for index in range(len(corpus))]
    spoken = _spoken_forms({entry.text for entry in entries}, memory)
    return [
        Line(spoken[entry.text], entry.speaker, entry.style, entry.split, corpus.tokens(index))
        for index, entry in enumerate(entries)
        if entry.speaker.split != "stranger" and spoken[entry.text]
    ]


def _spoken_forms(unsorted_texts: Iterable[str], memory: Path) -> dict[str, str]:
    """Normalising 17,000 sentences takes about two minutes, so the result is stored."""
    texts = sorted(unsorted_texts)
    key = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    if memory.is_file():
        kept = json.loads(memory.read_text("utf-8"))
        if kept["key"] == key:
            return dict(zip(texts, kept["spoken"], strict=True))
    spoken = [spoken_form(text) for text in texts]
    memory.parent.mkdir(parents=True, exist_ok=True)
    beside = memory.with_suffix(".part")
    beside.write_text(json.dumps({"key": key, "spoken": spoken}, ensure_ascii=False), "utf-8")
    beside.replace(memory)
    return dict(zip(texts, spoken, strict=True))


def by_speaker_and_style(lines: Iterable[Line]) -> dict[tuple[str, str], list[Line]]:
    """Return groups of lines for prompts and their continuations."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.speaker.name, line.style), []).append(line)
    return groups


def concatenated(parts: Iterable[IntArray]) -> IntArray:
    """Return the digest, also of an empty list."""
    tokens: IntArray = np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32)
    return tokens
