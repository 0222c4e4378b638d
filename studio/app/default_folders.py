"""Initial folders of file dialogs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths


def default_folder(place: QStandardPaths.StandardLocation) -> str:
    """Return the user's folder of this kind, or the home folder: Qt would use a missing folder as a file name."""
    folder = QStandardPaths.writableLocation(place)
    return folder if Path(folder).is_dir() else str(Path.home())
