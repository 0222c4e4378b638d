"""File names from a pattern such as ``{index} {voice} {text}``, valid on Windows, macOS and Linux.

Names have no reserved characters or words and no trailing space or dot. Their length is limited, and no two differ only
in case or Unicode composition. A ``/`` in the pattern or in the file name of a line creates folders; a ``/`` in a voice
or text does not.
"""

from __future__ import annotations

import difflib
import os
import string
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

import regex

from studio.errors import UnusableSetting
from studio.export.speech_source import ExportItem
from studio.export.subtitles import as_subtitle
from studio.messages import did_you_mean
from studio.text.styles import style_name

DEFAULT_PATTERN = "{index} {voice} {text}"
DEFAULT_CHAPTER_PATTERN = "{chapter_number} {chapter}"
FIELDS = {
    "index": "number of the line: 001; {index:5} gives 00001",
    "voice": "name of the voice",
    "text": "first words of the line; {text:20} takes 20 characters",
    "style": "style of the line",
    "project": "name of the script",
    "character": "character who speaks the line",
    "id": "ID in an imported table, or otherwise the number of the line",
    "chapter_number": "number of the chapter: 01",
    "chapter": "title of the chapter",
}
_ID = "id"
_MAX_WINDOWS_PATH = 259
_MIN_DIGITS = 3
_CHAPTER_DIGITS = 2
_TEXT_CHARACTERS = 40
# The limit is 255 bytes or UTF-16 units. The rest is reserved for the suffix and a number that avoids collisions.
_MAX_STEM_BYTES = 200
_MAX_PARTS = 4
_SIGNS = regex.compile(r'[<>:"/\\|?*]+')
_FORBIDDEN = regex.compile(r'[<>:"/\\|?*\p{C}]+')
_INVISIBLE = regex.compile("[\u00ad\u200b\u2060\ufeff]")  # soft hyphens, and other marks within words
_BLANKS = regex.compile(r"\s+")
_CHARACTERS = regex.compile(r"\X")  # grapheme clusters
_MAX_CHARACTER = 12
_RESERVED = regex.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?=\.|$)", regex.IGNORECASE)
_NAME_OF_EMPTY_TEXT = "untitled"
# These characters are removed from the end of a text.
_ENDINGS = " .。,，;；:：、…"


class NamePattern:
    """A validated name pattern. Raises ``UnusableSetting``.

    The names of ``columns``, the columns of an imported table, are fields too.
    """

    def __init__(self, pattern: str, columns: Iterable[str] = ()) -> None:
        self._fields = (*FIELDS, *(name for name in columns if name.casefold() not in FIELDS))
        known = frozenset(name.casefold() for name in self._fields)
        if not pattern.strip():
            raise UnusableSetting(
                "The name pattern is empty.", remedy="Enter a pattern such as {example}.", example=DEFAULT_PATTERN
            )
        try:
            self._parts = [
                [(literal, field, spec or "") for literal, field, spec, _ in string.Formatter().parse(part)]
                for part in pattern.replace("\\", "/").split("/")
                if part.strip()
            ]
        except ValueError as error:
            raise UnusableSetting(
                "The name pattern {pattern} has an unmatched brace.",
                remedy="Close each { with a }.",
                pattern=pattern,
            ) from error
        if not 1 <= len(self._parts) <= _MAX_PARTS:
            raise UnusableSetting(
                "The name pattern creates too many folders.",
                remedy="Use at most {most} slashes.",
                most=_MAX_PARTS - 1,
            )
        for part in self._parts:
            for _, field, spec in part:
                self._check(field, spec, known)

    def stem(
        self,
        item: ExportItem,
        *,
        num_items: int,
        project: str = "",
        style_names: Mapping[str, str] = MappingProxyType({}),
    ) -> PurePosixPath:
        """Return the path of the file of a line, without suffix, relative to the target folder.

        ``style_names`` are the names of style presets by family.
        """
        values = {
            "voice": item.voice,
            "text": _SIGNS.sub(" ", as_subtitle(item.text)),  # without tags and pauses
            "style": style_name(item.style, style_names),
            "project": project,
            "character": item.character,
            "chapter": item.chapter.title or project,
        }
        num_digits = max(_MIN_DIGITS, len(str(num_items)))
        cells = {name.casefold(): cell for name, cell in item.columns.items()}

        def value(field: str | None, spec: str) -> str:
            if field is None:
                return ""
            name = field.casefold()
            if name == _ID and (written := cells.get(_ID) or item.id):
                return _shortened(written, int(spec or _TEXT_CHARACTERS))
            if name in ("index", _ID):
                return str(item.index).zfill(int(spec or num_digits))
            if name == "chapter_number":
                return str(item.chapter.number).zfill(int(spec or _CHAPTER_DIGITS))
            return _shortened(values[name] if name in values else cells.get(name, ""), int(spec or _TEXT_CHARACTERS))

        *folders, name = (
            "".join(literal + value(field, spec) for literal, field, spec in part) for part in self._parts
        )
        # If a folder would have no name, as for lines without a character, it is named after the voice.
        return PurePosixPath(
            *(sanitize_filename(folder.strip() or item.voice) for folder in folders), sanitize_filename(name)
        )

    def _check(self, field: str | None, spec: str, known: frozenset[str]) -> None:
        if field is None:
            return
        if field.casefold() not in known:
            near = difflib.get_close_matches(field, self._fields, n=1)
            raise UnusableSetting(
                "The name pattern has an unknown field {{field}}.{did_you_mean}",
                remedy="Use {known}.",
                field=field,
                did_you_mean=did_you_mean([f"{{{name}}}" for name in near[:1]]),
                known=[f"{{{name}}}" for name in self._fields],
            )
        if spec and not (spec.isascii() and spec.isdigit() and 1 <= int(spec) <= 100):
            raise UnusableSetting(
                "The field {{field}:{spec}} is invalid.",
                remedy="Put a number after the colon, as in {{field}:20}.",
                field=field,
                spec=spec,
            )


