"""What the bundle says of the program, for PyInstaller (``frozen/timbre.spec``) and for ``build.py``. Knows no macOS."""

from __future__ import annotations

import plistlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
APP_NAME = "Timbre Studio.app"
# The project has no domain yet, and .local is nobody's; letters, digits, hyphens and dots alone are allowed.
IDENTIFIER = "local.timbre-studio.TimbreStudio"
ENTITLEMENTS = HERE / "entitlements.plist"
LOCALISATIONS = ("zh-Hans.lproj",)


def info_plist(version: str) -> dict[str, Any]:
    """To be merged over what PyInstaller writes."""
    content: dict[str, Any] = plistlib.loads((HERE / "Info.plist").read_bytes())
    return content | {"CFBundleShortVersionString": version, "CFBundleVersion": version}
