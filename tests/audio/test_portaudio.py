"""Devices have names, may be gone, and are looked for again only while nobody plays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from studio.audio.output_device import open_output_on
from studio.audio.portaudio import device_index, device_names, look_for_devices_again
from studio.errors import NoAudioDevice


class ListedDevices:
    """The part of the sounddevice module that knows of devices; two systems list one card."""

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

    def OutputStream(self, **options: Any) -> ListedDevices:  # noqa: N802 -- as it is called there
        self.opened_on = options["device"]
        self.closed = False
        return self

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


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> ListedDevices:
    listed = ListedDevices(("Speakers", 0, 2, 0), ("Headset", 0, 2, 1), ("Headset", 1, 2, 0), ("Microphone", 0, 0, 1))
    monkeypatch.setitem(sys.modules, "sounddevice", listed)
    return listed


def test_each_device_is_listed_under_a_name_of_its_own(devices: ListedDevices) -> None:
    assert device_names("output") == ("Speakers", "Headset (ALSA)", "Headset (JACK)")
    assert device_names("input") == ("Headset", "Microphone")
    assert device_index("output", "Headset (JACK)") == 2


def test_sound_goes_to_the_device_that_was_named(devices: ListedDevices) -> None:
    open_output_on("Headset (JACK)", 24_000, lambda samples, dry: None).close()
    assert devices.opened_on == 2


def test_a_device_that_was_unplugged_is_called_by_its_name(devices: ListedDevices) -> None:
    with pytest.raises(NoAudioDevice, match="Old headset is not connected"):
        open_output_on("Old headset", 24_000, lambda samples, dry: samples.fill(0.0))


def test_devices_are_not_looked_for_while_one_plays(devices: ListedDevices) -> None:
    stream = open_output_on(None, 24_000, lambda samples, dry: np.copyto(samples, 0.0))
    assert not look_for_devices_again()
    assert devices.num_starts == 0
    stream.close()
    assert look_for_devices_again()
    assert devices.num_starts == 1


def test_without_portaudio_there_are_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> object:
        raise NoAudioDevice("The PortAudio library is missing.")

    monkeypatch.setattr("studio.audio.portaudio.load_portaudio", missing)
    assert device_names("output") == ()
    assert not look_for_devices_again()
