"""The people of a book: which names belong to one character, and the character's gender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from studio.project.attribution.grammar import Gender, Grammar, Reference, ReferenceKind


@dataclass(slots=True, eq=False)
class Person:
    """A character.

    Attributes:
        names: How often the text refers to the character by each name.
        num_cues: How often a cue names the character as the speaker.
        given_name: The name that the user gave in a correction.
    """

    names: Counter[str] = field(default_factory=Counter)
    num_cues: int = 0
    kind: ReferenceKind = ReferenceKind.NAME
    gender: Gender | None = None
    given_name: str | None = None

    @property
    def name(self) -> str:
        """The name of a correction, or else the most frequent one; of equally frequent names, the longest."""
        return self.given_name or max(self.names, key=lambda name: (self.names[name], len(name)))


class People:
    """The people of a book, by name.

    ``given_names`` are names of characters that the user assigned, to which ``aliases`` maps other names.
    """

    def __init__(self, grammar: Grammar, given_names: Collection[str], aliases: Mapping[str, str]) -> None:
        self._grammar = grammar
        self._given_names = given_names
        self._aliases = aliases
        self._counts: Counter[str] = Counter()
        self._first: dict[str, Reference] = {}
        self._cues: Counter[str] = Counter()
        self._by_name: dict[str, Person | None] = {}
        self._known: list[Person] = []

    def add(self, reference: Reference, *, is_cue: bool = False) -> None:
        """Count a reference to a person. Pronouns do not name a person, except that of the first person."""
        if reference.kind in (ReferenceKind.PRONOUN, ReferenceKind.NOBODY) and not self._is_narrator(reference):
            return
        self._first.setdefault(reference.text, reference)
        self._counts[reference.text] += 1
        self._cues[reference.text] += is_cue

    def merge(self) -> None:
        """Assign each name to a person: longer names first, so that short ones find whom they belong to; aliases last."""
        people = self._known
        for name in sorted(self._counts, key=self._order):
            person = self._owner(name, self._first[name], people)
            if person is None:
                person = Person(kind=self._first[name].kind)
                people.append(person)
            person.names[name] += self._counts[name]
            person.num_cues += self._cues[name]
            if name in self._given_names:
                person.given_name = name
            person.gender = person.gender or self._first[name].gender
            self._by_name[name] = person

    def _order(self, name: str) -> tuple[bool, int, int, str]:
        return name in self._aliases, -len(name.split()), -len(name), name

    def _owner(self, name: str, reference: Reference, people: Iterable[Person]) -> Person | None:
        alias = self._aliases.get(name)
        if alias is not None and alias in self._by_name:
            return self._by_name[alias]
        if self._is_narrator(reference) or reference.kind is ReferenceKind.GENERIC:
            return None
        gender = reference.gender
        found = [
            person
            for person in people
            if (gender is None or person.gender in (None, gender))
            and any(self._grammar.same_person(name, other) for other in person.names)
            and not any(self._grammar.is_contradiction(name, other) for other in person.names)
        ]
        if len(found) > 1 and reference.kind is ReferenceKind.ROLE:
            return None
        is_surname = gender is None and " " not in name  # by convention of a man, if his wife has the same
        return max(
            found,
            key=lambda person: (is_surname and person.gender is Gender.MALE, person.num_cues, person.names.total()),
            default=None,
        )

    def _is_narrator(self, reference: Reference) -> bool:
        return reference.text == self._grammar.first_person

    def find(self, reference: Reference) -> Person | None:
        """Return the person that a reference names; None for pronouns and unknown names."""
        if reference.kind is ReferenceKind.NAME and reference.text not in self._by_name:
            self._by_name[reference.text] = self._owner(reference.text, reference, self._known)
        return self._by_name.get(reference.text)

    def named(self, name: str) -> Person:
        """Return the person of a name that was added."""
        person = self._by_name.get(name)
        assert person is not None, "corrections are added before names are merged"
        return person
