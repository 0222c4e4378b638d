"""Names that come from elsewhere: those of models, and of files in archives and repositories."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from studio.errors import BadModelName

_LONGEST_NAME = 80
# What no system forbids in a folder's name; a letter or digit first and last.
_MODEL_NAME = re.compile(r"[^\W_](?:[\w.+ -]*[\w+-])?")
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[\d¹²³]) *(\..*)?", re.IGNORECASE)  # devices of Windows


def check_model_name(name: str) -> str:
    """``name``. Raises ``BadModelName`` where it could not be that of a folder everywhere."""
    if len(name) > _LONGEST_NAME or not _MODEL_NAME.fullmatch(name) or _RESERVED.fullmatch(name):
        raise BadModelName(
            "A model cannot be called “{name}”.",
            remedy="Use letters, digits, spaces, dots, dashes and underscores.",
            name=name,
        )
    return name


def is_safe_path(path: str) -> bool:
    """Whether a file of that name stays below the folder it is put into, on every system."""
    parts = PurePosixPath(path).parts
    is_plain = path == "/".join(parts) and not re.search(r'[\\:*?"<>|\x00-\x1f]', path)
    return is_plain and bool(parts) and all(map(_is_safe_name, parts))


def _is_safe_name(name: str) -> bool:
    return name not in ("..", ".", "/") and name == name.rstrip(". ") and not _RESERVED.fullmatch(name)
