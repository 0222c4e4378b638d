"""Recording: start, stop, maximum length and lost microphones."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from microphone import Microphone, no_microphone

from studio.audio import portaudio, recording
from studio.audio.portaudio import device_names
from studio.audio.recording import Recorder, open_input
from studio.errors import NoAudioDevice

RATE = 24_000


def ramp(start: int, end: int) -> np.ndarray:
    return np.arange(start, end, dtype=np.float32) / 1e6


def test_only_samples_between_start_and_stop_are_recorded() -> None:
    microphone = Microphone()
    with Recorder(open_input=microphone.open) as recorder:
        microphone.deliver(ramp(0, 1000))
        assert len(recorder.read_new().samples) == 1000
        microphone.deliver(ramp(1000, 2000))
        recorder.start()
        microphone.deliver(ramp(2000, 5000))
        new = recorder.read_new()
        np.testing.assert_array_equal(new.recorded, ramp(2000, 5000))
        microphone.deliver(ramp(5000, 6000))
        sound = recorder.stop()
        np.testing.assert_array_equal(sound.samples, ramp(2000, 6000))
        assert sound.sample_rate == RATE
        microphone.deliver(ramp(6000, 7000))
        assert len(recorder.read_new().samples) == 1000
        assert len(recorder.read_new().recorded) == 0
    assert not microphone.is_running


def test_a_recording_can_be_restarted() -> None:
    microphone = Microphone()
    with Recorder(open_input=microphone.open) as recorder:
        for first in (0, 5000):
            recorder.start()
            microphone.deliver(ramp(first, first + 500))
            np.testing.assert_array_equal(recorder.stop().samples, ramp(first, first + 500))
    assert microphone.num_opened == 1


def test_a_recording_ends_at_its_maximum_length() -> None:
    microphone = Microphone()
    with Recorder(open_input=microphone.open, longest_seconds=0.5) as recorder:
        recorder.start()
        microphone.deliver(ramp(0, 30_000))
        recorder.read_new()
        assert not recorder.is_recording
        assert recorder.recorded_seconds == 0.5
        assert recorder.stop().seconds == 0.5


def test_lost_samples_are_reported_only_within_the_recording() -> None:
    microphone = Microphone()
    with Recorder(open_input=microphone.open) as recorder:
        recorder.start()
        microphone.deliver(ramp(0, 100), has_lost_some=True)
        recorder.read_new()
        assert not recorder.has_gaps
        microphone.deliver(ramp(100, 200), has_lost_some=True)
        recorder.read_new()
        assert recorder.has_gaps
        recorder.start()
        assert not recorder.has_gaps


def test_a_disconnected_microphone_keeps_the_recording() -> None:
    microphone = Microphone()
    recorder = Recorder(open_input=microphone.open)
    recorder.start()
    microphone.deliver(ramp(0, 700))
    microphone.vanish()
    assert len(recorder.read_new().recorded) == 700, "the last it heard comes first"
    with pytest.raises(NoAudioDevice, match="The microphone was disconnected"):
        recorder.read_new()
    assert len(recorder.stop().samples) == 700


def test_no_microphone_raises() -> None:
    with pytest.raises(NoAudioDevice, match="No microphone"):
        Recorder(open_input=no_microphone)


class PortAudioError(Exception):
    pass


class Devices:
    """Fake sounddevice module: device 3 supports only stereo at 44 100 Hz, device 5 is an output."""

    PortAudioError = PortAudioError

    class InputStream:
        latency = 0.1
        closed = False
        active = True

        def __init__(self, **settings: object) -> None:
            self.settings = settings

        def start(self) -> None: ...

        def abort(self, ignore_errors: bool) -> None: ...

        def close(self, ignore_errors: bool) -> None:
            self.closed = True

    @staticmethod
    def query_hostapis() -> list[dict[str, str]]:
        return [{"name": "ALSA"}]

    @staticmethod
    def query_devices(number: int | None = None, kind: str | None = None) -> object:
        devices = [
            {
                "name": f"device {index}",
                "index": index,
                "hostapi": 0,
                "max_input_channels": 0 if index == 5 else 2,
                "default_samplerate": 8000.0,
            }
            for index in range(6)
        ]
        return devices if kind is None else devices[3]

    @staticmethod
    def check_input_settings(*, device: int | None, samplerate: int, channels: int, dtype: str) -> None:
        if (samplerate, channels) != (44_100, 2):
            raise PortAudioError("Invalid sample rate")


def test_microphones_are_opened_with_supported_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", Devices)  # type: ignore[arg-type]
    assert device_names("input") == tuple(f"device {index}" for index in range(5))
    blocks: list[np.ndarray] = []
    stream = open_input("device 3", lambda samples, _: blocks.append(samples))
    assert stream.sample_rate == 44_100
    assert isinstance(stream, recording._PortAudioInput)

    class Status:
        input_overflow = False

    stream._on_samples(np.array([[0.5, 0.1], [0.2, 0.2]], np.float32), 2, None, Status())
    np.testing.assert_allclose(blocks[0], [0.3, 0.2])
    assert stream._stream.settings["device"] == 3
    stream.close()
    assert not stream.is_running
    with pytest.raises(NoAudioDevice, match="device 9 is not connected"):
        open_input("device 9", lambda samples, _: None)


def test_a_microphone_that_does_not_open_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", Devices)  # type: ignore[arg-type]

    def fail(self: object) -> None:
        raise PortAudioError("Device unavailable")

    monkeypatch.setattr(Devices.InputStream, "start", fail)
    with pytest.raises(NoAudioDevice, match=r"No microphone is available \(Device unavailable\)"):
        open_input(None, lambda samples, _: None)
    monkeypatch.undo()
    assert not portaudio._open_streams, "else devices could never be looked for again"


def test_without_portaudio_there_are_no_microphones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice")
    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    assert device_names("input") == ()
    with pytest.raises(NoAudioDevice, match="the PortAudio library is missing"):
        open_input(None, lambda samples, lost: None)
