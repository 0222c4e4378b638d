"""PortAudio: loaded on demand, and started again to see what was plugged in meanwhile.

A machine without the library, or without a sound card, is a normal machine.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Literal

from studio.errors import NoAudioDevice

_log = logging.getLogger(__name__)

Kind = Literal["output", "input"]
# Starting PortAudio again ends every stream there is, so whoever has one open is counted.
_opening = threading.Lock()
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
        return tuple(_indices(sounddevice, kind))
    except NoAudioDevice:
        return ()


def device_index(kind: Kind, name: str) -> int:
    """Of the device called that by ``device_names``. Raises ``NoAudioDevice`` when it is gone."""
    index = _indices(load_portaudio(), kind).get(name)
    if index is None:
        raise NoAudioDevice(
            f"The sound device {name} is not connected.", remedy="Connect it, or choose another in the settings."
        )
    return index


def stream_opened(stream: object) -> None:
    with _opening:
        _open_streams.add(id(stream))


def stream_closed(stream: object) -> None:
    with _opening:
        _open_streams.discard(id(stream))


def look_for_devices_again() -> bool:
    """False, and nothing done, while a stream is open. May take half a second."""
    try:
        sounddevice = load_portaudio()
    except NoAudioDevice:
        return False
    with _opening:
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
