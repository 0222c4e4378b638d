"""Downloading, checking and copying a large model does not block the window."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np
import pytest
from event_loop_monitor import MAX_STALL_SECONDS, EventLoopMonitor
from hub_server import Fault, HubServer, Repository
from small_model import NAME, REPOSITORY, small_files, small_model
from window_bench import Bench

from studio.catalog.installed import ModelState

_LARGE_BYTES = 12_000_000


@pytest.fixture
def large_hub(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """A hub with a large language model and no bandwidth limit."""
    content = np.random.default_rng(11).bytes(_LARGE_BYTES)
    files = small_files() | {"llm.pt": content}
    sha256 = hashlib.sha256(content).hexdigest()
    small = small_model(small_files())
    described = [
        dataclasses.replace(file, size_bytes=_LARGE_BYTES, sha256=sha256) if file.path == "llm.pt" else file
        for file in small.files
    ]
    model = dataclasses.replace(small, files=tuple(described))
    for module in ("catalog.known", "catalog.checking", "app.models.model_tasks", "app.models.first_run"):
        monkeypatch.setattr(f"studio.{module}.known_models", lambda: {model.name: model})
    hub.repositories[REPOSITORY] = Repository(files)
    return hub


@pytest.mark.slow
def test_the_window_responds_during_download_pause_check_export_and_removal(
    make_bench: Any, large_hub: HubServer, tmp_path: Any
) -> None:
    bench: Bench = make_bench(is_first_run=True)
    bench.add_voice()
    bench.open_window()
    bench.until(lambda: not bench.parts.models.panel.isHidden())
    bench.trigger("file.models")
    bench.live(0.3)
    work = bench.session.parts.models
    large_hub.faults["llm.pt"] = [Fault(bytes_per_second=8_000_000)]
    monitor = EventLoopMonitor()
    work.install(NAME)
    bench.until(lambda: large_hub.served_bytes.get("llm.pt", 0) > _LARGE_BYTES // 4, 60)
    work.stop(NAME)  # the second download has no bandwidth limit
    bench.until(lambda: work.current is None)
    work.install(NAME)
    bench.until(lambda: state_of(bench) is ModelState.INSTALLED and work.current is None, 60)
    work.check(NAME)
    work.export_to(NAME, tmp_path / "model.zip")
    bench.until(lambda: (tmp_path / "model.zip").is_file() and work.current is None, 60)
    work.remove(NAME)
    bench.until(lambda: state_of(bench) is ModelState.AVAILABLE, 60)
    words = monitor.stop()
    print("\nstalls:", words)  # noqa: T201 - pytest -rA shows it
    assert len(monitor.stalls) > 50
    assert max(monitor.stalls) < MAX_STALL_SECONDS, words


def state_of(bench: Bench) -> ModelState | None:
    status = bench.session.parts.models.status_of(NAME)
    return status.state if status is not None else None
