"""Read the JSON file that describes built graphs. No torch."""

from __future__ import annotations

from pathlib import Path

from studio.errors import DamagedModelFile


def read_description(path: Path) -> str:
    """Raises ``DamagedModelFile``."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise DamagedModelFile(
            "{file} of a built engine cannot be read: {reason}.",
            remedy="Build the engine again.",
            file=path.name,
            reason=error,
        ) from error
