"""The text of a line as model input, and the text token of each speech token."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import regex

from studio.text.respellings import Respellings
from studio.text.tokenizer import TextTokenizer
from training.shipping.respellings import PHONE_OF_LETTER
from training.trainers.reading import Reading, read_along
from training.trainers.speech_lm_lines import Line

_STRESSES, _STRESS_SHARES = ("1", "0", "2"), (0.6, 0.3, 0.1)
_IS_VOWEL_PHONE = regex.compile(r"[AEIOU]")


class Renderer:
    """Usually the same as in the program; a few words stay in plain spelling or are given in phones."""

    def __init__(
        self, tokenizer: TextTokenizer, written_share: float, tagged_share: float, random: np.random.Generator
    ) -> None:
        if tokenizer.respellings is None:
            raise ValueError("The folder of the vocabulary has no respellings.")
        self._tokenizer, self._random = tokenizer, random
        self._respellings: Respellings = tokenizer.respellings
        self._written_share, self._tagged_share = written_share, tagged_share
        self._num_bytes = _bytes_of_tokens(tokenizer)
        self._readings: dict[Line, Reading] = {}

    def render(self, line: Line, before: str) -> tuple[tuple[int, ...], npt.NDArray[np.int64]]:
        """Return the text tokens of ``before`` and the line, and for each speech token the index of its text token
        (speech tokens,).
        """
        reading = self._reading(line)
        text, begins, ends = before, [], []
        position = 0
        has_tags = False
        for begin, end in reading.words:
            text += line.spoken[position:begin]
            begins.append(len(text.encode()))
            word = line.spoken[begin:end]
            kind = self._random.random()
            if kind < self._tagged_share and (tags := self._tags(word)):
                text += tags
                has_tags = True
            else:
                is_written = kind > 1.0 - self._written_share
                text += word.lower() if is_written else self._respellings.spelled(word)
            ends.append(len(text.encode()))
            position = end
        text += line.spoken[position:]
        tokens = self._tokenizer.encode(text, allow_special=has_tags)
        return tokens, self._places(reading, tokens, np.array(begins), np.array(ends))

    def _reading(self, line: Line) -> Reading:
        if line not in self._readings:
            self._readings[line] = read_along(line.spoken, line.tokens, self._respellings)
        return self._readings[line]

    def _places(
        self,
        reading: Reading,
        tokens: tuple[int, ...],
        begins: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64]:
        if not len(begins):
            return np.zeros(len(reading.word_of), np.int64)
        begin, end = begins[reading.word_of], ends[reading.word_of]
        inside = begin + np.minimum((reading.progress * (end - begin)).astype(np.int64), end - begin - 1)
        byte = np.where(reading.progress >= 1.0, end, inside)
        place: npt.NDArray[np.int64] = np.searchsorted(np.cumsum(self._num_bytes[list(tokens)]), byte, side="right")
        return place.clip(max=len(tokens) - 1)

    def _tags(self, word: str) -> str:
        phones = [PHONE_OF_LETTER.get(letter) for letter in self._respellings.spelled(word)]
        return "" if None in phones else "".join(f"[{self._stressed(phone)}]" for phone in phones if phone)

    def _stressed(self, phone: str) -> str:
        if phone == "AH0" or not _IS_VOWEL_PHONE.match(phone):
            return phone
        stresses = (_STRESSES[0], _STRESSES[2]) if phone == "AH" else _STRESSES
        shares = np.array([_STRESS_SHARES[_STRESSES.index(stress)] for stress in stresses])
        return phone + str(self._random.choice(stresses, p=shares / shares.sum()))


def _bytes_of_tokens(tokenizer: TextTokenizer) -> npt.NDArray[np.int64]:
    """Return the number of text bytes of each id."""
    special = {number: len(content.encode()) for content, number in tokenizer.special_ids.items()}
    return np.array(
        [special[token] if token in special else tokenizer.num_bytes(token) for token in range(tokenizer.num_tokens)]
    )
