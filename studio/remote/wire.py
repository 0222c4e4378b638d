"""The dialect of `timbre serve` for other copies of this program: paths, request bodies, and the stream of events.

A stream consists of frames: the lengths of a JSON object and of the audio that follows it (two big-endian 32-bit
numbers), the object, and float32 samples (little-endian). The object names the event (a class of
``studio.worker.protocol``) and contains its fields. The last frame is the event that ends the request; a stream without
it is incomplete. An empty object keeps a silent connection open.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from studio.pipeline.request import AudioChunk, ConversionRequest, SynthesisRequest, VoiceReference
from studio.storage.json_input import parse_json
from studio.storage.records import decode_fields, encode
from studio.worker import protocol
from studio.worker.protocol import Event

API_VERSION = 1
ENGINE_PATH = "/v1/engine"
SPEECH_PATH = "/v1/engine/speech"
TEXT_PATH = "/v1/engine/text"
OLD_TEXTS_PATH = "/v1/engine/texts"  # of an earlier version
CONVERSION_PATH = "/v1/engine/conversions"
PREPARATION_PATH = "/v1/engine/preparations"
SPELLING_PATH = "/v1/engine/spellings"
VOICES_PATH = "/v1/engine/voices"
EVENTS_TYPE = "application/x-timbre-events"
# An idle stream carries a frame at least this often.
HEARTBEAT_SECONDS = 5.0
HEARTBEAT = struct.pack(">II", 2, 0) + b"{}"
# Files of a model folder from which its generation, styles and licence are known. The first is a pattern.
DESCRIPTION_FILES = ("cosyvoice*.yaml", "styles.json")

_LENGTHS = struct.Struct(">II")
_MAX_JSON_BYTES = 16 << 20
_MAX_AUDIO_BYTES = 64 << 20
_ANY_ID = 0
_EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        protocol.Progress,
        protocol.PlaybackStartEstimate,
        protocol.VoiceReady,
        protocol.Finished,
        protocol.Failed,
        protocol.Cancelled,
    )
}
_AUDIO = protocol.AudioReady.__name__


def voice_body(voice: VoiceReference, sha256: str) -> dict[str, Any]:
    """Return the JSON form of ``voice``, whose file has the hash ``sha256``."""
    return {"sha256": sha256, "transcript": voice.transcript, "name": voice.name}


def speech_body(request: SynthesisRequest, sha256: str) -> dict[str, Any]:
    """Return the JSON form of ``request``, except for options of benchmarks."""
    values: dict[str, Any] = {
        field.name: encode(getattr(request, field.name))
        for field in fields(request)
        if field.name not in ("voice", "forced_tokens")
    }
    return values | {"voice": voice_body(request.voice, sha256)}


def conversion_body(request: ConversionRequest, sha256: str) -> dict[str, Any]:
    """Return the JSON form of ``request`` without its recording."""
    values = {name: encode(getattr(request, name)) for name in ("speed", "seed", "is_streaming", "quality")}
    return values | {"voice": voice_body(request.voice, sha256)}


def encode_event(event: Event, at_seconds: float = 0.0) -> bytes:
    """Return the frame of an event that happened ``at_seconds`` after the request arrived.

    Its request id is left out, because a stream has one request.
    """
    name = type(event).__name__
    if isinstance(event, protocol.AudioReady):
        chunk = event.chunk
        values = {
            "event": name,
            "sample_rate": chunk.sample_rate,
            "sentence_index": chunk.sentence_index,
            "num_sentences": chunk.num_sentences,
            "at_seconds": at_seconds,
        }
        return _frame(values, chunk.samples.astype("<f4").tobytes())
    values = {field.name: encode(getattr(event, field.name)) for field in fields(event) if field.name != "request_id"}
    return _frame({"event": name, **values}, b"")


def _frame(values: dict[str, Any], audio: bytes) -> bytes:
    content = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    return _LENGTHS.pack(len(content), len(audio)) + content + audio


class EventReader:
    """Turns the bytes of a stream into events with the id ``request_id``. ``feed`` raises ``ValueError``.

    ``at_seconds`` is the other computer's time of the last audio since the request arrived there; None if it is unknown.
    """

    def __init__(self, request_id: int = _ANY_ID) -> None:
        self.at_seconds: float | None = None
        self._request_id = request_id
        self._buffer = bytearray()

    def feed(self, block: bytes) -> Iterator[Event]:
        """Yield the events that ``block`` completes."""
        self._buffer += block
        while len(self._buffer) >= _LENGTHS.size:
            num_json, num_audio = _LENGTHS.unpack_from(self._buffer)
            if num_json > _MAX_JSON_BYTES or num_audio > _MAX_AUDIO_BYTES or num_audio % 4:
                raise ValueError("a frame of an invalid length")
            end = _LENGTHS.size + num_json + num_audio
            if len(self._buffer) < end:
                return
            content = bytes(self._buffer[_LENGTHS.size : _LENGTHS.size + num_json])
            audio = bytes(self._buffer[_LENGTHS.size + num_json : end])
            del self._buffer[:end]
            event = self._event(parse_json(content), audio)
            if event is not None:
                yield event

    def _event(self, values: Any, audio: bytes) -> Event | None:
        if not isinstance(values, dict):
            raise ValueError("a frame without an object")  # noqa: TRY004 - input, not a bug
        name = values.get("event")
        if name == _AUDIO:
            samples = np.frombuffer(audio, "<f4").astype(np.float32)
            at_seconds = values.get("at_seconds")
            self.at_seconds = float(at_seconds) if isinstance(at_seconds, int | float) else None
            return protocol.AudioReady(self._request_id, decode_fields(AudioChunk, values, samples=samples))
        kind = _EVENTS.get(str(name))
        # Events of a later version are ignored, and so are heartbeats.
        return None if kind is None else decode_fields(kind, values, request_id=self._request_id)
