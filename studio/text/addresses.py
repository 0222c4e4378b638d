"""Addresses of the internet in words: URLs, mail and IP addresses, names of users and hashtags."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import regex

from studio.text.rules import Rule, rules

_DOMAINS = "com|org|net|edu|gov|io|ai|co|dev|app|info|me|tv|uk|de|fr|cn|jp|eu|es|it|ru|kr|ch"
_REST_OF_URL = r"[^\s<>\"”’)\]，。；：！？、）】》\p{Han}]*[^\s<>\"”’)\],.;:!?…，。；：！？、）】》\p{Han}]"
_SCHEME = regex.compile(r"\A(?:(?:https?|ftp)://|mailto:)")
_PART = regex.compile(r"\d+|\p{L}+|.")


def address_rules(
    signs: Mapping[str, str], number: Callable[[str], str], *, hashtag: str, separator: str = " "
) -> tuple[Rule, ...]:
    """Return rules of a language. ``signs`` are the names of signs, and ``number`` returns digits in words."""

    def spell(match: regex.Match[str]) -> str:
        address = _SCHEME.sub("", match.group().rstrip("/"))
        words = (number(part) if part.isdigit() else signs.get(part, part) for part in _PART.findall(address))
        return separator.join(words)

    def name(match: regex.Match[str]) -> str:
        return separator.join([signs["@"], *regex.split(r"[_.]+", match[1].strip("_"))])

    def tag(match: regex.Match[str]) -> str:
        words = regex.sub(r"(?<=\p{Ll})(?=\p{Lu}|\d)|_", " ", match[1])
        return f"{hashtag}{separator}{words}"

    return (
        *rules(
            "address",
            (rf"(?<![a-zA-Z])(?:https?|ftp)://{_REST_OF_URL}", spell),
            (r"(?<![a-zA-Z0-9_.@])(?:mailto:)?[a-zA-Z0-9_.+-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+", spell),
            (rf"(?<![a-zA-Z0-9])www\.{_REST_OF_URL}", spell),
            (
                rf"(?<![a-zA-Z0-9@.])(?:[a-zA-Z][a-zA-Z0-9-]*\.)+(?:{_DOMAINS})(?:/[a-zA-Z0-9_./?=&%#~+-]*[a-zA-Z0-9_/])?"
                r"(?![a-zA-Z0-9_])(?!\.[a-zA-Z0-9_])",
                spell,
            ),
            (r"(?<![a-zA-Z0-9])@(?=[\p{L}_])([\w.]*\w)", name),
            (r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?(?!\d|\.\d)", spell),
        ),
        *rules("hashtag", (r"(?<![\p{Latin}\d&#])#([\p{L}_]\w*)#?", tag)),
    )
