"""Description of a model on another computer, kept as a folder like that of an installed model.

The folder contains only small files from which generation and styles are read, so that code that needs a model
folder for them works without the model.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from studio.pipeline.request import EngineDescription
from studio.remote import wire
from studio.storage.atomic_file import atomic_write
from studio.storage.records import decode

_FILE_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
_FOLDER_NAME = re.compile(r"[\w][\w. -]{0,99}")


def keep_description(answer: Any, folder: Path) -> EngineDescription:
    """Write the files of an answer to ``wire.ENGINE_PATH`` below ``folder``, and return the description.

    Raise ``ValueError``, ``DiskFull``, ``CannotWrite``.
    """
    if not isinstance(answer, dict) or answer.get("api") != wire.API_VERSION:
        raise ValueError("another version of the interface")
    description = decode(EngineDescription, answer.get("description"))
    name = description.model_name
    if not _FOLDER_NAME.fullmatch(name):
        raise ValueError("an unusual name of a model")
    own = folder / name
    files = answer.get("files")
    for file_name, content in (files if isinstance(files, dict) else {}).items():
        is_known = any(fnmatchcase(file_name, pattern) for pattern in wire.DESCRIPTION_FILES)
        if is_known and _FILE_NAME.fullmatch(file_name) and isinstance(content, str):
            atomic_write(own / file_name, content.encode())
    return replace(description, folder=str(own))
