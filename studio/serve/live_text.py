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
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from studio.errors import BadRequest, InternalError, StudioError
from studio.remote.arriving_text import ArrivingText, run_beside
from studio.serve.backend import ServedSpeech
from studio.serve.encoders import StreamEncoder, new_encoder
from studio.serve.errors import error_body, invalid_field
from studio.serve.schemas import MAX_INPUT, MAX_PAUSE_SECONDS, FormatName, SpeechOptionsBody
from studio.serve.service import SpeechService
from studio.serve.word_times import RequestedWords
from studio.storage.json_input import parse_json

_log = logging.getLogger(__name__)

# The first message must arrive within this time.
_START_SECONDS = 15.0


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
            text = ArrivingText(max_characters=MAX_INPUT, max_pause_seconds=MAX_PAUSE_SECONDS)
            speech = self._service.speak(request, _client(socket), text)
            sending = _send_audio(socket, start, speech, text, self._service.requested_words(start))
            await run_beside(sending, _read_text(socket, text))
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

    async def _read_start(self, socket: WebSocket) -> StartMessage:
        values = await _read_message(socket, _START_SECONDS)
        if values.pop("type", None) != "start":
            raise BadRequest("The first message must be of the type “start”.")
        try:
            return StartMessage.model_validate(values)
        except ValidationError as error:
            raise invalid_field(error.errors()) from None


async def _read_text(socket: WebSocket, text: ArrivingText) -> None:
    """Add what the client sends to ``text``, until the client leaves. Raise ``BadRequest``, ``WebSocketDisconnect``."""
    while not text.is_over:
        values = await _read_message(socket)
        match values.get("type"), values.get("text"):
            case "text", str(piece):
                text.add(piece)
            case "end", _:
                text.end()
            case _:
                raise BadRequest("A message must be of the type “text” or “end”.")
    while True:  # notice that the client disconnects
        await socket.receive_text()


async def _send_audio(
    socket: WebSocket,
    start: StartMessage,
    speech: ServedSpeech,
    text: ArrivingText,
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
        words = await requested_words.words(str(text), report)
        done["words"] = None if words is None else [word.model_dump() for word in words]
    await socket.send_json(done)


async def _read_message(socket: WebSocket, seconds: float | None = None) -> dict[str, Any]:
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
