"""Names of weight files: ``llm.pt``, ``llm.safetensors``, or ``llm-00001-of-00002.safetensors`` and its other parts."""

from __future__ import annotations

import re
from pathlib import Path

_PART = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<count>\d{5})\.safetensors")
_MAX_PARTS = 1_000


def weight_file(folder: Path, stem: str) -> Path:
    """Return the path of the weights of a stage, or of their first part: ``stem.pt`` if it exists or all are missing."""
    plain = folder / f"{stem}.pt"
    others = (folder / f"{stem}.safetensors", *sorted(folder.glob(f"{stem}-00001-of-*.safetensors")))
    return plain if plain.exists() else next((path for path in others if path.is_file()), plain)


def parts_of(path: Path) -> list[Path]:
    """Return the paths of all parts of the weights that begin with ``path``."""
    found = _PART.fullmatch(path.name)
    if not found:
        return [path]
    count = min(int(found["count"]), _MAX_PARTS)
    return [path.with_name(f"{found['stem']}-{at:05}-of-{found['count']}.safetensors") for at in range(1, count + 1)]
