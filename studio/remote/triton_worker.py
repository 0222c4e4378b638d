"""The Triton runtime of CosyVoice as a worker, through the optional package ``tritonclient``.

Such a server clones the voice of a recording with a transcript, which travel with each sentence. It lacks the text
processing of the official program: this computer normalises the text, splits it into sentences (the server stops after
750 speech tokens, 30 s), inserts pauses, and applies the speed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import ssl
from collections.abc import AsyncGenerator, Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from studio.audio.files import read_audio
from studio.audio.resampling import Samples
from studio.audio.time_stretch import TimeStretch
from studio.errors import (
    IncompleteInstallation,
    NoSpeechMade,
    NotOnServer,
    ServerRefused,
    ServerUnreachable,
    StudioError,
    TooManyRequests,
    UnknownService,
)
from studio.messages import Message, message
from studio.model.generations import COSYVOICE2, COSYVOICE3
from studio.pipeline.request import AudioChunk, Mode, SynthesisRequest, VoiceReference, VoiceSummary
from studio.remote import triton_wire
from studio.remote.address import ServerAddress
from studio.remote.connection import untrusted_server
from studio.remote.line_request import LineRequest
from studio.remote.other_worker import SAMPLE_RATE, OtherSpeech, OtherWorker
from studio.remote.resumable_request import Interrupted
from studio.remote.triton_wire import REFERENCE_RATE
from studio.remote.voice_files import clip_sha256
from studio.system.installation import how_to_add
from studio.text.segmentation import Pause, Sentence, prepare_text
from studio.text.spoken import shown, spoken_transcript
from studio.text.tokenizer import PromptForm
from studio.voices.clip_check import MAX_SECONDS, check_prompt_clip
from studio.worker.normalization import ApproximateTokenizer

_log = logging.getLogger(__name__)

_FEATURES_SUFFIX = ".safetensors"
_KEPT_REFERENCES = 16
_ANSWER_SECONDS = 10.0
_SILENCE_SECONDS = 300.0  # a model that is not decoupled answers when the whole sentence exists
_UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
_NO_MODEL = "unknown model"  # in the details, if no version of a model is loaded


class TritonWorker(OtherWorker):
    """The Triton server at ``server``, whose ``model`` speaks."""

    def __init__(self, server: ServerAddress) -> None:
        super().__init__(server)
        self._triton: TritonConnection | None = None

    async def _disconnect(self) -> None:
        connection, self._triton = self._triton, None
        if connection is not None:
            await connection.close()

    def _connect_triton(self) -> TritonConnection:
        if self._triton is None:
            self._triton = TritonConnection(self._server, self._server.token())
        return self._triton

    async def _check_model(self) -> None:
        if not await self._connect_triton().has_speech_model(self._server.model):
            raise NotOnServer(
                "{host} has no speech model named {model}.",
                remedy="Test the connection again, and choose another model.",
                host=self._server.host,
                model=self._server.model,
            )

    async def _speak(self, request: SynthesisRequest, speech: OtherSpeech) -> None:
        if request.preset is not None or request.instruct is not None:
            raise self._impossible()
        items = await asyncio.to_thread(
            self._items,
            request.text,
            normalize=not request.text_is_normalized,
            is_continued=request.first_index > 0,
            language=request.language,
        )
        prompt = await asyncio.to_thread(self._prompt, request.voice)
        stretch = TimeStretch(request.speed, SAMPLE_RATE)
        for index, item in enumerate(items):
            put = partial(speech.put, sentence_index=index, num_sentences=len(items))
            if isinstance(item, Pause):
                put(stretch.process(np.zeros(round(item.seconds * SAMPLE_RATE * request.speed), np.float32)))
            else:
                await self._speak_sentence(item.spoken.strip(), prompt, stretch, speech, put)
        speech.put(stretch.finish(), len(items) - 1, len(items))

    async def _speak_sentence(
        self,
        text: str,
        prompt: tuple[Samples, str],
        stretch: TimeStretch,
        speech: OtherSpeech,
        put: Callable[[Samples], None],
    ) -> None:
        host = self._server.host
        line = LineRequest(host, speech.request_id, self._events.put, if_different=message("closed the connection"))

        async def attempt() -> None:
            async with contextlib.aclosing(self._connect_triton().speak(*prompt, text)) as stream:
                async for samples in stream:
                    if (rest := line.new_part(AudioChunk(samples, SAMPLE_RATE))) is not None:
                        put(stretch.process(rest.samples))

        await line.run(attempt)
        if not line.num_received:
            raise NoSpeechMade("{host} sent no audio.", remedy="Try again.", host=host)
        speech.spoken_text.append(text)

    async def _prepare_voice(self, voice: VoiceReference) -> VoiceSummary:
        reference, _ = await asyncio.to_thread(self._prompt, voice)
        return VoiceSummary(voice.name, reference.size / REFERENCE_RATE, 0, 0)

    async def _spell_out(self, text: str, language: str) -> str:
        items = await asyncio.to_thread(self._items, text, normalize=True, language=language)
        return "".join(item.spoken if isinstance(item, Sentence) else item.written for item in items).strip()

    def _mode(self, request: SynthesisRequest) -> Mode:
        return request.mode

    def _impossible(self) -> NotOnServer:
        return NotOnServer(
            "{host} runs Triton, which supports neither styles nor voice conversion.",
            remedy="Choose the default style, or use a model of this computer.",
            host=self._server.host,
        )

    @property
    def _form(self) -> PromptForm:
        return (COSYVOICE3 if "3" in self._server.model else COSYVOICE2).text

    def _items(
        self, text: str, *, normalize: bool, is_continued: bool = False, language: str = ""
    ) -> list[Sentence | Pause]:
        return prepare_text(
            text,
            form=self._form,
            tokenizer=ApproximateTokenizer(),
            normalize=normalize,
            is_continued=is_continued,
            language=language,
        )

    def _prompt(self, voice: VoiceReference) -> tuple[Samples, str]:
        """Return the recording at ``REFERENCE_RATE`` and the transcript as spoken.

        Raise ``NotOnServer`` and the errors of ``read_audio`` and ``check_prompt_clip``.
        """
        if voice.clip.suffix == _FEATURES_SUFFIX or not (voice.transcript or "").strip():
            raise NotOnServer(
                "{host} runs Triton, which needs a recording and its transcript; {voice} lacks one.",
                remedy="Add the transcript to the voice, or choose another voice.",
                host=self._server.host,
                voice=voice.name or voice.clip.name,
            )
        reference = _reference(voice.clip, clip_sha256(voice.clip))
        return reference, shown(spoken_transcript(voice.transcript or "", self._form.tags))


@lru_cache(maxsize=_KEPT_REFERENCES)
def _reference(clip: Path, sha256: str) -> Samples:  # noqa: ARG001 - the hash is part of the key
    waveform = read_audio(clip, longest_seconds=2 * MAX_SECONDS)
    check_prompt_clip(waveform)
    return waveform.resampled(REFERENCE_RATE).samples


class _UnknownModel(Exception):
    """The server has no such model."""


class TritonConnection:
    """Connection to ``server`` with ``token``, for one event loop. Use it with ``async with``, or call ``close``.

    The token is sent as ``authorization: Bearer``, for a proxy in front of Triton, which has no tokens of its own.
    Raise ``IncompleteInstallation`` if ``tritonclient`` is missing.
    """

    def __init__(self, server: ServerAddress, token: str | None) -> None:
        try:
            import grpc.aio  # noqa: PLC0415 - an optional extra
            from tritonclient.grpc import service_pb2, service_pb2_grpc  # noqa: PLC0415
        except (ImportError, RuntimeError) as error:  # tritonclient raises the latter if gRPC is missing
            raise IncompleteInstallation(
                "Speaking through Triton needs libraries that are not installed ({reason}).",
                remedy="{how}",
                reason=error,
                how=how_to_add("triton"),
            ) from error
        self.server = server
        self._messages = service_pb2
        self._error = grpc.aio.AioRpcError
        self._metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        # As for http, the proxy of this computer is not used: the other computer is usually in the same network.
        options = [("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", -1)]
        place = urlsplit(server.url).netloc
        if server.is_encrypted:
            credentials = grpc.ssl_channel_credentials(_trusted_certificates())
            self._channel = grpc.aio.secure_channel(place, credentials, options)
        else:
            self._channel = grpc.aio.insecure_channel(place, options)
        self._stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)

    async def __aenter__(self) -> TritonConnection:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._channel.close()

    async def models(self) -> tuple[str, ...]:
        """Return the names of the models that speak. Raise ``StudioError``."""
        try:
            index = await self._ask(self._stub.RepositoryIndex, self._messages.RepositoryIndexRequest(ready=True))
            names = [model.name for model in index.models]
        except StudioError:  # an operator can forbid it
            await self._ask(self._stub.ServerLive, self._messages.ServerLiveRequest())
            names = [*triton_wire.KNOWN_MODELS]
        speaking = [name for name in names if await self.has_speech_model(name)]
        if not speaking:
            raise UnknownService(
                "{host} has no model of CosyVoice's Triton runtime.",
                remedy="Check the address, and that its models are loaded.",
                host=self.server.host,
            )
        return tuple(speaking)

    async def has_speech_model(self, model: str) -> bool:
        """Return whether ``model`` is ready and has the inputs and the output of CosyVoice. Raise ``StudioError``."""
        try:
            metadata = await self._ask(self._stub.ModelMetadata, self._messages.ModelMetadataRequest(name=model))
        except _UnknownModel:
            return False
        return triton_wire.is_speech_model(metadata)

    async def _ask(self, call: Callable[..., Any], message: object) -> Any:
        """Return the answer to a request that may be repeated. Raise ``StudioError``, ``_UnknownModel``."""
        try:
            try:
                return await call(message, timeout=_ANSWER_SECONDS, metadata=self._metadata)
            except self._error as error:
                if error.code().name != "UNAVAILABLE":  # which includes connections that were closed while idle
                    raise
                return await call(message, timeout=_ANSWER_SECONDS, metadata=self._metadata)
        except self._error as error:
            details = error.details() or ""
            if error.code().name == "NOT_FOUND" or _NO_MODEL in details:
                raise _UnknownModel from error
            failure = self._failure(error.code().name, details)
            raise (failure.error if isinstance(failure, Interrupted) else failure) from error

    async def speak(self, reference: Samples, transcript: str, text: str) -> AsyncGenerator[Samples, None]:
        """Yield the speech of ``text``, float32 at 24 kHz, in the voice of ``reference`` (16 kHz), as it arrives.

        Closing the iterator cancels the request. Raise ``StudioError``, ``Interrupted``.
        """
        request = self._messages.ModelInferRequest(model_name=self.server.model)
        triton_wire.fill_request(request, reference, transcript, text)
        stream = self._stub.ModelStreamInfer([request], metadata=self._metadata)
        try:
            while True:
                async with asyncio.timeout(_SILENCE_SECONDS):
                    answer = await stream.read()
                if not answer:  # the end of the stream; a broken one raises an error
                    return
                if answer.error_message:
                    raise self._refusal(answer.error_message)
                yield triton_wire.read_samples(answer.infer_response)
                if triton_wire.is_final(answer.infer_response):
                    return
        except TimeoutError as late:
            raise Interrupted(self._unreachable(message("stopped responding"))) from late
        except self._error as error:
            raise self._failure(error.code().name, error.details() or "") from error
        except ValueError as error:
            raise NotOnServer(
                "{host} sends audio that is not float32.",
                remedy="Choose another model of the server.",
                host=self.server.host,
            ) from error
        finally:
            stream.cancel()

    def _failure(self, status: str, details: str) -> StudioError | Interrupted:  # noqa: PLR0911 - one for each status
        """Return the error for a gRPC status."""
        _log.info("%s answers %s: %s", self.server.host, status, details)
        host = self.server.host
        match status:
            case "UNAVAILABLE" if _UNTRUSTED in details:
                return untrusted_server(host, _UNTRUSTED)
            case "UNAVAILABLE":
                return Interrupted(self._unreachable(message("cannot be reached")))
            case "DEADLINE_EXCEEDED":
                return Interrupted(self._unreachable(message("stopped responding")))
            case "CANCELLED" | "ABORTED" | "UNKNOWN":
                return Interrupted(self._unreachable(message("closed the connection")))
            case "UNAUTHENTICATED" | "PERMISSION_DENIED":
                return ServerRefused(
                    "{host} does not accept the token.",
                    remedy="Enter the token of the proxy in front of it.",
                    host=host,
                )
            case "RESOURCE_EXHAUSTED":
                return TooManyRequests("{host} is busy.", remedy="Try again in {seconds} s.", host=host, seconds=1)
            case "UNIMPLEMENTED":
                return UnknownService(
                    "{host} does not run Triton.", remedy="Check the address and the port.", host=host
                )
        return self._refusal(details)

    def _refusal(self, reason: str) -> ServerRefused:
        return ServerRefused("{host} refuses the request: {reason}.", host=self.server.host, reason=reason.rstrip("."))

    def _unreachable(self, happened: Message) -> ServerUnreachable:
        return ServerUnreachable(
            "{host} {happened}.",
            remedy="Check its address, that it is switched on, and that Triton runs there; or use this computer.",
            host=self.server.host,
            happened=happened,
        )


def _trusted_certificates() -> bytes | None:
    """Return the trusted certificates of this computer (PEM), or None for gRPC's own if there is no file."""
    path = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().openssl_cafile
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
