"""Files that join lines of a script: one for all of them, or one for each character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from studio.export.names import UniqueNamer, sanitize_filename
from studio.export.speech_source import ExportItem
from studio.voices.voice import name_key


@dataclass(frozen=True, slots=True)
class JoinedFile:
    """A file that joins the lines at ``positions`` in the plan. ``character`` is None for the file of all lines."""

    file: PurePosixPath
    positions: tuple[int, ...]
    character: str | None = None


def joined_files(
    items: Sequence[ExportItem], stem: PurePosixPath, suffix: str, names: UniqueNamer, *, per_character: bool
) -> tuple[JoinedFile, ...]:
    """Return the file ``stem``, which is reserved in ``names``, or one for each character in order of appearance.

    A line without a character belongs to its voice.
    """
    if not per_character:
        return (JoinedFile(stem.with_name(stem.name + suffix), tuple(range(len(items)))),)
    groups: dict[str, tuple[str, list[int]]] = {}
    for position, item in enumerate(items):
        name = item.character or item.voice
        groups.setdefault(name_key(name), (name, []))[1].append(position)
    files: list[JoinedFile] = []
    for name, positions in groups.values():
        own = names.unique(stem.with_name(sanitize_filename(f"{stem.name} {name}")), [suffix])
        files.append(JoinedFile(own.with_name(own.name + suffix), tuple(positions), name))
    return tuple(files)
