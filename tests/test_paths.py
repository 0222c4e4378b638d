"""Folders of the program that environment variables name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from studio import paths


@pytest.mark.parametrize(
    ("variable", "folder"),
    [
        ("TIMBRE_DATA", paths.data_folder),
        ("TIMBRE_CONFIG", paths.config_folder),
        ("TIMBRE_CACHE", paths.cache_folder),
        ("TIMBRE_LOGS", paths.log_folder),
    ],
)
def test_an_account_without_a_home_needs_the_variables_only(
    variable: str, folder: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd's dynamic users have no home."""

    def no_home(*_arguments: object, **_options: object) -> Path:
        raise RuntimeError("could not determine the home directory")

    for name in ("user_data_path", "user_config_path", "user_cache_path", "user_log_path"):
        monkeypatch.setattr(platformdirs, name, no_home)
    monkeypatch.setenv(variable, str(tmp_path))
    assert folder() == tmp_path
