"""Conversion of traditional Chinese characters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from studio.text.pinyin import HAN


def simplified(text: str) -> str:
    """Return ``text`` with traditional Chinese characters replaced by simplified ones, each by one."""
    return HAN.sub(lambda found: "".join(map(_simplified, found[0])), text)


@lru_cache(maxsize=8192)
def _simplified(character: str) -> str:
    return _simplifier()(character)


@cache
def _simplifier() -> Callable[[str], str]:
    """Return the conversion by the grammar that wetext includes.

    wetext is not imported, which would load all of its grammars; the frozen program contains only this one.
    """
    import kaldifst  # noqa: PLC0415 - a library of its own

    wetext = find_spec("wetext")
    assert wetext is not None
    assert wetext.submodule_search_locations is not None
    grammar = Path(wetext.submodule_search_locations[0]) / "fsts" / "traditional_to_simple.fst"
    converter: Callable[[str], str] = kaldifst.TextNormalizer(str(grammar))
    return converter
