"""Phonetic respellings of words, an optional list in a model folder.

A small model cannot learn the pronunciation of thousands of English spellings. Its folder can therefore include a
dictionary, ``respellings.txt``. Words in the dictionary are replaced by phonetic spellings, and other words are
lowercased. The released models have no such file.

Each line has a lowercase word, a tab, and its respelling in letters of the vocabulary. Lines that begin with # are
comments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import regex

from studio.errors import DamagedModelFile
from studio.storage.disk import require_regular_file

RESPELLINGS_FILE = "respellings.txt"  # file name in the folder of the vocabulary

_WORD = regex.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")


@dataclass(frozen=True, slots=True)
class Respellings:
    """Respellings by word, in lowercase with straight apostrophes."""

    of_word: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Respellings:
        """Read ``respellings.txt``. Raise ``DamagedModelFile``."""
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
        """Return ``text`` with its Latin words respelled. Everything else is unchanged."""
        return _WORD.sub(lambda match: self.spelled(match.group()), text)

    def respelled_with_origins(self, text: str) -> tuple[str, list[int]]:
        """Return ``respelled(text)``, and for each of its positions and its end the corresponding position in ``text``."""
        respelled: list[str] = []
        origins: list[int] = []
        position = 0
        for match in _WORD.finditer(text):
            respelled.append(text[position : match.start()])
            origins += range(position, match.start())
            spelled = self.spelled(match.group())
            respelled.append(spelled)
            length = match.end() - match.start()
            origins += (match.start() + index * length // len(spelled) for index in range(len(spelled)))
            position = match.end()
        respelled.append(text[position:])
        origins += range(position, len(text) + 1)
        return "".join(respelled), origins

    def spelled(self, word: str) -> str:
        """Return the respelling of ``word``, or the lowercase word if there is none."""
        plain = word.lower().replace("’", "'")
        return self.of_word.get(plain, plain)


def words_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word in ``text`` that can be respelled."""
    for match in _WORD.finditer(text):
        yield match.span()


def _damaged(path: Path) -> DamagedModelFile:
    return DamagedModelFile(
        "{file} in {folder} is damaged.",
        remedy="Download the model again, or repair its folder.",
        file=path.name,
        folder=path.parent,
    )
