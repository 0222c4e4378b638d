"""Whether a take still says what its line says.

Decided: the seed is no part of it. Because every take is a fair reading of its line, and which one is
right is told by ear; ten takes with ten seeds are all fresh. Pauses, locks and file names are not heard
in a take either. The voice is compared by itself (``voice_keys.py``): a line knows only its name.
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
    """Everything of ``line`` that decides what is heard, beside the voice, as 32 letters.

    Entries of ``dictionary`` count only where the line uses them.
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
