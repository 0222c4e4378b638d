"""Choices that measurements of matrix products make."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from studio.model import cpu_products


@pytest.mark.parametrize(("many_seconds", "chosen"), [(0.5, 6), (1.0, 2), (1.5, 2)])
def test_slower_cores_are_used_where_they_help(
    monkeypatch: pytest.MonkeyPatch, many_seconds: float, chosen: int
) -> None:
    monkeypatch.setattr(cpu_products, "num_cores", lambda: 6)
    monkeypatch.setattr(cpu_products, "num_performance_cores", lambda: 2)
    used: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", used.append)

    def timeit(product: Callable[[], None], number: int) -> float:
        product()
        return many_seconds if used[-1] == 6 else 1.0

    monkeypatch.setattr(cpu_products.timeit, "timeit", timeit)
    before = torch.get_num_threads()
    assert cpu_products.useful_threads.__wrapped__() == chosen
    assert used[-1] == before


def test_the_largest_of_rows_has_no_sign_and_keeps_a_value_that_is_not_a_number() -> None:
    rows = torch.tensor([[1.0, -3.0], [2.0, 0.5], [float("nan"), 1.0]])
    assert cpu_products.largest_of_rows(rows)[:2].tolist() == [[3.0], [2.0]]
    assert cpu_products.largest_of_rows(rows)[2].isnan()
