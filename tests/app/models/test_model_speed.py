"""The speed of a model on this computer: measured when the user asks, never invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import noise_models
import pytest
from window_bench import Bench

from studio.app.models.model_card import ModelCard
from studio.app.models.model_speed import speed_of_entry
from studio.settings import MODEL_SPEEDS


@pytest.fixture
def cards(make_bench: Any, tmp_path: Path) -> tuple[Bench, dict[str, ModelCard]]:
    """Two installed models, of which the first is in use, and the cards of the Models page."""
    bench: Bench = make_bench()
    noise_models.install_in(tmp_path / "timbre_data" / "models")
    found = {model.name: model for model in (noise_models.V3, noise_models.V2)}
    object.__setattr__(bench.session.services, "find_models", lambda: found)
    bench.add_voice()
    bench.open_window()
    bench.parts.models.open_page()
    page = bench.parts.models.page
    assert page is not None
    bench.until(lambda: found.keys() <= page.cards.keys())
    return bench, {name: page.cards[name] for name in found}


@pytest.mark.slow
def test_nothing_is_claimed_before_a_measurement(cards: tuple[Bench, dict[str, ModelCard]]) -> None:
    _, of_name = cards
    assert {card.speed.text() for card in of_name.values()} == {"Speed on this computer: not measured"}


@pytest.mark.slow
@pytest.mark.parametrize("model", [noise_models.V3, noise_models.V2])
def test_a_click_measures_and_the_result_is_kept(cards: tuple[Bench, dict[str, ModelCard]], model: Any) -> None:
    bench, of_name = cards
    card = of_name[model.name]
    in_use = bench.session.bridge.engine.folder
    bench.loop.call_soon(card.measure.click)
    bench.until(lambda: "measuring" in card.speed.text())
    assert not any(each.measure.isEnabled() for each in of_name.values())
    bench.until(lambda: card.speed.text().startswith("Speed on this computer: RTF 0.67, latency 0.20 s ("))
    assert bench.session.bridge.engine.folder == in_use, "the model in use does not change"
    (entry,) = bench.settings[MODEL_SPEEDS]
    speed = speed_of_entry(entry)
    assert speed is not None
    assert (speed.name, round(speed.real_time_factor, 2)) == (model.name, 0.67)
    assert card.measure.isEnabled()


def test_an_error_is_shown_and_nothing_is_kept(cards: tuple[Bench, dict[str, ModelCard]]) -> None:
    bench, of_name = cards
    bench.library.remove("Anna")
    bench.loop.call_soon(of_name[noise_models.V3.name].measure.click)
    bench.until(lambda: "no voice to measure with" in bench.window.notices.words)
    assert bench.settings[MODEL_SPEEDS] == ()
    assert "not measured" in of_name[noise_models.V3.name].speed.text()


def test_damaged_entries_are_ignored() -> None:
    for entry in ("", "a\tb", "name\tx\t1\t2026-11-23T00:00:00\t0", "name\t1\t1\tyesterday\t0"):
        assert speed_of_entry(entry) is None
