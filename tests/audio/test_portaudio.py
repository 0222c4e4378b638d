"""PortAudio devices: names, disconnection and rescanning."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from studio.audio.output_device import PortAudioOutputs
from studio.audio.portaudio import device_index, device_names, rescan_devices
from studio.audio.recording import open_input
from studio.errors import NoAudioDevice


class ListedDevices:
    """Fake sounddevice module; two host APIs list the same card."""

    class PortAudioError(Exception):
        pass

    def __init__(self, *cards: tuple[str, int, int, int]) -> None:
        self.cards = cards
        self.num_starts = 0
        self.opened_on: int | None = None

    def query_devices(self, device: int | None = None, kind: str | None = None) -> Any:
        if kind is not None:
            return {"default_samplerate": 48_000.0}
        return [
            {"name": name, "hostapi": system, "index": index, "max_output_channels": outs, "max_input_channels": ins}
            for index, (name, system, outs, ins) in enumerate(self.cards)
        ]

    def query_hostapis(self) -> Any:
        return [{"name": "ALSA"}, {"name": "JACK"}]

    def check_output_settings(self, **settings: Any) -> None:
        pass

    check_input_settings = check_output_settings

    def OutputStream(self, **options: Any) -> ListedDevices:  # noqa: N802 -- as it is called there
        self.opened_on = options["device"]
        self.closed = False
        return self

    InputStream = OutputStream

    def start(self) -> None:
        pass

    def abort(self, ignore_errors: bool) -> None:
        pass

    def close(self, ignore_errors: bool) -> None:
        self.closed = True

    def _terminate(self) -> None:
        self.num_starts += 1

    def _initialize(self) -> None:
        pass


class RestartedMeanwhile(ListedDevices):
    """Lets another thread run, which could restart PortAudio, while devices are listed."""

    def __init__(self, *cards: tuple[str, int, int, int]) -> None:
        super().__init__(*cards)
        self.num_restarts_while_listing = 0
        self._has_restarted = threading.Event()
        self._restarting: list[threading.Thread] = []

    def query_devices(self, device: int | None = None, kind: str | None = None) -> Any:
        if kind is None:
            num_starts = self.num_starts
            self._restarting.append(threading.Thread(target=rescan_devices))
            self._restarting[-1].start()
            self._has_restarted.wait(0.2)
            self.num_restarts_while_listing += self.num_starts - num_starts
        return super().query_devices(device, kind)

    def _terminate(self) -> None:
        super()._terminate()
        self._has_restarted.set()

    def wait(self) -> None:
        for thread in self._restarting:
            thread.join(60)


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> ListedDevices:
    listed = ListedDevices(("Speakers", 0, 2, 0), ("Headset", 0, 2, 1), ("Headset", 1, 2, 0), ("Microphone", 0, 0, 1))
    monkeypatch.setitem(sys.modules, "sounddevice", listed)
    return listed


def test_device_names_are_unique(devices: ListedDevices) -> None:
    assert device_names("output") == ("Speakers", "Headset (ALSA)", "Headset (JACK)")
    assert device_names("input") == ("Headset", "Microphone")
    assert device_index("output", "Headset (JACK)") == 2


def test_the_named_device_is_opened(devices: ListedDevices) -> None:
    PortAudioOutputs().open("Headset (JACK)", 24_000, lambda samples, dry: None, 0.15).close()
    assert devices.opened_on == 2


def test_the_error_names_a_disconnected_device(devices: ListedDevices) -> None:
    with pytest.raises(NoAudioDevice, match="Old headset is not connected"):
        PortAudioOutputs().open("Old headset", 24_000, lambda samples, dry: samples.fill(0.0), 0.15)


def test_devices_are_not_rescanned_during_playback(devices: ListedDevices) -> None:
    stream = PortAudioOutputs().open(None, 24_000, lambda samples, dry: np.copyto(samples, 0.0), 0.15)
    assert not rescan_devices()
    assert devices.num_starts == 0
    stream.close()
    assert rescan_devices()
    assert devices.num_starts == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask",
    [lambda: device_names("output"), lambda: device_names("input"), lambda: device_index("output", "Speakers")],
    ids=["outputs", "inputs", "index"],
)
def test_portaudio_does_not_restart_while_devices_are_listed(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]
) -> None:
    devices = RestartedMeanwhile(("Speakers", 0, 2, 1))
    monkeypatch.setitem(sys.modules, "sounddevice", devices)
    ask()
    assert devices.num_restarts_while_listing == 0
    devices.wait()
    assert devices.num_starts == 1, "the restart comes after the list"


@pytest.mark.parametrize(
    "open_stream",
    [
        lambda: PortAudioOutputs().open("Speakers", 24_000, lambda samples, dry: samples.fill(0.0), 0.15),
        lambda: open_input("Speakers", lambda samples, lost: None),
    ],
    ids=["output", "input"],
)
def test_portaudio_does_not_restart_between_the_index_of_a_device_and_its_opening(
    monkeypatch: pytest.MonkeyPatch, open_stream: Callable[[], Any]
) -> None:
    devices = RestartedMeanwhile(("Speakers", 0, 2, 1))
    monkeypatch.setitem(sys.modules, "sounddevice", devices)
    stream = open_stream()
    devices.wait()
    assert devices.num_starts == 0
    stream.close()


def test_without_portaudio_there_are_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> object:
        raise NoAudioDevice("The PortAudio library is missing.")

    monkeypatch.setattr("studio.audio.portaudio.load_portaudio", missing)
    assert device_names("output") == ()
    assert not rescan_devices()
