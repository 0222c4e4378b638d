"""Every change knows its way back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from script_material import changes, recipe

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
from studio.project.script import Script
from studio.project.takes import Take


def script_of(*ids: str) -> Script:
    return Script(lines=tuple(Line(id=line_id, text=line_id) for line_id in ids))


def job_of(script: Script) -> str:
    return "".join(line.id for line in script.lines)


def take_of(line_id: str, number: int) -> Take:
    return Take(f"{line_id}{number}", line_id, number, datetime.now(UTC), 1.0, 24_000, recipe())


@settings(deadline=None)
@given(st.data())
def test_a_change_and_its_inverse_leave_no_trace(data: st.DataObject) -> None:
    script = Script()
    for _ in range(data.draw(st.integers(1, 12))):
        before = script
        script, inverse = data.draw(changes(before)).apply(before)
        undone, forward = inverse.apply(script)
        assert undone == before
        assert forward.apply(undone)[0] == script


@settings(deadline=None)
@given(st.data())
def test_undoing_everything_leads_back_to_the_beginning(data: st.DataObject) -> None:
    script, inverses, states = Script(), [], []
    for _ in range(data.draw(st.integers(1, 12))):
        states.append(script)
        script, inverse = data.draw(changes(script)).apply(script)
        inverses.append(inverse)
    while inverses:
        script, _ = inverses.pop().apply(script)
        assert script == states.pop()
    assert script == Script()


@settings(deadline=None)
@given(st.data())
def test_what_is_looked_up_belongs_to_this_script_and_not_to_one_before(data: st.DataObject) -> None:
    script = Script()
    for _ in range(data.draw(st.integers(1, 12))):
        assert script.index_of is not None
        assert script.line_of_take is not None  # kept from script to script where possible
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
def test_lines_move_before_the_line_that_was_at_the_index(ids: tuple[str, ...], index: int, order: str) -> None:
    moved, inverse = MoveLines(ids, index).apply(script_of(*"abcde"))
    assert job_of(moved) == order
    assert job_of(inverse.apply(moved)[0]) == "abcde"


def test_removed_lines_come_back_to_their_places_with_their_takes() -> None:
    script, _ = AddTake(take_of("b", 1)).apply(script_of(*"abcde"))
    removed, inverse = RemoveLines(("d", "b")).apply(script)
    assert job_of(removed) == "ace"
    assert removed.takes == {}
    restored, _ = inverse.apply(removed)
    assert restored == script
    assert restored.line("b").chosen_take == "b1"


def test_a_line_that_loses_its_chosen_take_chooses_its_newest() -> None:
    script = script_of("a")
    for number in (1, 2, 3):
        script, _ = AddTake(take_of("a", number)).apply(script)
    script, _ = ChooseTake("a", "a2").apply(script)
    script, _ = RemoveTakes(("a2",)).apply(script)
    assert script.line("a").chosen_take == "a3"
    script, _ = RemoveTakes(("a1", "a3")).apply(script)
    assert script.line("a").chosen_take is None


def test_a_take_spoken_since_survives_the_undoing_of_a_removal() -> None:
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


def test_several_changes_are_one_and_see_each_other() -> None:
    both = CompositeChange((InsertLines(0, (Line(id="x"),)), EditLines({"x": {"text": "new"}})))
    script, inverse = both.apply(script_of("a"))
    assert script.line("x").text == "new"
    assert inverse.apply(script)[0] == script_of("a")


@pytest.mark.parametrize(
    "values",
    [
        {"speed": 0.4},
        {"speed": 2.1},
        {"speed": float("nan")},
        {"pause_after_seconds": -0.1},
        {"pause_after_seconds": 61.0},
        {"seed": -1},
        {"seed": 2**63},
    ],
)
def test_values_that_no_line_can_have_are_refused_with_a_sentence(values: dict[str, object]) -> None:
    with pytest.raises(UnusableSetting, match="is out of range"):
        EditLines({"a": values}).apply(script_of("a"))


def test_a_line_has_one_style() -> None:
    with pytest.raises(UnusableSetting, match="cannot have both a style preset"):
        LineStyle(preset="dialect.sichuan", instruct="gently")


def test_a_take_that_is_gone_is_a_sentence() -> None:
    with pytest.raises(TakeNotFound, match="no longer in the project"):
        script_of("a").take("nowhere")


def test_half_characters_of_a_clipboard_are_left_out() -> None:
    assert Line(id="a", text="a\ud83db").text == "ab"
