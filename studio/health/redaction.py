"""Removal of personal data from reports: user names in paths, and names chosen by the user in messages."""

from __future__ import annotations

import getpass
import os
import re
import sys
from functools import cache
from pathlib import Path

from studio.catalog.checking import is_allowed_file
from studio.messages import Fact, Message
from studio.paths import resources

# Account names that identify no one and are common parts of paths.
_COMMON_ACCOUNTS = {"admin", "administrator", "home", "root", "user", "users"}
# Facts of errors that come from the program, a library or a server. Words quoted in them may come from the user.
_KEPT_FACTS = {
    "c", "engine", "generation", "host", "how", "kind", "known", "library", "model", "oldest", "precision", "reason",
    "setting", "signal", "stage", "status", "variable", "version", "why",
}  # fmt: skip
_QUOTED = re.compile(r"""(?<!\w)(?P<mark>['"`])(?P<said>(?:(?!(?P=mark)).)+)(?P=mark)(?!\w)""", re.DOTALL)
_NAME_OF_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.\[\]-]*")
_PATH = re.compile(r"(?<![\w~.‹/\\:])(?:[A-Za-z]:[\\/]|[\\/])[^\s'\"`()<>|]*[^\s'\"`()<>|.,:;]")
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")


def redact(text: str) -> str:
    """Replace the user's home folder with ``~``, and the user's name in other paths with ``USER``."""
    for home in _homes():
        flags = re.IGNORECASE if os.name == "nt" else 0
        text = re.sub(rf"{re.escape(home)}(?=[\\/]|$|[^\w.-])", "~", text, flags=flags)
    for name in _names():
        text = re.sub(rf"(?<=[\\/]){re.escape(name)}(?=[\\/]|$|[^\w.-])", "USER", text, flags=re.IGNORECASE)
    return text


def without_values(text: str) -> str:
    """Remove passwords, paths outside the program, and quoted words from a text of a library or a server.

    Quoted identifiers are kept, unless they are the whole text: a missing key may be text that the user typed.
    """
    if (alone := _QUOTED.fullmatch(text.strip())) is not None:
        return f"{alone['mark']}…{alone['mark']}"

    def quote(found: re.Match[str]) -> str:
        said, mark = found["said"], found["mark"]
        return found[0] if _NAME_OF_CODE.fullmatch(said) or _PATH.fullmatch(said) else f"{mark}…{mark}"

    def path(found: re.Match[str]) -> str:
        is_programs = any(found[0].startswith(place) for place in {sys.prefix, sys.base_prefix, str(resources())})
        return found[0] if is_programs else "‹path›"

    return redact(_PATH.sub(path, _QUOTED.sub(quote, _PASSWORD.sub("", text))))


def without_facts(message: Message) -> Message:
    """Replace the names of voices, texts and files in a message with placeholders."""
    facts: dict[str, Fact] = {}
    for name, value in message.facts.items():
        if isinstance(value, Message):
            facts[name] = without_facts(value)
        elif isinstance(value, tuple):
            facts[name] = tuple(_shown_fact(name, each) for each in value)
        else:
            facts[name] = _shown_fact(name, value) if isinstance(value, str) else value
    return Message(message.template, facts)


def _shown_fact(name: str, value: str) -> str:
    return without_values(value) if name in _KEPT_FACTS or is_allowed_file(value) else f"‹{name}›"


def _homes() -> list[str]:
    """Return the paths of the home folder with and without symbolic links, longest first; never a root folder."""
    if (home := _home()) is None:
        return []
    found = {str(home), str(home.resolve())}
    return sorted((path for path in found if len(path) > len(home.anchor)), key=len, reverse=True)


def _names() -> set[str]:
    home = _home()
    names = {"" if home is None else home.name, _account()}
    return {name for name in names if len(name) > 1 and name.lower() not in _COMMON_ACCOUNTS}


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # an account without a home, as of services
        return None


@cache
def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as in some containers
        return ""
