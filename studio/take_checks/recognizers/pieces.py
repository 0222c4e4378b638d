"""Vocabularies of word pieces in the notation of SentencePiece, and text to and from these pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from studio.errors import DamagedModelFile
from studio.take_checks.units import heard_text

WORD_START = "▁"


@dataclass(frozen=True)
class Vocabulary:
    """The pieces by their ids."""

    pieces: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read lines of a piece and its id, separated by the last space. Raise ``DamagedModelFile``."""
        try:
            lines = [line for line in path.read_text("utf-8").split("\n") if line.strip()]
            numbered = [(int(number), piece) for piece, number in (line.rsplit(" ", 1) for line in lines)]
            pieces = [piece for _, piece in sorted(numbered)]
            places = [number for number, _ in sorted(numbered)]
        except (OSError, ValueError) as error:
            raise _damaged(path) from error
        if not places or places != list(range(len(places))):
            raise _damaged(path)
        return cls(tuple(pieces))

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {piece: number for number, piece in enumerate(self.pieces)}

    def _id_of(self, piece: str) -> int | None:
        return self._ids.get(piece)

    def is_tag(self, token: int) -> bool:
        """Return whether a token is a tag such as ``<|en|>``, ``<unk>`` or ``<blk>``."""
        piece = self.pieces[token]
        return piece.startswith("<") and piece.endswith(">") and len(piece) > 2

    def encode(self, unit: str) -> tuple[int, ...]:
        """Return the fewest pieces that spell a word or character, or no pieces if that is impossible."""
        whole = self._id_of(unit) if len(unit) == 1 and not unit.isascii() else None
        if whole is not None:
            return (whole,)
        return self._shortest(WORD_START + unit) or self._shortest(unit)

    def _shortest(self, text: str) -> tuple[int, ...]:
        best: list[tuple[int, ...] | None] = [()] + [None] * len(text)
        for end in range(1, len(text) + 1):
            for start in range(end):
                before, piece = best[start], self._id_of(text[start:end])
                if before is not None and piece is not None:
                    shortest = best[end]
                    if shortest is None or len(before) + 1 < len(shortest):
                        best[end] = (*before, piece)
        return best[-1] or ()

    def units_of(self, tokens: Sequence[int]) -> list[tuple[str, int, int]]:
        """Return the words and characters that ``tokens`` spell: plain text, first token and end."""
        units: list[tuple[str, int, int]] = []
        for index, token in enumerate(tokens):
            if self.is_tag(token):
                continue
            piece = self.pieces[token]
            starts_word = piece.startswith(WORD_START) or _is_character(piece) or not units
            starts_word = starts_word or _is_character(units[-1][0][-1:])
            if starts_word:
                units.append((piece.removeprefix(WORD_START), index, index + 1))
            else:
                text, first, _ = units[-1]
                units[-1] = (text + piece, first, index + 1)
        plain = [(heard_text(text), first, end) for text, first, end in units]
        return [(word, first, end) for words, first, end in plain for word in words.split()]


def _is_character(piece: str) -> bool:
    plain = piece.removeprefix(WORD_START)
    return len(plain) == 1 and ("\u3040" <= plain <= "\u30ff" or "\u3400" <= plain <= "\u9fff")


def _damaged(path: Path) -> DamagedModelFile:
    return DamagedModelFile(
        "{file} in {folder} is damaged.",
        remedy="Download the model again, or repair its folder.",
        file=path.name,
        folder=path.parent,
    )
