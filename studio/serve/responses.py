"""Responses that carry speech while it is synthesized."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import Callable
from typing import Protocol

from fastapi import Response
from starlette.types import Receive, Scope, Send

from studio.errors import InternalError, StudioError, TooManyRequests
from studio.pipeline.request import Cancelled, SynthesisReport
from studio.serve.backend import ServedSpeech
from studio.serve.encoders import FORMATS, PCM_TYPE, StreamEncoder, new_encoder
from studio.serve.errors import error_body, error_response
from studio.serve.request_log import request_id
from studio.serve.schemas import FormatName, SpeechEnd, StreamFormat, Usage
from studio.serve.signed_files import SYNTHETIC_HEADER, RequestedFile
from studio.serve.word_times import RequestedWords

_log = logging.getLogger(__name__)


class BrokenOff(Exception):
    """Ends a response without its end mark, so that its client notices that the audio is incomplete."""


class SpeechForm(Protocol):
    """Form of the bytes of a response.

    ``media_type`` is its content type. ``is_whole`` means that ``audio`` receives the whole file at once.
    """

    media_type: str
    is_whole: bool

    def audio(self, encoded: bytes) -> bytes: ...

    def end(self, sample_rate: int, ending: SpeechEnd) -> bytes: ...

    def error(self, error: StudioError) -> bytes: ...


class AudioForm:
    """The audio file itself."""

    def __init__(self, media_type: str, *, is_whole: bool) -> None:
        self.media_type = media_type
        self.is_whole = is_whole

    def audio(self, encoded: bytes) -> bytes:
        return encoded

    def end(self, _sample_rate: int, _ending: SpeechEnd) -> bytes:
        return b""

    def error(self, _error: StudioError) -> bytes:
        return b""


class EventForm:
    """Server-sent events with base64 audio, as OpenAI's ``stream_format`` "sse"."""

    media_type = "text/event-stream"
    is_whole = False

    def audio(self, encoded: bytes) -> bytes:
        return _event({"type": "speech.audio.delta", "audio": base64.b64encode(encoded).decode()}) if encoded else b""

    def end(self, _sample_rate: int, ending: SpeechEnd) -> bytes:
        return _event({"type": "speech.audio.done", **ending.model_dump(mode="json", exclude_unset=True)})

    def error(self, error: StudioError) -> bytes:
        return _event({"type": "error", **error_body(error)})


class JsonForm:
    """One JSON object with the whole audio in base64."""

    media_type = "application/json"
    is_whole = True

    def __init__(self, format_name: FormatName) -> None:
        self._format_name = format_name
        self._file = b""

    def audio(self, encoded: bytes) -> bytes:
        self._file = encoded
        return b""

    def end(self, sample_rate: int, ending: SpeechEnd) -> bytes:
        whole = {
            "audio": base64.b64encode(self._file).decode(),
            "response_format": self._format_name,
            "sample_rate": sample_rate,
        }
        return _json(whole | ending.model_dump(mode="json", exclude_unset=True))

    def error(self, _error: StudioError) -> bytes:
        return b""


def _event(values: dict[str, object]) -> bytes:
    return b"data: " + _json(values) + b"\n\n"


