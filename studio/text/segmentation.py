"""Segmentation of text into sentences for the language model.

Steps: ``clean`` removes markup and unspeakable signs, ``find_marks`` finds the tags, ``blocks`` and ``cut_points`` split the text, ``normalize`` spells out numbers,
``speak`` reinserts the tags, and ``text_tokens`` encodes the result. ``PromptForm`` provides the prompt before the text.

Decision: split first, normalise the pieces, then join pieces into sentences by the official rule (80, 60, 20;
specification B2). Reason: the written text of each sentence is known exactly, and tags stay intact. Alternative:
normalise the whole text and split the result.
Decision: a line break ends a sentence, unless an editor wrapped the lines. Reason: in scripts, each line is an
utterance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import regex

from studio.errors import NothingToSpeak, TextTooLong
from studio.text.arriving import ArrivingText, Fragment
from studio.text.cleaning import clean
from studio.text.language import Language, detect_language, language_of_emoji, language_of_line, parse_language
from studio.text.rules import Step
from studio.text.split import (
    MAX_PENDING_CHARACTERS,
    IncrementalSplitter,
    Layout,
    Paragraph,
    ParagraphEnd,
    blocks,
    cut_points,
    fragment_ends,
    split_near_middle,
)
from studio.text.spoken import Encoder, Spoken, finish, fold, join, length, shown, speak, text_tokens, trim
from studio.text.tags import COSYVOICE3_TAGS, MarkKind, TagSet
from studio.text.tokenizer import PromptForm

MAX_CHARACTERS = 1_000_000
_BRACKETS = (("[", "]"), ("(", ")"), ("<", ">"), ("{", "}"))
_EMPHASIS = "*_`~|"
# A word with the white space after it, or a character of a script without spaces.
_UNIT_END = regex.compile(r"(?<=\s)(?=\S)|(?<=[\p{Han}\p{Hiragana}\p{Katakana}\u3001\u3002\uff01-\uff60])(?=\S)")

# Specification B2, in characters (Chinese) or text tokens (others).
_FULL_LENGTH = 80
_ENOUGH_LENGTH = 60
_SHORT_LENGTH = 20
# The official program has no such limits, but models drift in long sentences. Longer clauses are cut at commas.
_MAX_PIECE = 100
_MAX_SENTENCE = 140
# A clause with more characters is cut without normalising it first.
_MAX_PIECE_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """Text of one utterance in three forms."""

    written: str  # concatenated over all items, exactly the text
    spoken: str  # begins with a space if the paragraph continues, as the model expects
    text_tokens: tuple[int, ...]
    language: Language = Language.ENGLISH
    steps: tuple[Step, ...] = ()  # what rules replaced after cleaning


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause tag such as ``[pause 0.5]``: silence inserted without a model."""

    written: str
    seconds: float


def prepare_text(
    text: str,
    *,
    form: PromptForm,
    tokenizer: Encoder,
    normalize: bool = True,
    language: str = "",
    is_continued: bool = False,
) -> list[Sentence | Pause]:
    """Return all sentences and pauses of ``text``, in order.

    Without ``normalize``, the text is split but no words are changed. ``language`` is the tag of the script, such as
    ``de`` or ``en-GB``; an empty one is detected. A text that continues another one (``is_continued``) may consist of
    pauses. Raise ``NothingToSpeak``, ``TextTooLong``, and ``StyleNotSupported`` for tags that the generation does not
    support.
    """
    reader = _Reader(_Source.of(text, form.tags, language), tokenizer, is_normalized=not normalize, tag=language)
    items = list(reader.items())
    if not (is_continued or any(isinstance(item, Sentence) for item in items)):
        raise _nothing_to_speak()
    return items


