"""The files from which lines of a project were imported: where they are, and whether they have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from studio.project.details import ImportSource

Stamp = tuple[int, int]  # time of the last change, and size


def digest_of(path: Path) -> str:
    """Return a hash of the content of a file, or an empty text if it cannot be read."""
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return ""


def locate(source: ImportSource, project: Path | None) -> Path:
    """Return the path of the file: where it was imported, or beside the project file if it is only there."""
    path = Path(source.path)
    beside = path if project is None else project.parent / path.name
    return beside if beside.is_file() and not path.is_file() else path


def folder_of(sources: Sequence[ImportSource], project: Path | None) -> Path | None:
    """Return the folder of the project file, or of the file that was imported last; None without either."""
    folders = [project] if project is not None else [Path(source.path) for source in reversed(sources)]
    return next((path.parent for path in folders if path.parent.is_dir()), None)


def find_changed(
    sources: Iterable[ImportSource], project: Path | None, known: Mapping[Path, Stamp]
) -> tuple[dict[Path, Stamp], list[Path]]:
    """Return the stamps of all files, and the files that differ from their import. Files that are ``known`` are not read."""
    changed: list[Path] = []
    stamps: dict[Path, Stamp] = {}
    for source in sources:
        path = locate(source, project)
        if not path.is_file():
            continue
        facts = path.stat()
        stamps[path] = (facts.st_mtime_ns, facts.st_size)
        if known.get(path) != stamps[path] and digest_of(path) not in (source.digest, ""):
            changed.append(path)
    return stamps, changed
