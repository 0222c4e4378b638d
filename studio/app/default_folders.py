"""Where file dialogs begin."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths


def default_folder(place: QStandardPaths.StandardLocation) -> str:
    """The person's folder for such files, or their home: of a folder that is not there, Qt makes a file's name."""
    folder = QStandardPaths.writableLocation(place)
    return folder if Path(folder).is_dir() else str(Path.home())