def prepare_undivided(
    text: str, *, form: PromptForm, tokenizer: Encoder, normalize: bool = True, language: str = ""
) -> Sentence:
    """Return ``text`` as one sentence, without its pauses and line breaks. The rest is as in ``prepare_text``."""

    def prepare(text: str) -> list[Sentence]:
        items = prepare_text(text, form=form, tokenizer=tokenizer, normalize=normalize, language=language)
        return [item for item in items if isinstance(item, Sentence)]

    sentences = prepare(text)
    if len(sentences) > 1:  # their spaces depend on each other
        sentences = prepare(" ".join("".join(sentence.written for sentence in sentences).split()))
    return replace(
        sentences[0],
        written="".join(sentence.written for sentence in sentences),
        spoken="".join(sentence.spoken for sentence in sentences),
        text_tokens=tuple(token for sentence in sentences for token in sentence.text_tokens),
        steps=tuple(step for sentence in sentences for step in sentence.steps),
    )


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text that arrives: one or more sentences, which are spoken as a text of their own.

    ``language`` is the tag of the preceding text if the part has no letters, and empty otherwise.
    """

    text: str
    language: str = ""
    arriving: ArrivingText | None = None  # the sentence, if it is returned before it is complete; ``text`` is empty

    @property
    def written(self) -> str:
        return self.text if self.arriving is None else self.arriving.written


class IncrementalText:
    """Divides text that arrives in pieces into parts, each as soon as it is complete. See :class:`IncrementalSplitter`.

    The first part contains a sentence; later ones may consist of pauses. With ``interleaves``, for models that begin to
    speak a sentence before it is complete, a part is returned at its first fragment. The parts and fragments are then
    those of the text, however it is divided into pieces.
    """

    def __init__(self, *, interleaves: bool = False) -> None:
        self._splitter = IncrementalSplitter(COSYVOICE3_TAGS)
        self._held = ""  # text without a sentence or a pause, which belongs to the next part
        self._language = Language.ENGLISH
        self._is_spoken = False
        self._interleaves = interleaves
        self._word = ""  # that is not complete
        self._arriving: ArrivingText | None = None  # the part that has begun
        self._num_taken = 0  # the characters of its text that have been added

    def feed(self, piece: str) -> list[TextPart]:
        """Add ``piece`` and return the parts that are complete, or have begun."""
        if not self._interleaves:
            return self._parts(self._splitter.feed(piece))
        *units, self._word = _UNIT_END.split(self._word + piece)
        return [part for unit in units for part in self._add_unit(unit)]

    def flush(self) -> list[TextPart]:
        """Return the text that has arrived as complete. More may follow."""
        word, self._word = self._word, ""
        begun = self._add_unit(word) if word else []
        return [*begun, *self._parts(self._splitter.finish() or ([""] if self._arriving else []))]

    def _add_unit(self, unit: str) -> list[TextPart]:
        return [*self._parts(self._splitter.feed(unit)), *self._begun()]

    def _begun(self) -> list[TextPart]:
        """Add the fragments of the pending text that are complete. Return the part if it begins with them."""
        written = self._held + self._splitter.pending
        source = _Source.of(written, COSYVOICE3_TAGS)
        pause = next((mark.start for mark in source.layout.marks if mark.kind is MarkKind.PAUSE), None)
        if pause is not None and self._arriving is None:
            return []
        parts = []
        for end in fragment_ends(source.layout):
            at = source.origins[end]
            if at <= self._num_taken or (pause is not None and end > pause) or not _is_balanced(written[:at]):
                continue
            if self._arriving is None:
                self._arriving = ArrivingText()
                self._splitter.is_begun = self._is_spoken = True
                parts.append(TextPart("", arriving=self._arriving))
            self._arriving.add(Fragment(written[self._num_taken : at]))
            self._num_taken = at
            if at > MAX_PENDING_CHARACTERS:
                pause = end
                break
        if self._arriving is not None and pause is not None:
            at = source.origins[pause]
            self._splitter.take(at - len(self._held))
            self._complete(written[:at])
            return [*parts, *self._begun()]
        return parts

    def _complete(self, written: str) -> None:
        """End the part that has begun, of which ``written`` is the whole text."""
        assert self._arriving is not None
        self._arriving.add(Fragment(written[self._num_taken :], is_last=True))
        layout = _Source.of(written, COSYVOICE3_TAGS).layout
        self._language = detect_language(layout.masked, self._language)
        self._arriving, self._num_taken, self._held, self._splitter.is_begun = None, 0, "", False

    def finish(self) -> list[TextPart]:
        """Return the remaining text. Raise ``NothingToSpeak`` if no part contains a sentence."""
        parts = self.flush()
        if not self._is_spoken:
            raise _nothing_to_speak()
        return parts

    def _parts(self, texts: list[str]) -> list[TextPart]:
        parts = []
        for text in texts:
            self._held += text
            if self._arriving is not None:
                self._complete(self._held)
                continue
            layout = _Source.of(self._held, COSYVOICE3_TAGS).layout
            has_sentence = layout.is_speakable(0, len(layout.text))
            has_pause = any(block.pause_seconds is not None for block in blocks(layout))
            if has_sentence or (has_pause and self._is_spoken):
                parts.append(self._part(layout))
        return parts

    def _part(self, layout: Layout) -> TextPart:
        has_letters = detect_language(layout.masked, Language.ENGLISH) is detect_language(
            layout.masked, Language.CHINESE
        )
        part = TextPart(self._held, "" if has_letters else self._language.value)
        self._language = detect_language(layout.masked, self._language)
        self._held, self._is_spoken = "", True
        return part


def _is_balanced(text: str) -> bool:
    """Return whether no bracket or mark of emphasis in ``text`` is open."""
    pairs = all(text.count(opening) == text.count(closing) for opening, closing in _BRACKETS)
    return pairs and not any(text.count(mark) % 2 for mark in _EMPHASIS)


@dataclass(frozen=True, slots=True)
class _Source:
    """A text as written, and its layout after cleaning."""

    written: str
    layout: Layout
    origins: Sequence[int]  # the place in ``written`` of each position of the layout

    @classmethod
    def of(cls, text: str, tags: TagSet, language_tag: str = "") -> _Source:
        if len(text) > MAX_CHARACTERS:
            raise TextTooLong(
                "The text has {length:,} characters; one request takes {most:,}.",
                remedy="Divide it, for example into chapters.",
                length=len(text),
                most=MAX_CHARACTERS,
            )
        cleaned = clean(text, tags, emoji_language=language_of_emoji(language_tag, text))
        return cls(text, Layout.of(cleaned.text, tags), cleaned.origins)


def _nothing_to_speak() -> NothingToSpeak:
    return NothingToSpeak("There is nothing to speak in this text.", remedy="Write at least one word or number.")


class ArrivingSentence:
    """Spoken form and text tokens of a sentence that is spoken while it is being written.

    Each fragment is read like a clause: in its own words, in the language of the text before it.
    """

    def __init__(
        self, text: ArrivingText, *, form: PromptForm, tokenizer: Encoder, normalize: bool = True, language: str = ""
    ) -> None:
        self._text = text
        self._form = form
        self._tokenizer = tokenizer
        self._is_normalized = not normalize
        self._tag = language
        self.spoken = ""
        self.text_tokens: list[int] = []  # so far
        self.language = Language.ENGLISH

    def tokens(self) -> Iterator[int]:
        """Yield the text tokens, waiting for the text."""
        reading = parse_language(self._tag)
        masked = ""
        for fragment in self._text:
            layout = _Source.of(fragment.text, self._form.tags, self._tag).layout
            masked += layout.masked
            self.language = reading.language or language_of_line(masked, detect_language(masked))
            spoken = speak(
                layout,
                0,
                len(layout.text),
                self.language,
                is_normalized=self._is_normalized,
                day_first=reading.day_first,
            )
            if not self.text_tokens:
                spoken = trim(spoken)
            if fragment.is_last and not self._is_normalized:
                spoken = finish(spoken, self.language, ParagraphEnd.PARAGRAPH)
            spoken = fold(spoken, self._tokenizer)
            self.spoken += shown(spoken)
            tokens = text_tokens(spoken, self._tokenizer)
            self.text_tokens += tokens
            yield from tokens

    def sentence(self) -> Sentence:
        """Return the sentence, once all tokens have been read."""
        return Sentence(self._text.written, self.spoken, tuple(self.text_tokens), self.language)

    def close(self) -> None:
        """End the wait for more text."""
        self._text.close()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A clause or part of one. Sentences consist of whole pieces."""

    end: int  # offset in the text
    spoken: Spoken
    length: int  # length as defined by the splitting rules


