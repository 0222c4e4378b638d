"""Where things lie: what ships with the program, and what it keeps for the user.

Every folder can be moved with an environment variable, for developers and tests:
``TIMBRE_DATA`` (voices, drafts), ``TIMBRE_CONFIG`` (settings), ``TIMBRE_CACHE`` (rebuildable), ``TIMBRE_LOGS``.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_APP_NAME = "timbre-studio"


def resources() -> Path:
    """The read-only files that ship with the program (in an installed package, inside it)."""
    # Inside first: beside an installed package, a folder of that name belongs to somebody else.
    inside_package = Path(__file__).resolve().parent / "resources"
    return inside_package if inside_package.is_dir() else inside_package.parent.parent / "resources"


def data_folder() -> Path:
    """What the user made and must never lose: voices, projects."""
    return _folder("TIMBRE_DATA", platformdirs.user_data_path(_APP_NAME, appauthor=False))


def config_folder() -> Path:
    """How the user wants the program to be."""
    return _folder("TIMBRE_CONFIG", platformdirs.user_config_path(_APP_NAME, appauthor=False))


def cache_folder() -> Path:
    """What can be made again: prompt states, normalised sentences."""
    return _folder("TIMBRE_CACHE", platformdirs.user_cache_path(_APP_NAME, appauthor=False))


def log_folder() -> Path:
    return _folder("TIMBRE_LOGS", platformdirs.user_log_path(_APP_NAME, appauthor=False))


def _folder(variable: str, default: Path) -> Path:
    override = os.environ.get(variable)
    return Path(override) if override else default
