"""Speech of text that is still being written, over a WebSocket.

Messages of the client are JSON objects: one ``{"type": "start", ...}`` with the options of a speech request and
``response_format`` (default pcm), then any number of ``{"type": "text", "text": ...}``, then ``{"type": "end"}``. The
service answers ``{"type": "started", "sample_rate": ...}``, the audio as binary messages, and ``{"type": "done", ...}``,
or ``{"type": "error", "error": ...}``. It closes the connection after either. With ``timestamp_granularities`` in the
options, ``done`` contains the ``words`` with their times, as the last event of a speech request does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from studio.errors import BadRequest, InternalError, StudioError
from studio.serve.backend import ServedSpeech
from studio.serve.encoders import StreamEncoder, new_encoder
from studio.serve.errors import error_body
from studio.serve.schemas import MAX_INPUT, FormatName, SpeechOptionsBody
from studio.serve.service import SpeechService
from studio.serve.word_times import RequestedWords
from studio.storage.json_input import parse_json

_log = logging.getLogger(__name__)

# The first message must arrive within this time, and so must every further one.
_START_SECONDS = 15.0
_TEXT_SECONDS = 300.0


class StartMessage(SpeechOptionsBody):
    response_format: FormatName = "pcm"


class LiveText:
    """The WebSocket endpoint."""

    def __init__(self, service: SpeechService) -> None:
        self._service = service

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        speech: ServedSpeech | None = None
        failure: StudioError | None = None
        try:
            start = await self._read_start(socket)
            request = await self._service.request(start, None)
            pieces: asyncio.Queue[str | None] = asyncio.Queue()
            speech = self._service.speak(request, _client(socket), _texts(pieces))
            await self._exchange(socket, start, speech, pieces, self._service.requested_words(start))
        except StudioError as error:
            failure = error
        except WebSocketDisconnect:
            pass
        except Exception:  # noqa: BLE001 - the end of a connection
            _log.exception("a live text failed")
            failure = InternalError("The speech was not completed.", remedy="Try again.")
        finally:
            if speech is not None:
                await speech.cancel()
            self._service.count_end(speech, failure)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect, OSError):
                if failure is not None:
                    await socket.send_json({"type": "error", **error_body(failure)})
                await socket.close()

    async def _exchange(
        self,
        socket: WebSocket,
        start: StartMessage,
        speech: ServedSpeech,
        pieces: asyncio.Queue[str | None],
        requested_words: RequestedWords | None,
    ) -> None:
        """Receive text and send audio until the end of the audio. Raise any error of either."""
        text: list[str] = []
        reading = asyncio.create_task(_read_text(socket, pieces, text))
        sending = asyncio.create_task(_send_audio(socket, start, speech, text, requested_words))
        try:
            await asyncio.wait((reading, sending), return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            await sending
        finally:
            for task in (reading, sending):
                task.cancel()
            await asyncio.gather(reading, sending, return_exceptions=True)

    async def _read_start(self, socket: WebSocket) -> StartMessage:
        values = await _read_message(socket, _START_SECONDS)
        if values.pop("type", None) != "start":
            raise BadRequest("The first message must be of the type “start”.")
        try:
            return StartMessage.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            raise BadRequest(
                "The field “{field}” is invalid: {reason}.",
                field=".".join(map(str, first["loc"])),
                reason=first["msg"],
            ) from None


async def _read_text(socket: WebSocket, pieces: asyncio.Queue[str | None], received: list[str]) -> None:
    """Forward text to ``pieces`` until the client ends it, and record it in ``received``.

    Raise ``BadRequest`` and ``WebSocketDisconnect``.
    """
    num_letters = 0
    while True:
        values = await _read_message(socket, _TEXT_SECONDS)
        match values.get("type"), values.get("text"):
            case "text", str(text):
                num_letters += len(text)
                if num_letters > MAX_INPUT:
                    raise BadRequest(
                        "The text is longer than {number} characters.", remedy="Split it.", number=MAX_INPUT
                    )
                received.append(text)
                pieces.put_nowait(text)
            case "end", _:
                pieces.put_nowait(None)
                break
            case _:
                raise BadRequest("A message must be of the type “text” or “end”.")
    while True:  # notice that the client disconnects
        await socket.receive_text()


async def _texts(pieces: asyncio.Queue[str | None]) -> AsyncIterator[str]:
    while (piece := await pieces.get()) is not None:
        yield piece


async def _send_audio(
    socket: WebSocket,
    start: StartMessage,
    speech: ServedSpeech,
    text: list[str],
    requested_words: RequestedWords | None,
) -> None:
    encoder: StreamEncoder | None = None
    async for chunk in speech.chunks():
        if encoder is None:
            encoder = new_encoder(start.response_format, chunk.sample_rate, start.sample_rate)
            await socket.send_json({"type": "started", "sample_rate": start.sample_rate or chunk.sample_rate})
        if requested_words is not None:
            requested_words.add(chunk)
        if encoded := encoder.encode(chunk.samples):
            await socket.send_bytes(encoded)
    if encoder is not None and (rest := encoder.finish()):
        await socket.send_bytes(rest)
    report = speech.report
    assert report is not None
    done: dict[str, object] = {"type": "done", "audio_seconds": report.audio_seconds}
    if requested_words is not None:
        words = await requested_words.words("".join(text), report)
        done["words"] = None if words is None else [word.model_dump() for word in words]
    await socket.send_json(done)


async def _read_message(socket: WebSocket, seconds: float) -> dict[str, Any]:
    try:
        async with asyncio.timeout(seconds):
            text = await socket.receive_text()
        values = parse_json(text)
    except TimeoutError:
        raise BadRequest("No message arrived in time.", remedy="Connect again.") from None
    except (ValueError, KeyError):  # KeyError: a binary message
        values = None
    if not isinstance(values, dict):
        raise BadRequest("A message is not a JSON object.")
    return values


def _client(socket: WebSocket) -> str:
    return f"websocket {socket.client.host if socket.client else ''} {socket.headers.get('x-client-id', '')}"
