"""Whether a line would still be spoken in the voice its take was spoken in.

Decided: a voice is known by its clip and its transcript, not by its name. Because a renamed voice sounds
as before, and a mended transcript or a replaced clip does not. A voice that is not in the library here
(a script from another computer) can only be judged by its name.
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
    """Everything of ``voice`` that decides what is heard, as 32 letters."""
    # Voices that come with the program have no hash, and cannot be renamed.
    parts = [voice.sha256 or voice.name, bool(voice.sha256), voice.transcript or None]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).hexdigest()[:_KEY_LETTERS]


def keys_of(voices: Iterable[Voice]) -> VoiceKeys:
    """For ``voice_matches``: upper and lower case of names are the same, as in the library."""
    return {name_key(voice.name): voice_key(voice) for voice in voices}


def voice_matches(line: Line, recipe: TakeParameters, keys: VoiceKeys) -> bool:
    """Whether ``line`` asks for the voice of ``recipe``, as far as the voices of ``keys`` are known."""
    name = name_key(line.voice or "")
    now = keys.get(name)
    if now is None or not recipe.voice_key:
        return name == name_key(recipe.voice_name)
    return now == recipe.voice_key
