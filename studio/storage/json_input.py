"""Reading of untrusted JSON: every defect is a ``ValueError``.

The standard parser also raises ``RecursionError``, and accepts values that cannot be encoded again: deeply nested
ones, lone surrogates, and numbers that are not finite.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from studio.storage.disk import require_regular_file

_MAX_DEPTH = 64
_MAX_BYTES = 64 << 20
_TOO_DEEP = f"JSON is nested more than {_MAX_DEPTH} levels deep"


def read_json(path: Path) -> Any:
    """Return the content of a UTF-8 file. Raise ``OSError``, or ``ValueError`` if it is not valid JSON."""
    require_regular_file(path)
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"JSON file is larger than {_MAX_BYTES} bytes")
    return parse_json(content)


def parse_json(content: str | bytes) -> Any:
    """Return the value of ``content``; bytes are UTF-8. Raise ``ValueError`` if it is not valid JSON."""
    text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    try:
        value = json.loads(text, parse_float=_finite, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    _check_depth(value)
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()  # UnicodeEncodeError is a ValueError
    return value


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"JSON number out of range: {number[:40]}")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"not a JSON number: {constant}")


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            part
            for container in level
            if isinstance(container, list | dict)
            for part in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)
