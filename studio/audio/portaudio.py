"""PortAudio: loaded on demand, and started again to see what was plugged in meanwhile.

A machine without the library, or without a sound card, is a normal machine.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Literal

from studio.errors import NoAudioDevice

_log = logging.getLogger(__name__)

Kind = Literal["output", "input"]

# What a device itself calls "high" was 35 ms with ALSA on PulseAudio: too little beside a busy window, as
# tests/app/playback/test_long_play.py showed on a crowded machine of two cores.
LATENCY_SECONDS = 0.15

# Held while PortAudio restarts and while its devices are listed: a query meanwhile reads freed memory.
_lock = threading.Lock()
# A restart ends every stream, so there is none while streams are open or being opened.
_open_streams: set[int] = set()


def load_portaudio() -> Any:
    """The library as the module ``sounddevice``. Raises ``NoAudioDevice`` where it is missing."""
    try:
        import sounddevice  # noqa: PLC0415 -- needs a system library
    except OSError as error:  # how the missing library shows itself
        raise NoAudioDevice(
            "Sound cannot be played: the PortAudio library is missing.",
            remedy="Install it (Debian, Ubuntu: apt-get install libportaudio2), or write to a file instead.",
        ) from error
    return sounddevice


def device_names(kind: Kind) -> tuple[str, ...]:
    """What can be played on, or recorded from; empty where there is nothing."""
    try:
        sounddevice = load_portaudio()
    except NoAudioDevice:
        return ()
    with _lock:
        return tuple(_indices(sounddevice, kind))


def device_index(kind: Kind, name: str) -> int:
    """Index of the device that ``device_names`` calls ``name``. Raises ``NoAudioDevice`` when it is gone.

    Valid until PortAudio restarts: to be called in the ``make`` of a ``RunningStream``, which prevents that.
    """
    sounddevice = load_portaudio()
    with _lock:
        index = _indices(sounddevice, kind).get(name)
    if index is None:
        raise NoAudioDevice(
            "The sound device {name} is not connected.",
            remedy="Connect it, or choose another in the settings.",
            name=name,
        )
    return index


class RunningStream:
    """A PortAudio stream from its start to its end.

    ``make`` opens it; PortAudio does not restart meanwhile. What ``make`` raises is passed on.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        # PortAudio forgets a stream when it is closed: asking about it then is a crash.
        self._closing = threading.Lock()
        with _lock:
            _open_streams.add(id(self))
        try:
            self._stream = make()
            self._stream.start()
        except BaseException:
            self._no_longer_open()
            raise

    @property
    def is_running(self) -> bool:
        """False once the device has vanished."""
        with self._closing:
            return not self._stream.closed and bool(self._stream.active)

    def close(self) -> None:
        with self._closing:
            if not self._stream.closed:
                self._stream.abort(ignore_errors=True)
                self._stream.close(ignore_errors=True)
        self._no_longer_open()

    def _no_longer_open(self) -> None:
        with _lock:
            _open_streams.discard(id(self))


def rescan_devices() -> bool:
    """False, and nothing done, while a stream is open. May take half a second."""
    try:
        sounddevice = load_portaudio()
    except NoAudioDevice:
        return False
    with _lock:
        if _open_streams:
            return False
        try:
            sounddevice._terminate()
            sounddevice._initialize()
        except sounddevice.PortAudioError as error:
            _log.info("PortAudio could not be started again: %s", error)
            return False
    return True


def _indices(sounddevice: Any, kind: Kind) -> dict[str, int]:
    """Windows and Linux list one card under several systems: then the system is part of the name."""
    try:
        devices, systems = list(sounddevice.query_devices()), list(sounddevice.query_hostapis())
    except sounddevice.PortAudioError as error:
        _log.info("the sound devices cannot be listed: %s", error)
        return {}
    usable = [device for device in devices if device[f"max_{kind}_channels"] > 0]
    names = [str(device["name"]) for device in usable]
    found: dict[str, int] = {}
    for name, device in zip(names, usable, strict=True):
        is_ambiguous = names.count(name) > 1
        shown = f"{name} ({systems[device['hostapi']]['name']})" if is_ambiguous else name
        found.setdefault(shown, int(device["index"]))
    return found