class _Reader:
    """One pass over a text. It keeps the offset up to which text has been returned."""

    def __init__(
        self,
        source: _Source,
        tokenizer: Encoder,
        *,
        is_normalized: bool,
        tag: str,
    ) -> None:
        self._source = source
        self._layout = source.layout
        self._tokenizer = tokenizer
        self._is_normalized = is_normalized
        reading = parse_language(tag)
        self._day_first = reading.day_first
        self._text_language = reading.language or detect_language(self._layout.masked)
        self._taken = 0

    def items(self) -> Iterator[Sentence | Pause]:
        """Yield sentences and pauses."""
        held: Sentence | Pause | None = None
        for item in self._unfinished_items():
            if held is not None:
                yield held
            held = item
        if held is not None:
            # Unspeakable text at the end belongs to the last item.
            yield replace(held, written=held.written + self._take(len(self._layout.text)))

    def _unfinished_items(self) -> Iterator[Sentence | Pause]:
        for block in blocks(self._layout):
            if self._layout.is_speakable(block.start, block.text_end):
                yield from self._block_sentences(block)
            if block.pause_seconds is not None:
                yield Pause(self._take(block.end), block.pause_seconds)

    def _block_sentences(self, block: Paragraph) -> Iterator[Sentence]:
        language = language_of_line(self._layout.masked[block.start : block.text_end], self._text_language)
        held: list[_Piece] = []
        is_first = True
        for group in _sentences(self._pieces(block, language)):
            if held:
                yield self._sentence(held, language, None, is_first=is_first)
                is_first = False
            held = group
        if held:
            yield self._sentence(held, language, block.ending, is_first=is_first)

    def _sentence(
        self, group: list[_Piece], language: Language, ending: ParagraphEnd | None, *, is_first: bool
    ) -> Sentence:
        spoken = join([piece.spoken for piece in group])
        if is_first:
            spoken = trim(spoken)
        if not self._is_normalized:
            # Within a block, only clauses that had to be cut lack an end mark.
            spoken = finish(spoken, language, ending or ParagraphEnd.CONTINUED)
        spoken = fold(spoken, self._tokenizer)
        steps = tuple(step for part in spoken for step in part.steps)
        written = self._take(group[-1].end)
        return Sentence(written, shown(spoken), text_tokens(spoken, self._tokenizer), language, steps)

    def _take(self, end: int) -> str:
        place = self._source.origins[end]
        written = self._source.written[self._taken : place]
        self._taken = place
        return written

    def _pieces(self, block: Paragraph, language: Language) -> Iterator[_Piece]:
        masked = self._layout.masked[block.start : block.text_end]
        cuts = [block.start + cut for cut in cut_points(masked, language)]
        start = block.start
        for cut in [*(cut for cut in cuts if not self._layout.is_within_span(cut)), block.text_end]:
            if cut > start:
                yield from self._short_pieces(start, cut, language)
            start = cut

    def _short_pieces(self, start: int, end: int, language: Language) -> Iterator[_Piece]:
        """Yield ``text[start:end]`` as one piece, or halved until each is short enough."""
        open_ranges = [(start, end)]
        while open_ranges:
            start, end = open_ranges.pop()
            if end - start <= _MAX_PIECE_CHARACTERS:
                spoken = speak(
                    self._layout, start, end, language, is_normalized=self._is_normalized, day_first=self._day_first
                )
                if not spoken:
                    continue
                size = length(spoken, language, self._tokenizer)
                if size <= _MAX_PIECE or end - start < 2:
                    yield _Piece(end, spoken, size)
                    continue
            middle = start + split_near_middle(self._layout.masked[start:end])
            open_ranges += [(middle, end), (start, middle)]


def _sentences(pieces: Iterator[_Piece]) -> Iterator[list[_Piece]]:
    """Group pieces into sentences of 60 to 80 units if possible. A short last group joins the previous one."""
    held: list[_Piece] = []
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        is_full = size + piece.length > _FULL_LENGTH and size > _ENOUGH_LENGTH
        if group and (is_full or size + piece.length > _MAX_SENTENCE):
            if held:
                yield held
            held, group, size = group, [], 0
        group.append(piece)
        size += piece.length
    if held and group and size < _SHORT_LENGTH:
        yield held + group
        return
    yield from (ready for ready in (held, group) if ready)
