"""Files that join lines of a script: one for all of them, or one for each character or language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from studio.export.names import UniqueNamer, sanitize_filename
from studio.export.speech_source import ExportItem
from studio.text.language import languages_of_lines
from studio.voices.voice import name_key


class FilePer(Enum):
    """Groups of lines that share a joined file."""

    SCRIPT = "script"
    CHARACTER = "character"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True)
class JoinedFile:
    """A file that joins the lines at ``positions`` in the plan.

    ``group`` is the character or the language code of the lines, or None for the file of all lines.
    """

    file: PurePosixPath
    positions: tuple[int, ...]
    group: str | None = None


def joined_files(
    items: Sequence[ExportItem], stem: PurePosixPath, suffix: str, names: UniqueNamer, per: FilePer
) -> tuple[JoinedFile, ...]:
    """Return one file for the whole script, or one for each character or language, in order of appearance.

    The file for the whole script is named ``stem``, which must already be reserved in ``names``. Lines without a
    character are grouped by voice. The language of a line is detected from its text.
    """
    match per:
        case FilePer.SCRIPT:
            return (JoinedFile(stem.with_name(stem.name + suffix), tuple(range(len(items)))),)
        case FilePer.CHARACTER:
            names_of_items = [item.character or item.voice for item in items]
        case FilePer.LANGUAGE:
            names_of_items = [language.value for language in languages_of_lines([item.text for item in items])]
    groups: dict[str, tuple[str, list[int]]] = {}
    for position, name in enumerate(names_of_items):
        groups.setdefault(name_key(name), (name, []))[1].append(position)
    files: list[JoinedFile] = []
    for name, positions in groups.values():
        own = names.unique(stem.with_name(sanitize_filename(f"{stem.name} {name}")), [suffix])
        files.append(JoinedFile(own.with_name(own.name + suffix), tuple(positions), name))
    return tuple(files)
