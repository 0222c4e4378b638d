"""Hashes of a line and of a voice, to detect takes that no longer match their line.

Decision: the hash of a line does not include the seed. Reason: every take is a valid reading of its line, and the user
chooses by listening. Pauses, locks and file names do not affect the audio either.

Decision: the hash does not include the quality. Reason: a draft is marked, and becomes final with the same reading.

Decision: a voice is identified by its clip and transcript, not by its name. Reason: renaming a voice does not change
the audio, but correcting the transcript or replacing the clip does. If the library does not contain a voice, for
example because the script comes from another computer, it is compared by name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple

from studio.model.options import SamplingOptions
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line
from studio.project.takes import TakeParameters
from studio.voices.voice import Voice, name_key

VoiceKeys = Mapping[str, str]

_VERSION = 2
_KEY_LETTERS = 32
_PLAIN_SAMPLING = SamplingOptions()


def fingerprint(line: Line, dictionary: PronunciationDictionary) -> str:
    """Return a hash of everything in ``line`` that affects its audio, except the voice, as 32 hexadecimal digits.

    The hash includes only the entries of ``dictionary`` that apply to the line.
    """
    text = line.text.strip()
    sampling = None if line.sampling in (None, _PLAIN_SAMPLING) else astuple(line.sampling)
    parts = [
        _VERSION,
        dictionary.compile(text, speaks_phones=True),
        dictionary.compile(text, speaks_phones=False),
        line.style.preset or None,
        line.style.instruct or None,
        float(line.speed),
        sampling,
        *([line.language] if line.language else ()),  # so that hashes of earlier versions remain valid
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).hexdigest()[:_KEY_LETTERS]


def voice_key(voice: Voice) -> str:
    """Return a hash of everything in ``voice`` that affects the audio, as 32 hexadecimal digits."""
    # Bundled voices have no hash. Renaming them does not change their key.
    parts = [voice.sha256 or voice.bundled_name or voice.name, bool(voice.sha256), voice.transcript or None]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).hexdigest()[:_KEY_LETTERS]


def map_voice_keys(voices: Iterable[Voice]) -> VoiceKeys:
    """Return the keys of ``voices`` by the ``name_key`` of each of their names."""
    keys: dict[str, str] = {}
    for voice in voices:
        for name in (voice.name, voice.bundled_name):
            if name:
                keys.setdefault(name_key(name), voice_key(voice))
    return keys


def voice_matches(line: Line, parameters: TakeParameters, keys: VoiceKeys) -> bool:
    """Return whether ``line`` has the same voice as ``parameters``.

    ``keys`` are the keys of the voices in the library.
    """
    name = name_key(line.voice or "")
    current = keys.get(name)
    if current is None or not parameters.voice_key:
        return name == name_key(parameters.voice_name)
    return current == parameters.voice_key
