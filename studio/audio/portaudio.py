"""PortAudio streams and devices. The library is loaded on demand, and restarted to update the list of devices.

A computer may have neither the library nor a sound card; neither is an error until something is played or recorded.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

from studio.errors import NoAudioDevice

_log = logging.getLogger(__name__)

Kind = Literal["output", "input"]

# The "high" latency that ALSA on PulseAudio suggests is 35 ms: too short while the window is busy, as
# tests/app/playback/test_long_play.py showed on two loaded cores.
LATENCY_SECONDS = 0.15

# Held while PortAudio restarts and while its devices are listed: a query during a restart reads freed memory.
_lock = threading.Lock()
# A restart ends every stream, so PortAudio is not restarted while streams are open or being opened.
_open_streams: set[int] = set()


def load_portaudio() -> Any:
    """Return the module ``sounddevice``. Raise ``NoAudioDevice`` if the PortAudio library is missing."""
    try:
        import sounddevice  # noqa: PLC0415 -- needs a system library
    except OSError as error:  # what sounddevice raises without the library
        raise NoAudioDevice(
            "Playback is not possible: the PortAudio library is missing.",
            remedy="Install it (Debian, Ubuntu: apt-get install libportaudio2), or write to a file instead.",
        ) from error
    return sounddevice


def device_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the output or input devices. Without PortAudio there are none."""
    try:
        sounddevice = load_portaudio()
    except NoAudioDevice:
        return ()
    with _lock:
        return tuple(_indices(sounddevice, kind))


def device_index(kind: Kind, name: str) -> int:
    """Return PortAudio's index of a device listed by ``device_names``. Raise ``NoAudioDevice`` if it is disconnected.

    The index is valid until PortAudio restarts, which a ``RunningStream`` prevents from the time it is being opened.
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
    """Running PortAudio stream. PortAudio does not restart while one exists."""

    sample_rate: int

    def __init__(
        self, kind: Kind, device: str | None, rates: Sequence[int], callback: Callable[..., None], buffer_seconds: float
    ) -> None:
        """Open ``device``, or the system default for None, in mono and at one of ``rates`` if it supports that.

        Raise ``NoAudioDevice``, and ``sounddevice.PortAudioError``.
        """
        # PortAudio frees a stream when it is closed; a query after that crashes.
        self._closing = threading.Lock()
        sounddevice = load_portaudio()
        with _lock:
            _open_streams.add(id(self))
        try:
            index = None if device is None else device_index(kind, device)
            self.sample_rate, num_channels = _supported_settings(sounddevice, kind, index, rates)
            self._stream = getattr(sounddevice, f"{kind.title()}Stream")(
                device=index,
                samplerate=self.sample_rate,
                channels=num_channels,
                dtype="float32",
                latency=buffer_seconds,
                callback=callback,
            )
            self._stream.start()
        except BaseException:
            self._unregister()
            raise

    @property
    def latency_seconds(self) -> float:
        return float(self._stream.latency)

    @property
    def is_running(self) -> bool:
        """False once the device is disconnected."""
        with self._closing:
            return not self._stream.closed and bool(self._stream.active)

    def close(self) -> None:
        with self._closing:
            if not self._stream.closed:
                self._stream.abort(ignore_errors=True)
                self._stream.close(ignore_errors=True)
        self._unregister()

    def _unregister(self) -> None:
        with _lock:
            _open_streams.discard(id(self))


def rescan_devices() -> bool:
    """Restart PortAudio to update the list of devices. Return False if a stream is open. May take half a second."""
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


def _supported_settings(sounddevice: Any, kind: Kind, device: int | None, rates: Sequence[int]) -> tuple[int, int]:
    """Return the sample rate and the number of channels. Some devices support only their own rate, or only stereo."""
    own_rate = round(sounddevice.query_devices(device, kind)["default_samplerate"])
    check = getattr(sounddevice, f"check_{kind}_settings")
    for rate, num_channels in itertools.product((*rates, own_rate), (1, 2)):
        try:
            check(device=device, samplerate=rate, channels=num_channels, dtype="float32")
        except sounddevice.PortAudioError as error:
            _log.debug("%d Hz with %d channels is not supported: %s", rate, num_channels, error)
        else:
            return rate, num_channels
    return own_rate, 1  # opening the stream raises an error with the reason


def _indices(sounddevice: Any, kind: Kind) -> dict[str, int]:
    """Return device indices by name. If several host APIs list a device, its name includes the host API."""
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
