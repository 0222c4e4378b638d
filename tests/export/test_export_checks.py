"""Checks before an export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from speech_fakes import items_of

from studio.errors import DiskFull, StudioError, VoiceNotFound
from studio.export.checks import (
    FindingKind,
    LineToCheck,
    check_lines,
    check_names,
    check_space,
    expected_seconds,
    group_errors,
    number_ranges,
    silent_findings,
    silent_rows,
    sound_findings,
)
from studio.export.plan import ExportPlan, ExportSettings
from studio.project.lines import Heading, Line, LineOrigin, LineStyle, Slot


class Voices:
    """A library with the voice Anna, which counts the searches."""

    def __init__(self) -> None:
        self.searches: list[str | None] = []

    def find(self, name: str | None) -> None:
        self.searches.append(name)
        if name != "Anna":
            raise VoiceNotFound("There is no voice named {name}.", remedy="Add it.", name=name)


def lines(*voices: str | None, **changes: object) -> list[LineToCheck]:
    return [
        LineToCheck(number, Line(str(number), "Text.", voice, **changes), must_speak=True)  # type: ignore[arg-type]
        for number, voice in enumerate(voices, 1)
    ]


def test_missing_voices_are_found_with_all_their_lines() -> None:
    voices = Voices()
    found = check_lines(lines("Anna", "Ben", "Ben", "Cleo", "Ben"), find_voice=voices.find)
    assert [(each.kind, each.line_numbers) for each in found] == [
        (FindingKind.VOICE, (2, 3, 5)),
        (FindingKind.VOICE, (4,)),
    ]
    assert all(each.is_blocking for each in found)
    assert str(found[0].message) == "There is no voice named Ben. Add it."
    assert voices.searches == ["Anna", "Ben", "Cleo"], "each voice is looked up once"


def test_lines_with_a_take_need_no_voice() -> None:
    spoken = [LineToCheck(1, Line("1", "Text.", "Ben"), must_speak=False)]
    assert check_lines(spoken, find_voice=Voices().find) == ()


def test_missing_styles_are_a_note() -> None:
    found = check_lines(
        lines("Anna", "Anna", style=LineStyle(preset="emotion.happy")),
        find_voice=Voices().find,
        has_style=lambda style: style.preset != "emotion.happy",
    )
    assert [(each.kind, each.line_numbers, each.is_blocking) for each in found] == [(FindingKind.STYLE, (1, 2), False)]


def test_locked_lines_without_a_take_cannot_be_exported() -> None:
    (found,) = check_lines(lines("Anna", is_locked=True), find_voice=Voices().find)
    assert found.is_blocking
    assert found.line_numbers == (1,)


def test_locked_lines_that_changed_are_a_note() -> None:
    line = LineToCheck(7, Line("7", "Text.", "Anna", is_locked=True), must_speak=False, is_outdated=True)
    (found,) = check_lines([line], find_voice=Voices().find)
    assert (found.kind, found.line_numbers, found.is_blocking) == (FindingKind.LOCKED, (7,), False)


def test_drafts_are_a_note() -> None:
    spoken = [LineToCheck(number, Line(str(number), "Text.", "Anna"), must_speak=False) for number in (1, 2, 3)]
    drafts = [replace(each, is_draft=each.number > 1) for each in spoken]
    (found,) = check_lines(drafts, find_voice=Voices().find)
    assert (found.kind, found.line_numbers, found.is_blocking) == (FindingKind.DRAFT, (2, 3), False)
    assert check_lines(spoken, find_voice=Voices().find) == ()


def test_sounds_with_a_row_or_a_time_are_a_note() -> None:
    rows = [
        Line("1", "Hello.", "Anna", slot=Slot(0, 1)),
        Line("2", "[door slams]", is_spoken=False, slot=Slot(2, 3)),
        Line("3", "(coughs)", is_spoken=False, columns={"ID": "a3"}),
        Line("4", "(coughs)", is_spoken=False, file_name="vo/a4"),
        Line("5", "She enters.", is_spoken=False),  # in a screenplay
        Line("6", "Act 2", is_spoken=False, heading=Heading.CHAPTER, columns={"Act": "2"}),
        Line("7", "(sighs)", is_spoken=False, slot=Slot(2, 3), origin=LineOrigin(is_removed=True)),
    ]
    found = [number for number, _ in silent_rows(enumerate(rows, 1))]
    assert found == [2, 3, 4]
    (note,) = silent_findings(found)
    assert (note.kind, note.line_numbers, note.is_blocking) == (FindingKind.SILENT, (2, 3, 4), False)
    assert silent_findings([]) == []


def test_sounds_that_the_model_has_not_learned_are_notes() -> None:
    found = sound_findings({1: ["[laughter]"], 2: [], 5: ["[laughter]"], 6: ["[breath]"]})
    assert [(each.kind, each.line_numbers) for each in found] == [
        (FindingKind.SOUND, (1, 5)),
        (FindingKind.SOUND, (6,)),
    ]
    assert str(found[0].message) == "The model has not learned the sound [laughter]."


def test_equal_errors_are_one_finding() -> None:
    errors: dict[int, StudioError] = {
        number: VoiceNotFound("No {name}.", remedy="Add it.", name=name)
        for number, name in ((2, "A"), (4, "B"), (9, "A"))
    }
    assert [each.line_numbers for each in group_errors(errors)] == [(2, 9), (4,)]


def test_equal_names_are_found() -> None:
    plan = ExportPlan.make(items_of(["One", "Two", "One"]), Path("out"), ExportSettings(pattern="{text}"))
    (found,) = check_names(plan)
    assert (found.kind, found.line_numbers, found.is_blocking) == (FindingKind.SAME_NAME, (3,), False)


def plan_of(folder: Path, **settings: object) -> ExportPlan:
    return ExportPlan.make(items_of(["x" * 1000] * 10), folder, ExportSettings(**settings))  # type: ignore[arg-type]


def test_a_disk_without_space_for_all_files_is_found(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "out" / "deep", joined_name="all")
    num_bytes = 2 * 10 * 60.0 * 24_000 * 2  # the lines, and once more joined
    check_space(plan, seconds_of=lambda _: 60.0, free=lambda _: round(num_bytes * 1.1))
    with pytest.raises(DiskFull, match=r"needs about 58 MB, but only 30 MB are free"):
        check_space(plan, seconds_of=lambda _: 60.0, free=lambda _: 30_000_000)


def test_takes_on_the_same_disk_need_space_too(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "out")
    spoken_bytes = 10 * expected_seconds("x" * 1000) * 24_000 * 4
    free = round(spoken_bytes)  # enough for the takes or for the files, not for both
    check_space(plan, seconds_of=lambda _: None, free=lambda _: free)
    with pytest.raises(DiskFull):
        check_space(plan, seconds_of=lambda _: None, takes_folder=tmp_path / "takes", free=lambda _: free)


def test_files_that_exist_need_no_space(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    for file in plan.line_files:
        (tmp_path / file).touch()
    check_space(plan, seconds_of=lambda _: 60.0, free=lambda _: 0)


def test_chinese_letters_take_longer_to_speak() -> None:
    assert expected_seconds("今天天气很好今天天气很好") > 2 * expected_seconds("twelve letters"[:12])


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((3,), ["3"]),
        ((3, 5, 6, 7), ["3", "5–7"]),
        (tuple(range(1, 40, 2)), [*"13579", "11", "13", "15", "…"]),
    ],
)
def test_line_numbers_are_shown_as_ranges(numbers: tuple[int, ...], words: list[str]) -> None:
    assert number_ranges(numbers) == words
