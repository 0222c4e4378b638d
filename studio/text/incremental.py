"""Text that arrives in pieces, a key or a word at a time, given out in whole sentences.

A sentence is given out as soon as nothing that may follow can change where it ends. Knows where
sentences end, not what is in them.
"""

from __future__ import annotations

import regex

from studio.text.layout import Layout
from studio.text.split import sentence_ends, split_near_middle
from studio.text.tags import TagSet

# More than this without any end mark is cut at a comma: something must be heard.
_LONGEST_WAIT_CHARACTERS = 240
_SHORT_CHARACTERS = 20
_WRAPPED_LINE_CHARACTERS = 50

_SOMETHING = regex.compile(r"\S")
_LINE_BREAK = regex.compile(r"\r\n|\r(?!\Z)|[\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_SMALL_LETTER_FOLLOWS = regex.compile(r"(?<![ \t])[ \t]*+(?:\r\n|\n)(?=\p{Ll})")
_UNFINISHED_TAG = regex.compile(r"[\[<][^\[\]<>]{0,24}\Z")
_CLOSED = regex.compile(r"[\p{STerm}…:：;；][\p{Pe}\p{Pf}\"'\s]*\Z")


class IncrementalSplitter:
    """Feed it pieces of text as they come; it returns the sentences that have become certain.

    Put together, everything returned is everything fed, except that a line break in the middle of a
    sentence, where an editor wrapped a long line, becomes a blank. Sentences shorter than 20 characters
    are returned together with their neighbours of the same call: alone they would sound clipped, and
    nothing is gained by waiting.
    """

    def __init__(self, tags: TagSet) -> None:
        self._tags = tags
        self._waiting = ""

    def feed(self, piece: str) -> list[str]:
        self._waiting = _unwrapped(self._waiting + piece)
        ready: list[str] = []
        start = 0
        for match in _LINE_BREAK.finditer(self._waiting):
            if match.end() == len(self._waiting) and _may_be_wrapped(self._waiting[start : match.start()]):
                break
            ready += self._sentences(self._waiting[start : match.end()], is_whole_line=True)
            start = match.end()
        if not _LINE_BREAK.search(self._waiting, start):
            certain = self._sentences(self._waiting[start:], is_whole_line=False)
            ready += certain
            start += sum(map(len, certain))
        self._waiting = self._waiting[start:]
        return _joined(ready)

    def finish(self) -> list[str]:
        """What is left when no more text comes."""
        rest, self._waiting = self._waiting, ""
        return [rest] if rest else []

    def _sentences(self, line: str, *, is_whole_line: bool) -> list[str]:
        known = line
        if not is_whole_line and (unfinished := _UNFINISHED_TAG.search(line)):
            known = line[: unfinished.start()]
        layout = Layout.of(known, self._tags)
        sentences: list[str] = []
        start = 0
        for end in sentence_ends(layout.masked):
            # The next word decides whether a point ends a sentence, and whether a quote is still to come.
            is_decided = is_whole_line or _SOMETHING.search(known, end)
            if is_decided and not layout.is_within_span(end) and not layout.is_within_open_span(end):
                sentences.append(known[start:end])
                start = end
        if is_whole_line and sentences and not line[start:].strip():
            sentences[-1] += line[start:]
        elif is_whole_line:
            sentences.append(line[start:])
        elif len(known) - start > _LONGEST_WAIT_CHARACTERS:
            sentences.append(known[start : start + split_near_middle(layout.masked[start:])])
        return [sentence for sentence in sentences if sentence]


def _unwrapped(text: str) -> str:
    def mend(match: regex.Match[str]) -> str:
        line_start = text.rfind("\n", 0, match.start()) + 1
        return " " if match.start() - line_start >= _WRAPPED_LINE_CHARACTERS else match.group()

    return _SMALL_LETTER_FOLLOWS.sub(mend, text)


def _may_be_wrapped(line: str) -> bool:
    return len(line) >= _WRAPPED_LINE_CHARACTERS and not _CLOSED.search(line)


def _joined(sentences: list[str]) -> list[str]:
    joined: list[str] = []
    for sentence in sentences:
        if joined and len(joined[-1].strip()) < _SHORT_CHARACTERS and not joined[-1].endswith("\n"):
            joined[-1] += sentence
        else:
            joined.append(sentence)
    return joined
