"""Fixtures: an empty project and the folder of its working copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.project.project import Project


@pytest.fixture
def drafts(tmp_path: Path) -> Path:
    return tmp_path / "drafts"


@pytest.fixture
def project(drafts: Path) -> Iterator[Project]:
    with Project.create(drafts) as project:
        yield project
