"""A speech server of another program, with OpenAI's speech API, as a worker.

Such a server has its own voices and its own model. It has no seeds, no styles of this program, no prompt states, no
conversion of recordings and no evidence for the checks of takes; requests that need them fail with ``NotOnServer``.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import soxr

from studio.errors import NoSpeechMade, NotOnServer
from studio.messages import wording
from studio.pipeline.request import (
    AudioChunk,
    EngineDescription,
    Mode,
    SynthesisReport,
    SynthesisRequest,
    VoiceSummary,
)
from studio.remote.address import ServerAddress, descriptions_folder
from studio.remote.line_attempts import line_lost
from studio.remote.remote_worker import RemoteWorker
from studio.worker import protocol
from studio.worker.protocol import Event

if TYPE_CHECKING:
    import httpx2

    from studio.remote.connection import Connection

SPEECH_PATH = "/v1/audio/speech"
MODELS_PATH = "/v1/models"
VOICES_PATH = "/v1/audio/voices"
# The form of ``pcm`` in OpenAI's API: 16 bits, mono.
SAMPLE_RATE = 24_000
OTHER_GENERATION = "other"
_SILENCE_SECONDS = 300.0  # a server that does not stream answers when the whole speech exists
_WAV = b"RIFF"
_MAX_HEADER_BYTES = 4096
_PCM_FORMATS = (1, 0xFFFE)  # integers, and the extensible form, whose first fields are the same
_STATED_RATE = re.compile(r"\brate=\"?(\d+)")
_RATES = range(8_000, 192_001)


class OpenAiWorker(RemoteWorker):
    """The server at ``server``, whose ``model`` and ``voice`` speak."""

    async def _answer(self, command: protocol.RequestCommand) -> Event:
        match command:
            case protocol.Load(request_id):
                await self._disconnect()  # the token may have changed
                await self._ask("GET", MODELS_PATH)
                return protocol.Ready(request_id, describe(self._server))
            case protocol.Synthesize(request_id, request):
                return await self._speak(request_id, request)
            case protocol.PrepareVoice(request_id, voice):
                return protocol.VoiceReady(request_id, VoiceSummary(voice.name, 0.0, 0, 0))
            case protocol.NormalizeText(request_id, text):
                return protocol.NormalizedText(request_id, text)
        raise self._impossible()

    def _impossible(self) -> NotOnServer:
        return NotOnServer(
            "{host} has neither styles of this program nor conversion of recordings.",
            remedy="Describe the style in your own words, or use a model of this computer.",
            host=self._server.host,
        )

    async def _speak(self, request_id: int, request: SynthesisRequest) -> Event:
        import httpx2  # noqa: PLC0415 - slow to import

        if request.preset is not None:
            raise self._impossible()
        connection, began = self._connect(), time.perf_counter()
        first, num_samples = None, 0
        try:
            async with connection.stream(SPEECH_PATH, json=_body(request, self._server)) as answer:
                async for samples in _samples(answer, connection):
                    first = time.perf_counter() - began if first is None else first
                    num_samples += len(samples)
                    self._events.put(protocol.AudioReady(request_id, AudioChunk(samples, SAMPLE_RATE)))
        except httpx2.TransportError as error:
            if num_samples:
                raise line_lost(self._server.host, wording("closed the connection")) from error
            raise connection.unreachable(error) from error
        if first is None:
            raise NoSpeechMade("{host} sent no audio.", remedy="Try again.", host=self._server.host)
        report = SynthesisReport(
            first_audio_seconds=first,
            audio_seconds=num_samples / SAMPLE_RATE,
            total_seconds=time.perf_counter() - began,
            sample_rate=SAMPLE_RATE,
            mode=Mode.INSTRUCT if request.instruct else Mode.SPEAKER,
            num_speech_tokens=0,
            stages={},
            engine={},
            spoken_text=(request.text,),
        )
        return protocol.Finished(request_id, report)


def describe(server: ServerAddress) -> EngineDescription:
    """Return the description of the server's model. Its folder does not exist."""
    folder = descriptions_folder(server.url) / "".join(c if c.isalnum() or c in "-_." else "_" for c in server.model)
    return EngineDescription(
        model_name=server.model,
        generation=OTHER_GENERATION,
        folder=str(folder),
        sample_rate=SAMPLE_RATE,
        device="",
        stages={},
    )


