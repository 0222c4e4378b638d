"""Text of a line for subtitles: without tags, pauses and pronunciations."""

from __future__ import annotations

from functools import cache

import regex

from studio.errors import StyleNotSupported
from studio.text.tags import TagSet, find_marks

_BLANKS = regex.compile(r"\s+")
_BEFORE_POINT = regex.compile(r" (?=[,.;:!?，。；：！？、])")


def as_subtitle(text: str) -> str:
    """Return ``text`` on one line without tags; empty if it contains only tags."""
    try:
        marks = find_marks(text, _all_tags())
    except StyleNotSupported:  # invalid tags are shown as text
        marks = ()
    words = ""
    position = 0
    for mark in marks:
        words += text[position : mark.start] + " "
        position = mark.end
    return _BEFORE_POINT.sub("", _BLANKS.sub(" ", words + text[position:])).strip()


@cache
def _all_tags() -> TagSet:
    """Return the tags of all model generations."""
    # Imported here because it loads text normalization, which the export dialog does not need.
    from studio.text.prompt_form import COSYVOICE2_TEXT, COSYVOICE3_TEXT  # noqa: PLC0415

    both = (*COSYVOICE3_TEXT.tags.inline, *COSYVOICE2_TEXT.tags.inline)
    return TagSet(tuple(dict.fromkeys(both)), COSYVOICE3_TEXT.tags.phones)
