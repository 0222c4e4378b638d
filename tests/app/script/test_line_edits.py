"""Line edits as changes, and their inverses."""

from __future__ import annotations

import pytest

from studio.app.script import edits
from studio.app.script.edits import Match, find_matches, replace_matches
from studio.project.changes import Change
from studio.project.lines import Line
from studio.project.script import Script


def script(*texts: str, **fields: object) -> Script:
    lines = tuple(Line(id=f"l{index}", text=text, **fields) for index, text in enumerate(texts))  # type: ignore[arg-type]
    return Script(lines=lines)


def applied(before: Script, change: Change | None) -> list[str]:
    """Apply ``change``, check that its inverse restores the script, and return the texts."""
    assert change is not None
    after, inverse = change.apply(before)
    assert inverse.apply(after)[0].lines == before.lines
    return [line.text for line in after.lines]


def test_new_lines_have_the_settings_of_the_line_before() -> None:
    before = script("one", "two", voice="Anna", speed=1.2)
    change = edits.insert_texts(before, 1, [["new"]])
    assert applied(before, change) == ["one", "new", "two"]
    assert (change.lines[0].voice, change.lines[0].speed) == ("Anna", 1.2)
    assert change.lines[0].chosen_take is None


def test_pasted_paragraphs_are_marked_and_their_copies_are_not() -> None:
    change = edits.insert_texts(script("one"), 1, [["a", "b"], ["c"]])
    assert [line.begins_paragraph for line in change.lines] == [True, False, True]
    assert not edits.copy_line_settings(change.lines[0]).begins_paragraph
    assert not any(line.begins_paragraph for line in edits.insert_texts(script("one"), 1, [["a"], ["b"]]).lines)


def test_imported_lines_without_a_voice_get_one() -> None:
    before = script("one", voice="Anna")
    change = edits.insert_lines(before, 1, [Line(id="a", text="a", voice="Bert"), Line(id="b", text="b")])
    assert [line.voice for line in change.lines] == ["Bert", "Anna"]


def test_copies_are_inserted_below_the_last_line() -> None:
    before = script("one", "two", "three")
    assert applied(before, edits.duplicate(before, ["l0", "l1"])) == ["one", "two", "one", "two", "three"]


def test_removing_all_lines_leaves_an_empty_one() -> None:
    before = script("one", "two", voice="Anna")
    assert applied(before, edits.remove(before, ["l0"])) == ["two"]
    change = edits.remove(before, ["l0", "l1"])
    assert applied(before, change) == [""]
    assert change.apply(before)[0].lines[0].voice == "Anna"


@pytest.mark.parametrize(
    ("offset", "texts"), [(10, ["First bit.", "Second bit."]), (4, ["Firs", "t bit. Second bit."])]
)
def test_split_at_the_cursor(offset: int, texts: list[str]) -> None:
    before = script("First bit. Second bit.")
    assert applied(before, edits.split(before, "l0", offset)) == texts


@pytest.mark.parametrize("offset", [0, 1, 4])
def test_a_split_with_an_empty_part_is_refused(offset: int) -> None:
    assert edits.split(script(" one"), "l0", offset) is None


def test_merged_lines_are_joined_with_a_space_unless_chinese() -> None:
    before = script("one", "two", "three")
    assert applied(before, edits.merge(before, ["l0", "l1"])) == ["one two", "three"]
    assert applied(before, edits.merge(before, ["l1"])) == ["one", "two three"]
    chinese = script("今天天气", "很好。")
    assert applied(chinese, edits.merge(chinese, ["l0"])) == ["今天天气很好。"]


def test_the_last_line_alone_cannot_be_merged() -> None:
    assert edits.merge(script("one", "two"), ["l1"]) is None


def test_lines_move_by_one_and_stop_at_the_ends() -> None:
    before = script("one", "two", "three")
    assert applied(before, edits.move(before, ["l1"], -1)) == ["two", "one", "three"]
    assert applied(before, edits.move(before, ["l0", "l1"], 1)) == ["three", "one", "two"]
    assert edits.move(before, ["l0"], -1) is None
    assert edits.move(before, ["l2"], 1) is None


def test_locked_lines_are_not_merged() -> None:
    lines = (Line(id="l0", text="one"), Line(id="l1", text="two", is_locked=True))
    assert edits.merge(Script(lines=lines), ["l0", "l1"]) is None
    assert edits.merge(Script(lines=lines), ["l0"]) is None


def test_a_field_is_set_where_it_differs() -> None:
    before = script("one", "two", speed=1.0)
    assert edits.set_field(before, ["l0", "l1"], "speed", 1.0) is None
    change = edits.set_field(before, ["l0"], "speed", 1.5)
    assert change is not None
    assert dict(change.edits) == {"l0": {"speed": 1.5}}


def test_matches_are_in_the_order_of_the_script() -> None:
    before = script("Cat, cat", "a CAT.")
    assert find_matches(before, "cat", is_case_sensitive=False) == [
        Match("l0", 0, 3),
        Match("l0", 5, 8),
        Match("l1", 2, 5),
    ]
    assert find_matches(before, "cat", is_case_sensitive=True) == [Match("l0", 5, 8)]
    assert find_matches(before, "", is_case_sensitive=False) == []
    assert find_matches(before, "c.t", is_case_sensitive=False) == []


def test_replace_all_skips_locked_lines() -> None:
    before = script("cat cat", "cat")
    locked = Script(lines=(before.lines[0], Line(id="l1", text="cat", is_locked=True)))
    assert applied(before, replace_matches(before, "cat", r"d\1g", is_case_sensitive=False)) == [r"d\1g d\1g", r"d\1g"]
    assert applied(locked, replace_matches(locked, "cat", "dog", is_case_sensitive=False)) == ["dog dog", "cat"]
    only = replace_matches(before, "cat", "dog", is_case_sensitive=False, only=Match("l0", 4, 7))
    assert applied(before, only) == ["cat dog", "cat"]
    assert replace_matches(before, "cow", "dog", is_case_sensitive=False) is None
