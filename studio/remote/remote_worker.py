"""A worker on another computer: the commands of ``WorkerClient`` as requests to its `timbre serve`.

If the connection is lost during a line, the line is requested again with its seed, and the samples that have been
received are skipped. If that fails too, the line fails, but not the worker: the next line tries to connect again.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from studio.catalog.network import untrusted_certificate
from studio.errors import NotOnServer, TooManyRequests, UnknownVoice, UnreadableClip, from_record
from studio.messages import message
from studio.pipeline.request import NetworkFigures, SynthesisReport, VoiceReference
from studio.remote import wire
from studio.remote.address import descriptions_folder
from studio.remote.connection import Connection, incompatible_server
from studio.remote.line_request import LineRequest, line_lost
from studio.remote.model_description import keep_description
from studio.remote.network_delays import NetworkDelays
from studio.remote.resumable_request import Interrupted
from studio.remote.server_worker import ServerWorker
from studio.remote.voice_files import clip_sha256
from studio.text.arriving import ArrivingText, Fragment
from studio.worker import protocol
from studio.worker.protocol import Event

_LOAD_SECONDS = 900.0
_MAX_UPLOADS = 3  # a server with several processes may need the voice more than once


class RemoteWorker(ServerWorker):
    """The speech service of another copy of this program."""

    async def _answer(self, command: protocol.RequestCommand) -> Event:
        match command:
            case protocol.Load(request_id):
                return await self._load(request_id)
            case protocol.Synthesize(request_id, request):
                return await self._stream_with_voice(
                    request_id,
                    request.voice,
                    wire.SPEECH_PATH,
                    lambda sha256: {"json": wire.speech_body(request, sha256)},
                )
            case protocol.PrepareVoice(request_id, voice):
                return await self._stream_with_voice(
                    request_id, voice, wire.PREPARATION_PATH, lambda sha256: {"json": wire.voice_body(voice, sha256)}
                )
            case protocol.Convert(request_id, conversion):
                recording = await asyncio.to_thread(_content, conversion.source)

                def converted(sha256: str) -> dict[str, Any]:
                    file = (f"recording{conversion.source.suffix}", recording)
                    options = json.dumps(wire.conversion_body(conversion, sha256))
                    return {"data": {"options": options}, "files": {"file": file}}

                return await self._stream_with_voice(request_id, conversion.voice, wire.CONVERSION_PATH, converted)
            case protocol.NormalizeText(request_id, written, _, language):
                answer = await self._ask("POST", wire.SPELLING_PATH, json={"text": written, "language": language})
                return protocol.NormalizedText(request_id, str(answer["text"]))
        raise NotOnServer(
            "This is not possible while another computer runs the model.",
            remedy="Choose a model of this computer first.",
        )

    async def _load(self, request_id: int) -> Event:
        await self._disconnect()  # the token may have changed
        answer = await self._ask("GET", wire.ENGINE_PATH, silence_seconds=_LOAD_SECONDS)
        folder = descriptions_folder(self._server.url)
        try:
            return protocol.Ready(request_id, await asyncio.to_thread(keep_description, answer, folder))
        except ValueError as error:
            raise incompatible_server(self._server.host, error) from error

    async def _stream_with_voice(
        self,
        request_id: int,
        voice: VoiceReference,
        path: str,
        content: Callable[[str], dict[str, Any]],
    ) -> Event:
        """Stream a request, after sending its voice if the server does not have it."""
        sha256 = await asyncio.to_thread(clip_sha256, voice.clip)
        text = self._texts.get(request_id)
        stream = _EventStream(self._connect(), request_id, path, content(sha256), self._events.put, text=text)
        for _ in range(_MAX_UPLOADS):
            try:
                return await stream.run()
            except UnknownVoice:
                file = (f"voice{voice.clip.suffix}", await asyncio.to_thread(_content, voice.clip))
                await self._ask("POST", f"{wire.VOICES_PATH}/{sha256}", files={"file": file})
        return await stream.run()


class _EventStream:
    """One request whose answer is a stream of events. ``put`` receives all but the last one."""

    def __init__(
        self,
        connection: Connection,
        request_id: int,
        path: str,
        content: dict[str, Any],
        put: Callable[[Event], None],
        *,
        text: ArrivingText | None = None,
    ) -> None:
        """``text`` is the sentence of the request, if it is still being written."""
        self._text = text
        self._connection = connection
        self._request_id = request_id
        self._path = path
        self._content = content
        self._put = put
        self._line = LineRequest(connection.server.host, request_id, put)
        self._began = time.perf_counter()
        self._first_audio_seconds: float | None = None
        self._delays = NetworkDelays()

    async def run(self) -> Event:
        """Return the event that ends the stream. Raise ``StudioError`` if all attempts break off before it."""
        return await self._line.run(self._attempt)

    async def _attempt(self) -> Event:
        content, text_id = self._content, uuid.uuid4().hex
        if self._text is not None:
            content = content | {"json": content["json"] | {"text_id": text_id}}
        try:
            async with self._connection.stream(self._path, **content) as answer:
                if answer.headers.get("content-type", "") != wire.EVENTS_TYPE:
                    raise self._connection.unknown_answer()
                if self._text is None:
                    return await self._last_event(answer)
                return await self._last_event_while_sending(answer, text_id, self._text)
        except httpx2.TransportError as error:
            failure = self._connection.unreachable(error)
            if untrusted_certificate(error) is not None:  # it stays so
                raise failure from error
            raise Interrupted(failure) from error
        except ValueError as error:  # of the reader
            raise self._connection.unknown_answer() from error

    async def _last_event_while_sending(self, answer: httpx2.Response, text_id: str, text: ArrivingText) -> Event:
        reading = asyncio.ensure_future(self._last_event(answer))
        sending = asyncio.ensure_future(self._send_text(text_id, text))
        try:
            await asyncio.wait([reading, sending], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                sending.result()  # raises the error that ended it
            return await reading
        finally:
            for task in (reading, sending):
                task.cancel()
            await asyncio.wait([reading, sending])

    async def _send_text(self, text_id: str, text: ArrivingText) -> None:
        """Send the fragments of ``text`` as they arrive. Raise ``StudioError``, ``httpx2.TransportError``."""
        fragments: asyncio.Queue[Fragment] = asyncio.Queue()
        end = text.follow(fragments.put_nowait)
        num_sent, is_complete = 0, False
        try:
            while not is_complete:
                sent = [await fragments.get()]
                while not fragments.empty():
                    sent.append(fragments.get_nowait())
                is_complete = sent[-1].is_last
                written = [fragment.text for fragment in sent]
                body = {"text_id": text_id, "first": num_sent, "fragments": written, "is_complete": is_complete}
                await self._connection.json("POST", wire.TEXT_PATH, json=body)
                num_sent += len(sent)
        finally:
            end()

    async def _last_event(self, answer: httpx2.Response) -> Event:
        reader = wire.EventReader(self._request_id)
        self._delays.begin()
        async for event in _events(answer, reader):
            match event:
                case protocol.AudioReady(request_id, chunk):
                    if (rest := self._line.new_part(chunk)) is not None:
                        self._delays.add(self._seconds(), reader.at_seconds)
                        if self._first_audio_seconds is None:
                            self._first_audio_seconds = self._seconds()
                        self._put(protocol.AudioReady(request_id, rest))
                case protocol.Finished(request_id, report):
                    return protocol.Finished(request_id, self._measured(report))
                case protocol.Failed(_, record) if record[0] == TooManyRequests.code:
                    raise from_record(record)
                case protocol.Progress() | protocol.PlaybackStartEstimate():
                    self._put(event)
                case _:
                    return event
        raise Interrupted(line_lost(self._connection.server.host, message("closed the connection")))

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _measured(self, report: SynthesisReport) -> SynthesisReport:
        """Return ``report`` with the times of this computer, and the network's share of the first one."""
        first = self._first_audio_seconds
        if first is None:
            return report
        network_seconds = max(0.0, first - report.first_audio_seconds)
        delay_seconds = self._delays.longest_seconds
        network = None
        if delay_seconds is not None:
            network = NetworkFigures(
                network_seconds, report.queue_seconds or 0.0, report.real_time_factor, delay_seconds
            )
        return replace(
            report,
            first_audio_seconds=first,
            total_seconds=self._seconds(),
            network_seconds=network_seconds,
            network=network,
        )


async def _events(answer: httpx2.Response, reader: wire.EventReader) -> AsyncIterator[Event]:
    async for block in answer.aiter_raw():
        for event in reader.feed(block):
            yield event


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableClip(
            "{file} cannot be read ({reason}).", remedy="Choose another file.", file=path.name, reason=error
        ) from error
