"""Responses that carry speech while it is synthesized."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import Callable
from typing import Protocol

from starlette.types import Receive, Scope, Send

from studio.errors import InternalError, StudioError, TooManyRequests
from studio.pipeline.control import Cancelled
from studio.serve.backend import ServedSpeech
from studio.serve.encoders import FORMATS, StreamEncoder, new_encoder
from studio.serve.errors import error_body, error_response

_log = logging.getLogger(__name__)

_JSON = {"ensure_ascii": False, "separators": (",", ":")}


class BrokenOff(Exception):
    """Ends a response without its end mark, so that its client notices that the audio is incomplete."""


class SpeechForm(Protocol):
    """Form of the bytes of a response. ``media_type`` is its content type."""

    media_type: str

    def audio(self, encoded: bytes) -> bytes: ...

    def end(self, speech: ServedSpeech) -> bytes: ...

    def error(self, error: StudioError) -> bytes: ...


class AudioForm:
    """The audio file itself."""

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type

    def audio(self, encoded: bytes) -> bytes:
        return encoded

    def end(self, _speech: ServedSpeech) -> bytes:
        return b""

    def error(self, _error: StudioError) -> bytes:
        return b""


class EventForm:
    """Server-sent events with base64 audio, as OpenAI's ``stream_format`` "sse"."""

    media_type = "text/event-stream"

    def audio(self, encoded: bytes) -> bytes:
        return _event({"type": "speech.audio.delta", "audio": base64.b64encode(encoded).decode()}) if encoded else b""

    def end(self, speech: ServedSpeech) -> bytes:
        report = speech.report
        assert report is not None
        num_text = sum(len(sentence.text_pieces) for sentence in report.evidence)
        usage = {
            "input_tokens": num_text,
            "output_tokens": report.num_speech_tokens,
            "total_tokens": num_text + report.num_speech_tokens,
        }
        return _event({"type": "speech.audio.done", "usage": usage})

    def error(self, error: StudioError) -> bytes:
        return _event({"type": "error", **error_body(error)})


def _event(values: dict[str, object]) -> bytes:
    return b"data: " + json.dumps(values, **_JSON).encode() + b"\n\n"  # type: ignore[arg-type]


class SpeechResponse:
    """Sends the audio of ``begin()``.

    An error before the first audio becomes a JSON error. Later errors abort the response. If the client
    disconnects, the request is cancelled.
    """

    def __init__(
        self,
        begin: Callable[[], ServedSpeech],
        *,
        format_name: str,
        sample_rate: int | None,
        is_sse: bool,
        on_end: Callable[[ServedSpeech | None, StudioError | None], None],
        retry_after: Callable[[], int],
    ) -> None:
        self._begin = begin
        self._format_name = format_name
        self._sample_rate = sample_rate
        self._form: SpeechForm = EventForm() if is_sse else AudioForm(FORMATS[format_name][0])
        self._on_end = on_end
        self._retry_after = retry_after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            speech = self._begin()
        except StudioError as error:
            self._on_end(None, error)
            await self._answer_error(error, scope, receive, send)
            return
        sending = asyncio.create_task(self._send(speech, scope, receive, send))
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not sending.done():  # the client has disconnected, or the service is being stopped
                self._on_end(speech, None)
            leaving.cancel()
            sending.cancel()
            await speech.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError, TimeoutError):
                await sending

    async def _send(self, speech: ServedSpeech, scope: Scope, receive: Receive, send: Send) -> None:
        encoder: StreamEncoder | None = None
        started = False
        try:
            async for chunk in speech.chunks():
                encoder = encoder or new_encoder(self._format_name, chunk.sample_rate, self._sample_rate)
                encoded = self._form.audio(encoder.encode(chunk.samples))
                if encoded and not started:
                    await self._start(send)
                    started = True
                if encoded:
                    await send({"type": "http.response.body", "body": encoded, "more_body": True})
            rest = b"" if encoder is None else self._form.audio(encoder.finish())
            if not started:
                await self._start(send)
            await send({"type": "http.response.body", "body": rest + self._form.end(speech)})
            self._on_end(speech, None)
        except (OSError, TimeoutError):  # the client has disconnected or does not read
            self._on_end(speech, None)
        except Exception as error:  # noqa: BLE001 - every failure is answered
            failure = _as_studio_error(error)
            self._on_end(speech, failure)
            if not started:
                await self._answer_error(failure, scope, receive, send)
                return
            if notice := self._form.error(failure):
                await send({"type": "http.response.body", "body": notice, "more_body": True})
            raise BrokenOff(failure.code) from None

    async def _start(self, send: Send) -> None:
        headers = [(b"content-type", self._form.media_type.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _answer_error(self, error: StudioError, scope: Scope, receive: Receive, send: Send) -> None:
        seconds = self._retry_after() if isinstance(error, TooManyRequests) else None
        await error_response(error, retry_after_seconds=seconds)(scope, receive, send)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _as_studio_error(error: Exception) -> StudioError:
    if isinstance(error, StudioError):
        return error
    if not isinstance(error, Cancelled):
        _log.exception("a request failed")
    return InternalError("The speech was not completed.", remedy="Try again.")
