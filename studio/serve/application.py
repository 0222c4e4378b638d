"""The HTTP application: OpenAI's speech API, and additional endpoints under the names that other servers use."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Annotated

from fastapi import FastAPI, File, Form, Request, Response, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

import studio
from studio.errors import BadRequest, StudioError, UnknownPath
from studio.model.options import Quality
from studio.serve.access import AccessControl, AccessRules
from studio.serve.backend import ServedSpeech
from studio.serve.client_requests import client_key, saved
from studio.serve.engine_api import EngineApi
from studio.serve.errors import error_body, error_response, invalid_field, invalid_json
from studio.serve.live_text import LiveText
from studio.serve.request_log import RequestLog, note_outcome
from studio.serve.responses import SpeechResponse
from studio.serve.schemas import (
    AddedVoice,
    FormatName,
    ModelDetails,
    ModelInfo,
    ModelList,
    ModelVoice,
    Name,
    RemovedVoice,
    SampleRate,
    Seed,
    SpeechBody,
    Speed,
    StreamFormat,
    StyleInfo,
    StyleList,
    TagInfo,
    VoiceInfo,
    VoiceList,
    speech_answers,
)
from studio.serve.service import SpeechService
from studio.voices.library import Addition, Consent, Voice

# OpenAI's clients expect this rate, because raw samples do not contain their own.
_PCM_SAMPLE_RATE = 24_000
_METRICS_TYPE = "text/plain; version=0.0.4"
# Statuses for paths and methods that do not exist.
_UNKNOWN = frozenset({404, 405})
_MAX_TRANSCRIPT = 2_000
_MAX_CONSENT = 500


def create_application(service: SpeechService, rules: AccessRules) -> FastAPI:
    """Return the ASGI application. It does not load the model; ``service.load`` does that."""
    # The documentation pages of FastAPI load scripts from another server.
    app = FastAPI(title="Timbre Studio", version=studio.__version__, docs_url=None, redoc_url=None)
    app.add_middleware(AccessControl, rules=rules, on_refused=service.count_failure)
    app.add_middleware(RequestLog, on_end=service.end_request)
    _add_error_handlers(app, service)
    _add_speech(app, service)
    _add_voices(app, service)
    _add_state(app, service)
    EngineApi(service).add_to(app)
    app.add_api_websocket_route("/v1/audio/speech/stream", LiveText(service).serve)
    return app


def create_metrics_application(service: SpeechService) -> ASGIApp:
    """Return the ASGI application with the metrics alone, for a port without a token."""

    async def metrics(_request: Request) -> Response:
        return Response(await service.metrics_text(), media_type=_METRICS_TYPE)

    return Starlette(routes=[Route("/metrics", metrics)])


def _add_speech(app: FastAPI, service: SpeechService) -> None:
    @app.post("/v1/audio/speech", response_class=Response, responses={200: speech_answers()})
    async def speech(body: SpeechBody, request: Request) -> Response:
        """Speak a text. The first bytes are sent as soon as the first audio exists.

        Word times (`timestamp_granularities`) follow the last audio, after a check of the whole speech.
        """
        if body.timestamp_granularities and body.stream_format in ("audio", "file"):
            raise BadRequest(
                "An audio file cannot contain word times.", remedy="Request the stream_format “json” or “sse”."
            )
        synthesis = await service.request(body, body.input)
        return SpeechResponse(
            lambda: service.speak(synthesis, client_key(request)),
            format_name=body.response_format,
            sample_rate=body.sample_rate or _default_rate(body.response_format),
            stream_format=body.stream_format,
            text=synthesis.text,
            requested_words=service.requested_words(body),
            requested_file=service.requested_file(synthesis),
            on_end=service.count_end,
            retry_after=lambda: service.queue.retry_after_seconds,
        )

    @app.post("/v1/audio/conversions", response_class=Response)
    async def conversion(
        request: Request,
        *,
        file: Annotated[UploadFile, File(description="The recording to convert.")],
        voice: Annotated[Name, Form()] = "",
        response_format: Annotated[FormatName, Form()] = "wav",
        stream_format: Annotated[StreamFormat, Form()] = "audio",
        speed: Annotated[Speed, Form()] = 1.0,
        seed: Annotated[Seed, Form()] = 0,
        quality: Annotated[Quality | None, Form()] = None,
        sample_rate: Annotated[SampleRate | None, Form()] = None,
    ) -> Response:
        """Convert a recording to another voice."""
        stack = contextlib.ExitStack()
        try:
            source = await asyncio.to_thread(stack.enter_context, saved(file))
            converted = await service.conversion(source, voice, speed=speed, seed=seed, quality=quality)
        except BaseException:
            stack.close()
            raise

        def end(served: ServedSpeech | None, error: StudioError | None) -> None:
            stack.close()
            service.count_end(served, error)

        return SpeechResponse(
            lambda: service.convert(converted, client_key(request)),
            format_name=response_format,
            sample_rate=sample_rate or _default_rate(response_format),
            stream_format=stream_format,
            requested_file=service.requested_file(converted),
            on_end=end,
            retry_after=lambda: service.queue.retry_after_seconds,
        )

    @app.get("/v1/audio/styles")
    async def styles() -> StyleList:
        """List the styles and inline tags of the model."""
        return StyleList(
            styles=[
                StyleInfo(id=each.id, name=each.label_en, name_zh=each.label_zh, instruction=each.instruction)
                for each in service.styles.presets
            ],
            tags=[TagInfo(tag=each.tag, name=each.label_en, name_zh=each.label_zh) for each in service.styles.tags],
        )


def _add_voices(app: FastAPI, service: SpeechService) -> None:
    library = service.library

    @app.get("/v1/audio/voices")
    async def voices() -> VoiceList:
        """List the voices."""
        return VoiceList(voices=[_voice_info(voice) for voice in await asyncio.to_thread(library.voices)])

    @app.post("/v1/audio/voices", status_code=201)
    async def add_voice(
        name: Annotated[Name, Form()],
        consent: Annotated[str, Form(max_length=_MAX_CONSENT, description="Who consented, and to what.")],
        audio_sample: Annotated[UploadFile, File(description="3 to 10 seconds of one speaker.")],
        transcript: Annotated[str, Form(max_length=_MAX_TRANSCRIPT)] = "",
        ref_text: Annotated[str, Form(max_length=_MAX_TRANSCRIPT, description="Alias of transcript.")] = "",
    ) -> AddedVoice:
        """Add a voice from a recording. The speaker must have consented."""
        if not consent.strip():
            raise BadRequest(
                "A voice needs the consent of its speaker.", remedy="State in “consent” who consented, and to what."
            )

        def add() -> Addition:
            with saved(audio_sample) as clip:
                stated = Consent(by=consent, date=datetime.now(UTC).date().isoformat())
                return library.add(clip, name, transcript or ref_text or None, consent=stated)

        addition = await asyncio.to_thread(add)
        service.voice_added(addition.voice)
        info = _voice_info(addition.voice)
        return AddedVoice(**info.model_dump(), voice=info, warnings=list(addition.warnings))

    @app.delete("/v1/audio/voices/{name}")
    async def remove_voice(name: Name) -> RemovedVoice:
        """Move a voice to the trash, which keeps it for 30 days. Bundled voices cannot be removed."""
        voice = await asyncio.to_thread(library.get, name)
        if voice.is_built_in:
            raise BadRequest(
                "{name} is a bundled voice and cannot be removed.", remedy="Remove only added voices.", name=voice.name
            )
        await asyncio.to_thread(library.trash, voice.name)
        return RemovedVoice(id=voice.name)


def _add_state(app: FastAPI, service: SpeechService) -> None:
    @app.get("/v1/models")
    @app.get("/v1/audio/models", include_in_schema=False)
    async def models() -> ModelList:
        """List the served model."""
        model = ModelInfo(id=service.model_name, name=service.model_name)
        return ModelList(data=[model], models=[model])

    @app.get("/v1/models/{name:path}")
    async def model(name: Name) -> ModelDetails:
        """Describe the served model, which requests for the model `name` get."""
        service.require_model(name)
        voices = await asyncio.to_thread(service.library.voices)
        return ModelDetails(
            id=service.model_name,
            name=service.model_name,
            sample_rate=None if service.description is None else service.description.sample_rate,
            voices=[ModelVoice(name=voice.name, language=voice.language) for voice in voices],
        )

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Answer as long as the service runs."""
        return {"status": "ok"}

    @app.get("/health", include_in_schema=False)
    async def health() -> Response:
        """Answer as Speaches does. wyoming-openai then reads the voices in `/v1/models/{name}`."""
        return PlainTextResponse("OK")

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        """Answer 200 once the model is loaded, and 503 before."""
        is_ready = service.description is not None
        return JSONResponse({"status": "ready" if is_ready else "loading"}, 200 if is_ready else 503)

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Metrics in the text format of Prometheus."""
        return Response(await service.metrics_text(), media_type=_METRICS_TYPE)


def _add_error_handlers(app: FastAPI, service: SpeechService) -> None:
    @app.exception_handler(StudioError)
    async def studio_error(_request: Request, error: StudioError) -> Response:
        service.count_failure(error)
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        found = error.errors()[0]
        if found["type"] == "json_invalid":
            return await studio_error(request, invalid_json(error.body, found["loc"][-1], found["ctx"]["error"]))
        return await studio_error(request, invalid_field(error.errors(), skips=1))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        if isinstance(error.__cause__, StudioError):  # raised while FastAPI read a form
            return await studio_error(request, error.__cause__)
        problem: StudioError = BadRequest("{reason}.", reason=error.detail)
        if error.status_code in _UNKNOWN:
            problem = UnknownPath(
                "This service has no request {method} {path}.",
                remedy="The base URL of OpenAI's clients ends with /v1. /openapi.json describes all requests.",
                method=request.method,
                path=request.url.path,
            )
        note_outcome(problem.code)
        return JSONResponse(error_body(problem), error.status_code, error.headers)


def _default_rate(format_name: FormatName) -> int | None:
    return _PCM_SAMPLE_RATE if format_name == "pcm" else None


def _voice_info(voice: Voice) -> VoiceInfo:
    return VoiceInfo(
        id=voice.name,
        name=voice.name,
        created_at=int(datetime.fromisoformat(voice.created).timestamp()) if voice.created else 0,
        language=voice.language,
        transcript=voice.transcript,
        seconds=round(voice.clip_seconds, 3),
        is_bundled=voice.is_built_in,
    )
