"""Local model hub and one small known model, for tests of the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import HubServer, Repository, use_only_hub
from small_model import REPOSITORY, small_files, small_model


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """The only model source, which offers the only known model."""
    model = small_model(small_files())
    use_only_hub(monkeypatch, tmp_path / "hf", {model.name: model}, in_window=True)
    with HubServer() as server:
        server.repositories[REPOSITORY] = Repository(small_files())
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server
