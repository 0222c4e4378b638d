"""Tests of the window need no screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture
def make_bench(qapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Sessions and windows of folders of their own; see ``Bench``."""
    from window_bench import Bench

    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    made: list[Bench] = []

    def make(**options: Any) -> Bench:
        bench = Bench(qapp, tmp_path, **options)
        made.append(bench)
        return bench

    yield make
    for bench in made:
        bench.close()


@pytest.fixture
def bench(make_bench: Callable[..., Any]) -> Any:
    return make_bench()
