"""A speech server of another program, with OpenAI's speech API, as a worker.

Such a server has its own voices and its own model. It has no seeds, no styles of this program, no prompt states, no
conversion of recordings and no evidence for the checks of takes; requests that need them fail with ``NotOnServer``.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import numpy as np

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
_HEADER_BYTES = 44


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
    """Yield the samples, as float32, of raw 16-bit audio or of a WAV file. Raise ``ServerRefused``, ``NotOnServer``."""
    if not answer.headers.get("content-type", "").startswith(("audio/", "application/octet-stream")):
        raise connection.unknown_answer()
    rest, is_started = b"", False
    async for block in answer.aiter_bytes():
        rest += block
        if not is_started:
            if len(rest) < _HEADER_BYTES:
                continue
            rest, is_started = _without_header(rest, connection), True
        num_bytes = len(rest) // 2 * 2
        if num_bytes:
            yield np.frombuffer(rest[:num_bytes], "<i2").astype(np.float32) / 32_768.0
            rest = rest[num_bytes:]


def _without_header(start: bytes, connection: Connection) -> bytes:
    """Return ``start`` without the header of a WAV file, if it has one."""
    if not start.startswith(b"RIFF"):
        return start
    channels, rate = int.from_bytes(start[22:24], "little"), int.from_bytes(start[24:28], "little")
    if (channels, rate, int.from_bytes(start[34:36], "little")) != (1, SAMPLE_RATE, 16) or start[36:40] != b"data":
        raise NotOnServer(
            "{host} sends audio of another form than 16-bit mono at {rate} Hz.",
            remedy="Choose another model of the server.",
            host=connection.server.host,
            rate=SAMPLE_RATE,
        )
    return start[_HEADER_BYTES:]
