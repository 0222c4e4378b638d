"""Splitting of text that arrives in pieces, such as characters or words, into sentences.

A sentence is returned as soon as no further text can change its end.
"""

from __future__ import annotations

import regex

from studio.text.layout import Layout
from studio.text.split import sentence_ends, split_near_middle
from studio.text.tags import TagSet

# Longer text without an end mark is cut at a comma, to limit the delay.
_MAX_PENDING_CHARACTERS = 240
_SHORT_CHARACTERS = 20
_WRAPPED_LINE_CHARACTERS = 50

_NON_SPACE = regex.compile(r"\S")
_LINE_BREAK = regex.compile(r"\r\n|\r(?!\Z)|[\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_SMALL_LETTER_FOLLOWS = regex.compile(r"(?<![ \t])[ \t]*+(?:\r\n|\n)(?=\p{Ll})")
_UNFINISHED_TAG = regex.compile(r"[\[<][^\[\]<>]{0,24}\Z")
_CLOSED = regex.compile(r"[\p{STerm}…:：;；][\p{Pe}\p{Pf}\"'\s]*\Z")


class IncrementalSplitter:
    """Returns complete sentences of text that is fed in pieces.

    The concatenated results equal the input, except that a line break within a sentence, from wrapping of a
    long line, becomes a space. Sentences shorter than 20 characters are joined with adjacent ones of the same
    call, because short utterances sound clipped.
    """

    def __init__(self, tags: TagSet) -> None:
        self._tags = tags
        self._pending = ""

    def feed(self, piece: str) -> list[str]:
        self._pending = _unwrapped(self._pending + piece)
        ready: list[str] = []
        start = 0
        for match in _LINE_BREAK.finditer(self._pending):
            if match.end() == len(self._pending) and _may_be_wrapped(self._pending[start : match.start()]):
                break
            ready += self._sentences(self._pending[start : match.end()], is_whole_line=True)
            start = match.end()
        if not _LINE_BREAK.search(self._pending, start):
            certain = self._sentences(self._pending[start:], is_whole_line=False)
            ready += certain
            start += sum(map(len, certain))
        self._pending = self._pending[start:]
        return _joined(ready)

    def finish(self) -> list[str]:
        """Return the remaining text."""
        rest, self._pending = self._pending, ""
        return [rest] if rest else []

    def _sentences(self, line: str, *, is_whole_line: bool) -> list[str]:
        known = line
        if not is_whole_line and (unfinished := _UNFINISHED_TAG.search(line)):
            known = line[: unfinished.start()]
        layout = Layout.of(known, self._tags)
        sentences: list[str] = []
        start = 0
        for end in sentence_ends(layout.masked):
            # Whether a point ends a sentence, and whether a quote follows, depends on the next word.
            is_decided = is_whole_line or _NON_SPACE.search(known, end)
            if is_decided and not layout.is_within_span(end) and not layout.is_within_open_span(end):
                sentences.append(known[start:end])
                start = end
        if is_whole_line and sentences and not line[start:].strip():
            sentences[-1] += line[start:]
        elif is_whole_line:
            sentences.append(line[start:])
        elif len(known) - start > _MAX_PENDING_CHARACTERS:
            sentences.append(known[start : start + split_near_middle(layout.masked[start:])])
        return [sentence for sentence in sentences if sentence]


def _unwrapped(text: str) -> str:
    def unwrap(match: regex.Match[str]) -> str:
        line_start = text.rfind("\n", 0, match.start()) + 1
        return " " if match.start() - line_start >= _WRAPPED_LINE_CHARACTERS else match.group()

    return _SMALL_LETTER_FOLLOWS.sub(unwrap, text)


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
