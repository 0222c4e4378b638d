"""File dialogs start in an existing folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths

from studio.app.widgets.dialogs import default_folder


def test_a_missing_folder_is_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    music, home = tmp_path / "Music", tmp_path
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _: str(music))
    monkeypatch.setattr(Path, "home", lambda: home)
    assert default_folder(QStandardPaths.StandardLocation.MusicLocation) == str(home)
    music.mkdir()
    assert default_folder(QStandardPaths.StandardLocation.MusicLocation) == str(music)
