"""Casting: the voice and style of each character of a script.

Names are compared in the same way as names of voices. A line's voice that is missing from the library is treated as a
character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from studio.project.attribution.grammar import Gender
from studio.project.attribution.languages import gender_of_name
from studio.project.changes import Change, CompositeChange, EditDetails, EditLines
from studio.project.details import CastMember
from studio.project.lines import Line, LineStyle
from studio.project.script import Script
from studio.voices.voice import name_key

_MIN_SAMPLE_CHARACTERS = 20

Cast = Mapping[str, CastMember]


@dataclass(frozen=True, slots=True)
class Role:
    """A character of a script.

    Attributes:
        line_ids: The character's lines that are spoken, in order.
        sample: One of these lines.
        member: The voice and style of the character, or of its lines if they agree.
    """

    name: str
    line_ids: tuple[str, ...]
    sample: str
    member: CastMember

    @property
    def key(self) -> str:
        return name_key(self.name)


class LibraryNames:
    """The names of the voices in the library, ignoring case and spacing."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._by_key = {name_key(name): name for name in self.names}

    def find(self, name: str | None) -> str | None:
        """Return the name in the library's spelling, or None for an unknown voice."""
        return self._by_key.get(name_key(name)) if name else None

    def without(self, name: str | None) -> LibraryNames:
        """Return the other names."""
        return LibraryNames(each for each in self.names if each != self.find(name))


def find_character(line: Line, voices: LibraryNames) -> str | None:
    """Return the character of a line: the named one, or else a voice that is missing from the library."""
    if line.character:
        return line.character
    return line.voice if line.voice and voices.find(line.voice) is None else None


def cast_lines(lines: Iterable[Line], cast: Cast, voices: LibraryNames) -> tuple[Line, ...]:
    """Return imported lines with the voices of known characters.

    A line keeps its own voice. A character with the name of a voice gets that voice.
    """
    return tuple(_cast_line(line, cast, voices) for line in lines)


def _cast_line(line: Line, cast: Cast, voices: LibraryNames) -> Line:
    own = voices.find(line.voice)
    if own is not None:
        return line if own == line.voice else replace(line, voice=own)
    name = line.character or line.voice
    if name is None:
        return line
    member = cast.get(name_key(name), CastMember(voices.find(name)))
    voice = voices.find(member.voice)
    if voice is None:
        return line
    style = member.style if line.style.is_plain else line.style
    return replace(line, character=name, voice=voice, style=style)


def uncast_characters(lines: Iterable[Line], voices: LibraryNames) -> frozenset[str]:
    """Return the keys of the characters whose spoken lines have no voice from the library."""
    return frozenset(
        name_key(name)
        for line in lines
        if line.is_spoken and voices.find(line.voice) is None and (name := find_character(line, voices))
    )


def collect_roles(lines: Iterable[Line], cast: Cast, voices: LibraryNames) -> tuple[Role, ...]:
    """Return the characters of ``lines``, those with the most lines first."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        name = find_character(line, voices)
        if name and line.is_spoken and line.text.strip():
            groups.setdefault(name_key(name), []).append(line)
    roles = [_role(group, cast.get(key), voices) for key, group in groups.items()]
    return tuple(sorted(roles, key=lambda role: -len(role.line_ids)))


def _role(lines: Sequence[Line], member: CastMember | None, voices: LibraryNames) -> Role:
    name = find_character(lines[0], voices) or ""
    texts = [line.text for line in lines]
    sample = next((text for text in texts if len(text) >= _MIN_SAMPLE_CHARACTERS), max(texts, key=len))
    found = {voices.find(line.voice) for line in lines}
    common = next(iter(found)) if len(found) == 1 else None
    if member is None or voices.find(member.voice) is None:
        member = CastMember(common, member.style if member is not None else LineStyle())
    return Role(name, tuple(line.id for line in lines), sample, replace(member, voice=voices.find(member.voice)))


def with_suggestions(
    roles: Sequence[Role],
    uncast: Collection[str],
    voices: LibraryNames,
    genders: Mapping[str, Gender | None] = MappingProxyType({}),
) -> tuple[Role, ...]:
    """Return ``roles`` with a voice for each of the ``uncast``, if possible one that no other character has.

    ``genders`` contains known genders by the keys of characters, otherwise their names show it: a voice with a name of the
    other gender is avoided.
    """
    of_voice = {name: gender_of_name(name) for name in voices.names}
    used = Counter(role.member.voice for role in roles if role.key not in uncast)
    suggested: list[Role] = []
    for role in roles:
        if role.key in uncast and voices.names:
            gender = genders.get(role.key) or gender_of_name(role.name)
            voice = voices.find(role.name) or min(
                voices.names,
                key=lambda name: (gender is not None and of_voice[name] is gender.other, used[name]),
            )
            used[voice] += 1
            role = replace(role, member=replace(role.member, voice=voice))  # noqa: PLW2901
        suggested.append(role)
    return tuple(suggested)


def casting_change(script: Script, roles: Iterable[Role], members: Cast) -> Change | None:
    """Return the change that assigns ``members``, by character, to the project and to the lines of ``roles``.

    Locked lines do not change. A line with its own style keeps it. For a member without a voice, the voices of the
    lines do not change. Return None if nothing changes.
    """
    edits: dict[str, dict[str, object]] = {}
    cast = dict(script.details.cast)
    for role in roles:
        member = members.get(role.key)
        if member is None:
            continue
        former = cast.get(role.key, CastMember()).style
        if member != CastMember():
            cast[role.key] = member
        else:
            cast.pop(role.key, None)
        for line in (script.line(line_id) for line_id in role.line_ids if line_id in script.index_of):
            if line.is_locked:
                continue
            wanted: dict[str, object] = {}
            if member.voice is not None:
                wanted |= {"character": line.character or role.name, "voice": member.voice}
            if line.style.is_plain or line.style == former:
                wanted["style"] = member.style
            changed = {name: value for name, value in wanted.items() if getattr(line, name) != value}
            if changed:
                edits[line.id] = changed
    details = replace(script.details, cast=cast)
    if not edits and details == script.details:
        return None
    return CompositeChange((EditLines(edits), EditDetails(details)))
