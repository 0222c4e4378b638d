"""Mandarin text as toned syllables with tone sandhi, and these as the teacher's phonemes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from studio.text.chinese_reading import syllables_of_words

_HAN = re.compile(r"[\u4e00-\u9fff]+")
_MARKS = {
    "，": ", ", "、": ", ", "。": ". ", "！": "! ", "？": "? ", "；": "; ", "：": ": ", "…": "… ", "—": "— ", ",": ", ",
    ".": ". ", "!": "! ", "?": "? ", ";": "; ", ":": ": ",
}  # fmt: skip
# The teacher's symbols for the tones and syllabic consonants of the transcription. Longer ones come first.
_SYMBOLS = {"˧˩˧": "↓", "˧˥": "↗", "˥˩": "↘", "˥": "→", "ɻ̩": "ɨ", "ɹ̩": "ɨ", "̯": ""}
_SYLLABLE = re.compile(r"[a-zü]+[1-5]")


@dataclass(frozen=True, slots=True)
class MandarinText:
    """``phonemes`` for the teacher; ``syllables`` such as "hao3" of the Han characters, after tone sandhi."""

    phonemes: str
    syllables: tuple[str, ...]


class MandarinSounds:
    """``misaki`` is the folder that contains the package. ``english`` gives the phonemes of words in Latin letters."""

    def __init__(self, misaki: Path, english: Callable[[str], str]) -> None:
        self._transcribe = _import_misaki(misaki)
        self._english = english

    def phonemes(self, text: str) -> MandarinText:
        """Raise ``UnknownWord`` for an English word, and ``ValueError`` for a syllable that is none of Mandarin."""
        syllables: list[str] = []
        spoken: list[str] = []
        for part in re.findall(r"[\u4e00-\u9fff]+|[A-Za-z][A-Za-z' -]*|[^\u4e00-\u9fffA-Za-z]", text):
            if _HAN.fullmatch(part):
                words = syllables_of_words(part)
                syllables += [syllable for word in words for syllable in word]
                spoken.append(" " + " ".join("".join(self.ipa(syllable) for syllable in word) for word in words))
            elif part[0].isalpha():
                spoken.append(f" {self._english(part)} ")
            else:
                spoken.append(_MARKS.get(part, " "))
        phonemes = re.sub(r"\s+(?=[.,!?;:…])", "", re.sub(r"\s+", " ", "".join(spoken)))
        return MandarinText(phonemes.strip(), tuple(syllables))

    @lru_cache(maxsize=4096)  # noqa: B019 - there is one object per process
    def ipa(self, syllable: str) -> str:
        """Return the phonemes of a syllable such as "hao3"."""
        if not _SYLLABLE.fullmatch(syllable):
            raise ValueError(f"{syllable} is no syllable of Mandarin.")
        spoken = "".join(self._transcribe(syllable)[0])
        for symbol, own in _SYMBOLS.items():
            spoken = spoken.replace(symbol, own)
        return spoken


@lru_cache(maxsize=1)
def _import_misaki(folder: Path) -> Callable[[str], Any]:
    sys.path.insert(0, str(folder))
    try:
        # Its package imports other languages, which need other packages.
        from misaki.transcription import pinyin_to_ipa  # noqa: PLC0415 - of the teacher's folder
    finally:
        sys.path.remove(str(folder))
    transcribe: Callable[[str], Any] = pinyin_to_ipa
    return transcribe
