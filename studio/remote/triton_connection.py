"""gRPC connection to the Triton runtime of CosyVoice, through the optional package ``tritonclient``.

Source: the CosyVoice repository, ``runtime/triton_trtllm`` (``client_grpc.py``, ``model_repo/cosyvoice2``,
``model_repo/cosyvoice2_dit`` and ``model_repo_cosyvoice3/cosyvoice3``: ``config.pbtxt``, ``1/model.py``). Inputs, each with a
batch dimension of 1: ``reference_wav`` FP32 (1, n), mono at 16 kHz, from -1 to 1; ``reference_wav_len`` INT32 (1, 1), n;
``reference_text`` and ``target_text`` BYTES (1, 1), UTF-8. Output: ``waveform`` FP32 (1, n) at 24 kHz, which is not in the
metadata of the model. With ``decoupled``, each chunk is a response, and an empty one with ``triton_final_response`` ends
the stream; otherwise, one response with the whole waveform has that mark.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import struct
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from studio.audio.resampling import Samples
from studio.errors import (
    IncompleteInstallation,
    NotOnServer,
    ServerRefused,
    ServerUnreachable,
    StudioError,
    TooManyRequests,
    UnknownService,
)
from studio.messages import Message, wording
from studio.remote.address import ServerAddress
from studio.remote.line_attempts import StreamBroken
from studio.system.installation import how_to_reach_triton

_log = logging.getLogger(__name__)

# Names of models in the repository, for servers that do not list theirs.
_KNOWN_MODELS = ("cosyvoice3", "cosyvoice2", "cosyvoice2_dit")
_INPUTS = {"reference_wav", "reference_wav_len", "reference_text", "target_text"}
_OUTPUT, _FINAL = "waveform", "triton_final_response"
_ANSWER_SECONDS = 10.0
_SILENCE_SECONDS = 300.0  # a model that is not decoupled answers when the whole sentence exists
_UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
_NO_MODEL = "unknown model"  # in the details, if no version of a model is loaded


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
                how=how_to_reach_triton(),
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
            names = [*_KNOWN_MODELS]
        speaking = [name for name in names if await self.speaks(name)]
        if not speaking:
            raise UnknownService(
                "{host} has no model of CosyVoice's Triton runtime.",
                remedy="Check the address, and that its models are loaded.",
                host=self.server.host,
            )
        return tuple(speaking)

    async def speaks(self, model: str) -> bool:
        """Return whether ``model`` is ready and has the inputs and the output of CosyVoice. Raise ``StudioError``."""
        try:
            metadata = await self._ask(self._stub.ModelMetadata, self._messages.ModelMetadataRequest(name=model))
        except _UnknownModel:
            return False
        inputs, outputs = {each.name for each in metadata.inputs}, {each.name for each in metadata.outputs}
        return inputs >= _INPUTS and _OUTPUT in outputs

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
            raise (failure.error if isinstance(failure, StreamBroken) else failure) from error

    async def speak(self, reference: Samples, transcript: str, text: str) -> AsyncGenerator[Samples, None]:
        """Yield the speech of ``text``, float32 at 24 kHz, in the voice of ``reference`` (16 kHz), as it arrives.

        Closing the iterator cancels the request. Raise ``StudioError``, ``StreamBroken``.
        """
        requests = [self._request(reference, transcript, text)]
        stream = self._stub.ModelStreamInfer(requests, metadata=self._metadata)
        try:
            while True:
                async with asyncio.timeout(_SILENCE_SECONDS):
                    answer = await stream.read()
                if not answer:  # the end of the stream; a broken one raises an error
                    return
                if answer.error_message:
                    raise self._refusal(answer.error_message)
                response = answer.infer_response
                if response.outputs:
                    yield self._samples(response)
                if response.parameters[_FINAL].bool_param:
                    return
        except TimeoutError as late:
            raise StreamBroken(self._unreachable(wording("stopped responding"))) from late
        except self._error as error:
            raise self._failure(error.code().name, error.details() or "") from error
        finally:
            stream.cancel()

    def _request(self, reference: Samples, transcript: str, text: str) -> Any:
        samples, length = reference.astype("<f4"), np.array([reference.size], "<i4")
        tensors = {
            "reference_wav": ("FP32", samples.size, samples.tobytes()),
            "reference_wav_len": ("INT32", 1, length.tobytes()),
            "reference_text": ("BYTES", 1, _bytes_of(transcript)),
            "target_text": ("BYTES", 1, _bytes_of(text)),
        }
        request = self._messages.ModelInferRequest(model_name=self.server.model)
        for name, (kind, size, content) in tensors.items():
            request.inputs.add(name=name, datatype=kind, shape=[1, size])
            request.raw_input_contents.append(content)
        request.outputs.add(name=_OUTPUT)
        request.parameters["triton_enable_empty_final_response"].bool_param = True
        return request

    def _samples(self, response: Any) -> Samples:
        output, contents = response.outputs[0], response.raw_output_contents
        if output.name != _OUTPUT or output.datatype != "FP32" or len(contents) != 1 or len(contents[0]) % 4:
            raise self._other_form()
        samples = np.frombuffer(contents[0], "<f4").astype(np.float32)
        if not np.isfinite(samples).all():
            raise self._other_form()
        return samples

    def _other_form(self) -> NotOnServer:
        return NotOnServer(
            "{host} sends audio of another form than float32.",
            remedy="Choose another model of the server.",
            host=self.server.host,
        )

    def _failure(self, status: str, details: str) -> StudioError | StreamBroken:  # noqa: PLR0911 - one for each status
        """Return the error for a gRPC status."""
        _log.info("%s answers %s: %s", self.server.host, status, details)
        host = self.server.host
        match status:
            case "UNAVAILABLE" if _UNTRUSTED in details:
                from studio.remote.connection import untrusted_server  # noqa: PLC0415 - rare

                return untrusted_server(host, _UNTRUSTED)
            case "UNAVAILABLE":
                return StreamBroken(self._unreachable(wording("cannot be reached")))
            case "DEADLINE_EXCEEDED":
                return StreamBroken(self._unreachable(wording("stopped responding")))
            case "CANCELLED" | "ABORTED" | "UNKNOWN":
                return StreamBroken(self._unreachable(wording("closed the connection")))
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
                    "{host} does not answer as Triton does.", remedy="Check the address and the port.", host=host
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


def _bytes_of(text: str) -> bytes:
    """Return a tensor of one text: its length and its bytes."""
    content = text.encode()
    return struct.pack("<I", len(content)) + content


def _trusted_certificates() -> bytes | None:
    """Return the trusted certificates of this computer (PEM), or None for those of gRPC, where there is no file."""
    path = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().openssl_cafile
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
