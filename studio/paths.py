"""Locations of the bundled resources and of the user's folders.

Environment variables override each folder, for developers and tests: ``TIMBRE_DATA`` (voices, drafts),
``TIMBRE_CONFIG`` (settings), ``TIMBRE_CACHE`` (caches), ``TIMBRE_LOGS``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import platformdirs

_APP_NAME = "timbre-studio"


def resources() -> Path:
    """Return the folder of bundled read-only files: inside an installed package, beside it in a checkout."""
    # Try inside first: next to an installed package, a folder with that name belongs to another package.
    inside_package = Path(__file__).resolve().parent / "resources"
    return inside_package if inside_package.is_dir() else inside_package.parent.parent / "resources"


def data_folder() -> Path:
    """Return the folder of the user's voices, drafts and models."""
    return _folder("TIMBRE_DATA", platformdirs.user_data_path)


def config_folder() -> Path:
    """Return the folder of the settings and the global dictionary."""
    return _folder("TIMBRE_CONFIG", platformdirs.user_config_path)


def cache_folder() -> Path:
    """Return the folder of data that can be computed again, such as prompt states."""
    return _folder("TIMBRE_CACHE", platformdirs.user_cache_path)


def log_folder() -> Path:
    return _folder("TIMBRE_LOGS", platformdirs.user_log_path)


def _folder(variable: str, default_folder: Callable[..., Path]) -> Path:
    """Return the folder that ``variable`` names. Without it, the user needs a home, which the users of services lack."""
    override = os.environ.get(variable)
    return Path(override) if override else default_folder(_APP_NAME, appauthor=False)
