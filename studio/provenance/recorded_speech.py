"""What a manifest says about speech, read back, and compared with the same lines spoken again.

Manifests are untrusted: their values are checked before anything is spoken with them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from studio.audio.edits import AudioEdits
from studio.audio.encoding import ENCODINGS
from studio.audio.files import open_encoder
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.audio.waveform import Waveform
from studio.pipeline.request import SentenceEvidence, SynthesisRequest, VoiceReference
from studio.provenance.mark import Marker
from studio.provenance.mark_code import is_code
from studio.provenance.statement import MARKED, SpokenLine, Statement, hash_audio, hash_text, hash_tokens
from studio.storage.records import decode_fields

# Other settings are not repeated, such as the number of tokens of a benchmark.
_REPEATED = frozenset(
    {
        "instruct",
        "preset",
        "speed",
        "is_streaming",
        "text_is_normalized",
        "language",
        "sampling",
        "is_played",
        "trims_leading_silence",
        "quality",
    }
)
_MAX_GAIN_DB = 100.0
# Processors round the mark differently: two steps of 16 bits.
_MARK_TOLERANCE = 2**-14
_LOSSLESS = ("WAV", "FLAC")


class Match(Enum):
    """How a line that was spoken again compares with the line in a manifest. The values are in the JSON output."""

    IDENTICAL = "identical"
    SAME_TOKENS = "same-tokens"  # the same speech, computed with other rounding
    DIFFERENT = "different"
    NOT_COMPARED = "not-compared"


def read_speech(speech: Mapping[str, Any]) -> Statement | None:
    """Return the statement of a manifest of this program, or None if it does not have the expected form."""
    try:
        lines = tuple(_line(each) for each in speech.get("lines") or ())
        plain = {name: value for name, value in speech.items() if name not in ("lines", "source", "is_edit")}
        return decode_fields(Statement, plain, lines=lines)
    except (ValueError, TypeError, AttributeError):
        return None


def _line(values: Mapping[str, Any]) -> SpokenLine:
    given = {name: dict(values.get(name) or {}) for name in ("settings", "edits")}
    return decode_fields(SpokenLine, values, **given)


def repeated_request(line: SpokenLine, text: str, voice: VoiceReference) -> SynthesisRequest | None:
    """Return the request that speaks ``line`` again, or None if its settings cannot be repeated."""
    if line.recording or not set(line.settings) <= _REPEATED:
        return None
    try:
        request = decode_fields(SynthesisRequest, dict(line.settings), text=text, voice=voice, seed=line.seed)
    except ValueError:
        return None
    return request if MIN_SPEED <= request.speed <= MAX_SPEED and 0 <= line.seed < 2**63 else None


def repeated_edits(line: SpokenLine) -> AudioEdits | None:
    """Return the edits of the take of ``line``, or None if they cannot be repeated."""
    values = {**asdict(AudioEdits()), **line.edits}
    if len(values) != len(fields(AudioEdits)) or not all(type(value) in (int, float) for value in values.values()):
        return None
    gain_db, speed = values.pop("gain_db"), values.pop("speed")
    if not (
        MIN_SPEED <= speed <= MAX_SPEED and abs(gain_db) < _MAX_GAIN_DB and all(each >= 0 for each in values.values())
    ):
        return None
    return AudioEdits(**values, gain_db=gain_db, speed=speed)


def compare(line: SpokenLine, take: Waveform, evidence: Sequence[SentenceEvidence]) -> Match:
    """Compare ``line`` with the same line as it was spoken and edited now."""
    if line.audio_sha256 == hash_audio(take.samples):
        return Match.IDENTICAL
    if line.tokens_sha256 and line.tokens_sha256 == hash_tokens(evidence):
        return Match.SAME_TOKENS
    return Match.DIFFERENT


def texts_by_hash(texts: Iterable[str]) -> dict[str, str]:
    """Return each of ``texts``, with its paragraphs and lines, by ``hash_text``."""
    pieces = [piece for text in texts for piece in (text, *text.split("\n\n"), *text.splitlines())]
    return {hash_text(piece): piece.strip() for piece in pieces}


def contains_take(path: Path, take: Waveform, edits: Sequence[str] = (), mark_code: str = "") -> bool | None:
    """Return whether the audio of a file is exactly ``take`` after ``edits``, of which a mark contains ``mark_code``.

    Return None if these cannot be repeated, or the file has another rate or loses precision.
    """
    wanted, tolerance = take.samples, 0.0
    if edits == (MARKED,) and (not mark_code or is_code(mark_code)):
        wanted, tolerance = Marker(take.sample_rate, code=mark_code)(wanted), _MARK_TOLERANCE
    elif edits:
        return None
    try:
        with soundfile.SoundFile(path) as file:
            kind = (file.format, file.subtype)
            encoding = next((each for each in ENCODINGS.values() if (each.file_format, each.subtype) == kind), None)
            if encoding is None or file.format not in _LOSSLESS or file.samplerate != take.sample_rate:
                return None
            samples = file.read(dtype="float32")
    except soundfile.LibsndfileError:
        return None
    written = io.BytesIO()
    with open_encoder(written, encoding, take.sample_rate) as sound:
        sound.write(np.clip(wanted, -1.0, 1.0))
    written.seek(0)
    expected = soundfile.read(written, dtype="float32")[0]
    return samples.shape == expected.shape and np.allclose(samples, expected, rtol=0.0, atol=tolerance)
