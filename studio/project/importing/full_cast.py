"""Division of a novel into the parts of a narrator and of the characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import regex

from studio.project.attribution.attribution import AttributedQuotation, Attribution, attribute
from studio.project.importing.blocks import Block
from studio.project.splitting import SplitMode, split_text, unwrap

_WORD = regex.compile(r"[\p{L}\p{N}]")


@dataclass(frozen=True, slots=True)
class FullCast:
    """The blocks of a novel, in which each quotation is a block of its character.

    Attributes:
        blocks: The parts of paragraphs, and all other blocks.
        quotations: For each block, the position of its quotation, or None.
    """

    attribution: Attribution
    blocks: tuple[Block, ...]
    quotations: tuple[int | None, ...]

    def line_numbers(self, breaks: SplitMode) -> dict[int, int]:
        """Return the number of the first line of each quotation in a script split at ``breaks``."""
        numbers: dict[int, int] = {}
        line = 1
        for block, quotation in zip(self.blocks, self.quotations, strict=True):
            if quotation is not None:
                numbers[quotation] = line
            is_split = block.is_spoken and not block.level
            texts = split_text(block.text, breaks) if is_split else [unwrap(block.text)]
            line += sum(bool(text) for text in texts)
        return numbers

    def reason(self, quotation: AttributedQuotation, numbers: dict[int, int]) -> str:
        """Return the reason of a quotation with the number of the line that it refers to."""
        return quotation.reason.format(line="?" if quotation.other is None else numbers.get(quotation.other, "?"))


def assign_dialogue(blocks: Iterable[Block]) -> FullCast:
    """Return ``blocks`` with the dialogue of paragraphs without a character divided and assigned to characters."""
    blocks = [paragraph for block in blocks for paragraph in _paragraphs(block)]
    attribution = attribute([block.text if _is_narrated(block) else "" for block in blocks])
    by_paragraph: dict[int, list[int]] = {}
    for number, quotation in enumerate(attribution.quotations):
        by_paragraph.setdefault(quotation.place.paragraph, []).append(number)
    parts: list[tuple[Block, int | None]] = []
    for paragraph, block in enumerate(blocks):
        parts += _parts(block, by_paragraph.get(paragraph, []), attribution)
    return FullCast(attribution, tuple(block for block, _ in parts), tuple(number for _, number in parts))


def _paragraphs(block: Block) -> Iterator[Block]:
    if not _is_narrated(block):
        yield block
        return
    for text in split_text(block.text, SplitMode.PARAGRAPH):
        yield replace(block, text=text)


def _is_narrated(block: Block) -> bool:
    return block.is_spoken and not block.level and block.character is None


def _parts(block: Block, numbers: list[int], attribution: Attribution) -> Iterator[tuple[Block, int | None]]:
    """Yield the parts of a paragraph. Narration without words, such as a comma, belongs to the part before it."""
    if not numbers:
        yield block, None
        return
    spans: list[tuple[int, int, int | None]] = []
    position = 0
    for number in numbers:
        place = attribution.quotations[number].place
        if _WORD.search(block.text[position : place.start]):
            spans.append((position, place.start, None))
            position = place.start
        spans.append((position, place.end, number))
        position = place.end
    if _WORD.search(block.text[position:]):
        spans.append((position, len(block.text), None))
    else:
        spans[-1] = (spans[-1][0], len(block.text), spans[-1][2])
    for number, (start, end, quotation) in enumerate(spans):
        character = None if quotation is None else attribution.quotations[quotation].speaker
        text = block.text[start:end].strip().lstrip(",，;；").strip()
        yield replace(block, text=text, character=character, continues=number > 0), quotation