def sanitize_path(file_name: str) -> PurePosixPath:
    """Return the path of a file name with folders, without suffix, relative to the target folder."""
    parts = [part for part in file_name.replace("\\", "/").split("/") if part.strip(" .")]
    return PurePosixPath(*map(sanitize_filename, parts or [""]))


class UniqueNamer:
    """Source of unique file names: the second ``hello.wav`` becomes ``hello-2.wav``."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._last_number: dict[tuple[str, ...], int] = {}

    def unique(self, stem: PurePosixPath, suffixes: Iterable[str]) -> PurePosixPath:
        """Reserve and return ``stem``, with a number if it is already used with any of ``suffixes``."""
        suffixes = tuple(suffixes)
        candidate = stem
        wanted = keys = tuple(_key(stem, suffix) for suffix in suffixes)
        # Numbers are never free again, so a name that is wanted often continues from its last one.
        number = self._last_number.get(wanted, 1)
        while not self._used.isdisjoint(keys):
            number += 1
            candidate = stem.with_name(f"{stem.name}-{number}")
            keys = tuple(_key(candidate, suffix) for suffix in suffixes)
        self._last_number[wanted] = number
        self._used.update(keys)
        return candidate


def sanitize_filename(name: str, *, longest_bytes: int = _MAX_STEM_BYTES) -> str:
    """Return a file name like ``name``, without suffix, that every system accepts. It is never empty."""
    name = unicodedata.normalize("NFC", name.encode("utf-8", "ignore").decode("utf-8"))
    name = _BLANKS.sub(" ", _FORBIDDEN.sub(" ", _INVISIBLE.sub("", name))).strip(" .")
    name = _cut(name, longest_bytes).strip(" .")
    if _RESERVED.match(name):
        name = f"_{name}"
    return name or _NAME_OF_EMPTY_TEXT


def short_enough(
    stem: PurePosixPath, folder: Path, suffix: str, *, is_windows: bool = os.name == "nt"
) -> PurePosixPath:
    """Return ``stem``, shortened if the path would exceed the length limit of Windows."""
    if not is_windows:
        return stem
    # Twelve characters are reserved for a number against collisions.
    room = _MAX_WINDOWS_PATH - 12 - len(f"{folder}/{stem.parent}/{suffix}")
    if room < 8:
        raise UnusableSetting(
            "The path {folder} is too long.",
            remedy="Choose a folder with a shorter path.",
            folder=folder,
        )
    return stem.with_name(sanitize_filename(stem.name, longest_bytes=room)) if len(stem.name) > room else stem


def _cut(name: str, longest_bytes: int) -> str:
    """Shorten ``name`` to at most ``longest_bytes`` between grapheme clusters."""
    if len(name.encode("utf-8")) <= longest_bytes:
        return name
    kept = ""
    for character in _CHARACTERS.findall(name):
        if len((kept + character).encode("utf-8")) > longest_bytes:
            break
        kept += character
    return kept


def _shortened(text: str, longest: int) -> str:
    """Return the first words of ``text`` without final punctuation, or its first characters if it has no spaces."""
    text = _BLANKS.sub(" ", text).strip().rstrip(_ENDINGS)
    if len(text) <= longest:
        return text
    # A character has at most _MAX_CHARACTER code points, so the rest of the text is not needed.
    characters = _CHARACTERS.findall(text[: longest * _MAX_CHARACTER])
    if len(characters) <= longest:
        return "".join(characters)
    cut = "".join(characters[:longest])
    at_blank, _, _ = cut.rpartition(" ")
    ends_a_word = characters[longest] == " "
    return cut if ends_a_word or len(at_blank) < len(cut) // 2 else at_blank


def _key(stem: PurePosixPath, suffix: str) -> str:
    return unicodedata.normalize("NFC", f"{stem}{suffix}".casefold())
