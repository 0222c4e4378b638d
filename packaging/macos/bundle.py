"""Metadata of the macOS bundle, for PyInstaller (``frozen/timbre.spec``) and ``build.py``. Platform-independent."""

from __future__ import annotations

import plistlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
APP_NAME = "Timbre Studio.app"
# The project has no domain; .local is reserved. Only letters, digits, hyphens and dots are allowed.
IDENTIFIER = "local.timbre-studio.TimbreStudio"
ENTITLEMENTS = HERE / "entitlements.plist"
LOCALISATIONS = ("zh-Hans.lproj",)


def info_plist(version: str) -> dict[str, Any]:
    """Return the values to merge into the Info.plist of PyInstaller."""
    content: dict[str, Any] = plistlib.loads((HERE / "Info.plist").read_bytes())
    return content | {"CFBundleShortVersionString": version, "CFBundleVersion": version}
