"""Ranks are in the order of the lines and rarely change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.project.storage import sort_keys

orders = st.lists(st.integers(0, 30).map(str), unique=True, max_size=12)


@given(st.lists(orders, min_size=1, max_size=8))
def test_any_order_can_become_any_other(sequence: list[list[str]]) -> None:
    ranks: dict[str, int] = {}
    before: list[str] = []
    for after in sequence:
        changed = sort_keys(ranks, before, after)
        ranks = {line_id: changed.get(line_id, ranks.get(line_id, -1)) for line_id in after}
        values = [ranks[line_id] for line_id in after]
        assert values == sorted(set(values))
        before = after


def test_a_new_line_keeps_other_ranks() -> None:
    before = [str(number) for number in range(1000)]
    ranks = sort_keys({}, [], before)
    assert sort_keys(ranks, before, ["new", *before]).keys() == {"new"}
    assert sort_keys(ranks, before, [*before[:500], "new", *before[500:]]).keys() == {"new"}
    assert sort_keys(ranks, before, before[1:]) == {}


def test_all_ranks_change_if_there_is_none_between_two_lines() -> None:
    ranks = {"a": 1, "b": 2}
    assert sort_keys(ranks, ["a", "b"], ["a", "x", "b"]).keys() == {"a", "x", "b"}
