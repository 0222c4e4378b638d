"""From what a person typed to sentences a model can speak; each step is a function of its own room-mate.

``find_marks`` protects tags → ``blocks`` and ``cut_points`` split → ``normalize`` puts into words →
``speak`` puts the tags back → ``text_tokens``; the prompt in front comes from ``PromptForm``.

Decided: split first, normalise the pieces, then put pieces together to sentences by the official rule
(80, 60, 20; specification B2). Because then every sentence knows exactly what was written for it, and
tags cannot be torn. Instead of: normalising the whole text and splitting what comes out.
Decided: a line break ends a sentence, unless an editor merely wrapped the lines. Because a narrator's
line is a line. Decided: a text that is more than any request may hold is refused, any other is spoken,
whatever its punctuation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from studio.errors import NothingToSpeak, TextTooLong
from studio.text.incremental import IncrementalSplitter
from studio.text.language import Language, detect_language
from studio.text.layout import Layout, Paragraph, ParagraphEnd, blocks
from studio.text.prompt_form import PromptForm
from studio.text.split import cut_points, split_near_middle
from studio.text.spoken import Encoder, Spoken, finish, join, length, shown, speak, text_tokens, trim

MOST_CHARACTERS = 1_000_000

# Specification B2, in characters (Chinese) or text tokens (others).
_FULL_LENGTH = 80
_ENOUGH_LENGTH = 60
_SHORT_LENGTH = 20
# Beyond these, which no official rule bounds, a model drifts: a clause is cut at a comma, a sentence ended.
_LONGEST_PIECE = 100
_LONGEST_SENTENCE = 140
# A clause of so many characters is too long whatever its tokens; it need not be normalised to know.
_LONGEST_PIECE_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is spoken in one go: as ``written``, as ``spoken``, and as the model reads it.

    ``written`` of all items, one after the other, is the text exactly; ``spoken`` begins with a blank
    where the sentence goes on in the same paragraph, as the model expects it.
    """

    written: str
    spoken: str
    text_tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence the writer asked for (``[pause 0.5]``): made by the studio, never sent to a model."""

    written: str
    seconds: float


def prepare_text(text: str, *, form: PromptForm, tokenizer: Encoder, normalize: bool = True) -> list[Sentence | Pause]:
    """All sentences and pauses of ``text``, in order.

    Without ``normalize`` the words are taken as they stand; the text is split all the same. Raises
    ``NothingToSpeak``, ``TextTooLong``, and ``StyleNotSupported`` for marks the generation does not know.
    """
    return list(read_sentences(text, form=form, tokenizer=tokenizer, normalize=normalize))


def read_sentences(
    text: str, *, form: PromptForm, tokenizer: Encoder, normalize: bool = True
) -> Iterator[Sentence | Pause]:
    """The same one by one, so that a book's first sentence need not wait for its last; raises as it goes."""
    reader = _Reader(_layout(text, form), tokenizer, is_normalized=not normalize)
    return _at_least_one_sentence(reader.items())


class IncrementalText:
    """Sentences of a text that is still being written; see :class:`IncrementalSplitter`."""

    def __init__(self, *, form: PromptForm, tokenizer: Encoder, normalize: bool = True) -> None:
        self._form = form
        self._tokenizer = tokenizer
        self._is_normalized = not normalize
        self._splitter = IncrementalSplitter(form.tags)
        self._language = Language.ENGLISH

    def items(self, pieces: Iterable[str]) -> Iterator[Sentence | Pause]:
        """Each sentence as soon as it is complete. Raises like :func:`prepare_text`."""
        return _at_least_one_sentence(self._items(pieces))

    def _items(self, pieces: Iterable[str]) -> Iterator[Sentence | Pause]:
        for piece in pieces:
            yield from self._read(self._splitter.feed(piece))
        yield from self._read(self._splitter.finish())

    def _read(self, texts: list[str]) -> Iterator[Sentence | Pause]:
        for text in texts:
            layout = _layout(text, self._form)
            # A line of digits is in the language of the lines before it.
            self._language = detect_language(layout.masked, self._language)
            yield from _Reader(
                layout, self._tokenizer, is_normalized=self._is_normalized, language=self._language
            ).items()


