"""``packaging/measure.py`` starts each measurement."""

from __future__ import annotations

import importlib.util

import measure
import pytest


@pytest.mark.parametrize("name", measure.MEASUREMENTS)
def test_each_measurement_describes_its_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "cluster" and importlib.util.find_spec("ray") is None:
        pytest.skip("needs Ray")
    with pytest.raises(SystemExit) as ended:
        measure.main([name, "--help"])
    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_an_unknown_name_prints_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert measure.main(["nonsense"]) == 2
    assert "take-checks" in capsys.readouterr().err
