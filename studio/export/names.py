"""File names out of a pattern such as ``{index} {voice} {text}``, good on every system.

A name that Windows, macOS and Linux all accept: no reserved characters and names, no blank or point at
the end, not too long, and no two that differ only in what a system may ignore (case, composed accents).
A ``/`` in the pattern makes folders; one in a voice or text does not.
"""

from __future__ import annotations

import difflib
import string
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

import regex

from studio.errors import UnusableSetting
from studio.export.speech_source import ExportItem
from studio.export.spoken_words import as_subtitle
from studio.wording import did_you_mean

DEFAULT_PATTERN = "{index} {voice} {text}"
FIELDS = {
    "index": "number of the line: 001; {index:5} gives 00001",
    "voice": "name of the voice",
    "text": "first words of the line; {text:20} takes 20 characters",
    "style": "style of the line",
    "project": "name of the script",
}
_FEWEST_DIGITS = 3
_TEXT_CHARACTERS = 40
# 255 bytes or UTF-16 units are the limits; the rest is for a number against collisions and the unfinished file.
_LONGEST_STEM_BYTES = 200
_LONGEST_FOLDERS = 4
_SIGNS = regex.compile(r'[<>:"/\\|?*]+')
_FORBIDDEN = regex.compile(r'[<>:"/\\|?*\p{C}]+')
_BLANKS = regex.compile(r"\s+")
_CHARACTERS = regex.compile(r"\X")  # as people see them
_LONGEST_CHARACTER = 12
_RESERVED = regex.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?=\.|$)", regex.IGNORECASE)
_NAMELESS = "untitled"
# Of a sentence; a name needs none, least of all before its suffix.
_ENDINGS = " .。,，;；:：、…"


class NamePattern:
    """``pattern`` checked and ready. Raises ``UnusableSetting`` with a sentence for whoever typed it."""

    def __init__(self, pattern: str) -> None:
        if not pattern.strip():
            raise UnusableSetting(
                "The name pattern is empty.", remedy="Write for example {example}.", example=DEFAULT_PATTERN
            )
        try:
            self._parts = [
                [(literal, field, spec or "") for literal, field, spec, _ in string.Formatter().parse(part)]
                for part in pattern.replace("\\", "/").split("/")
                if part.strip()
            ]
        except ValueError as error:
            raise UnusableSetting(
                "The name pattern {pattern} has a brace without its partner.",
                remedy="Close every { with a }.",
                pattern=pattern,
            ) from error
        if not 1 <= len(self._parts) <= _LONGEST_FOLDERS:
            raise UnusableSetting(
                "The name pattern makes too many folders.",
                remedy="Use at most {most} slashes.",
                most=_LONGEST_FOLDERS - 1,
            )
        for part in self._parts:
            for _, field, spec in part:
                self._check(field, spec)

    def stem(self, item: ExportItem, *, num_items: int, project: str = "") -> PurePosixPath:
        """The name of the line's file, without suffix, relative to the target folder."""
        values = {
            "voice": item.voice,
            "text": _SIGNS.sub(" ", as_subtitle(item.text)),  # without tags and pauses
            "style": item.style,
            "project": project,
        }
        digits = max(_FEWEST_DIGITS, len(str(num_items)))
        return PurePosixPath(
            *(sanitize_filename(self._filled(part, item.index, digits, values)) for part in self._parts)
        )

    def _filled(
        self,
        part: list[tuple[str, str | None, str]],
        index: int,
        digits: int,
        values: Mapping[str, str],
    ) -> str:
        filled = ""
        for literal, field, spec in part:
            filled += literal
            if field == "index":
                filled += str(index).zfill(int(spec) if spec else digits)
            elif field is not None:
                filled += _shortened(values[field], int(spec) if spec else _TEXT_CHARACTERS)
        return filled

    def _check(self, field: str | None, spec: str) -> None:
        if field is None:
            return
        if field not in FIELDS:
            near = difflib.get_close_matches(field, FIELDS, n=1)
            raise UnusableSetting(
                "There is nothing called {{field}} for a name.{did_you_mean}",
                remedy="Use {known}.",
                field=field,
                did_you_mean=did_you_mean([f"{{{name}}}" for name in near[:1]]),
                known=", ".join(f"{{{known}}}" for known in FIELDS),
            )
        if spec and not (spec.isascii() and spec.isdigit() and 1 <= int(spec) <= 100):
            raise UnusableSetting(
                "{{field}:{spec}} is not understood.",
                remedy="After the colon comes a number, as in {{field}:20}.",
                field=field,
                spec=spec,
            )


class UniqueNamer:
    """Gives every file a name of its own: the second ``hello.wav`` becomes ``hello-2.wav``."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, stem: PurePosixPath, suffixes: Iterable[str]) -> PurePosixPath:
        """``stem``, or with a number, so that it is free with every one of ``suffixes``; they are taken now."""
        suffixes = tuple(suffixes)
        candidate, number = stem, 1
        while any(_key(candidate, suffix) in self._taken for suffix in suffixes):
            number += 1
            candidate = stem.with_name(f"{stem.name}-{number}")
        self._taken.update(_key(candidate, suffix) for suffix in suffixes)
        return candidate


def sanitize_filename(wish: str, *, longest_bytes: int = _LONGEST_STEM_BYTES) -> str:
    """``wish`` as a file name without suffix that every system accepts; never empty."""
    name = unicodedata.normalize("NFC", wish.encode("utf-8", "ignore").decode("utf-8"))
    name = _BLANKS.sub(" ", _FORBIDDEN.sub(" ", name)).strip(" .")
    name = _cut(name, longest_bytes).strip(" .")
    if _RESERVED.match(name):
        name = f"_{name}"
    return name or _NAMELESS


def _cut(name: str, longest_bytes: int) -> str:
    """At most so many bytes, between characters as people see them (an emoji with its skin, a letter with its accent)."""
    if len(name.encode("utf-8")) <= longest_bytes:
        return name
    kept = ""
    for character in _CHARACTERS.findall(name):
        if len((kept + character).encode("utf-8")) > longest_bytes:
            break
        kept += character
    return kept


def _shortened(text: str, longest: int) -> str:
    """The first words of ``text``, without the point at its end; the first characters where there are no blanks."""
    text = _BLANKS.sub(" ", text).strip().rstrip(_ENDINGS)
    if len(text) <= longest:
        return text
    # An accent, the parts of an emoji: no more than so many code points belong together.
    characters = _CHARACTERS.findall(text[: longest * _LONGEST_CHARACTER])
    if len(characters) <= longest:
        return "".join(characters)
    cut = "".join(characters[:longest])
    at_blank, _, _ = cut.rpartition(" ")
    ends_a_word = characters[longest] == " "
    return cut if ends_a_word or len(at_blank) < len(cut) // 2 else at_blank


def _key(stem: PurePosixPath, suffix: str) -> str:
    return unicodedata.normalize("NFC", f"{stem}{suffix}".casefold())
