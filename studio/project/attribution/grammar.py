"""What the rules of a language find in the text around a quotation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


def word_set(words: str) -> frozenset[str]:
    """Return the words of a table, which are separated by spaces."""
    return frozenset(words.split())


class Gender(Enum):
    """Gender of a character or of a pronoun."""

    MALE = "male"
    FEMALE = "female"

    @property
    def other(self) -> Gender:
        return Gender.FEMALE if self is Gender.MALE else Gender.MALE


class ReferenceKind(Enum):
    """How a person is referred to."""

    NAME = "name"  # Martha, Mr Gill
    ROLE = "role"  # the miller
    GENERIC = "generic"  # the old man, who often has a name elsewhere
    PRONOUN = "pronoun"  # he
    NOBODY = "nobody"  # someone: a person who is never identified


@dataclass(frozen=True, slots=True)
class Reference:
    """Words that refer to a person."""

    text: str
    kind: ReferenceKind
    gender: Gender | None = None


@dataclass(frozen=True, slots=True)
class Cue:
    """Evidence for the speaker: the person, and the words that are shown as the reason.

    Attributes:
        is_speech: Whether the words have a verb of speech; otherwise the person only acts next to the quotation.
    """

    person: Reference
    reason: str
    is_speech: bool = True


class Grammar(Protocol):
    """The rules of a language."""

    first_person: str
    names_are_marked: bool  # by capital letters

    def cue_after(self, text: str) -> Cue | None:
        """Return the cue at the start of the narration after a quotation."""

    def cue_before(self, text: str) -> Cue | None:
        """Return the cue at the end of the narration before a quotation."""

    def find_inquit(self, text: str, start: int) -> tuple[int, int] | None:
        """Return the first narration after ``start`` in a paragraph without closing marks, such as "he said"."""

    def is_mention(self, before: str, words: str, after: str) -> bool:
        """Return whether quoted ``words`` are mentioned, not said, such as a proverb or a sign."""

    def find_people(self, narration: str) -> Iterator[Reference]:
        """Yield the people whom a narration names, in order."""

    def find_addressed(self, speech: str) -> Iterator[Reference]:
        """Yield the people whom a speech addresses."""

    def same_person(self, name: str, other: str) -> bool:
        """Return whether two names can be of one character, such as "Mr Gill" and "Gill"."""

    def is_contradiction(self, name: str, other: str) -> bool:
        """Return whether two names cannot be of one character, such as "Miss Gill" and "Mrs Gill"."""

    def gender_of_name(self, name: str) -> Gender | None:
        """Return the gender that a name shows, if any."""
