"""The user manual: a Markdown file for each topic, in ``resources/manual``.

The window shows it, `timbre help` prints it, and the README links to it. Translated topics are in folders named by their
language.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from studio import paths

TOPICS = (
    "installing",
    "window",
    "voices",
    "speaking",
    "scripts",
    "audiobooks",
    "dubbing",
    "games",
    "checks",
    "provenance",
    "serving",
    "streaming",
    "cluster",
    "models",
    "engines",
    "troubleshooting",
    "changes",
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A page of the manual. ``text`` is Markdown that begins with the title."""

    name: str
    path: Path
    text: str

    @property
    def title(self) -> str:
        return self.text.partition("\n")[0].removeprefix("# ")

    def contains(self, words: str) -> bool:
        """Return whether all ``words`` occur in the page, in any order and case."""
        text = self.text.casefold()
        return all(word in text for word in words.casefold().split())


def read_topics(language: str = "en") -> list[Topic]:
    """Return all topics in reading order, in ``language``, such as zh_CN, or else in English."""
    return [_read(name, language) for name in TOPICS]


def _read(name: str, language: str) -> Topic:
    folder = paths.resources() / "manual"
    candidates = [folder / language / f"{name}.md", folder / f"{name}.md", paths.resources() / "CHANGES.md"]
    path = next(path for path in candidates if path.is_file())
    return Topic(name, path, path.read_text("utf-8"))