def _json(values: dict[str, object]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def _form(stream_format: StreamFormat, format_name: FormatName) -> SpeechForm:
    match stream_format:
        case "audio" | "file":
            return AudioForm(FORMATS[format_name][0], is_whole=stream_format == "file")
        case "sse":
            return EventForm()
        case "json":
            return JsonForm(format_name)


class SpeechResponse(Response):
    """Sends the audio of ``begin()``.

    An error before the first audio becomes a JSON error. Later errors abort the response. If the client
    disconnects, the request is cancelled.
    """

    def __init__(
        self,
        begin: Callable[[], ServedSpeech],
        *,
        format_name: FormatName,
        sample_rate: int | None,
        stream_format: StreamFormat = "audio",
        text: str = "",
        requested_words: RequestedWords | None = None,
        requested_file: RequestedFile | None = None,
        on_end: Callable[[ServedSpeech | None, StudioError | None], None],
        retry_after: Callable[[], int],
    ) -> None:
        super().__init__()
        self._begin = begin
        self._format_name = format_name
        self._sample_rate = sample_rate
        self._form = _form(stream_format, format_name)
        self._text = text
        self._requested_words = requested_words
        self._requested_file = requested_file if self._form.is_whole else None
        self._file = bytearray()
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
        leaving = asyncio.create_task(wait_for_disconnect(receive))
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
                encoder = encoder or self._new_encoder(chunk.sample_rate)
                samples = chunk.samples
                if self._requested_file is not None:
                    samples = self._requested_file.add(chunk)
                encoded = self._encoded(encoder.encode(samples))
                if self._requested_words is not None:
                    self._requested_words.add(chunk)
                if encoded and not started:
                    await self._start(send, encoder, await speech.playback_delay())
                    started = True
                if encoded:
                    await send({"type": "http.response.body", "body": encoded, "more_body": True})
            report = speech.report
            assert report is not None
            encoder = encoder or self._new_encoder(report.sample_rate)
            rest = self._encoded(encoder.finish())
            if self._form.is_whole:
                rest = self._form.audio(await asyncio.to_thread(self._whole_file, report))
            end = self._form.end(encoder.sample_rate, await self._ending(report))
            if not started:
                await self._start(send, encoder, 0.0)
            await send({"type": "http.response.body", "body": rest + end})
            self._on_end(speech, None)
        except (OSError, TimeoutError):  # the client has disconnected or does not read
            self._on_end(speech, None)
        except Exception as error:  # noqa: BLE001 - every failure is answered
            failure = as_studio_error(error)
            self._on_end(speech, failure)
            if not started:
                await self._answer_error(failure, scope, receive, send)
                return
            if notice := self._form.error(failure):
                await send({"type": "http.response.body", "body": notice, "more_body": True})
            raise BrokenOff(failure.code) from None

    def _new_encoder(self, rate: int) -> StreamEncoder:
        return new_encoder(self._format_name, rate, self._sample_rate, is_whole=self._form.is_whole)

    def _encoded(self, piece: bytes) -> bytes:
        """Return what can be sent of ``piece`` of the file now."""
        if self._form.is_whole:
            self._file += piece
            return b""
        return self._form.audio(piece)

    def _whole_file(self, report: SynthesisReport) -> bytes:
        content = bytes(self._file)
        if self._requested_file is None:
            return content
        return self._requested_file.signed(content, self._format_name, report)

    async def _ending(self, report: SynthesisReport) -> SpeechEnd:
        ending = SpeechEnd(usage=_usage(report), quality=report.quality.quality)
        if self._requested_words is not None:
            ending.words = await self._requested_words.words(self._text, report)
        return ending

    async def _start(self, send: Send, encoder: StreamEncoder, playback_delay: float | None) -> None:
        media_type = self._form.media_type
        if media_type == PCM_TYPE:
            media_type += f";rate={encoder.sample_rate};channels=1"
        headers = [
            (b"content-type", media_type.encode()),
            (b"x-sample-rate", str(encoder.sample_rate).encode()),
            (b"cache-control", b"no-store"),
            SYNTHETIC_HEADER,
        ]
        if playback_delay is not None:
            headers.append((b"x-playback-delay", f"{playback_delay:.2f}".encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _answer_error(self, error: StudioError, scope: Scope, receive: Receive, send: Send) -> None:
        seconds = self._retry_after() if isinstance(error, TooManyRequests) else None
        await error_response(error, retry_after_seconds=seconds)(scope, receive, send)


def _usage(report: SynthesisReport) -> Usage:
    num_text, num_speech = sum(len(each.text_pieces) for each in report.evidence), report.num_speech_tokens
    return Usage(input_tokens=num_text, output_tokens=num_speech, total_tokens=num_text + num_speech)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected, or its response has ended."""
    while (await receive())["type"] != "http.disconnect":
        pass


def as_studio_error(error: Exception) -> StudioError:
    """Return the error that a client receives for ``error``."""
    if isinstance(error, StudioError):
        return error
    if not isinstance(error, Cancelled):
        _log.exception("request %s failed", request_id())
    return InternalError("The speech was not completed.", remedy="Try again.")
