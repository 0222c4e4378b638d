"""The architecture document names files and classes that exist, and the whole path of a line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "studio" / "ARCHITECTURE.md").read_text("utf-8")


def test_every_file_it_names_exists() -> None:
    named = set(re.findall(r"`((?:studio|packaging|resources|tests)/[\w./]*)`", TEXT))
    assert len(named) > 30
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_names_are_defined_in_the_files_beside_them() -> None:
    """``Name`` (``file``), and ``Name`` in or of ``file``."""
    pairs = re.findall(r"`(\w+)(?:\.\w+)?`\s+(?:\(|in\s+|of\s+)`([\w/]+\.py)`", TEXT)
    assert len(pairs) > 20
    defined = r"^(?:class |def |async def )?{}\b"
    for name, path in pairs:
        assert re.search(defined.format(name), (ROOT / path).read_text("utf-8"), re.MULTILINE), (name, path)


@pytest.mark.slow
def test_every_class_it_names_exists() -> None:
    source = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "studio").rglob("*.py")))
    named = set(re.findall(r"`([A-Z][a-z]\w+)`", TEXT))
    assert len(named) > 20
    assert {name for name in named if not re.search(rf"^class {name}\b", source, re.MULTILINE)} == set()


def test_the_path_of_a_line_passes_through_at_most_30_files() -> None:
    path = TEXT.partition("## The path of a line")[2].partition("\n## ")[0]
    files = set(re.findall(r"`(studio/[\w/]+\.py)`", path))
    assert 10 < len(files) <= 30
