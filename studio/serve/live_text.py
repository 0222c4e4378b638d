"""Speech of text that is still being written, over a WebSocket. The manual page "streaming" describes the messages.

A connection carries any number of speeches, each with a ``context_id`` of the client, or one without, which the
connection ends with. A speech holds a slot of the service only while one of its sentences is spoken.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from studio.errors import BadRequest, RequestTimedOut, StudioError, TooManyRequests
from studio.pipeline.request import AudioChunk
from studio.serve.backend import ServedSpeech, SpokenPart, TextMark
from studio.serve.encoders import new_encoder
from studio.serve.errors import error_body, http_status, invalid_field
from studio.serve.responses import as_studio_error
from studio.serve.schemas import MAX_INPUT, MAX_PAUSE_SECONDS, FormatName, Name, SpeechOptionsBody, SpokenWord
from studio.serve.service import SpeechService
from studio.serve.word_times import RequestedWords
from studio.storage.json_input import parse_json
from studio.text.segmentation import IncrementalText, TextPart

_log = logging.getLogger(__name__)

# The first message must arrive within this time.
_START_SECONDS = 15.0
# The client must read within this time.
_UNREAD_SECONDS = 60.0
_MAX_SPEECHES = 16  # of one connection
# Characters of a message that are divided into fragments before other clients have a turn: some milliseconds of work.
_MAX_CHARACTERS_AT_ONCE = 100
_ONLY = ""  # key of a speech without a ``context_id``
# Close codes from 4000 are this number and the HTTP status of the error.
_FIRST_CLOSE_CODE = 4000


class StartMessage(SpeechOptionsBody):
    context_id: Name = _ONLY
    response_format: FormatName = "pcm"


class LiveText:
    """The WebSocket endpoint."""

    def __init__(self, service: SpeechService) -> None:
        self._service = service

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        await _Connection(self._service, socket).run()


class _Connection:
    """One client, and its speeches by ``context_id``."""

    def __init__(self, service: SpeechService, socket: WebSocket) -> None:
        self.service = service
        self.client = f"websocket {socket.client.host if socket.client else ''} {socket.headers.get('x-client-id', '')}"
        self._socket = socket
        self._speeches: dict[str, _LiveSpeech] = {}
        self._is_over: asyncio.Future[StudioError | None] = asyncio.get_running_loop().create_future()
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        reading = asyncio.create_task(self._read())
        failure: StudioError | None = None
        try:
            failure = await self._is_over
        finally:
            tasks = [reading, *(speech.task for speech in self._speeches.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect, OSError):
                if failure is None:
                    await self._socket.close()
                else:
                    await self.send({"type": "error", **error_body(failure)})
                    await self._socket.close(_FIRST_CLOSE_CODE + http_status(failure), failure.code)

    async def send(self, message: dict[str, object] | bytes) -> None:
        """Send JSON or audio. Raise ``WebSocketDisconnect``, and ``TimeoutError`` if the client does not read."""
        try:
            async with self._writing, asyncio.timeout(_UNREAD_SECONDS):
                if isinstance(message, bytes):
                    await self._socket.send_bytes(message)
                else:
                    await self._socket.send_json(message)
        except RuntimeError as error:  # the connection is closed
            raise WebSocketDisconnect from error

    def end(self, failure: StudioError | None = None) -> None:
        """Close the connection. Later calls have no effect."""
        if not self._is_over.done():
            self._is_over.set_result(failure)

    def forget(self, context_id: str, failure: StudioError | None) -> None:
        """Called when a speech has ended."""
        del self._speeches[context_id]
        if context_id == _ONLY:
            self.end(failure)

    async def _read(self) -> None:
        try:
            values = await self._next_message(_START_SECONDS)
            while True:
                await self._obey(values)
                values = await self._next_message(MAX_PAUSE_SECONDS)
        except StudioError as error:
            self.service.count_failure(error)
            self.end(error)
        except WebSocketDisconnect:
            self.end()
        except Exception as error:  # noqa: BLE001 - the end of a connection
            self.end(as_studio_error(error))

    async def _obey(self, values: dict[str, Any]) -> None:
        kind, context_id = values.pop("type", None), values.get("context_id", _ONLY)
        match kind:
            case "start":
                self._start(values)
                await asyncio.sleep(0)  # a task that is cancelled before its first step does not end its speech
            case "ping":
                await self.send({"type": "pong"})
            case "text" | "flush" | "end" | "cancel":
                speech = self._speeches.get(context_id) if isinstance(context_id, str) else None
                if speech is not None:
                    await speech.obey(kind, values.get("text"))
                elif context_id == _ONLY:
                    raise BadRequest("This connection has no speech without a “context_id”.")
            case _:
                raise BadRequest("A message must be of the type “start”, “text”, “flush”, “end”, “cancel” or “ping”.")

    def _start(self, values: dict[str, Any]) -> None:
        try:
            start = StartMessage.model_validate(values)
        except ValidationError as error:
            raise invalid_field(error.errors()) from None
        if start.context_id in self._speeches:
            raise BadRequest("The speech “{name}” has been started already.", name=start.context_id)
        if len(self._speeches) >= _MAX_SPEECHES:
            raise TooManyRequests(
                "A connection can have {number} speeches at once.", remedy="End one of them.", number=_MAX_SPEECHES
            )
        self._speeches[start.context_id] = _LiveSpeech(self, start)

    async def _next_message(self, seconds: float) -> dict[str, Any]:
        while True:
            try:
                async with asyncio.timeout(seconds):
                    text = await self._socket.receive_text()
                values = parse_json(text)
            except TimeoutError:
                if any(not speech.waits_for_text for speech in self._speeches.values()):
                    continue
                raise RequestTimedOut("No message arrived in time.", remedy="Connect again.") from None
            except (ValueError, KeyError):  # KeyError: a binary message
                values = None
            if not isinstance(values, dict):
                raise BadRequest("A message is not a JSON object.")
            return values


class _LiveSpeech:
    """One speech of a connection."""

    def __init__(self, connection: _Connection, start: StartMessage) -> None:
        self.waits_for_text = False
        self._connection = connection
        self._service = connection.service
        self._start = start
        self._text = IncrementalText(interleaves=connection.service.interleaves_text)
        self._num_characters = 0
        self._parts: asyncio.Queue[TextPart | TextMark] = asyncio.Queue()
        self._failure: StudioError | None = None
        self._is_ending = False
        self.task = asyncio.create_task(self._run())

    async def obey(self, kind: str, text: object) -> None:
        """Process a message of the client. An error in it ends the speech."""
        if self._is_ending:
            return
        try:
            match kind:
                case "text":
                    await self._add(text)
                case "flush":
                    self._put(self._text.flush(), TextMark.FLUSH)
                case "end":
                    self._put(self._text.finish(), TextMark.END)
                case "cancel":
                    self.task.cancel()
        except StudioError as error:
            self._failure = error
            self.task.cancel()

    async def _add(self, text: object) -> None:
        if not isinstance(text, str):
            raise BadRequest("The field “text” must be a text.")
        self._num_characters += len(text)
        if self._num_characters > MAX_INPUT:
            raise BadRequest("The text is longer than {number} characters.", remedy="Split it.", number=MAX_INPUT)
        text = text.encode("utf-8", "ignore").decode()  # without lone surrogates
        size = _MAX_CHARACTERS_AT_ONCE if self._service.interleaves_text else len(text)
        for start in range(0, len(text), max(1, size)):
            self._put(self._text.feed(text[start : start + size]))
            await asyncio.sleep(0)

    def _put(self, parts: Sequence[TextPart | TextMark], *marks: TextMark) -> None:
        for each in (*parts, *marks):
            self._parts.put_nowait(each)

    async def _arriving(self) -> AsyncIterator[TextPart | TextMark]:
        while True:
            self.waits_for_text = True
            part = await self._parts.get()
            self.waits_for_text = False
            if part is TextMark.END:
                return
            if isinstance(part, TextPart):
                self._service.require_language(self._start, part.written)
            yield part

    async def _run(self) -> None:
        speech: ServedSpeech | None = None
        last: dict[str, object] = {}
        try:
            request = await self._service.request(self._start, None)
            speech = self._service.speak_parts(request, self._connection.client, self._arriving())
            last = await _Sender(self._connection, self._start, speech, self._service).run()
        except asyncio.CancelledError:
            last = {"type": "cancelled"}
        except (WebSocketDisconnect, OSError):  # the client has disconnected or does not read
            self._connection.end()
        except Exception as error:  # noqa: BLE001 - the end of a speech
            self._failure = as_studio_error(error)
        finally:
            self._is_ending = True
            if speech is not None:
                await speech.cancel()
            self._service.count_end(speech, self._failure)
            await self._finish(last)

    async def _finish(self, last: dict[str, object]) -> None:
        """Send the last message of the speech. The error of the only one is that of the connection."""
        context_id = self._start.context_id
        if self._failure is not None:
            last = {} if context_id == _ONLY else {"type": "error", **error_body(self._failure)}
        try:
            if last:
                await self._connection.send(_labelled(last, context_id))
        except (WebSocketDisconnect, OSError):
            self._connection.end()
        self._connection.forget(context_id, self._failure)


class _Sender:
    """Sends the audio of a speech, and facts about each of its parts."""

    def __init__(
        self, connection: _Connection, start: StartMessage, speech: ServedSpeech, service: SpeechService
    ) -> None:
        self._connection = connection
        self._start = start
        self._speech = speech
        self._service = service
        self._seconds = 0.0  # of the parts that are complete
        self._words = service.requested_words(start)
        self._aligning: list[asyncio.Task[list[SpokenWord] | None]] = []

    async def run(self) -> dict[str, object]:
        """Return the last message. Raise ``StudioError``, and the errors of the connection."""
        try:
            return await self._send_all()
        finally:
            for task in self._aligning:
                task.cancel()

    async def _send_all(self) -> dict[str, object]:
        start, encoder = self._start, None
        async for event in self._speech.events():
            match event:
                case AudioChunk():
                    if encoder is None:
                        encoder = new_encoder(start.response_format, event.sample_rate, start.sample_rate)
                        about = {"sample_rate": encoder.sample_rate, "response_format": start.response_format}
                        await self._send({"type": "started", **about})
                    if self._words is not None:
                        self._words.add(event)
                    await self._send_audio(encoder.encode(event.samples))
                case SpokenPart():
                    await self._end_part(event)
                case TextMark():
                    await self._send({"type": "flushed"})
        if encoder is not None:
            await self._send_audio(encoder.finish())
        report = self._speech.report
        assert report is not None
        done: dict[str, object] = {"type": "done", "audio_seconds": report.audio_seconds}
        if self._words is not None:
            words = [await each for each in self._aligning]
            done["words"] = None if None in words else [word.model_dump() for part in words for word in part or ()]
        return done

    async def _end_part(self, part: SpokenPart) -> None:
        begins, self._seconds = self._seconds, round(self._seconds + part.report.audio_seconds, 3)
        sentence: dict[str, object] = {"type": "sentence", "text": part.text, "start": begins, "end": self._seconds}
        if self._words is None:
            await self._send(sentence)
            return
        words, self._words = self._words, self._service.requested_words(self._start)
        self._aligning.append(asyncio.create_task(self._align(words, part, sentence)))

    async def _align(
        self, requested: RequestedWords, part: SpokenPart, sentence: dict[str, object]
    ) -> list[SpokenWord] | None:
        """Send ``sentence`` with its words, while the next part is spoken. Return the words."""
        words = await requested.words(part.text, part.report)
        if words is not None:
            offset = sentence["start"]
            assert isinstance(offset, float)
            words = [word.later(offset) for word in words]
        sentence["words"] = None if words is None else [word.model_dump() for word in words]
        await self._send(sentence)
        return words

    async def _send_audio(self, encoded: bytes) -> None:
        if not encoded:
            return
        if self._start.context_id == _ONLY:
            await self._connection.send(encoded)
        else:
            await self._send({"type": "audio", "audio": base64.b64encode(encoded).decode()})

    async def _send(self, message: dict[str, object]) -> None:
        await self._connection.send(_labelled(message, self._start.context_id))


def _labelled(message: dict[str, object], context_id: str) -> dict[str, object]:
    """Return ``message`` with the id of its speech, if it has one."""
    return message if context_id == _ONLY else message | {"context_id": context_id}
