"""Pronunciation dictionaries of a project and of the user.

An entry gives a word an alias for any model, or phones for models that support them.

Decision: an entry replaces whole words in the text of a request, never inside a tag. Reason: this works with every
model, and the text of the request can be shown. Alternative: hooks in the normalizer.

The user's dictionary for all projects is a JSON file in the data folder.
"""

from __future__ import annotations

import contextlib
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import regex

from studio import paths
from studio.errors import BadPronunciation, UnreadableText
from studio.project.lines import sanitize
from studio.project.phones import phone_tokens
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_FILE_VERSION = 1
_MAX_WRITTEN = 100
_MAX_ALIAS = 300
# Inline tags, pauses and manual pronunciations are left as they are.
_PROTECTED = r"\[[\p{Latin}\p{Mn}\d_. \t-]{1,24}\]|</?[a-z_-]{1,24}>"
# In writing systems without spaces between words, a word may begin and end anywhere.
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]"
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]")
_SPACED_LETTER = rf"[[\p{{L}}\p{{N}}\p{{M}}]--{_UNSPACED}]"
_SPACED = regex.compile(_SPACED_LETTER, regex.V1)


@dataclass(frozen=True, slots=True)
class DictionaryEntry:
    """A word and how to read it. Raises ``BadPronunciation``.

    Attributes:
        written: The word as it appears in the text.
        alias: The text that replaces the word, or None if there is a ``pronunciation``.
        pronunciation: Phones as in ``phones.py``, for models that support them, or None.
    """

    written: str
    alias: str | None = None
    pronunciation: str | None = None
    is_case_sensitive: bool = False

    def __post_init__(self) -> None:
        written = unicodedata.normalize("NFC", " ".join(sanitize(self.written).split()))
        alias = " ".join(sanitize(self.alias or "").split()) or None
        pronunciation = " ".join(sanitize(self.pronunciation or "").split()) or None
        if not 0 < len(written) <= _MAX_WRITTEN or not _WORD.search(written):
            raise BadPronunciation(
                "A dictionary word must have 1 to {longest} letters.",
                remedy="Enter the word as it appears in the text.",
                longest=_MAX_WRITTEN,
            )
        if regex.search(_PROTECTED, written):
            raise BadPronunciation(
                "“{written}” contains a tag. The dictionary does not change tags.",
                remedy="Enter the word without it.",
                written=written,
            )
        if alias is None and pronunciation is None:
            raise BadPronunciation(
                "“{written}” has neither an alias nor a pronunciation.",
                remedy="Enter one of them.",
                written=written,
            )
        if alias and (len(alias) > _MAX_ALIAS or "<|" in alias):
            raise BadPronunciation(
                "The alias of “{written}” cannot be read aloud.",
                remedy="Enter at most {longest} letters, without <|.",
                written=written,
                longest=_MAX_ALIAS,
            )
        if pronunciation:
            phone_tokens(pronunciation)
        for name, value in (("written", written), ("alias", alias), ("pronunciation", pronunciation)):
            object.__setattr__(self, name, value)

    @property
    def key(self) -> str:
        """The key of the word. Entries for the same word have the same key."""
        return self.written if self.is_case_sensitive else self.written.casefold()

    def spoken(self, *, speaks_phones: bool) -> str | None:
        """Return the replacement for the word, or None if the entry has only phones that the model does not support."""
        if speaks_phones and self.pronunciation:
            return phone_tokens(self.pronunciation)
        return self.alias


