"""A hub with one model, and a user without models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hub_server import HubServer, Repository, use_only_hub
from small_model import REPOSITORY, small_files, small_model

from studio.catalog.installation import Installation
from studio.catalog.known import KnownModel, SourceKind
from studio.catalog.progress import Phase, Progress
from studio.catalog.source_order import open_source


@dataclass
class Place:
    """The hub and the user's folders."""

    hub: HubServer
    files: dict[str, bytes]
    model: KnownModel
    folder: Path
    seen: list[Progress] = field(default_factory=list)
    on_progress: Callable[[Progress], None] | None = None

    def installation(self, kind: SourceKind = SourceKind.HUGGING_FACE, **options: Any) -> Installation:
        options.setdefault("first_wait_seconds", 0.01)
        return Installation(self.model, open_source(kind, self.hub.url), on_progress=self._see, **options)

    def _see(self, progress: Progress) -> None:
        self.seen.append(progress)
        if self.on_progress is not None:
            self.on_progress(progress)

    @property
    def received(self) -> list[Progress]:
        return [progress for progress in self.seen if progress.phase is Phase.RECEIVING]

    @property
    def model_folder(self) -> Path:
        return self.folder / self.model.name

    def installed_files(self) -> dict[str, bytes]:
        return {
            path: (self.model_folder / path).read_bytes() for path in self.files if (self.model_folder / path).is_file()
        }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    files = small_files()
    model = small_model(files)
    use_only_hub(monkeypatch, tmp_path / "hf", {model.name: model})
    with HubServer() as hub:
        hub.repositories[REPOSITORY] = Repository(files)
        yield Place(hub, files, model, tmp_path / "timbre_data" / "models")
