"""The expected speed of full-size models: what is measured, and what it depends on."""

from __future__ import annotations

import pytest

from studio.engines import expected_speed
from studio.model.config import Precision


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_speed, "_SECONDS_EACH", 0.0)
    monkeypatch.setattr(expected_speed, "_READ_BYTES", 1 << 20)


def test_the_estimate_is_a_plausible_time() -> None:
    assert 0.01 < expected_speed.estimate_seconds() < 1000


def test_the_fastest_precision_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of 1 ms in float32, and reading at 38 GB/s: 25 tokens of 380 MB take 0.25 s, less the share of reading."""
    seconds = {Precision.FLOAT32: 0.02, Precision.BFLOAT16: 0.01, Precision.INT8: 0.005}
    monkeypatch.setattr(expected_speed, "_block_seconds", lambda precision: seconds[precision])
    monkeypatch.setattr(expected_speed, "_read_bytes_per_second", lambda: 38e9)
    with_int8 = expected_speed.estimate_seconds()
    assert with_int8 == pytest.approx(220 * 0.005 / 0.55 + 0.09 * 220 * 0.02 + 0.25 / 0.65)
    monkeypatch.setattr(expected_speed, "multiplies_in", lambda precision: precision is Precision.BFLOAT16)
    with_bfloat16 = expected_speed.estimate_seconds()
    assert with_bfloat16 - with_int8 == pytest.approx(220 * 0.005 / 0.55)


def test_a_measurement_takes_the_shortest_run(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 0.0, 3.0, 3.0, 4.0, 4.0, 6.0, 6.0])
    monkeypatch.setattr(expected_speed.time, "perf_counter", lambda: next(moments))
    assert expected_speed._shortest(lambda: None) == 1.0
