"""Comparison of takes: equal loudness, same position, blind mode."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest
import shiboken6
from sound_card import CardOutputs, NoOutputs, SoundCard
from window_bench import Bench

from studio.app.playback.comparison import Comparison, matching_gains
from studio.audio.output_device import FillCallback, OutputStream
from studio.audio.resampling import Samples
from studio.errors import StudioError
from studio.export.loudness import loudness_lufs
from studio.project.takes import Take

RATE = 24_000


def tone(hertz: float, level: float, seconds: float = 3.0) -> Samples:
    times = np.arange(round(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def strength(samples: Samples, hertz: float) -> float:
    """Return the amplitude of one tone in ``samples``."""
    times = np.arange(len(samples)) / RATE
    return float(2 * abs(np.mean(samples * np.exp(-2j * np.pi * hertz * times))))


TONES = {400.0: 0.08, 800.0: 0.1, 1600.0: 0.2}


@pytest.fixture
def takes(bench: Bench) -> list[Take]:
    return [bench.add_take(tone(hertz, level), seed=number) for number, (hertz, level) in enumerate(TONES.items())]


class Listener:
    def __init__(self, comparison: Comparison) -> None:
        self.errors: list[StudioError] = []
        self.shares: list[float] = []
        comparison.failed.connect(self.errors.append)
        comparison.moved.connect(self.shares.append)


@pytest.fixture
def compare(bench: Bench) -> Any:
    comparisons: list[Comparison] = []

    def make(takes: list[Take], **options: Any) -> Comparison:
        outputs = options.pop("outputs", bench.outputs)
        comparison = Comparison(
            takes, bench.session.playback.read_waveform, outputs, bench.session.bridge.run, **options
        )
        comparisons.append(comparison)
        comparison.open()
        bench.until(lambda: comparison.is_ready, 60)
        return comparison

    yield make
    for comparison in comparisons:
        bench.run(comparison.close())


def test_louder_takes_are_attenuated_to_the_quietest() -> None:
    assert matching_gains([-30.0, -24.0, -27.0]) == [0.0, -6.0, -3.0]
    assert matching_gains([None, -20.0, None]) == [0.0, 0.0, 0.0]
    assert matching_gains([None, None]) == [0.0, 0.0]


def test_a_failed_take_does_not_make_the_others_inaudible() -> None:
    assert matching_gains([-60.0, -20.0, -30.0]) == [0.0, -12.0, -2.0]


@pytest.mark.slow
def test_takes_play_one_at_a_time_at_equal_loudness(bench: Bench, takes: list[Take], compare: Any) -> None:
    comparison = compare(takes, is_blind=False)
    bench.until(lambda: len(bench.card.heard) > 9_000)
    assert comparison.largest_attenuation_db == pytest.approx(10.3, abs=0.5)
    heard = []
    for index in (1, 2, 0):
        comparison.switch_to(index)
        bench.live(0.1)
        begin = len(bench.card.heard)
        bench.until(lambda start=begin: len(bench.card.heard) > start + 4_800)
        heard.append(bench.card.heard[begin : begin + 4_800])
    for index, samples in zip((1, 2, 0), heard, strict=True):
        strengths = [strength(samples, hertz) for hertz in TONES]
        assert np.argmax(strengths) == index
        assert sorted(strengths)[-2] < 0.003
    loudnesses = [loudness_lufs(samples, RATE) for samples in heard]
    assert max(loudnesses) - min(loudnesses) < 0.5  # type: ignore[type-var, operator]


@pytest.mark.slow
def test_switching_keeps_the_position(bench: Bench, takes: list[Take], compare: Any) -> None:
    comparison = compare(takes, is_blind=False)
    listener = Listener(comparison)
    bench.until(lambda: listener.shares and listener.shares[-1] > 0.2)
    comparison.switch_to_next()
    assert comparison.current == 1
    bench.live(0.1)
    assert 0.2 < listener.shares[-1] < 0.9
    comparison.toggle()
    assert not comparison.is_playing
    bench.live(0.1)
    num_heard = len(bench.card.heard)
    bench.live(0.1)
    assert len(bench.card.heard) == num_heard


@pytest.mark.slow
def test_blind_mode_shuffles_the_takes(bench: Bench, takes: list[Take], compare: Any) -> None:
    comparison = compare(takes, is_blind=True, random=np.random.default_rng(3))
    ids = [entry.take.id for entry in comparison.entries]
    assert ids != [take.id for take in takes]
    assert sorted(ids) == sorted(take.id for take in takes)
    comparison.set_blind(False)
    assert [entry.take.number for entry in comparison.entries] == [1, 2, 3]
    comparison.set_blind(True)
    assert comparison.current == 0
    begin = len(bench.card.heard)
    bench.until(lambda: len(bench.card.heard) > begin + 12_000)
    hertz = list(TONES)[comparison.entries[0].take.number - 1]
    assert strength(bench.card.heard[-4_800:], hertz) > 0.03


@pytest.mark.slow
def test_switching_modes_waits_for_the_device(bench: Bench, takes: list[Take], compare: Any) -> None:
    """The simulated device can be opened once: closing it too late would silence the new stream."""
    comparison = compare(takes, is_blind=True)
    listener = Listener(comparison)
    bench.until(lambda: len(bench.card.heard) > 4_800)
    for is_blind in (False, True, False):
        comparison.set_blind(is_blind)
    opened = bench.card.num_opened
    bench.until(lambda: bench.card.num_opened > opened)
    begin = len(bench.card.heard)
    bench.until(lambda: len(bench.card.heard) > begin + 12_000)
    assert comparison.is_playing
    assert listener.errors == []


@pytest.mark.slow
def test_play_in_turn_plays_every_take(bench: Bench, compare: Any) -> None:
    takes = [bench.add_take(tone(400.0, 0.1, 0.4), seed=number) for number in range(3)]
    comparison = compare(takes, is_blind=False)
    comparison.play_in_turn()
    bench.until(lambda: not comparison.is_playing)
    assert all(comparison.was_played(index) for index in range(3))


@pytest.mark.slow
def test_takes_are_resampled_to_the_device_rate(make_bench: Callable[..., Any]) -> None:
    class Studio48(SoundCard):
        def open(self, sample_rate: int, fill: FillCallback, buffer_seconds: float = 0.15) -> SoundCard:
            return super().open(48_000, fill)

    bench: Bench = make_bench(outputs=CardOutputs(Studio48()))
    takes = [bench.add_take(tone(400.0, 0.1), seed=number) for number in (1, 2)]
    comparison = Comparison(takes, bench.session.playback.read_waveform, bench.outputs, bench.session.bridge.run)
    comparison.open()
    bench.until(lambda: len(bench.card.heard) > 24_000)
    assert strength(bench.card.heard[9_600:19_200], 200.0) > 0.05, "400 Hz, measured at half the device's rate"
    bench.run(comparison.close())
    bench.until(lambda: not bench.card.is_running)


def test_without_a_device_an_error_is_reported(bench: Bench, takes: list[Take], compare: Any) -> None:
    comparison = Comparison(
        takes, bench.session.playback.read_waveform, NoOutputs(SoundCard()), bench.session.bridge.run
    )
    listener = Listener(comparison)
    comparison.open()
    bench.until(lambda: listener.errors)
    assert "No sound card" in str(listener.errors[0])
    assert not comparison.is_playing
    assert not comparison.was_played(0)


class SlowNoOutputs(NoOutputs):
    """The system takes long to report that there is no device."""

    def __init__(self, card: SoundCard) -> None:
        super().__init__(card)
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        self.is_asked.set()
        assert self.may_answer.wait(60)
        return super().open(device, sample_rate, fill, buffer_seconds)


def test_closing_the_dialog_while_the_device_opens_is_no_error(bench: Bench, takes: list[Take]) -> None:
    outputs, errors = SlowNoOutputs(SoundCard()), []

    async def run(work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:
            errors.append(error)
            raise

    tasks = []
    comparison = Comparison(
        takes,
        bench.session.playback.read_waveform,
        outputs,
        lambda work: tasks.append(bench.session.bridge.run(run(work))),
    )
    comparison.open()
    bench.until(outputs.is_asked.is_set)
    bench.run(comparison.close())
    shiboken6.delete(comparison)
    outputs.may_answer.set()
    bench.until(lambda: all(task.done() for task in tasks))
    assert errors == []


def test_a_disconnected_device_pauses_and_play_uses_another(bench: Bench, takes: list[Take], compare: Any) -> None:
    headset = SoundCard(vanishes_after=0.2)
    comparison = compare(takes, device="headset", outputs=CardOutputs(bench.card, headset=headset))
    listener = Listener(comparison)
    bench.until(lambda: listener.errors)
    assert "disconnected" in str(listener.errors[0])
    assert not comparison.is_playing
    comparison.toggle()
    bench.until(lambda: len(headset.heard) > 0 and comparison.is_playing)
