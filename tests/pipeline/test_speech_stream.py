"""Start of playback of a request, with a virtual clock."""

from __future__ import annotations

import itertools

import pytest
from virtual_stages import Machine, best_fixed_start, convert, speak

COSTS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.85, 1.1, 2.0, 4.0)
PAIRS = list(itertools.product(COSTS, COSTS))
SOME_PAIRS = list(itertools.product(COSTS[1::2], COSTS[::2]))
TWELVE = [125] * 12
# Sentences of different lengths, 125 tokens on average.
UNEQUAL = [125, 160, 90, 110, 140, 70, 180, 130, 120, 95, 155, 125]


def settled(speech_lm_cost: float, flow_cost: float, monkeypatch: pytest.MonkeyPatch, lengths: list[int]) -> Machine:
    """Return a machine with measured costs from a request with sentences of ``lengths``."""
    machine = Machine(speech_lm_cost, flow_cost)
    speak(machine, lengths, monkeypatch)
    return machine


@pytest.mark.parametrize(
    ("speech_lm_cost", "flow_cost", "possible_start"), [(0.35, 0.5, 1.7), (0.25, 0.35, 0.9), (0.5, 0.6, 8.4)]
)
def test_a_long_text_near_real_time_starts_as_early_as_possible(
    speech_lm_cost: float, flow_cost: float, possible_start: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = settled(speech_lm_cost, flow_cost, monkeypatch, TWELVE)
    course = speak(machine, TWELVE, monkeypatch)
    assert course.gapless_start <= possible_start
    assert course.played_start == pytest.approx(course.gapless_start, rel=0.05, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("num_sentences", [1, 12])
@pytest.mark.parametrize(("speech_lm_cost", "flow_cost"), PAIRS)
def test_no_fixed_number_of_tokens_ahead_starts_much_earlier(
    speech_lm_cost: float, flow_cost: float, num_sentences: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = settled(speech_lm_cost, flow_cost, monkeypatch, TWELVE)
    course = speak(machine, [125] * num_sentences, monkeypatch)
    best, ahead = best_fixed_start(machine, [125] * num_sentences)
    assert course.gapless_start <= 1.05 * best + 0.1, f"{ahead} tokens ahead start at {best:.2f} s"
    assert course.gapless_start <= course.played_start + 1e-6
    assert course.played_start <= 1.05 * best + 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("speech_lm_cost", "flow_cost"), SOME_PAIRS)
def test_sentences_of_unequal_length_lose_nothing_and_start_about_right(
    speech_lm_cost: float, flow_cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their lengths are predicted; a gap or a delay is at most what the prediction was wrong by."""
    machine = settled(speech_lm_cost, flow_cost, monkeypatch, UNEQUAL)
    course = speak(machine, UNEQUAL, monkeypatch)
    best, _ = best_fixed_start(machine, UNEQUAL)
    assert course.gapless_start <= 1.05 * best + 0.1
    assert course.played_start == pytest.approx(best, rel=0.15, abs=1.2)


@pytest.mark.slow
@pytest.mark.parametrize(("speech_lm_cost", "flow_cost"), SOME_PAIRS)
@pytest.mark.parametrize("predicted_tokens", [80, 180])
def test_a_wrong_prediction_of_lengths_delays_no_chunk_that_play_waits_for(
    predicted_tokens: int, speech_lm_cost: float, flow_cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = settled(speech_lm_cost, flow_cost, monkeypatch, [predicted_tokens] * 8)
    course = speak(machine, TWELVE, monkeypatch)
    best, _ = best_fixed_start(machine, TWELVE)
    assert course.gapless_start <= 1.05 * best + 0.5


@pytest.mark.slow
def test_the_language_model_runs_ahead_where_that_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flow slower than real time: all lengths are known long before play can begin, however wrong the prediction."""
    machine = settled(0.5, 2.0, monkeypatch, [80] * 8)
    course = speak(machine, TWELVE, monkeypatch)
    assert course.reports[0][1] < 0.8 * course.gapless_start
    assert course.played_start == pytest.approx(course.gapless_start)


def test_reading_the_text_counts_for_every_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(0.5, 0.6, prefill_seconds=0.5)
    speak(machine, TWELVE, monkeypatch)
    course = speak(machine, TWELVE, monkeypatch)
    assert course.gapless_start <= course.played_start + 1e-6
    assert course.played_start <= 1.05 * course.gapless_start + 0.1


def test_a_converted_recording_says_nothing_about_the_language_model(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = settled(0.5, 0.6, monkeypatch, TWELVE)
    before = machine.cost_model.speech_lm_seconds(0, 100)
    convert(machine, TWELVE, monkeypatch)
    assert machine.cost_model.speech_lm_seconds(0, 100) == pytest.approx(before)


@pytest.mark.parametrize("lengths", [[80], [80, 80], [60, 90, 120], [160], [100] * 6])
@pytest.mark.parametrize("flow_cost", [1.5, 3.0, 6.0, 8.0])
def test_a_processor_slower_than_real_time_starts_near_the_earliest_gapless_start(
    flow_cost: float, lengths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first line of a model on, with the language model and the prompt of a processor with AVX2 alone."""
    machine = Machine(0.8, flow_cost, prefill_seconds=1.3)
    for _ in range(3):
        course = speak(machine, lengths, monkeypatch)
        assert course.played_start == pytest.approx(course.gapless_start, rel=0.15)
