"""Text in spoken form, as words and tags.

Tags are kept apart from words until they are encoded, so that typed text can never become a special token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import regex

from studio.text.cleaning import clean
from studio.text.language import Language, detect_language, is_english_inset
from studio.text.normalize import normalize, strip_controls
from studio.text.rules import Step
from studio.text.split import Layout, ParagraphEnd, blocks
from studio.text.tags import MarkKind, TagSet

_CLOSERS = "\"”’'」』〉》】）)]}"
_END_MARKS = regex.compile(r"[\p{STerm}．…;:；：、]")
_TRAILING_COMMAS = regex.compile(r"[，,、–—\s]+\Z")


class Encoder(Protocol):
    """Interface of the text tokenizer that spoken text needs."""

    special_ids: dict[str, int]

    @property
    def reads_pinyin(self) -> bool:
        """Whether Chinese characters are encoded as phone tokens."""
        ...

    def encode(self, text: str, *, allow_special: bool) -> tuple[int, ...]: ...

    def encode_speech(self, words: str) -> tuple[int, ...]: ...

    def folded(self, words: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Part:
    """Words, or one special token if ``is_tag``."""

    text: str
    is_tag: bool = False
    steps: tuple[Step, ...] = ()  # what rules replaced in the words


Spoken = tuple[Part, ...]


def speak(
    layout: Layout, start: int, end: int, language: Language, *, is_normalized: bool, day_first: bool = False
) -> Spoken:
    """Return the spoken form of ``layout.text[start:end]`` without pauses. Without words, only its tags remain."""
    has_words = layout.is_speakable(start, end)
    if language is Language.CHINESE and is_english_inset(layout.masked[start:end]):
        language = Language.ENGLISH
    spoken: list[Part] = []
    position = start
    for mark in layout.marks_between(start, end):
        if has_words:
            spoken.append(
                _words(layout.text[position : mark.start], language, is_normalized=is_normalized, day_first=day_first)
            )
        if mark.kind is not MarkKind.PAUSE:
            spoken.append(Part(mark.token, is_tag=True))
        position = mark.end
    if has_words:
        spoken.append(_words(layout.text[position:end], language, is_normalized=is_normalized, day_first=day_first))
    return tuple(part for part in spoken if part.text)


def join(pieces: Sequence[Spoken]) -> Spoken:
    """Concatenate ``pieces``. Adjacent words become one part, for the tokenizer."""
    joined: list[Part] = []
    for part in (part for piece in pieces for part in piece):
        if joined and not joined[-1].is_tag and not part.is_tag:
            joined[-1] = Part(joined[-1].text + part.text, steps=joined[-1].steps + part.steps)
        else:
            joined.append(part)
    return tuple(joined)


def shown(spoken: Spoken) -> str:
    return "".join(part.text for part in spoken)


def length(spoken: Spoken, language: Language, tokenizer: Encoder) -> int:
    """Return the length for the splitting rules, in characters for Chinese, otherwise in text tokens.

    A tag counts as one character. Pinyin has two tokens for most characters, and a model that reads it is small: its
    sentences are measured in tokens.
    """
    if language is Language.CHINESE and not tokenizer.reads_pinyin:
        return sum(1 if part.is_tag else len(part.text) for part in spoken)
    return len(text_tokens(spoken, tokenizer))


def text_tokens(spoken: Spoken, tokenizer: Encoder) -> tuple[int, ...]:
    """Return the ids of ``spoken``. Tags that the vocabulary lacks are encoded as text, together with their neighbours."""
    ids: list[int] = []
    words = ""
    for part in spoken:
        tag = tokenizer.special_ids.get(part.text) if part.is_tag else None
        if tag is None:
            words += part.text
        else:
            ids += (*(tokenizer.encode_speech(words) if words else ()), tag)
            words = ""
    return (*ids, *(tokenizer.encode_speech(words) if words else ()))


def finish(spoken: Spoken, language: Language, ending: ParagraphEnd) -> Spoken:
    """Return ``spoken`` with a mark at its end, which determines the model's intonation.

    At the end of a paragraph, a final comma is replaced by a full stop, and a missing end mark is added. Before a
    pause, or where a long sentence was cut, a missing comma is added. Closing quotes and tags are ignored.
    """
    stop, comma = ("。", "，") if language.writes_without_spaces else (".", ",")
    index = max((i for i, part in enumerate(spoken) if not part.is_tag and part.text.strip()), default=-1)
    is_over = ending is ParagraphEnd.PARAGRAPH
    if index < 0:
        return (*spoken, Part(stop if is_over else comma))
    body = spoken[index].text.rstrip()
    words = body.rstrip(_CLOSERS + " ")
    closers = body[len(words) :]
    if is_over:
        words = without_trailing_commas(words)
    has_mark = bool(words) and (_END_MARKS.match(words[-1]) is not None or (not is_over and words[-1] in "，,"))
    marked = words + closers + ("" if has_mark else stop if is_over else comma)
    return (*spoken[:index], replace(spoken[index], text=marked), *spoken[index + 1 :])


def without_trailing_commas(text: str) -> str:
    return _TRAILING_COMMAS.sub("", text)


def fold(spoken: Spoken, tokenizer: Encoder) -> Spoken:
    """Return ``spoken`` with the letters and marks of the model's vocabulary."""
    return tuple(part if part.is_tag else _folded(part, tokenizer.folded(part.text)) for part in spoken)


def _folded(part: Part, text: str) -> Part:
    return (
        part
        if text == part.text
        else replace(part, text=text, steps=(*part.steps, Step("vocabulary", part.text, text)))
    )


def trim(spoken: Spoken) -> Spoken:
    """Return ``spoken`` without leading white space."""
    if spoken and not spoken[0].is_tag:
        first = spoken[0].text.lstrip()
        return (replace(spoken[0], text=first), *spoken[1:]) if first else trim(spoken[1:])
    return spoken


def _words(text: str, language: Language, *, is_normalized: bool, day_first: bool) -> Part:
    if is_normalized:
        return Part(strip_controls(text))
    words = normalize(text, language, day_first=day_first)
    return Part(words.text, steps=words.steps)


def spoken_transcript(transcript: str, tags: TagSet, *, normalize: bool = True) -> Spoken:
    """Return the transcript of a reference clip in spoken form, normalised but not split (specification B1).

    Lines end like sentences, except that the last line keeps its end: a clip may stop within a sentence.
    """
    layout = Layout.of(clean(transcript, tags).text.strip(), tags)
    language = detect_language(layout.masked)
    lines: list[Spoken] = []
    for block in blocks(layout):
        if not layout.is_speakable(block.start, block.text_end):
            continue
        line = trim(speak(layout, block.start, block.text_end, language, is_normalized=not normalize))
        if line:
            lines.append(line)
    space: Spoken = () if language.writes_without_spaces else (Part(" "),)
    inner = [piece for line in lines[:-1] for piece in (finish(line, language, ParagraphEnd.PARAGRAPH), space)]
    last = lines[-1] if lines else ()
    if normalize and last and without_trailing_commas(last[-1].text) != last[-1].text.rstrip():
        last = finish(last, language, ParagraphEnd.PARAGRAPH)
    return join([*inner, last])
