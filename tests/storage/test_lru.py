"""Cache folders forget the least recently used entries first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio.storage.lru import delete_least_used, mark_used, num_bytes


@pytest.fixture
def entries(tmp_path: Path) -> list[Path]:
    """Four entries of 10 bytes, least recently used first; the second is a folder."""
    made = [tmp_path / name for name in ("a", "b", "c", "d")]
    for age, path in enumerate(made):
        if path.name == "b":
            path.mkdir()
            (path / "file").write_bytes(bytes(10))
        else:
            path.write_bytes(bytes(10))
        os.utime(path, (1000 + age, 1000 + age))
    return made


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"max_bytes": 40}, "abcd"),
        ({"max_bytes": 25}, "cd"),
        ({"max_bytes": -5}, ""),
        ({"max_entries": 3}, "bcd"),
        ({"max_entries": 3, "max_bytes": 10}, "d"),
        ({}, "abcd"),
    ],
)
def test_the_least_recently_used_entries_are_deleted(
    tmp_path: Path, entries: list[Path], limits: dict[str, float], kept: str
) -> None:
    assert sum(map(num_bytes, entries)) == 40
    delete_least_used(reversed(entries), **limits)
    assert sorted(path.name for path in tmp_path.iterdir()) == list(kept)


def test_used_entries_are_kept(tmp_path: Path, entries: list[Path]) -> None:
    for path in entries[:2]:
        mark_used(path)
    delete_least_used(entries, max_entries=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_missing_entries_are_skipped(tmp_path: Path, entries: list[Path]) -> None:
    missing = tmp_path / "missing"
    mark_used(missing)
    delete_least_used([missing, *entries], max_entries=1)
    assert [path.name for path in tmp_path.iterdir()] == ["d"]
