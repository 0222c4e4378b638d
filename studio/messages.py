"""Translatable messages: a template and its facts, kept apart until the message is shown.

Decision: the English template is the key of its translations and is written where the facts are known. Reason: a
message that is written elsewhere becomes outdated. Alternative: a table of numbered messages.

The window translates the template; the command line and the logs show it in English.
"""

from __future__ import annotations

import errno
import numbers
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

# Control characters, line separators, and overrides of the writing direction, which can disguise a name.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_PLACE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Message:
    """A ``template`` with a ``{name}`` or ``{name:.1f}`` for each fact. Other braces are kept.

    A tuple of names is shown as a list with the separator of the language.
    """

    template: str
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text(str)

    def text(self, translate: Callable[[str], str]) -> str:
        """Return the message with its template, and the templates of its parts, translated by ``translate``."""

        def fact(place: re.Match[str]) -> str:
            value = self.facts.get(place[1])
            if value is None:
                return place[0]
            if isinstance(value, tuple):
                return translate(_COMMA.template).join(value)
            return value.text(translate) if isinstance(value, Message) else format(value, place[2] or "")

        return _PLACE.sub(fact, translate(self.template))


Fact: TypeAlias = "str | int | float | tuple[str, ...] | Message"
_COMMA = Message(", ")


def message(template: str, **facts: object) -> Message:
    """Return a message or a part of one.

    An ``OSError`` is replaced by its reason, a path by its text, and a list or tuple by a tuple of texts.
    """
    return Message(template, {name: _normalized(value) for name, value in facts.items()})


def printable(text: str) -> str:
    """Return ``text`` as one line for a terminal, with control characters and surrogates escaped."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def did_you_mean(names: Sequence[str]) -> str | Message:
    """Return " Did you mean …?" with ``names``, to append to a sentence, or an empty string without names."""
    if not names:
        return ""
    *others, last = names
    nearest = message("{names} or {last}", names=others, last=last) if others else last
    return message(" Did you mean {names}?", names=nearest)


def listed(parts: Sequence[Message]) -> Message:
    """Return ``parts`` joined by the semicolon of the language."""
    return reduce(lambda before, after: message("{before}; {after}", before=before, after=after), parts)


def _normalized(fact: object) -> Fact:
    if isinstance(fact, OSError):
        return _reason(fact)
    if isinstance(fact, BaseException):
        whole = getattr(fact, "message", None)
        return whole if isinstance(whole, Message) else str(fact) or type(fact).__name__
    if isinstance(fact, numbers.Real):  # includes NumPy scalars
        return int(fact) if isinstance(fact, numbers.Integral) else float(fact)
    if isinstance(fact, list | tuple):
        return tuple(map(str, fact))
    return fact if isinstance(fact, str | Message) else str(fact)


def _reason(error: OSError) -> str | Message:
    """Return a translatable reason for the usual errors of the operating system, or otherwise the system's own text."""
    reason = getattr(error, "reason", None)
    if isinstance(reason, Message):
        return reason
    text = error.strerror or str(error)
    known = _REASONS.get(error.errno or 0)
    return known if known is not None and text == os.strerror(error.errno or 0) else text


_REASONS = {
    errno.EACCES: Message("permission denied"),
    errno.EPERM: Message("the system does not permit it"),
    errno.EROFS: Message("the disk is read-only"),
    errno.ENOENT: Message("no such file or folder"),
    errno.ENOTDIR: Message("a part of the path is not a folder"),
    errno.EISDIR: Message("it is a folder"),
    errno.EEXIST: Message("it exists already"),
    errno.ENOTEMPTY: Message("the folder is not empty"),
    errno.ENAMETOOLONG: Message("the name is too long"),
    errno.EINVAL: Message("the name is not allowed there"),
    errno.ELOOP: Message("the link leads back to itself"),
    errno.ENOSPC: Message("the disk is full"),
    errno.EFBIG: Message("the file would be too large"),
    errno.EIO: Message("the disk reports a fault"),
    errno.EBUSY: Message("another program is using it"),
    errno.EAGAIN: Message("another program is using it"),
    errno.EMFILE: Message("too many files are open"),
    errno.ENFILE: Message("too many files are open"),
    errno.ENOMEM: Message("there is not enough memory"),
    errno.EDQUOT: Message("the quota of the disk is used up"),
    errno.ETIMEDOUT: Message("it did not respond in time"),
    errno.ENODEV: Message("the device is gone"),
    errno.ENXIO: Message("the device is gone"),
}
