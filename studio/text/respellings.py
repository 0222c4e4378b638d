"""Phonetic respellings of words, an optional list in a model folder.

A small model cannot learn the pronunciation of thousands of English spellings. Its folder can therefore include a
dictionary, ``respellings.txt``. Words in the dictionary are replaced by phonetic spellings, and other words are
lowercased. The released models have no such file.

Each line has a lowercase word, a tab, and its respelling in letters of the vocabulary. Lines that begin with # are
comments. A letter with a full stop, such as ``b.``, is the name of the letter, for abbreviations in capitals. A network
in the same folder may guess the sounds of other words (``letter_sounds.py``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import regex

from studio.errors import DamagedModelFile
from studio.storage.disk import require_regular_file
from studio.text.letter_sounds import LETTER_SOUNDS_FILE, LetterSounds

RESPELLINGS_FILE = "respellings.txt"  # file name in the folder of the vocabulary

# Number of words that are searched for before the whole list is parsed; a search takes up to a millisecond.
_MAX_SEARCHED = 24
_MAX_INITIALS = 5  # longer words in capitals are shouted
# Tabs without a word on one side, and line separators other than a newline.
_IRREGULAR = ("\n\t", "\t\n", "\t\t", "\t ", "\n\n\n", *"\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_ASCII = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "…": "...", "æ": "ae", "Æ": "Ae",
        "œ": "oe", "Œ": "Oe", "ø": "o", "Ø": "O", "ß": "ss", "ł": "l", "Ł": "L", "đ": "d", "ð": "d", "þ": "th", "Þ": "Th",
    }
)  # fmt: skip
_DASHES = regex.compile(r"[,;:]?\s*[–—]\s*(?=\w)|\s*[–—](?=\W|\Z)")
# An ellipsis that ends a text. Small models speak a long pause and sounds after its points.
_LAST_ELLIPSIS = regex.compile(r"\s*\.{2,}(?=([?!])?[\"')\]]*\s*\Z)")
_LATIN = regex.compile(r"[\u00c0-\u024f\u1e00-\u1eff]")
_ACCENTS = regex.compile(r"\p{Mn}")
_WORD = regex.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")


@dataclass(frozen=True, slots=True)
class Respellings:
    """Respellings by word, in lowercase with straight apostrophes."""

    of_word: Mapping[str, str]
    guesser: LetterSounds | None = None

    @classmethod
    def read(cls, path: Path) -> Respellings:
        """Read ``respellings.txt``. Raise ``DamagedModelFile``."""
        try:
            require_regular_file(path)
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _damaged(path) from error
        of_word = _LazyRespellings(text, path)
        if not of_word.seems_regular():
            of_word.parse()
        guesses = path.with_name(LETTER_SOUNDS_FILE)
        return cls(of_word, LetterSounds(guesses) if guesses.is_file() else None)

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
        """Return the respelling of ``word``. Without one, it is guessed, or the lowercase word."""
        plain = word.lower().replace("’", "'")
        known = self.of_word.get(plain)
        if known is None and word.isupper() and len(word) <= _MAX_INITIALS:
            names = [self.of_word.get(f"{letter}.") for letter in plain]
            known = "".join(name for name in names if name) if all(names) else None
        if known is None:
            return self.guesser.respelled(plain) if self.guesser else plain
        return known


class _LazyRespellings(Mapping[str, str]):
    """The words listed in ``text``. The first few are searched for, because parsing all of them takes 0.07 s.

    Raise ``DamagedModelFile`` if a line is damaged, at the latest when the text is parsed.
    """

    def __init__(self, text: str, path: Path) -> None:
        self._text = f"\n{text}\n"
        self._path = path
        self._found: dict[str, str | None] = {}
        self._parsed: dict[str, str] | None = None

    def seems_regular(self) -> bool:
        """Return whether each line has one tab, unless it is blank or a comment, and a word on both sides."""
        text = self._text
        num_lines = text.count("\n") - 1 - text.count("\n#") - text.count("\n\n")
        return not any(part in text for part in _IRREGULAR) and text.count("\t") == num_lines

    def parse(self) -> dict[str, str]:
        if self._parsed is None:
            parsed: dict[str, str] = {}
            for line in self._text.splitlines():
                if not line or line.startswith("#"):
                    continue
                word, tab, respelled = line.partition("\t")
                if not tab or not word or not respelled.strip():
                    raise _damaged(self._path)
                parsed[word] = respelled
            self._parsed = parsed
        return self._parsed

    def __getitem__(self, word: str) -> str:
        if self._parsed is None and len(self._found) < _MAX_SEARCHED:
            if word not in self._found:
                self._found[word] = self._searched(word)
            respelled = self._found[word]
        else:
            respelled = self.parse().get(word)
        if respelled is None:
            raise KeyError(word)
        return respelled

    def __iter__(self) -> Iterator[str]:
        return iter(self.parse())

    def __len__(self) -> int:
        return len(self.parse())

    def _searched(self, word: str) -> str | None:
        start = self._text.rfind(f"\n{word}\t")  # the last line counts, as in ``parse``
        if start < 0:
            return None
        start += len(word) + 2
        return self._text[start : self._text.index("\n", start)]


def fold_to_ascii(text: str) -> str:
    """Return ``text`` with typographic marks and Latin letters with accents as ASCII. Other scripts are unchanged."""
    text = _DASHES.sub(", ", text.translate(_ASCII))
    text = _LAST_ELLIPSIS.sub(lambda match: "" if match[1] else ".", text)
    return _LATIN.sub(lambda match: _ACCENTS.sub("", unicodedata.normalize("NFD", match.group())), text)


def _damaged(path: Path) -> DamagedModelFile:
    return DamagedModelFile(
        "{file} in {folder} is damaged.",
        remedy="Download the model again, or repair its folder.",
        file=path.name,
        folder=path.parent,
    )
