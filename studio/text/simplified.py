"""Conversion of traditional Chinese characters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
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
    # The grammar that wetext includes; its own interface would also read numbers.
    import kaldifst  # noqa: PLC0415 - a library of its own
    import wetext  # noqa: PLC0415

    converter: Callable[[str], str] = kaldifst.TextNormalizer(
        str(Path(wetext.__file__).with_name("fsts") / "traditional_to_simple.fst")
    )
    return converter
