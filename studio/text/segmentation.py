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

from studio.errors import NothingToSpeak, TextTooLong
from studio.text.cleaning import clean
from studio.text.language import Language, detect_language, language_of_emoji, language_of_line, parse_language
from studio.text.prompt_form import PromptForm
from studio.text.rules import Step
from studio.text.split import (
    IncrementalSplitter,
    Layout,
    Paragraph,
    ParagraphEnd,
    blocks,
    cut_points,
    split_near_middle,
)
from studio.text.spoken import Encoder, Spoken, finish, fold, join, length, shown, speak, text_tokens, trim
from studio.text.tags import COSYVOICE3_TAGS, TagSet

MAX_CHARACTERS = 1_000_000

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


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text that arrives: one or more sentences, which are spoken as a text of their own.

    ``language`` is the tag of the preceding text if the part has no letters, and empty otherwise.
    """

    text: str
    language: str = ""


class IncrementalText:
    """Divides text that arrives in pieces into parts, each as soon as it is complete. See :class:`IncrementalSplitter`.

    The first part contains a sentence; later ones may consist of pauses.
    """

    def __init__(self) -> None:
        self._splitter = IncrementalSplitter(COSYVOICE3_TAGS)
        self._held = ""  # text without a sentence or a pause, which belongs to the next part
        self._language = Language.ENGLISH
        self._is_spoken = False

    def feed(self, piece: str) -> list[TextPart]:
        """Add ``piece`` and return the parts that are complete."""
        return self._parts(self._splitter.feed(piece))

    def flush(self) -> list[TextPart]:
        """Return the text that has arrived as complete. More may follow."""
        return self._parts(self._splitter.finish())

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
