"""Changes of a script and their inverses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from operator import ne

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project_samples import changes, parameters

from studio.errors import TakeNotFound, UnusableSetting
from studio.project.changes import (
    AddTake,
    ChooseTake,
    CompositeChange,
    EditLines,
    InsertLines,
    MoveLines,
    RemoveLines,
    RemoveTakes,
)
from studio.project.lines import Line, LineStyle
from studio.project.script import Script, shared_ends
from studio.project.takes import Take


def script_of(*ids: str) -> Script:
    return Script(lines=tuple(Line(id=line_id, text=line_id) for line_id in ids))


def job_of(script: Script) -> str:
    return "".join(line.id for line in script.lines)


def take_of(line_id: str, number: int) -> Take:
    return Take(f"{line_id}{number}", line_id, number, datetime.now(UTC), 1.0, 24_000, parameters())


@pytest.mark.slow
@given(st.data())
def test_a_change_and_its_inverse_restore_the_script(data: st.DataObject) -> None:
    script = Script()
    for _ in range(data.draw(st.integers(1, 12))):
        before = script
        script, inverse = data.draw(changes(before)).apply(before)
        undone, forward = inverse.apply(script)
        assert undone == before
        assert forward.apply(undone)[0] == script


@pytest.mark.slow
@given(st.data())
def test_undoing_all_changes_restores_the_first_script(data: st.DataObject) -> None:
    script, inverses, states = Script(), [], []
    for _ in range(data.draw(st.integers(1, 12))):
        states.append(script)
        script, inverse = data.draw(changes(script)).apply(script)
        inverses.append(inverse)
    while inverses:
        script, _ = inverses.pop().apply(script)
        assert script == states.pop()
    assert script == Script()


@pytest.mark.slow
@given(st.data())
def test_cached_indexes_match_the_script(data: st.DataObject) -> None:
    script = Script()
    for _ in range(data.draw(st.integers(1, 12))):
        assert script.index_of is not None
        assert script.line_of_take is not None  # computes the index, so that later scripts can reuse it
        script, _ = data.draw(changes(script)).apply(script)
        fresh = replace(script)
        assert script.index_of == fresh.index_of
        assert script.line_of_take == fresh.line_of_take


@pytest.mark.parametrize(
    ("ids", "index", "order"),
    [
        (("b",), 0, "bacde"),
        (("b",), 5, "acdeb"),
        (("b",), 1, "abcde"),
        (("b",), 2, "abcde"),
        (("b",), 3, "acbde"),
        (("e", "a"), 3, "bcaed"),
        (("b", "d"), 5, "acebd"),
    ],
)
def test_lines_move_before_the_line_at_the_index(ids: tuple[str, ...], index: int, order: str) -> None:
    moved, inverse = MoveLines(ids, index).apply(script_of(*"abcde"))
    assert job_of(moved) == order
    assert job_of(inverse.apply(moved)[0]) == "abcde"


def test_removed_lines_are_restored_with_their_takes() -> None:
    script, _ = AddTake(take_of("b", 1)).apply(script_of(*"abcde"))
    removed, inverse = RemoveLines(("d", "b")).apply(script)
    assert job_of(removed) == "ace"
    assert removed.takes == {}
    restored, _ = inverse.apply(removed)
    assert restored == script
    assert restored.line("b").chosen_take == "b1"


def test_if_the_chosen_take_is_removed_the_newest_is_chosen() -> None:
    script = script_of("a")
    for number in (1, 2, 3):
        script, _ = AddTake(take_of("a", number)).apply(script)
    script, _ = ChooseTake("a", "a2").apply(script)
    script, _ = RemoveTakes(("a2",)).apply(script)
    assert script.line("a").chosen_take == "a3"
    script, _ = RemoveTakes(("a1", "a3")).apply(script)
    assert script.line("a").chosen_take is None


def test_undoing_a_removal_keeps_newer_takes() -> None:
    script = script_of("a")
    for number in (1, 2):
        script, _ = AddTake(take_of("a", number)).apply(script)
    script, undo_removal = RemoveTakes(("a1",)).apply(script)
    script, _ = AddTake(take_of("a", 3)).apply(script)
    script, _ = undo_removal.apply(script)
    assert [take.number for take in script.takes_of("a")] == [1, 2, 3]
    assert script.line("a").chosen_take == "a3"


def test_a_take_can_be_added_without_being_chosen() -> None:
    script, _ = AddTake(take_of("a", 1)).apply(script_of("a"))
    script, inverse = AddTake(take_of("a", 2), is_chosen=False).apply(script)
    assert script.line("a").chosen_take == "a1"
    assert len(inverse.apply(script)[0].takes_of("a")) == 1


def test_a_composite_change_applies_its_parts_in_order() -> None:
    both = CompositeChange((InsertLines(0, (Line(id="x"),)), EditLines({"x": {"text": "new"}})))
    script, inverse = both.apply(script_of("a"))
    assert script.line("x").text == "new"
    assert inverse.apply(script)[0] == script_of("a")


@pytest.mark.parametrize(
    "values",
    [
        {"speed": 0.2},
        {"speed": 4.1},
        {"speed": float("nan")},
        {"pause_after_seconds": -0.1},
        {"pause_after_seconds": 61.0},
        {"seed": -1},
        {"seed": 2**63},
    ],
)
def test_values_out_of_range_are_errors(values: dict[str, object]) -> None:
    with pytest.raises(UnusableSetting, match="is out of range"):
        EditLines({"a": values}).apply(script_of("a"))


def test_a_line_cannot_have_two_styles() -> None:
    with pytest.raises(UnusableSetting, match="cannot have both a style preset"):
        LineStyle(preset="dialect.sichuan", instruct="gently")


def test_a_missing_take_is_an_error() -> None:
    with pytest.raises(TakeNotFound, match="no longer in the project"):
        script_of("a").take("nowhere")


def test_lone_surrogates_are_removed() -> None:
    assert Line(id="a", text="a\ud83db").text == "ab"


def test_changed_rows_are_found_by_their_lines_and_takes() -> None:
    before = script_of(*"abcde")
    edited = before.with_edited({"b": replace(before.line("b"), text="B"), "d": replace(before.line("d"), text="D")})
    assert edited.changed_rows(before) == [1, 3]
    assert before.changed_rows(before) == []
    longer = before.with_lines((*before.lines[:2], Line(id="new"), *before.lines[2:]))
    assert longer.changed_rows(before) == [2]
    assert before.changed_rows(longer) == []
    spoken = before.with_takes({"c": (take_of("c", 1),)})
    assert spoken.changed_lines(before) == []
    assert spoken.changed_rows(before) == before.changed_rows(spoken) == [2]


def test_shared_ends_do_not_overlap() -> None:
    assert shared_ends("aaa", "aa", differs=ne) == (2, 0)
    assert shared_ends("abc", "axc", differs=ne) == (1, 1)
    assert shared_ends("", "abc", differs=ne) == (0, 0)
