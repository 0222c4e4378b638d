"""Comparison of the voice of a line with that of its take.

Decision: a voice is identified by its clip and transcript, not its name. Reason: renaming a voice does not change its
audio, but correcting the transcript or replacing the clip does. A voice that is not in the library, as in a script from
another computer, is compared by name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from studio.project.lines import Line
from studio.project.takes import TakeParameters
from studio.voices.voice import Voice, name_key

VoiceKeys = Mapping[str, str]
_KEY_LETTERS = 32


def voice_key(voice: Voice) -> str:
    """Return a hash of everything in ``voice`` that affects the audio, as 32 hexadecimal digits."""
    # Bundled voices have no hash, and cannot be renamed.
    parts = [voice.sha256 or voice.name, bool(voice.sha256), voice.transcript or None]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).hexdigest()[:_KEY_LETTERS]


def keys_of(voices: Iterable[Voice]) -> VoiceKeys:
    """Return the keys of ``voices`` by case-insensitive name, as in the library."""
    return {name_key(voice.name): voice_key(voice) for voice in voices}


def voice_matches(line: Line, parameters: TakeParameters, keys: VoiceKeys) -> bool:
    """Whether ``line`` has the voice of ``parameters``, given the ``keys`` of the library."""
    name = name_key(line.voice or "")
    current = keys.get(name)
    if current is None or not parameters.voice_key:
        return name == name_key(parameters.voice_name)
    return current == parameters.voice_key
