"""Each journey has a screen and a home folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from traveller import Traveller
from virtual_screen import virtual_screen


@pytest.fixture
def traveller(tmp_path: Path) -> Iterator[Traveller]:
    with virtual_screen(tmp_path / "home") as screen:
        yield Traveller(screen)
