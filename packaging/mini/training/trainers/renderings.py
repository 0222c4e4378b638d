"""The text of a line as model input, and the text token of each speech token."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt
import regex

from studio.text.chinese_reading import syllables
from studio.text.pinyin import syllable_tokens
from studio.text.respellings import Respellings
from studio.text.tokenizer import TextTokenizer
from training.shipping.respellings import STRESSED_LETTERS, SYMBOL_OF_LETTER
from training.teacher.english import phones_of_symbol
from training.trainers.speech_lm_lines import SpokenLine

_PARTS = regex.compile(r"(?P<word>[A-Za-z]+(?:['’][A-Za-z]+)*)|(?P<han>\p{Han}+)|(?P<other>[^A-Za-z\p{Han}]+)")
_BEFORE_R = {"AH0": "ER0", "ER0": "ER0", "ER1": "ER1"}


class Renderer:
    """Usually the same as in the program.

    A few English words are given in phones, as in corrections by the user, and half of the Mandarin lines in the
    syllables that were really spoken, so that corrections are followed. ``divided_share`` of the text tokens are replaced
    by tokens of their parts, so that rare tokens are learned with frequent ones (Provilkov and others, 2020: BPE dropout).
    """

    def __init__(
        self,
        tokenizer: TextTokenizer,
        tagged_share: float,
        spoken_share: float,
        random: np.random.Generator,
        *,
        divided_share: float = 0.0,
    ) -> None:
        if tokenizer.respellings is None:
            raise ValueError("The folder of the vocabulary has no respellings.")
        self._tokenizer, self._random = tokenizer, random
        self._respellings: Respellings = tokenizer.respellings
        self._tagged_share, self._spoken_share, self._divided_share = tagged_share, spoken_share, divided_share
        self._num_bytes = _count_bytes(tokenizer)

    def render(self, line: SpokenLine, before: str) -> tuple[tuple[int, ...], npt.NDArray[np.int64]]:
        """Return the text tokens of ``before`` and the line, and for each speech token the index of its text token
        (speech tokens,).
        """
        characters, ends = [0], [len(before.encode())]
        ids = [*self._tokenizer.encode(before, allow_special=False)] if before else []
        num_bytes = [int(self._num_bytes[token]) for token in ids]
        for length, own in self._parts(line):
            ids += own
            num_bytes += [int(self._num_bytes[token]) for token in own]
            characters.append(characters[-1] + length)
            ends.append(sum(num_bytes))
        byte = np.interp(line.places, characters, ends)
        places: npt.NDArray[np.int64] = np.searchsorted(np.cumsum(num_bytes), byte, side="right")
        return tuple(ids), places.clip(max=max(0, len(ids) - 1))

    def _parts(self, line: SpokenLine) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the number of characters and the ids of each part that the tokenizer encodes separately."""
        follows = self._random.random() < self._spoken_share
        spoken = iter(line.syllables)
        text, length = "", 0
        for match in _PARTS.finditer(line.spoken):
            part = match.group()
            if match["other"]:
                text, length = text + part, length + len(part)
                continue
            tags = self._tags(part) if match["word"] and self._random.random() < self._tagged_share else ""
            if match["word"] and not tags:
                text, length = text + self._respellings.spelled(part), length + len(part)
                continue
            if text:
                yield length, self._encoded(text)
                text, length = "", 0
            if match["word"]:
                yield len(part), self._tokenizer.encode(tags, allow_special=True)
                continue
            own = [next(spoken, "") for _ in part]
            read = own if follows and all(own) else syllables(part)
            for syllable in read:
                special = "".join(syllable_tokens(syllable))
                yield 1, self._tokenizer.encode(special, allow_special=True)
        if text:
            yield length, self._encoded(text)

    def _encoded(self, text: str) -> tuple[int, ...]:
        ids = self._tokenizer.encode(text, allow_special=False)
        if not self._divided_share:
            return ids
        divides = self._random.random(len(ids)) < self._divided_share
        parts = (
            self._divided(token) if is_divided else (token,) for token, is_divided in zip(ids, divides, strict=True)
        )
        return tuple(chain.from_iterable(parts))

    def _divided(self, token: int) -> tuple[int, ...]:
        piece = self._tokenizer.decode((token,))
        if len(piece) < 2 or "\N{REPLACEMENT CHARACTER}" in piece:
            return (token,)
        at = int(self._random.integers(1, len(piece)))
        encode = self._tokenizer.encode
        return (*encode(piece[:at], allow_special=False), *encode(piece[at:], allow_special=False))

    def _tags(self, word: str) -> str:
        """Return the special tokens of a word, or an empty text for a sound without one."""
        found: list[str] = []
        for letter in self._respellings.spelled(word):
            symbol = SYMBOL_OF_LETTER.get(letter)
            phones = phones_of_symbol(symbol, is_stressed=letter in STRESSED_LETTERS) if symbol else None
            if phones is None:
                return ""
            if phones == ("R",) and found and found[-1] in _BEFORE_R:  # one phone, two symbols
                found[-1] = _BEFORE_R[found[-1]]
            else:
                found += phones
        return "".join(f"[{phone}]" for phone in found)


def _count_bytes(tokenizer: TextTokenizer) -> npt.NDArray[np.int64]:
    """Return the number of text bytes of each id."""
    special = {number: len(content.encode()) for content, number in tokenizer.special_ids.items()}
    return np.array(
        [special[token] if token in special else tokenizer.num_bytes(token) for token in range(tokenizer.num_tokens)]
    )
