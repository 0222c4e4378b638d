"""A service with a fake model that tests of a module share, and a clip."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import running_service
from fake_model import FakeModel
from running_service import RunningService, Serve
from thread_worker import ThreadWorker
from window_bench import clip_of_noise

from studio.pipeline.request import EngineOptions
from studio.voices.library import VoiceLibrary


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep descriptions of models and received voices out of the folders of the user."""
    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path / "data"))


@pytest.fixture(scope="session")
def models() -> list[FakeModel]:
    """The models that the service has opened."""
    return []


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, models: list[FakeModel]) -> Iterator[RunningService]:
    def open_model(_folder: Path, options: EngineOptions) -> FakeModel:
        models.append(FakeModel(Path("fake"), options))
        return models[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIMBRE_CACHE", str(tmp_path_factory.mktemp("cache")))
        library = VoiceLibrary(tmp_path_factory.mktemp("library"))
        with running_service.serve(library=library, start_worker=lambda: ThreadWorker(open_model)) as running:
            yield running


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Start a service with options of its own."""
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "cache"))
    return partial(running_service.serve, library=VoiceLibrary(tmp_path / "voices"))


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clip_of_noise(tmp_path_factory.mktemp("clips") / "Anna.wav")