def _layout(text: str, form: PromptForm) -> Layout:
    if len(text) > MOST_CHARACTERS:
        raise TextTooLong(
            "The text has {length:,} characters; one request takes {most:,}.",
            remedy="Speak it in parts, chapter by chapter.",
            length=len(text),
            most=MOST_CHARACTERS,
        )
    return Layout.of(text, form.tags)


def _at_least_one_sentence(items: Iterator[Sentence | Pause]) -> Iterator[Sentence | Pause]:
    has_sentence = False
    for item in items:
        has_sentence |= isinstance(item, Sentence)
        yield item
    if not has_sentence:
        raise NothingToSpeak("There is nothing to speak in this text.", remedy="Write at least one word or number.")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A clause: never cut, put together with others. It ends at ``end`` of the text."""

    end: int
    spoken: Spoken
    length: int


class _Reader:
    """One pass over a text; remembers up to where the text has been given out."""

    def __init__(
        self, layout: Layout, tokenizer: Encoder, *, is_normalized: bool, language: Language | None = None
    ) -> None:
        self._layout = layout
        self._tokenizer = tokenizer
        self._is_normalized = is_normalized
        self._text_language = language or detect_language(layout.masked)
        self._taken = 0

    def items(self) -> Iterator[Sentence | Pause]:
        """Sentences and pauses, none if there is nothing to say."""
        held: Sentence | Pause | None = None
        for item in self._unfinished_items():
            if held is not None:
                yield held
            held = item
        if held is not None:
            # Whatever follows the last sentence and cannot be spoken belongs to it.
            yield replace(held, written=held.written + self._take(len(self._layout.text)))

    def _unfinished_items(self) -> Iterator[Sentence | Pause]:
        for block in blocks(self._layout):
            if self._layout.is_speakable(block.start, block.text_end):
                yield from self._block_sentences(block)
            if block.pause_seconds is not None:
                yield Pause(self._take(block.end), block.pause_seconds)

    def _block_sentences(self, block: Paragraph) -> Iterator[Sentence]:
        language = detect_language(self._layout.masked[block.start : block.text_end], self._text_language)
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
            # Inside a block only a clause that had to be cut lacks a mark.
            spoken = finish(spoken, language, ending or ParagraphEnd.CONTINUED)
        return Sentence(self._take(group[-1].end), shown(spoken), text_tokens(spoken, self._tokenizer))

    def _take(self, end: int) -> str:
        written = self._layout.text[self._taken : end]
        self._taken = end
        return written

    def _pieces(self, block: Paragraph, language: Language) -> Iterator[_Piece]:
        covered = self._layout.masked[block.start : block.text_end]
        cuts = [block.start + cut for cut in cut_points(covered, language)]
        start = block.start
        for cut in [*(cut for cut in cuts if not self._layout.is_within_span(cut)), block.text_end]:
            if cut > start:
                yield from self._short_pieces(start, cut, language)
            start = cut

    def _short_pieces(self, start: int, end: int, language: Language) -> Iterator[_Piece]:
        """``text[start:end]`` as one piece, or cut in two until each is short enough."""
        open_ranges = [(start, end)]
        while open_ranges:
            start, end = open_ranges.pop()
            if end - start <= _LONGEST_PIECE_CHARACTERS:
                spoken = self._speak(start, end, language)
                if not spoken:
                    continue
                size = length(spoken, language, self._tokenizer)
                if size <= _LONGEST_PIECE or end - start < 2:
                    yield _Piece(end, spoken, size)
                    continue
            middle = start + split_near_middle(self._layout.masked[start:end])
            open_ranges += [(middle, end), (start, middle)]

    def _speak(self, start: int, end: int, language: Language) -> Spoken:
        return speak(self._layout, start, end, language, is_normalized=self._is_normalized)


def _sentences(pieces: Iterator[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces put together: 60 to 80 long where that is possible, the last one not left too short."""
    held: list[_Piece] = []
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        is_full = size + piece.length > _FULL_LENGTH and size > _ENOUGH_LENGTH
        if group and (is_full or size + piece.length > _LONGEST_SENTENCE):
            if held:
                yield held
            held, group, size = group, [], 0
        group.append(piece)
        size += piece.length
    if held and group and size < _SHORT_LENGTH:
        yield held + group
        return
    yield from (ready for ready in (held, group) if ready)
