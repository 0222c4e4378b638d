"""A small Triton server over gRPC, with the models of CosyVoice's runtime, by the protocol's own stubs.

Its metadata, its refusals and the form of its streams were recorded from Triton (``tests/remote/recorded``).
"""

from __future__ import annotations

import base64
import json
import struct
import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from tritonclient.grpc import service_pb2, service_pb2_grpc

_RECORDED = json.loads((Path(__file__).parents[1] / "remote" / "recorded" / "triton.json").read_text("utf-8"))
STREAM = [service_pb2.ModelStreamInferResponse.FromString(base64.b64decode(answer)) for answer in _RECORDED["stream"]]
CHUNK_SAMPLES = 2_400
INPUTS = {"reference_wav": "FP32", "reference_wav_len": "INT32", "reference_text": "BYTES", "target_text": "BYTES"}


@dataclass
class Heard:
    """One request, decoded."""

    model: str
    reference: np.ndarray
    length: int
    transcript: str
    text: str
    metadata: dict[str, str]


@dataclass
class TritonServer(service_pb2_grpc.GRPCInferenceServiceServicer):
    """Speaks a chunk of 0.1 s for each word, with the value 0.1 times the position of the word.

    ``breaks`` are the numbers of chunks after which the next attempts break off. ``holds_after`` is the number of chunks
    after which each answer waits for ``go_on``.
    """

    models: tuple[str, ...] = ("cosyvoice2", "audio_tokenizer")
    is_decoupled: bool = True
    lists_models: bool = True
    token: str = ""
    breaks: list[int] = field(default_factory=list)
    holds_after: int | None = None
    fault: str = ""
    kind: str = "FP32"
    is_noisy: bool = False
    requests: list[Heard] = field(default_factory=list)
    num_cancelled: int = 0
    go_on: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"grpc://127.0.0.1:{self.port}"

    def ServerLive(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._check(context)
        return service_pb2.ServerLiveResponse(live=True)

    def RepositoryIndex(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._check(context)
        if not self.lists_models:
            self._abort(context, "repository_index")
        answer = service_pb2.RepositoryIndexResponse()
        for name in self.models:
            answer.models.add(name=name, version="1", state="READY")
        return answer

    def ModelMetadata(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._check(context)
        if request.name not in self.models:
            self._abort(context, "unknown_model")
        kind = "cosyvoice2" if request.name.startswith("cosyvoice") else "audio_tokenizer"
        return service_pb2.ModelMetadataResponse.FromString(base64.b64decode(_RECORDED["metadata"][kind]))

    def ModelStreamInfer(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        self._check(context)
        is_complete = False

        def count() -> None:  # gRPC does not resume this function if the request ends while an answer is sent
            self.num_cancelled += not is_complete

        context.add_callback(count)
        for request in requests:
            heard = _decoded(request, context)
            self.requests.append(heard)
            if self.fault:
                yield service_pb2.ModelStreamInferResponse(error_message=self.fault)
                return
            wants_final = request.parameters["triton_enable_empty_final_response"].bool_param
            breaks_after = self.breaks.pop(0) if self.breaks else None
            chunks = self._speech(heard.text)
            if not self.is_decoupled:
                chunks = [np.concatenate(chunks)]
            for number, chunk in enumerate(chunks):
                if number == breaks_after:
                    context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
                while number == self.holds_after and not self.go_on.wait(0.01):
                    if not context.is_active():
                        return
                yield self._answer(chunk, is_final=not self.is_decoupled)
            if self.is_decoupled and wants_final:
                yield self._answer(None, is_final=True)
        is_complete = True

    def _abort(self, context: grpc.ServicerContext, refusal: str) -> None:
        status, details = _RECORDED[refusal]
        context.abort(grpc.StatusCode[status], details)

    def _check(self, context: grpc.ServicerContext) -> None:
        if self.token and dict(context.invocation_metadata()).get("authorization") != f"Bearer {self.token}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "no token")

    def _speech(self, text: str) -> list[np.ndarray]:
        offset = 0.01 * len(self.requests) if self.is_noisy else 0.0
        return [np.full(CHUNK_SAMPLES, 0.1 * (word % 10) + offset, "<f4") for word in range(1, len(text.split()) + 1)]

    def _answer(self, samples: np.ndarray | None, *, is_final: bool) -> Any:
        response = service_pb2.ModelInferResponse(model_name="cosyvoice2")
        if samples is not None:
            content = samples if self.kind == "FP32" else samples.astype("<i2")
            response.outputs.add(name="waveform", datatype=self.kind, shape=[1, samples.size])
            response.raw_output_contents.append(content.tobytes())
        response.parameters["triton_final_response"].bool_param = is_final
        return service_pb2.ModelStreamInferResponse(infer_response=response)


def _decoded(request: Any, context: grpc.ServicerContext) -> Heard:
    """Read the four inputs as Triton does. Raise ``AssertionError`` for other names, types or shapes."""
    contents = dict(zip((each.name for each in request.inputs), request.raw_input_contents, strict=True))
    assert {each.name: each.datatype for each in request.inputs} == INPUTS
    shapes = {each.name: list(each.shape) for each in request.inputs}
    reference = np.frombuffer(contents["reference_wav"], "<f4")
    assert shapes == {name: [1, reference.size if name == "reference_wav" else 1] for name in INPUTS}
    assert [each.name for each in request.outputs] == ["waveform"]
    texts = []
    for name in ("reference_text", "target_text"):
        (size,) = struct.unpack_from("<I", contents[name])
        assert size == len(contents[name]) - 4
        texts.append(contents[name][4:].decode())
    (length,) = struct.unpack("<i", contents["reference_wav_len"])
    metadata = {key: str(value) for key, value in context.invocation_metadata()}
    return Heard(request.model_name, reference, length, *texts, metadata)


@contextmanager
def triton_server(credentials: grpc.ServerCredentials | None = None, **options: Any) -> Iterator[TritonServer]:
    """Run a server on a free port."""
    servicer = TritonServer(**options)
    server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(servicer, server)
    if credentials is None:
        servicer.port = server.add_insecure_port("127.0.0.1:0")
    else:
        servicer.port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    try:
        yield servicer
    finally:
        servicer.go_on.set()
        server.stop(0).wait()
