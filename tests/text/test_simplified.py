"""Conversion of traditional characters."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import kaldifst  # noqa: F401 - found before the path is changed
import pytest

from studio.text.simplified import _simplifier, simplified


@pytest.fixture
def new_simplifier() -> Iterator[None]:
    _simplifier.cache_clear()
    yield
    _simplifier.cache_clear()


def test_traditional_characters_become_simplified_ones() -> None:
    assert simplified("這是價格, 5 dollars") == "这是价格, 5 dollars"


@pytest.mark.usefixtures("new_simplifier")
def test_the_grammar_is_found_without_the_modules_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the frozen program, which contains only the grammar."""
    package = find_spec("wetext")
    assert package is not None
    assert package.origin is not None
    grammar = Path("fsts", "traditional_to_simple.fst")
    copied = tmp_path / "wetext" / grammar
    copied.parent.mkdir(parents=True)
    shutil.copy(Path(package.origin).parent / grammar, copied)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "wetext", raising=False)
    assert _simplifier()("語") == "语"
