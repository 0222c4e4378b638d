"""Installed models work without a network, and nothing is requested without the user asking."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from small_model import write_folder

from studio.catalog.checking import check_model, remove_model
from studio.catalog.installed import installed_models, model_statuses
from studio.catalog.transfer import export_model, import_model
from studio.errors import SourceUnreachable


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Record every connection attempt and let it fail."""
    attempts: list[object] = []

    def refuse(*arguments: object, **_: object) -> None:
        attempts.append(arguments)
        raise OSError(101, "Network is unreachable")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "create_connection", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)
    return attempts


def test_models_are_listed_imported_checked_exported_and_removed_without_a_network(
    place: Any, tmp_path: Path, no_network: list[object]
) -> None:
    assert model_statuses()
    import_model(write_folder(tmp_path / "x", place.files))
    assert installed_models()[place.model.name].is_dir()
    assert check_model(place.model.name).is_intact
    export_model(place.model.name, place.model_folder, tmp_path / "m.zip")
    assert remove_model(place.model.name)
    assert no_network == []


@pytest.mark.slow
def test_installing_without_a_network_raises(place: Any, no_network: list[object]) -> None:
    with pytest.raises(SourceUnreachable, match="connected to the internet"):
        place.installation().run()
    assert no_network
