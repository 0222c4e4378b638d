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
    # The grammar that wetext includes. Its own interface would also read numbers, and its import all grammars.
    import kaldifst  # noqa: PLC0415 - a library of its own

    wetext = find_spec("wetext")
    assert wetext is not None and wetext.origin is not None  # noqa: PT018 - a dependency
    grammar = Path(wetext.origin).with_name("fsts") / "traditional_to_simple.fst"
    converter: Callable[[str], str] = kaldifst.TextNormalizer(str(grammar))
    return converter
