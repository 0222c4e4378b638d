"""Endpoints for other copies of this program, which use this service: ``studio.remote``.

They offer what the worker does: audio as float32 with the evidence of each sentence, progress, and playback estimates.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, File, Form, Request, Response, UploadFile
from fastapi import Path as PathPart
from pydantic import BaseModel, Field, StringConstraints, ValidationError

import studio
from studio.errors import BadRequest
from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import ConversionRequest, KnownTokens, SynthesisReport, SynthesisRequest, VoiceReference
from studio.remote import wire
from studio.serve.backend import ServedSpeech
from studio.serve.client_requests import client_key, saved
from studio.serve.errors import invalid_field
from studio.serve.event_stream import EventStream, Put
from studio.serve.received_voices import FEATURES_SUFFIX, ReceivedVoices
from studio.serve.responses import as_studio_error
from studio.serve.schemas import MAX_INPUT, LanguageTag, Name, Seed, Speed
from studio.serve.service import SpeechService
from studio.storage.records import encode
from studio.text.arriving import ArrivingText, Fragment
from studio.worker import protocol
from studio.worker.request_handle import Callbacks, StartTime

_MAX_DESCRIPTION_BYTES = 256 << 10
_ID = 0
_MAX_SENTENCES = MAX_INPUT
_MAX_SENTENCE_TOKENS = 10_000
Share = Annotated[float, Field(gt=0.0, le=1.0)]
Sha256 = Annotated[str, StringConstraints(pattern=re.compile(r"^[0-9a-f]{64}$"))]


class VoiceBody(BaseModel):
    """A voice. ``sha256`` is the hash of its file, which has been sent before."""

    sha256: Sha256
    transcript: str | None = Field(None, max_length=2_000)
    name: Name = ""


class SamplingBody(BaseModel):
    top_p: Share
    top_k: int = Field(ge=1, le=10_000)
    window_tokens: int = Field(ge=1, le=10_000)
    repetition_ratio: Share


class KnownTokensBody(BaseModel):
    spoken_text: str = Field(max_length=MAX_INPUT)
    speech_tokens: list[Annotated[int, Field(ge=0)]] = Field(min_length=1, max_length=_MAX_SENTENCE_TOKENS)
    replaced: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] | None = None


class EngineSpeechBody(BaseModel):
    """A ``SynthesisRequest``."""

    text: str = Field(max_length=MAX_INPUT)
    voice: VoiceBody
    instruct: str | None = Field(None, max_length=2_000)
    preset: Name | None = None
    speed: Speed = 1.0
    seed: Seed = 0
    is_streaming: bool = True
    text_is_normalized: bool = False
    language: LanguageTag = ""
    sampling: SamplingBody | None = None
    first_hop_tokens: int | None = Field(None, ge=1, le=1_000)
    is_played: bool = True
    trims_leading_silence: bool = False
    quality: Quality = Quality.EXACT
    first_index: int = Field(0, ge=0, le=_MAX_SENTENCES)
    is_divided: bool = True
    known_tokens: list[KnownTokensBody] = Field([], max_length=_MAX_SENTENCES)
    # If the text is a sentence that is still being written, an id of the client for it; ``text`` is empty then.
    text_id: str | None = Field(None, min_length=16, max_length=64)

    def request(self, voice: VoiceReference) -> SynthesisRequest:
        values: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields if name != "text_id"}
        sampling = None if self.sampling is None else SamplingOptions(**self.sampling.model_dump())
        known = tuple(
            KnownTokens(known.spoken_text, tuple(known.speech_tokens), known.replaced) for known in self.known_tokens
        )
        return SynthesisRequest(**values | {"voice": voice, "sampling": sampling, "known_tokens": known})


class FragmentsBody(BaseModel):
    """Fragments of a sentence that is still being written, of which ``first`` is the number of earlier ones."""

    text_id: str = Field(max_length=64)
    first: int = Field(ge=0)
    fragments: list[str] = Field(max_length=MAX_INPUT)
    is_complete: bool = False


class EngineConversionBody(BaseModel):
    """A ``ConversionRequest`` without its recording."""

    voice: VoiceBody
    speed: Speed = 1.0
    seed: Seed = 0
    is_streaming: bool = True
    quality: Quality = Quality.EXACT


class SpellingBody(BaseModel):
    text: str = Field(max_length=MAX_INPUT)
    language: LanguageTag = ""


class EngineApi:
    """The endpoints."""

    def __init__(self, service: SpeechService) -> None:
        self._service = service
        self._voices = ReceivedVoices()
        self._texts: dict[str, ArrivingText] = {}  # by their ids

    def add_to(self, app: FastAPI) -> None:
        app.add_api_route(wire.ENGINE_PATH, self.engine, methods=["GET"])
        app.add_api_route(wire.VOICES_PATH + "/{sha256}", self.add_voice, methods=["POST"], status_code=204)
        app.add_api_route(wire.SPEECH_PATH, self.speech, methods=["POST"], response_class=Response)
        app.add_api_route(wire.OLD_TEXTS_PATH + "/{rest:path}", self.refuse_old_client, methods=["POST"])
        app.add_api_route(wire.OLD_TEXTS_PATH, self.refuse_old_client, methods=["POST"])
        app.add_api_route(wire.TEXT_PATH, self.add_text, methods=["POST"], status_code=204)
        app.add_api_route(wire.CONVERSION_PATH, self.conversion, methods=["POST"], response_class=Response)
        app.add_api_route(wire.PREPARATION_PATH, self.preparation, methods=["POST"], response_class=Response)
        app.add_api_route(wire.SPELLING_PATH, self.spelling, methods=["POST"])

    async def engine(self) -> dict[str, Any]:
        """Describe the loaded model to another copy of this program."""
        description = await self._service.load()
        return {
            "api": wire.API_VERSION,
            "program": studio.__version__,
            "description": encode(replace(description, folder="")),
            "files": await asyncio.to_thread(_description_files, self._service.options.model_folder),
        }

    async def add_voice(self, sha256: Annotated[Sha256, PathPart()], file: Annotated[UploadFile, File()]) -> None:
        """Receive the file of a voice: a recording, or prompt features as safetensors."""

        def add() -> None:
            with saved(file, frozenset({FEATURES_SUFFIX})) as received:
                self._voices.add(sha256, received)

        await asyncio.to_thread(add)

    async def speech(self, body: EngineSpeechBody, request: Request) -> Response:
        """Speak a text; the answer is a stream of events."""
        synthesis = body.request(await self._reference(body.voice))
        hooks = _StreamHooks()
        if body.text_id is not None:
            text = self._texts[body.text_id] = ArrivingText()
            speech = self._service.speak_arriving(synthesis, client_key(request), text, hooks.callbacks)
            answer = self._stream(speech, hooks)
            answer.when_over = partial(self._texts.pop, body.text_id, None)
            return answer
        return self._stream(self._service.speak(synthesis, client_key(request), hooks.callbacks), hooks)

    async def refuse_old_client(self) -> None:
        raise BadRequest(
            "This version of the program cannot send text as it arrives to this service.",
            remedy="Update the program on the computer that sends it, or send the whole text.",
        )

    async def add_text(self, body: FragmentsBody) -> None:
        """Continue a sentence that is still being written. Repeated fragments and unknown sentences are ignored."""
        text = self._texts.get(body.text_id)
        if text is None:
            return
        if body.first > text.num_fragments:
            raise BadRequest("Fragments of the text are missing.")
        if len(text.written) + sum(map(len, body.fragments)) > MAX_INPUT:
            raise BadRequest("The text is longer than {number} characters.", remedy="Split it.", number=MAX_INPUT)
        last = len(body.fragments) - 1
        for index in range(text.num_fragments - body.first, len(body.fragments)):
            written = body.fragments[index].encode("utf-8", "ignore").decode()  # without lone surrogates
            text.add(Fragment(written, is_last=body.is_complete and index == last))

    async def conversion(
        self, request: Request, file: Annotated[UploadFile, File()], options: Annotated[str, Form(max_length=10_000)]
    ) -> Response:
        """Convert a recording; the answer is a stream of events."""
        body = _conversion_options(options)
        voice = await self._reference(body.voice)
        stack = contextlib.ExitStack()
        try:
            source = await asyncio.to_thread(stack.enter_context, saved(file))
            wanted = ConversionRequest(source, voice, **body.model_dump(exclude={"voice"}))
            hooks = _StreamHooks()
            answer = self._stream(self._service.convert(wanted, client_key(request), hooks=hooks.callbacks), hooks)
        except BaseException:
            stack.close()
            raise
        answer.when_over = stack.close
        return answer

    async def preparation(self, body: VoiceBody, request: Request) -> Response:
        """Prepare a voice; the answer is a stream of events."""
        voice = await self._reference(body)

        async def produce(put: Put) -> None:
            def on_progress(stage: str, share: float) -> None:
                put(protocol.Progress(_ID, stage, share))

            put(protocol.VoiceReady(_ID, await self._service.prepare_voice(voice, client_key(request), on_progress)))

        return EventStream(produce)

    async def spelling(self, body: SpellingBody) -> dict[str, str]:
        """Return a text with numbers and signs in words, as the model receives it."""
        return {"text": await self._service.spell_out(body.text, body.language)}

    async def _reference(self, body: VoiceBody) -> VoiceReference:
        return VoiceReference(await asyncio.to_thread(self._voices.find, body.sha256), body.transcript, body.name)

    def _stream(self, speech: ServedSpeech, hooks: _StreamHooks) -> EventStream:
        """Return the response with the events of ``speech``."""

        async def produce(put: Put) -> None:
            hooks.put = put
            error = None
            try:
                async for chunk in speech.chunks():
                    put(protocol.AudioReady(_ID, chunk))
                    await stream.wait_until_read()
                put(protocol.Finished(_ID, _report(speech)))
            except Exception as failure:
                error = as_studio_error(failure)
                raise
            finally:
                await speech.cancel()
                self._service.count_end(speech, error)

        stream = EventStream(produce)
        return stream


class _StreamHooks:
    """Hooks of a request that put events into its stream."""

    def __init__(self) -> None:
        self.put: Put = lambda _: None
        self.callbacks = Callbacks(on_progress=self._on_progress, on_start_time=self._on_start_time)

    def _on_progress(self, stage: str, share: float) -> None:
        self.put(protocol.Progress(_ID, stage, share))

    def _on_start_time(self, start: StartTime) -> None:
        from_now = start.loop_time - asyncio.get_running_loop().time()
        self.put(protocol.PlaybackStartEstimate(_ID, start.seconds_after_start, from_now))


def _report(speech: ServedSpeech) -> SynthesisReport:
    """Return the report, with times since the arrival of the request."""
    report, times = speech.report, speech.times
    assert report is not None
    return replace(
        report,
        first_audio_seconds=report.first_audio_seconds if times.first_audio is None else times.first_audio,
        total_seconds=times.now(),
        queue_seconds=times.waited,
    )


def _description_files(folder: Path) -> dict[str, str]:
    """Return the small files of a model folder that describe the model, by name."""
    found = [path for pattern in wire.DESCRIPTION_FILES for path in folder.glob(pattern)]
    return {path.name: path.read_text("utf-8") for path in found if path.stat().st_size <= _MAX_DESCRIPTION_BYTES}


def _conversion_options(text: str) -> EngineConversionBody:
    try:
        return EngineConversionBody.model_validate_json(text)
    except ValidationError as error:
        raise invalid_field(error.errors()) from None
