"""Local model hub and one small known model, for tests of the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import HubServer, Repository
from small_model import REPOSITORY, small_files, small_model


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """The only model source, which offers the only known model."""
    model = small_model(small_files())
    for module in (
        "catalog.known",
        "catalog.checking",
        "catalog.transfer",
        "app.models.model_tasks",
        "app.models.first_run",
        "app.models.models_page",
    ):
        monkeypatch.setattr(f"studio.{module}.known_models", lambda: {model.name: model})
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with HubServer() as server:
        server.repositories[REPOSITORY] = Repository(small_files())
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server
