"""Buffered output: order, dropouts, buffer growth and lost devices."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.audio import output_device, portaudio
from studio.audio.output_device import (
    BufferedOutput,
    FillCallback,
    LatencyPolicy,
    OutputStream,
    PortAudioOutputs,
    SampleRing,
)
from studio.errors import NoAudioDevice

RATE = 24_000
Samples = npt.NDArray[np.float32]


def open_default(sample_rate: int, fill: FillCallback, buffer_seconds: float = 0.15) -> OutputStream:
    return PortAudioOutputs().open(None, sample_rate, fill, buffer_seconds)


class SoundCard:
    """Fake device that requests samples on demand and records them."""

    latency_seconds = 0.05

    def __init__(self, own_rate: int | None = None) -> None:
        self._own_rate = own_rate
        self._blocks: list[Samples] = []
        self._stop_asking = threading.Event()
        self._thread: threading.Thread | None = None
        self.is_running = True
        self.sample_rate = 0
        self.fill: FillCallback | None = None

    def open(self, sample_rate: int, fill: FillCallback, buffer_seconds: float = 0.15) -> SoundCard:
        self.sample_rate = self._own_rate or sample_rate
        self.fill = fill
        self.ask(64)
        return self

    def ask(self, num_samples: int, *, has_underrun: bool = False) -> Samples:
        assert self.fill is not None
        block = np.full(num_samples, 9.0, np.float32)
        self.fill(block, has_underrun)
        self._blocks.append(block)
        return block

    @property
    def heard(self) -> Samples:
        """The recorded samples, without leading and trailing silence."""
        return np.trim_zeros(np.concatenate(self._blocks))

    def keep_asking(self, num_samples: int = 480) -> None:
        def ask() -> None:
            while not self._stop_asking.wait(0.0005):
                self.ask(num_samples)

        self._thread = threading.Thread(target=ask)
        self._thread.start()

    def close(self) -> None:
        self.is_running = False
        self._stop_asking.set()
        if self._thread is not None:
            self._thread.join()


@pytest.fixture
def card() -> Iterator[SoundCard]:
    card = SoundCard()
    yield card
    card.close()


def sound(num_samples: int, seed: int = 0) -> Samples:
    """Return samples that are never zero, to distinguish them from silence."""
    return np.random.default_rng(seed).uniform(0.1, 0.9, num_samples).astype(np.float32)


def test_all_samples_are_played_in_order(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    card.keep_asking()
    pieces = [sound(num_samples, seed) for seed, num_samples in enumerate((100, 4800, 1, 24_000, 777))]
    player.play(np.concatenate(pieces))
    player.finish()
    assert np.array_equal(card.heard, np.concatenate(pieces))
    assert player.num_underruns == 0
    assert player.heard_seconds == pytest.approx(sum(map(len, pieces)) / RATE)
    assert not card.is_running


def test_finish_pads_with_silence_for_the_device_latency(card: SoundCard) -> None:
    """Devices drop up to their latency of queued samples when they close."""
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(1000))
    finishing = threading.Thread(target=player.finish)
    finishing.start()
    while player.buffered_seconds or card.ask(480).any():
        card.ask(480)
    for _ in range(5):
        card.ask(480)
    assert finishing.is_alive()  # 0.12 s so far, 0.15 s are due
    for _ in range(5):
        card.ask(480)
    finishing.join(60)
    assert not finishing.is_alive()


def test_short_audio_plays_without_a_full_buffer(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(300))
    # A dropout would be heard if the device asked for more before the end is known.
    threading.Timer(0.1, card.keep_asking).start()
    player.finish()
    assert np.array_equal(card.heard, sound(300))
    assert player.num_underruns == 0


def test_a_dropout_is_counted_faded_and_refilled(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(np.ones(1000, np.float32))
    assert card.ask(900).all()
    end = card.ask(500)
    assert np.array_equal(end[:100], np.linspace(1.0, 0.0, 100, dtype=np.float32))
    assert not end[100:].any()
    player.play(np.ones(11_999, np.float32))
    assert not card.ask(480).any()
    assert player.num_underruns == 0  # the audio may have ended
    player.play(np.ones(1, np.float32))
    start = card.ask(480)
    assert np.array_equal(start[:240], np.linspace(0.0, 1.0, 240, dtype=np.float32))
    assert (start[240:] == 1.0).all()
    assert player.num_underruns == 1

    card.ask(24_000)
    player.play(np.ones(23_999, np.float32))
    assert not card.ask(480).any()  # twice as much is buffered after the second dropout
    player.play(np.ones(1, np.float32))
    assert card.ask(480)[240:].all()
    assert player.num_underruns == 2
    player.stop()


def test_silence_before_a_late_finish_is_not_a_dropout(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(480))
    for _ in range(3):
        card.ask(480)
    card.keep_asking()
    player.finish()
    assert player.num_underruns == 0


def test_a_device_underrun_is_counted(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    card.ask(480, has_underrun=True)
    assert player.num_underruns == 0  # nothing was playing yet
    player.play(sound(4800))
    card.ask(480)
    card.ask(480, has_underrun=True)
    assert player.num_underruns == 1
    player.stop()


class DryingCard(SoundCard):
    """Underruns while its buffer is shorter than ``needs`` seconds; queued samples are lost on close."""

    latency_seconds = 0.05

    def __init__(self, needs: float) -> None:
        super().__init__()
        self.needs = needs
        self.buffers: list[float] = []
        self._held: list[Samples] = []
        self._num_asked = 0

    def open(self, sample_rate: int, fill: FillCallback, buffer_seconds: float = 0.15) -> DryingCard:
        self.buffers.append(buffer_seconds)
        self.sample_rate, self.fill, self.is_running = sample_rate, fill, True
        self._stop_asking = threading.Event()
        self.keep_asking()
        return self

    def ask(self, num_samples: int, *, has_underrun: bool = False) -> Samples:
        self._num_asked += 1
        is_dry = self.buffers[-1] < self.needs and self._num_asked % 5 == 0
        self._pass_on(0 if is_dry else round(self.latency_seconds * RATE) - num_samples)
        block = super().ask(num_samples, has_underrun=is_dry)
        self._held.append(self._blocks.pop())
        return block

    def close(self) -> None:
        super().close()
        self._held.clear()

    def _pass_on(self, num_held: int) -> None:
        while sum(map(len, self._held)) > num_held:
            self._blocks.append(self._held.pop(0))


def test_repeated_underruns_enlarge_the_buffer_without_loss() -> None:
    card, said, buffer = DryingCard(needs=0.5), sound(3 * RATE), LatencyPolicy()
    player = BufferedOutput(RATE, open_output=card.open, buffer=buffer)
    player.play(said)
    player.finish()
    assert card.buffers == [0.15, 0.3, 0.6]
    assert buffer.seconds == 0.6, "the next sound begins with it"
    assert player.num_underruns >= 4
    np.testing.assert_array_equal(card.heard, said)


def test_rare_underruns_keep_the_buffer() -> None:
    card = SoundCard()
    player = BufferedOutput(RATE, open_output=card.open)
    for _ in range(3):
        player.play(sound(35 * RATE))
        card.ask(35 * RATE - 480)
        card.ask(480, has_underrun=True)
    player.service()
    assert card.is_running
    assert player._buffer.seconds == LatencyPolicy().seconds
    player.stop()


def test_underruns_at_the_largest_buffer_raise() -> None:
    card = DryingCard(needs=float("inf"))
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(20 * RATE))
    with pytest.raises(NoAudioDevice, match="keeps stuttering"):
        player.finish()
    assert card.buffers == [0.15, 0.3, 0.6, 1.2]
    assert not card.is_running


def test_a_device_that_plays_far_too_slowly_raises(card: SoundCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_device, "_MIN_DRAIN_TIMEOUT_SECONDS", 0.2)
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(480))
    card.keep_asking(1)
    with pytest.raises(NoAudioDevice, match="far too slowly"):
        player.finish()


def test_unread_makes_samples_readable_again() -> None:
    ring = SampleRing(4)
    ring.write(np.arange(1, 4, dtype=np.float32))
    ring.read_into(np.zeros(3, np.float32))
    ring.write(np.float32([4, 5]))
    assert ring.unread(3) == 2  # the others have been overwritten
    again = np.zeros(4, np.float32)
    assert ring.read_into(again) == 4
    assert list(again) == [2, 3, 4, 5]


def test_stop_is_immediate_with_a_short_fade(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(np.ones(10 * RATE, np.float32))
    card.ask(480)
    stopping = threading.Thread(target=player.stop)
    stopping.start()
    while player._state is output_device._State.PLAYING:
        time.sleep(0.001)
    faded = card.ask(480)
    assert np.array_equal(faded[:240], np.linspace(1.0, 0.0, 240, dtype=np.float32))
    assert not faded[240:].any()
    assert not card.ask(480).any()
    stopping.join(60)
    assert not card.is_running
    player.play(sound(10))  # later samples are dropped
    player.finish()
    player.stop()


def test_stop_does_not_wait_for_a_device_that_hangs(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(4800))
    card.ask(480)
    started = time.monotonic()
    player.stop()
    assert time.monotonic() - started < 10
    assert not card.is_running


def test_play_blocks_while_the_buffer_is_full_until_stop(card: SoundCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_device, "_CAPACITY_SECONDS", 0.1)
    player = BufferedOutput(RATE, open_output=card.open)
    playing = threading.Thread(target=player.play, args=(sound(10_000),))
    playing.start()
    playing.join(0.05)
    assert playing.is_alive()
    assert player.buffered_seconds == pytest.approx(0.1)
    assert np.array_equal(card.ask(480), sound(10_000)[:480])
    stopping = threading.Thread(target=player.stop)
    stopping.start()
    while stopping.is_alive():
        card.ask(480)
        time.sleep(0.001)
    playing.join(60)
    assert not playing.is_alive()


def test_audio_longer_than_the_buffer_plays_completely(card: SoundCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_device, "_CAPACITY_SECONDS", 0.1)
    player = BufferedOutput(RATE, open_output=card.open)
    card.keep_asking(1000)
    player.play(sound(20_000))
    player.finish()
    assert player.heard_seconds == pytest.approx(20_000 / RATE)
    if player.num_underruns == 0:  # the threads were scheduled so that no gap had to be faded
        assert np.array_equal(card.heard, sound(20_000))


def test_the_device_may_have_its_own_rate() -> None:
    card = SoundCard(own_rate=48_000)
    player = BufferedOutput(RATE, open_output=card.open)
    tone = (0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)).astype(np.float32)
    for piece in np.array_split(tone, 9):
        player.play(piece)
    card.keep_asking()
    player.finish()
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000)
    assert player.heard_seconds == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_allclose(card.heard[1000:40_000], expected[1000:40_000], atol=1e-3)


def test_a_disconnected_device_raises(card: SoundCard) -> None:
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(10))
    card.is_running = False
    with pytest.raises(NoAudioDevice, match="disconnected during playback") as caught:
        player.play(sound(10))
    assert caught.value.code == "no-audio-device"

    finishing = BufferedOutput(RATE, open_output=(other := SoundCard()).open)
    finishing.play(sound(10))
    threading.Timer(0.15, other.close).start()
    with pytest.raises(NoAudioDevice, match="disconnected"):
        finishing.finish()


def test_a_device_that_stops_requesting_samples_raises(card: SoundCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_device, "_TICK_SECONDS", 0.001)
    player = BufferedOutput(RATE, open_output=card.open)
    player.play(sound(10))
    with pytest.raises(NoAudioDevice, match="does not respond"):
        player.finish()
    assert not card.is_running


def test_the_context_manager_finishes_or_stops() -> None:
    card = SoundCard()
    with BufferedOutput(RATE, open_output=card.open) as player:
        card.keep_asking()
        player.play(sound(2000))
    assert np.array_equal(card.heard, sound(2000))

    card = SoundCard()

    def speak() -> None:
        with BufferedOutput(RATE, open_output=card.open) as player:
            player.play(sound(100 * RATE))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        speak()
    assert not card.is_running
    assert not card.heard.any()


def test_finish_without_audio_returns_at_once(card: SoundCard) -> None:
    BufferedOutput(RATE, open_output=card.open).finish()
    assert not card.is_running


@settings(max_examples=50)
@given(capacity=st.integers(1, 50), data=st.data())
def test_the_ring_behaves_like_a_queue(capacity: int, data: st.DataObject) -> None:
    ring = SampleRing(capacity)
    written: list[float] = []
    read: list[float] = []
    for _ in range(data.draw(st.integers(0, 20))):
        if data.draw(st.booleans()):
            samples = sound(data.draw(st.integers(0, 70)), len(written))
            num_taken = ring.write(samples)
            assert num_taken == min(len(samples), capacity - (len(written) - len(read)))
            written += samples[:num_taken].tolist()
        else:
            destination = np.full(data.draw(st.integers(0, 70)), -1.0, np.float32)
            num_given = ring.read_into(destination)
            assert num_given == min(len(destination), len(written) - len(read))
            assert (destination[num_given:] == -1.0).all()
            read += destination[:num_given].tolist()
        assert ring.num_waiting == len(written) - len(read)
        assert ring.num_read == len(read)
    assert read == written[: len(read)]


class FakePortAudio(SimpleNamespace):
    """Fake sounddevice module that supports only ``settings`` (rate, channels)."""

    class PortAudioError(Exception):
        pass

    def __init__(self, *settings: tuple[int, int], own_rate: int = 48_000) -> None:
        super().__init__()
        self.settings = settings
        self.own_rate = own_rate
        self.opened: dict[str, Any] = {}

    def query_devices(self, device: int | None, kind: str) -> dict[str, float]:
        if not self.settings:
            raise self.PortAudioError("Error querying device -1")
        return {"default_samplerate": float(self.own_rate)}

    def check_output_settings(self, *, device: int | None, samplerate: int, channels: int, dtype: str) -> None:
        if (samplerate, channels) not in self.settings:
            raise self.PortAudioError("Invalid sample rate")

    def OutputStream(self, **options: Any) -> SimpleNamespace:  # noqa: N802 -- as it is called there
        self.check_output_settings(**{name: options[name] for name in ("device", "samplerate", "channels", "dtype")})
        self.opened = options
        stream = SimpleNamespace(active=True, closed=False, latency=0.02, start=lambda: None)
        stream.abort = lambda ignore_errors: setattr(stream, "active", False)
        stream.close = lambda ignore_errors: setattr(stream, "closed", True)
        return stream


@pytest.mark.parametrize(
    ("known", "rate", "num_channels"),
    [
        ([(RATE, 1), (48_000, 2)], RATE, 1),
        ([(RATE, 2), (48_000, 1)], RATE, 2),
        ([(48_000, 1), (48_000, 2)], 48_000, 1),
        ([(48_000, 2)], 48_000, 2),
    ],
)
def test_devices_are_opened_with_supported_settings(
    monkeypatch: pytest.MonkeyPatch, known: list[tuple[int, int]], rate: int, num_channels: int
) -> None:
    port_audio = FakePortAudio(*known)
    monkeypatch.setitem(sys.modules, "sounddevice", port_audio)

    def fill(samples: Samples, has_underrun: bool) -> None:
        samples[:] = 0.5 if has_underrun else 0.25

    stream = open_default(RATE, fill)
    assert stream.sample_rate == rate
    assert stream.latency_seconds == 0.02
    assert port_audio.opened["channels"] == num_channels
    output = np.zeros((10, num_channels), np.float32)
    port_audio.opened["callback"](output, 10, None, SimpleNamespace(output_underflow=True))
    assert (output == 0.5).all()
    assert stream.is_running
    stream.close()
    stream.close()
    assert not stream.is_running


def test_the_error_names_the_device_that_does_not_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakePortAudio((8000, 1)))
    monkeypatch.setattr(portaudio, "device_index", lambda kind, name: 3)
    with pytest.raises(NoAudioDevice, match=r"The output device Headset is not available \(Invalid sample rate\)"):
        PortAudioOutputs().open("Headset", RATE, lambda samples, has_underrun: None, 0.15)


def test_no_device_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakePortAudio())
    with pytest.raises(NoAudioDevice, match=r"No output device is available \(Error querying device -1\)"):
        BufferedOutput(RATE, open_output=open_default)
    monkeypatch.setitem(sys.modules, "sounddevice", FakePortAudio((8000, 1)))
    with pytest.raises(NoAudioDevice, match="Invalid sample rate"):
        BufferedOutput(RATE, open_output=open_default)


def test_a_missing_library_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        def find_spec(self, name: str, path: object, target: object = None) -> None:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with pytest.raises(NoAudioDevice, match="PortAudio library is missing") as caught:
        BufferedOutput(RATE, open_output=open_default)
    assert "libportaudio2" in str(caught.value.remedy)
