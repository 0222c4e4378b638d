"""A line's text as a reader of subtitles sees it: without tags, pauses and pronunciations."""

from __future__ import annotations

from functools import cache

import regex

from studio.errors import StyleNotSupported
from studio.text.tags import TagSet, find_marks

_BLANKS = regex.compile(r"\s+")
_BEFORE_POINT = regex.compile(r" (?=[,.;:!?，。；：！？、])")


def as_subtitle(text: str) -> str:
    """One line of words; empty where ``text`` holds only tags."""
    try:
        marks = find_marks(text, _all_tags())
    except StyleNotSupported:  # it cannot have been spoken like this; whoever made the sound knows better
        marks = ()
    words = ""
    position = 0
    for mark in marks:
        words += text[position : mark.start] + " "
        position = mark.end
    return _BEFORE_POINT.sub("", _BLANKS.sub(" ", words + text[position:])).strip()


@cache
def _all_tags() -> TagSet:
    """Whichever generation spoke it."""
    # With all that normalises text; a window that opens the export dialog need not wait for it.
    from studio.text.prompt_form import COSYVOICE2_TEXT, COSYVOICE3_TEXT  # noqa: PLC0415

    both = (*COSYVOICE3_TEXT.tags.inline, *COSYVOICE2_TEXT.tags.inline)
    return TagSet(tuple(dict.fromkeys(both)), COSYVOICE3_TEXT.tags.phones)
