"""Hash of the content of a line, to detect takes that no longer match it.

Decision: the seed is not included. Reason: every take is a valid reading of its line, and the user chooses by
listening. Pauses, locks and file names do not affect the audio either. Voices are compared separately
(``voice_keys.py``), as a line has only their names.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple

from studio.model.config import SamplingOptions
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line

_VERSION = 2
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
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).hexdigest()[:32]
