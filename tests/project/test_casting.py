"""Casting: characters and unknown voices become voices of the library."""

from __future__ import annotations

from dataclasses import replace

from studio.project.casting import (
    LibraryNames,
    cast_lines,
    casting_change,
    collect_roles,
    uncast_characters,
    with_suggestions,
)
from studio.project.details import CastMember, ProjectDetails
from studio.project.lines import Line, LineStyle
from studio.project.script import Script

VOICES = LibraryNames(["Ada", "Max", "Linda"])
HAPPY, WHISPER = LineStyle(preset="emotion.happy"), LineStyle(preset="voice.whisper")


def line(number: int, **values: object) -> Line:
    return Line(id=f"l{number}", text=f"Line number {number} of the script.", **values)  # type: ignore[arg-type]


def test_known_characters_are_cast_at_once_and_names_are_compared_as_in_the_library() -> None:
    cast = {"mira": CastMember("Max", WHISPER)}
    lines = cast_lines(
        [
            line(1, character="MIRA"),
            line(2, character="Mira", style=HAPPY),
            line(3, character="Mira", voice="linda"),
            line(4, voice="Mira"),
            line(5, character="ada"),
            line(6, voice="Bandit"),
            line(7),
        ],
        cast,
        VOICES,
    )
    assert [each.voice for each in lines] == ["Max", "Max", "Linda", "Max", "Ada", "Bandit", None]
    assert [each.style for each in lines[:3]] == [WHISPER, HAPPY, LineStyle()]
    assert lines[3].character == "Mira"
    assert uncast_characters(lines, VOICES) == {"bandit"}
    assert uncast_characters([line(1, character="Mira", is_spoken=False)], VOICES) == frozenset()


def test_roles_are_counted_with_a_line_of_theirs() -> None:
    lines = [
        replace(line(1, character="Mira", voice="Ada"), text="Yes."),
        line(2, voice="Bandit"),
        line(3, character="mira", voice="Ada"),
        line(4, character="Mira", is_spoken=False),
        line(5, voice="Ada"),
    ]
    mira, bandit = collect_roles(lines, {}, VOICES)
    assert (mira.name, mira.line_ids, mira.sample) == ("Mira", ("l1", "l3"), "Line number 3 of the script.")
    assert mira.member == CastMember("Ada")
    assert (bandit.name, bandit.member) == ("Bandit", CastMember())
    assert collect_roles(lines, {"mira": CastMember("max", HAPPY)}, VOICES)[0].member == CastMember("Max", HAPPY)


def test_suggested_voices_differ_where_possible() -> None:
    lines = [line(number, character=name) for number, name in enumerate(["A", "B", "max", "C", "D"])]
    roles = with_suggestions(collect_roles(lines, {}, VOICES), {"b", "max", "c", "d"}, VOICES)
    assert [role.member.voice for role in roles] == [None, "Ada", "Max", "Linda", "Ada"]
    assert with_suggestions(roles, {"b"}, LibraryNames([])) == roles


def test_casting_is_one_change_of_lines_and_project() -> None:
    lines = (
        line(1, character="Mira", voice="Ada"),
        line(2, character="Mira", style=HAPPY),
        line(3, character="Mira", is_locked=True),
        line(4, voice="Bandit"),
        line(5, voice="Ada"),
    )
    script = Script(lines=lines)
    roles = collect_roles(lines, {}, VOICES)
    change = casting_change(script, roles, {"mira": CastMember("Max", WHISPER), "bandit": CastMember("Linda")})
    assert change is not None
    cast, inverse = change.apply(script)
    assert [each.voice for each in cast.lines] == ["Max", "Max", None, "Linda", "Ada"]
    assert [each.style for each in cast.lines] == [WHISPER, HAPPY, *[LineStyle()] * 3]
    assert cast.lines[3].character == "Bandit"
    assert cast.details.cast == {"mira": CastMember("Max", WHISPER), "bandit": CastMember("Linda")}
    assert inverse.apply(cast)[0] == script
    roles = collect_roles(cast.lines, cast.details.cast, VOICES)
    again = casting_change(cast, roles, {"mira": CastMember("Max")})
    assert again is not None
    recast, _ = again.apply(cast)
    assert [each.style for each in recast.lines[:2]] == [LineStyle(), HAPPY]
    assert casting_change(recast, roles, {"mira": CastMember("Max")}) is None


def test_a_role_without_voice_keeps_the_voices_of_its_lines() -> None:
    lines = (line(1, character="Mira", voice="Ada"), line(2, character="Mira", voice="Max"))
    script = Script(lines=lines, details=ProjectDetails(title="A Book"))
    (role,) = collect_roles(lines, {}, VOICES)
    assert role.member == CastMember()
    assert casting_change(script, [role], {"mira": CastMember()}) is None
