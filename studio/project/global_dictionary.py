"""The user's pronunciation dictionary for all projects: a JSON file in the data folder."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path

from studio import paths
from studio.errors import BadPronunciation, UnreadableText
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_VERSION = 1


def global_dictionary_path() -> Path:
    return paths.data_folder() / "pronunciation.json"


def load_global_dictionary(path: Path | None = None) -> PronunciationDictionary:
    """Return the dictionary in ``path``, empty if the file is missing. Raise ``UnreadableText``."""
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
    """Write ``dictionary``, after renaming a damaged file. Raise ``DiskFull`` or ``CannotWrite``."""
    path = path or global_dictionary_path()
    try:
        load_global_dictionary(path)
    except UnreadableText:
        with contextlib.suppress(OSError):
            path.replace(path.with_name(f"{path.stem}.damaged{path.suffix}"))
    content = {"version": _VERSION, "entries": [asdict(entry) for entry in dictionary.entries]}
    atomic_write(path, json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8"))