def _body(request: SynthesisRequest, server: ServerAddress) -> dict[str, Any]:
    """Return the request. A voice of the server with the name of the line's voice speaks; otherwise ``server.voice``."""
    own = {name.casefold(): name for name in server.voices}
    body = {
        "model": server.model,
        "input": request.text,
        "voice": own.get(request.voice.name.casefold(), server.voice),
        "response_format": "pcm",
        "speed": request.speed,
    }
    return body | ({"instructions": request.instruct} if request.instruct else {})


async def _samples(answer: httpx2.Response, connection: Connection) -> AsyncIterator[np.ndarray]:
    """Yield the samples, as float32 at ``SAMPLE_RATE``, of raw 16-bit audio or of a WAV file.

    Raw audio is at ``SAMPLE_RATE`` unless the answer names another rate. Raise ``UnknownService``, ``NotOnServer``.
    """
    if not answer.headers.get("content-type", "").startswith(("audio/", "application/octet-stream")):
        raise connection.unknown_answer()
    rest = b""
    resampler: soxr.ResampleStream | None = None
    is_started = False
    async for block in answer.aiter_bytes():
        rest += block
        if not is_started:
            if len(rest) < _MAX_HEADER_BYTES and not _has_form(rest):
                continue
            rate, start = _form(rest, answer.headers, connection)
            rest, is_started = rest[start:], True
            if rate != SAMPLE_RATE:
                resampler = soxr.ResampleStream(rate, SAMPLE_RATE, 1, dtype="float32", quality="VHQ")
        num_bytes = len(rest) // 2 * 2
        samples = np.frombuffer(rest[:num_bytes], "<i2").astype(np.float32) / 32_768.0
        rest = rest[num_bytes:]
        if resampler is not None:
            samples = resampler.resample_chunk(samples)
        if samples.size:
            yield samples
    if resampler is not None:
        yield resampler.resample_chunk(np.zeros(0, np.float32), last=True)


def _has_form(start: bytes) -> bool:
    """Return whether the form of the audio is known: it is raw, or the header of its WAV file is complete."""
    if len(start) < len(_WAV):
        return not _WAV.startswith(start)
    return not start.startswith(_WAV) or _data_start(start) is not None


def _data_start(start: bytes) -> int | None:
    """Return the position of the samples in a WAV file, or None if they are not in ``start``."""
    position = 12
    while position + 8 <= len(start):
        if start[position : position + 4] == b"data":
            return position + 8
        size = int.from_bytes(start[position + 4 : position + 8], "little")
        position += 8 + size + size % 2
    return None


def _form(start: bytes, headers: Mapping[str, str], connection: Connection) -> tuple[int, int]:
    """Return the sample rate, and the position of the first sample in ``start``. Raise ``NotOnServer``."""
    if start.startswith(_WAV):
        begin = _data_start(start)
        place = start.find(b"fmt ", 0, begin)
        kind, channels, rate, bits = (
            struct.unpack_from("<HHI6xH", start, place + 8) if begin and place > 0 else (0,) * 4
        )
        is_known = kind in _PCM_FORMATS and (channels, bits) == (1, 16)
    else:
        begin, is_known = 0, True
        stated = _STATED_RATE.search(headers.get("content-type", ""))
        text = stated[1] if stated else headers.get("x-sample-rate", str(SAMPLE_RATE))
        rate = int(text) if text.isdigit() else 0
    if begin is None or not is_known or rate not in _RATES:
        raise NotOnServer(
            "{host} sends audio of another form than 16-bit mono.",
            remedy="Choose another model of the server.",
            host=connection.server.host,
        )
    return rate, begin
