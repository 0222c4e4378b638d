"""Detection of texts that the official front end damages. For our results, see ``tests/text/test_segmentation.py``."""

from __future__ import annotations

import re


def is_unspeakable(text: str) -> bool:
    """Return whether ``text`` contains only symbols. The official program reads them, or returns an empty sentence."""
    return not any(character.isalnum() for character in text)


def is_damaged(text: str) -> bool:
    """Return whether ``text`` contains something that the official program drops or does not read."""
    return (
        is_unspeakable(text)
        or "\n" in text  # paragraphs are joined
        or " - " in text  # the spaces are removed before the dash becomes a comma
        or "<|" in text  # nothing is normalised
        or re.search(r"[$£€]\d+\.\d\d\b", text) is not None  # "three point five dollars"
        or re.search(r"\d,\d{3}\b", text) is not None  # 1,234 is read as two numbers
        or re.search(r"[㎡`（）【】()\[\]]|——", text) is not None  # not read, or brackets are dropped
        or not any(
            character.isalpha() for character in text
        )  # numbers alone are read partly in Chinese, partly in English
    )


def without_stray_backslashes(text: str) -> str:
    """Return ``text`` without the backslashes that the official program adds before quotes."""
    return text.replace("\\", "")
