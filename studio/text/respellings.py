"""A model's own list of words and how they are to be spelled to it: by their sounds.

A small model cannot learn what thousands of English spellings sound like; a dictionary knows. So a model folder
may bring ``respellings.txt``, and its words reach the model spelled by sound; other words as they are written, in
small letters. The released models bring none: nothing changes for them.

One word a line, the word in small letters, a tab, its respelling in letters the vocabulary knows; lines that begin
with # are remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import regex

from studio.errors import DamagedModelFile
from studio.storage.disk import require_regular_file

RESPELLINGS_FILE = "respellings.txt"  # beside the vocabulary

_WORD = regex.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")


@dataclass(frozen=True, slots=True)
class Respellings:
    """``of_word``: small letters, straight apostrophes."""

    of_word: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Respellings:
        """Raises ``DamagedModelFile``."""
        try:
            require_regular_file(path)
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise _damaged(path) from error
        of_word: dict[str, str] = {}
        for line in lines:
            if not line or line.startswith("#"):
                continue
            word, tab, respelled = line.partition("\t")
            if not tab or not word or not respelled.strip():
                raise _damaged(path)
            of_word[word] = respelled
        return cls(of_word)

    def respelled(self, text: str) -> str:
        """``text`` with its words spelled by sound; marks and everything that is not Latin letters stay."""
        return _WORD.sub(lambda match: self.spelled(match.group()), text)

    def spelled(self, word: str) -> str:
        """One word by sound, or in small letters where it is not known."""
        plain = word.lower().replace("’", "'")
        return self.of_word.get(plain, plain)


def words_of(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of everything in ``text`` that would be looked up."""
    for match in _WORD.finditer(text):
        yield match.span()


def _damaged(path: Path) -> DamagedModelFile:
    return DamagedModelFile(
        "{file} in {folder} is damaged.",
        remedy="Download the model again, or repair its folder.",
        file=path.name,
        folder=path.parent,
    )
