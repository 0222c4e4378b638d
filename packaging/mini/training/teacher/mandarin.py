"""Mandarin text as toned syllables with tone sandhi, and these as the teacher's phonemes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_HAN = re.compile(r"[\u4e00-\u9fff]+")
_DIGITS = tuple("〇零一二三四五六七八九")
_BEFORE_PLAIN_ONE = (*_DIGITS, "十")
_MARKS = {
    "，": ", ", "、": ", ", "。": ". ", "！": "! ", "？": "? ", "；": "; ", "：": ": ", "…": "… ", "—": "— ", ",": ", ",
    ".": ". ", "!": "! ", "?": "? ", ";": "; ", ":": ": ",
}  # fmt: skip
# The usual reading of characters that are rarely read as pypinyin's first one, outside of its phrases.
_USUAL_READINGS = {
    "长": "chang2,zhang3",
    "地": "de5,di4",
    "得": "de5,de2,dei3",
    "种": "zhong3,zhong4",
    "只": "zhi3,zhi1",
}


@dataclass(frozen=True, slots=True)
class MandarinText:
    """``phonemes`` for the teacher; ``syllables`` such as "hao3" of the Han characters, after tone sandhi."""

    phonemes: str
    syllables: tuple[str, ...]


class MandarinSounds:
    """``misaki`` is the folder that contains the package. ``english`` gives the phonemes of words in Latin letters."""

    def __init__(self, misaki: Path, english: Callable[[str], str]) -> None:
        self._sandhi, self._transcribe = _import_misaki(misaki)
        self._english = english

    def phonemes(self, text: str) -> MandarinText:
        """Raise ``UnknownWord`` for an English word, and ``ValueError`` for a syllable that is none of Mandarin."""
        syllables: list[str] = []
        spoken: list[str] = []
        for part in re.findall(r"[\u4e00-\u9fff]+|[A-Za-z][A-Za-z' -]*|[^\u4e00-\u9fffA-Za-z]", text):
            if _HAN.fullmatch(part):
                words = self._words(part)
                syllables += [syllable for word in words for syllable in word]
                spoken.append(" " + " ".join("".join(self.ipa(syllable) for syllable in word) for word in words))
            elif part[0].isalpha():
                spoken.append(f" {self._english(part)} ")
            else:
                spoken.append(_MARKS.get(part, " "))
        phonemes = re.sub(r"\s+(?=[.,!?;:…])", "", re.sub(r"\s+", " ", "".join(spoken)))
        return MandarinText(phonemes.strip(), tuple(syllables))

    def _words(self, text: str) -> list[list[str]]:
        """Return the syllables of each word of ``text``, which consists of Han characters."""
        from jieba import posseg  # noqa: PLC0415 - loads its dictionary
        from pypinyin import Style, lazy_pinyin  # noqa: PLC0415

        pairs = self._sandhi.pre_merge_for_modify([(pair.word, pair.flag) for pair in posseg.lcut(text)])
        # Of the whole text, because words beside a character decide between its readings.
        read = lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True)
        if len(read) != len(text) or "".join(word for word, _ in pairs) != text:
            raise ValueError(f"{text} has characters without a reading.")
        words: list[list[str]] = []
        position = 0
        for word, kind in pairs:
            own = read[position : position + len(word)]
            position += len(word)
            finals = self._sandhi.modified_tone(word, kind, list(own))
            words.append([_with_tone_of(syllable, final) for syllable, final in zip(own, finals, strict=True)])
        return _with_plain_digits(text, words)

    @lru_cache(maxsize=4096)  # noqa: B019 - there is one object per process
    def ipa(self, syllable: str) -> str:
        """Return the phonemes of a syllable such as "hao3"."""
        spoken: str = self._transcribe(syllable)
        return spoken.replace(chr(815), "")


def _with_plain_digits(text: str, words: list[list[str]]) -> list[list[str]]:
    """Return ``words`` with the first tone of the digit one where figures are read one by one, and after ten."""
    position = 0
    changed: list[list[str]] = []
    for word in words:
        own = list(word)
        for place in range(len(own)):
            here = position + place
            is_figure = text[here - 1 : here] in _BEFORE_PLAIN_ONE or text[here + 1 : here + 2] in _DIGITS
            if text[here] == "一" and is_figure:
                own[place] = "yi1"
        position += len(own)
        changed.append(own)
    return changed


def _with_tone_of(syllable: str, changed: str) -> str:
    """Return ``syllable`` with the tone of ``changed``, or the neutral tone."""
    tone = changed[-1] if changed[-1].isdigit() else "5"
    return syllable.rstrip("012345") + tone


@lru_cache(maxsize=1)
def _import_misaki(folder: Path) -> tuple[Any, Callable[[str], str]]:
    from pypinyin import load_single_dict  # noqa: PLC0415 - loads its dictionary
    from pypinyin_dict.phrase_pinyin_data import large_pinyin  # noqa: PLC0415

    large_pinyin.load()
    load_single_dict({ord(character): readings for character, readings in _USUAL_READINGS.items()}, style="tone2")
    sys.path.insert(0, str(folder))
    try:
        from misaki.tone_sandhi import ToneSandhi  # noqa: PLC0415 - of the teacher's folder
        from misaki.zh import ZHG2P  # noqa: PLC0415
    finally:
        sys.path.remove(str(folder))
    return ToneSandhi(), ZHG2P.py2ipa
