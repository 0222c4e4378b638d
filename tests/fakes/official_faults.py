"""Texts that the official frontend damages; see ``tests/text/test_segmentation.py`` for our results."""

from __future__ import annotations

import re


def is_unspeakable(text: str) -> bool:
    """Symbols only: the official program reads them, or gives out an empty sentence."""
    return not any(character.isalnum() for character in text)


def is_damaged(text: str) -> bool:
    """Whether it holds what the official program loses or leaves unread."""
    return (
        is_unspeakable(text)
        or "\n" in text  # paragraphs are joined
        or " - " in text  # the blanks go before the dash becomes a comma
        or "<|" in text  # nothing is normalised
        or re.search(r"[㎡`（）【】()\[\]]|——", text) is not None  # not read, or brackets vanish
        or not any(character.isalpha() for character in text)  # numbers alone: half Chinese, half English
    )


def without_stray_backslashes(text: str) -> str:
    """The official program puts them before quotes."""
    return text.replace("\\", "")
