"""The models that can be chosen by name: those that ship with the program, and the user's own."""

from __future__ import annotations

from pathlib import Path

from studio import paths

# Until a voice model ships with the program. It makes noise, and says so.
DEFAULT_MODEL = "noise-cosyvoice3"


def installed_models() -> dict[str, Path]:
    """Folders of models by name; the user's hide the program's of the same name."""
    found: dict[str, Path] = {}
    for base in (paths.resources() / "models", paths.data_folder() / "models"):
        if base.is_dir():
            found.update({folder.name: folder for folder in sorted(base.iterdir()) if folder.is_dir()})
    return found
