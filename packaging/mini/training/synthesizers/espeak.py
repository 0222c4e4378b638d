"""eSpeak NG in this process, with any variant and accent, and the times of its phones.

The library has one state per process, so use one ``Espeak`` at a time, on one thread.
"""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache

import numpy as np

from training.corpus.utterance import CorpusFailed
from training.synthesizers.phones import Timed, of_ipa
from training.synthesizers.spoken import Spoken, segments_of, with_closures

USUAL_WORDS_PER_MINUTE = 168.0
USUAL_PITCH_RANGE = 50
_MIN_WORDS_PER_MINUTE, _MAX_WORDS_PER_MINUTE = 80, 450
_VOLUME = 70  # some variants clip at 100

# Constants of its C interface, speak_lib.h.
_SYNCHRONOUS = 2
_PHONEME_EVENTS, _IN_IPA = 0x1, 0x2
_LIST_ENDS, _PHONEME = 0, 7
_RATE, _LOUDNESS, _PITCH, _RANGE = 1, 2, 3, 4
_UTF_8 = 1
_BUFFER_MILLISECONDS = 200
_PITCH_DOUBLES_OVER = 50
_SHARE_THAT_FOLLOWS_PITCH = 0.62  # share of F0 that depends on the setting; the rest is the pitch range of the voice


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("name", ctypes.c_char * 8),
    )


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Event))


class Espeak:
    """``say`` returns audio and labels. :func:`espeak` returns the instance of this process."""

    def __init__(self) -> None:
        """Raise ``CorpusFailed`` if the library is not installed."""
        try:
            import espeakng_loader  # noqa: PLC0415 - only who makes speech needs it
        except ImportError:
            raise CorpusFailed("eSpeak NG is missing. Install it: pip install espeakng-loader") from None
        self._library = ctypes.CDLL(str(espeakng_loader.get_library_path()))
        data = str(espeakng_loader.get_data_path())
        folder = data.removesuffix("/espeak-ng-data").encode()
        self.sample_rate = int(
            self._library.espeak_Initialize(_SYNCHRONOUS, _BUFFER_MILLISECONDS, folder, _PHONEME_EVENTS | _IN_IPA)
        )
        if self.sample_rate <= 0:
            raise CorpusFailed(f"eSpeak NG did not find its data in {data}. Install espeakng-loader again.")
        self._sound: list[bytes] = []
        self._phones: list[tuple[str, int]] = []
        self._callback = _CALLBACK(self._on_sound)  # must stay referenced, because the library does not own it
        self._library.espeak_SetSynthCallback(self._callback)
        self._voice = ""

    def say(
        self, text: str, *, voice: str, accent: str, pitch: int, pitch_range: int, words_per_minute: float
    ) -> Spoken:
        """Raise ``CorpusFailed`` for an unknown voice, and ``UnknownPhone`` for a phone outside the inventory."""
        full_name = f"{accent}+{voice}" if voice else accent
        if full_name != self._voice:
            if self._library.espeak_SetVoiceByName(full_name.encode()) != 0:
                raise CorpusFailed(f"eSpeak NG has no voice {full_name}. Choose one of its variants and languages.")
            self._voice = full_name
        rate = round(min(_MAX_WORDS_PER_MINUTE, max(_MIN_WORDS_PER_MINUTE, words_per_minute)))
        for parameter, value in ((_RATE, rate), (_LOUDNESS, _VOLUME), (_PITCH, pitch), (_RANGE, pitch_range)):
            self._library.espeak_SetParameter(parameter, value, 0)
        self._sound.clear()
        self._phones.clear()
        encoded = text.encode()
        self._library.espeak_Synth(encoded, len(encoded) + 1, 0, 1, 0, _UTF_8, None, None)
        samples = np.frombuffer(b"".join(self._sound), np.int16).astype(np.float32) / np.float32(32_768)
        seconds = len(samples) / self.sample_rate
        phones: list[tuple[Timed, float]] = [
            (_labels(name, accent), min(seconds, start / self.sample_rate)) for name, start in self._phones
        ]
        return with_closures(Spoken(samples, self.sample_rate, segments_of(phones, seconds)))

    def _on_sound(self, sound: int | None, num_samples: int, events: ctypes._Pointer[_Event]) -> int:
        if sound and num_samples > 0:
            self._sound.append(ctypes.string_at(sound, 2 * num_samples))
        number = 0
        while events[number].type != _LIST_ENDS:
            event = events[number]
            if event.type == _PHONEME:
                self._phones.append((event.name.decode("utf-8", "ignore"), event.sample))
            number += 1
        return 0


@lru_cache(maxsize=1)
def espeak() -> Espeak:
    """Return the eSpeak instance of this process."""
    return Espeak()


def shifted_pitch(pitch: int, f0_factor: float) -> int:
    """Return the pitch setting for an F0 about ``f0_factor`` times that of ``pitch``."""
    factor = 1.0 + (f0_factor - 1.0) / _SHARE_THAT_FOLLOWS_PITCH
    return max(0, min(100, round(pitch + _PITCH_DOUBLES_OVER * math.log2(factor))))


@lru_cache(maxsize=4096)
def _labels(name: str, accent: str) -> Timed:
    return of_ipa(name, accent)
