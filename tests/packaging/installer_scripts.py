"""The Windows and macOS build scripts, which have the same name, as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

PACKAGING = Path(__file__).parents[2] / "packaging"


def build_script(system: str) -> ModuleType:
    """``packaging/SYSTEM/build.py``."""
    specification = importlib.util.spec_from_file_location(f"build_{system}", PACKAGING / system / "build.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