@dataclass(frozen=True)
class PronunciationDictionary:
    """Entries in the user's order. If two entries have the same word, the first is used."""

    entries: tuple[DictionaryEntry, ...] = ()

    def over(self, other: PronunciationDictionary) -> PronunciationDictionary:
        """Return this dictionary with the additional words of ``other``."""
        own = {entry.key for entry in self.entries}
        return PronunciationDictionary((*self.entries, *(entry for entry in other.entries if entry.key not in own)))

    def with_entry(self, entry: DictionaryEntry) -> PronunciationDictionary:
        """Return a copy with ``entry`` in place of the entry for the same word, or at the end."""
        kept = [entry if known.key == entry.key else known for known in self.entries]
        return PronunciationDictionary(tuple(kept) if entry in kept else (*kept, entry))

    def entries_in(self, text: str) -> tuple[DictionaryEntry, ...]:
        """Return the entries that apply to ``text``, in order of first use."""
        if self._pattern is None:
            return ()
        found = (self._entry(match) for match in self._pattern.finditer(text))
        return tuple(dict.fromkeys(entry for entry in found if entry is not None))

    def compile(self, text: str, *, speaks_phones: bool) -> str:
        """Return ``text`` with the words of the dictionary replaced."""
        if self._pattern is None:
            return text

        def replacement(match: regex.Match[str]) -> str:
            entry = self._entry(match)
            spoken = entry.spoken(speaks_phones=speaks_phones) if entry else None
            return match[0] if spoken is None else spoken

        return self._pattern.sub(replacement, text)

    @cached_property
    def _pattern(self) -> regex.Pattern[str] | None:
        """The pattern of tags and words, longest words first. The words of entry n are in the group ``e<n>``."""
        if not self.entries:
            return None
        longest_first = sorted(enumerate(self.entries), key=lambda item: -len(item[1].written))
        words = (_word_pattern(index, entry) for index, entry in longest_first)
        return regex.compile("|".join([_PROTECTED, *words]), regex.V1)

    def _entry(self, match: regex.Match[str]) -> DictionaryEntry | None:
        return self.entries[int(match.lastgroup[1:])] if match.lastgroup else None


def _word_pattern(index: int, entry: DictionaryEntry) -> str:
    words = r"\s+".join(regex.escape(word) for word in entry.written.split())
    letters = words if entry.is_case_sensitive else f"(?i:{words})"
    before = f"(?<!{_SPACED_LETTER})" if _SPACED.match(entry.written[0]) else ""
    after = f"(?!{_SPACED_LETTER})" if _SPACED.match(entry.written[-1]) else ""
    return f"{before}(?P<e{index}>{letters}){after}"


def lines_using(texts: Iterable[tuple[str, str]], entry: DictionaryEntry) -> tuple[str, ...]:
    """Return the ids of the lines (id, text) that contain the word of ``entry``."""
    alone = PronunciationDictionary((entry,))
    return tuple(line_id for line_id, text in texts if alone.entries_in(text))


def global_dictionary_path() -> Path:
    return paths.data_folder() / "pronunciation.json"


def load_global_dictionary(path: Path | None = None) -> PronunciationDictionary:
    """Return the dictionary in ``path``, or an empty one if there is no file. Raise ``UnreadableText``."""
    path = path or global_dictionary_path()
    try:
        content = read_json(path)
        return PronunciationDictionary(tuple(DictionaryEntry(**entry) for entry in content["entries"]))
    except FileNotFoundError:
        return PronunciationDictionary()
    except OSError as error:
        raise UnreadableText(
            "{path} cannot be read ({reason}).", remedy="Check its permissions.", path=path, reason=error
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, BadPronunciation) as error:
        raise UnreadableText(
            "The pronunciation dictionary, {path}, is damaged.",
            remedy="Repair the file, or start a new dictionary; the old one is kept.",
            path=path,
        ) from error


def save_global_dictionary(dictionary: PronunciationDictionary, path: Path | None = None) -> None:
    """Write ``dictionary``. A damaged file is renamed first. Raise ``DiskFull`` or ``CannotWrite``."""
    path = path or global_dictionary_path()
    try:
        load_global_dictionary(path)
    except UnreadableText:
        with contextlib.suppress(OSError):
            path.replace(path.with_name(f"{path.stem}.damaged{path.suffix}"))
    content = {"version": _FILE_VERSION, "entries": [asdict(entry) for entry in dictionary.entries]}
    atomic_write(path, json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8"))
