"""Validation of untrusted names: models, and files in archives and repositories."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from studio.errors import BadModelName

_MAX_NAME_LENGTH = 80
# Allowed in folder names on every system. Begins with a letter or digit, does not end with a dot or space.
_MODEL_NAME = re.compile(r"[^\W_](?:[\w.+ -]*[\w+-])?")
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[\d¹²³]) *(\..*)?", re.IGNORECASE)  # Windows devices


def check_model_name(name: str) -> str:
    """Return ``name``. Raise ``BadModelName`` if some system forbids it as a folder name."""
    if len(name) > _MAX_NAME_LENGTH or not _MODEL_NAME.fullmatch(name) or _RESERVED.fullmatch(name):
        raise BadModelName(
            "“{name}” cannot be used as a model name.",
            remedy="Use letters, digits, spaces, dots, hyphens and underscores.",
            name=name,
        )
    return name


def is_safe_path(path: str) -> bool:
    """Return whether ``path`` stays inside the folder it is joined to, on every system."""
    parts = PurePosixPath(path).parts
    is_plain = path == "/".join(parts) and not re.search(r'[\\:*?"<>|\x00-\x1f]', path)
    return is_plain and bool(parts) and all(map(_is_safe_name, parts))


def _is_safe_name(name: str) -> bool:
    return name not in ("..", ".", "/") and name == name.rstrip(". ") and not _RESERVED.fullmatch(name)
