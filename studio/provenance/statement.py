"""What a signed manifest says about speech, and its form in C2PA. Texts and audio appear only as hashes."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import studio
from studio.audio.edits import AudioEdits
from studio.audio.resampling import Samples
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    Mode,
    SentenceEvidence,
    SynthesisReport,
    SynthesisRequest,
)
from studio.storage.disk import require_regular_file
from studio.storage.records import encode

SPEECH_LABEL = "timbre-studio.speech"
_ACTIONS_LABEL = "c2pa.actions.v2"
MARKED = "marked"  # the edit that adds the imperceptible mark
_ACTIONS = {MARKED: "c2pa.watermarked.unbound"}  # the others are plain edits
SYNTHETIC = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
UNCHANGED, REPLACED_WORDS = "unchanged", "words replaced"  # values of ``SpokenLine.recording``
# For files that contain human recordings.
PARTLY_SYNTHETIC = "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
_FULL_SCALE = 32_767
# The other fields of a request are the settings of a line. Tokens of an earlier take contain the text.
_NO_SETTINGS = ("text", "voice", "seed", "known_tokens", "is_divided")


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """How one line of a file was spoken. Unknown values are empty.

    Attributes:
        text_sha256, voice_sha256, transcript_sha256: Hashes of the text, and of the recording of the voice with its
            transcript, if that was used.
        settings: The fields of the ``SynthesisRequest`` that differ from their defaults.
        edits: The fields of the ``AudioEdits`` of the take that differ from their defaults.
        verdict: The verdict of the check of the take.
        audio_sha256: The hash of the take in 16 bits (``AudioHash``), after these edits.
        tokens_sha256: The hash of its speech tokens.
        consent: What is recorded of the consent to the voice, or a hash of it.
        recording: ``UNCHANGED`` or ``REPLACED_WORDS`` for a human recording, otherwise empty.
    """

    text_sha256: str
    voice: str
    seed: int
    voice_sha256: str = ""
    transcript_sha256: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    edits: Mapping[str, float] = field(default_factory=dict)
    verdict: str = ""
    audio_sha256: str = ""
    tokens_sha256: str = ""
    consent: str = ""
    recording: str = ""

    def edited(self, edits: AudioEdits) -> SpokenLine:
        """Return the line after ``edits`` of its take."""
        changes = {name: value for name, value in asdict(edits).items() if value != getattr(AudioEdits(), name)}
        return replace(self, edits=changes)


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said about one file.

    Attributes:
        model, licence: The name of the model, and its licence.
        engine: The engine of each stage, if it is the same for all lines.
        edits: What was done with the speech, such as ``joined`` or ``mastered``.
        mark_code: The code of the mark, if it has one.
        source: The recording that was converted or edited. Its own manifest is kept as an ingredient.
        is_edit: Whether the file is ``source`` itself after its last edit, instead of speech made from it.
    """

    model: str
    licence: str = ""
    lines: tuple[SpokenLine, ...] = ()
    engine: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[str, ...] = ()
    mark_code: str = ""
    source: Path | None = None
    is_edit: bool = False

    def completed(
        self, report: SynthesisReport, description: EngineDescription, *, licence: str, audio_sha256: str
    ) -> Statement:
        """Return the statement about one line with what is known after it was spoken."""
        (line,) = self.lines
        line = replace(line, audio_sha256=audio_sha256, tokens_sha256=hash_tokens(report.evidence))
        engine = {"device": description.device, **report.engine}
        return replace(self, model=description.model_name, licence=licence, engine=engine, lines=(line,))

    def manifest(self, title: str) -> dict[str, Any]:
        """Return the manifest of a file in the form that ``c2pa.Builder`` takes."""
        program = {"name": "Timbre Studio", "version": studio.__version__}
        made = datetime.now(UTC).isoformat(timespec="seconds")
        kind = PARTLY_SYNTHETIC if any(line.recording for line in self.lines) else SYNTHETIC
        first: dict[str, Any] = {"when": made, "softwareAgent": program, "digitalSourceType": kind}
        if self.source is None:
            actions = [{"action": "c2pa.created", **first}]
        else:
            opened = {"action": "c2pa.opened", "parameters": {"ingredientIds": [INGREDIENT]}}
            actions = [opened] if self.is_edit else [opened, {"action": "c2pa.converted", **first}]
        edits = self.edits[-1:] if self.is_edit else self.edits
        actions += [
            {"action": _ACTIONS.get(edit, "c2pa.edited"), "softwareAgent": program, "description": edit}
            for edit in edits
        ]
        speech = {
            "model": self.model,
            "licence": self.licence,
            "made": made,
            "engine": dict(self.engine),
            "edits": list(self.edits),
            "mark_code": self.mark_code,
            "lines": [_without_empty(asdict(line)) for line in self.lines],
        }
        assertions = [{"label": _ACTIONS_LABEL, "data": {"actions": actions}}]
        if self.model or not self.is_edit:
            assertions.append({"label": SPEECH_LABEL, "data": _without_empty(speech)})
        return {"claim_generator_info": [program], "title": title, "assertions": assertions}


# The name of the converted recording within its manifest.
INGREDIENT = "recording"


def spoken_line(request: SynthesisRequest, *, seed: int | None = None) -> SpokenLine:
    """Describe the take of ``request`` with ``seed``, by default that of the request."""
    defaults = {each.name: each.default for each in fields(request)}
    transcript = request.voice.transcript if request.mode is Mode.ZERO_SHOT else None
    settings = {
        name: value
        for name, value in encode(request).items()
        if name not in _NO_SETTINGS and value != encode(defaults[name])
    }
    return SpokenLine(
        hash_text(request.text),
        request.voice.name,
        request.seed if seed is None else seed,
        hash_file(request.voice.clip),
        hash_text(transcript) if transcript else "",
        settings,
        recording="" if request.is_divided else REPLACED_WORDS,
    )


def spoken_statement(request: SynthesisRequest | ConversionRequest) -> Statement:
    """Return what is known about the speech of ``request`` before it is spoken."""
    if isinstance(request, SynthesisRequest):
        return Statement("", lines=(spoken_line(request),))
    line = SpokenLine(hash_text(""), request.voice.name, request.seed, hash_file(request.voice.clip))
    return Statement("", lines=(line,), source=request.source)


def hash_text(text: str) -> str:
    return _sha256(unicodedata.normalize("NFC", text).strip().encode("utf-8", "surrogatepass"))


class AudioHash:
    """The hash of samples in 16 bits, which may arrive in pieces."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, samples: Samples) -> None:
        self._hash.update(np.rint(np.clip(samples, -1.0, 1.0) * _FULL_SCALE).astype("<i2").tobytes())

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def hash_audio(samples: Samples) -> str:
    whole = AudioHash()
    whole.add(samples)
    return whole.hexdigest()


def hash_tokens(evidence: Iterable[SentenceEvidence]) -> str:
    """Return the hash of the speech tokens of all sentences, empty if the worker did not report them."""
    tokens = [each.speech_tokens for each in evidence]
    return _sha256(repr(tokens).encode()) if any(tokens) else ""


def hash_file(path: Path) -> str:
    """Return the hash of a file, empty if it cannot be read."""
    try:
        require_regular_file(path)
        found = path.stat()
        return _cached_hash(path, found.st_size, found.st_mtime_ns)
    except OSError:
        return ""


@lru_cache(maxsize=64)
def _cached_hash(path: Path, _num_bytes: int, _modified_ns: int) -> str:
    return _sha256(path.read_bytes())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", {}, [], None)}
