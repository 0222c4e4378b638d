"""A service that tests of a module share, and a way to start others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import running_service
from running_service import RunningService, Serve

from studio.voices.library import VoiceLibrary


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Start a service with options of its own."""
    return partial(running_service.serve, library=VoiceLibrary(tmp_path / "voices"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service.serve(library=VoiceLibrary(tmp_path_factory.mktemp("library"))) as running:
        yield running
