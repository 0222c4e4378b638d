"""The messages of CosyVoice's Triton runtime, as tensors of Triton's gRPC protocol.

Source: the CosyVoice repository, ``runtime/triton_trtllm`` (``client_grpc.py``, ``model_repo/cosyvoice2``,
``model_repo/cosyvoice2_dit`` and ``model_repo_cosyvoice3/cosyvoice3``: ``config.pbtxt``, ``1/model.py``). Inputs, each with a
batch dimension of 1: ``reference_wav`` FP32 (1, n), mono at 16 kHz, from -1 to 1; ``reference_wav_len`` INT32 (1, 1), n;
``reference_text`` and ``target_text`` BYTES (1, 1), UTF-8. Output: ``waveform`` FP32 (1, n) at 24 kHz, which is not in the
metadata of the model. With ``decoupled``, each chunk is a response, and an empty one with ``triton_final_response`` ends
the stream; otherwise, one response with the whole waveform has that mark.

The messages are defined in ``tritonclient.grpc.service_pb2``, an optional package that this module does not import.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from studio.audio.resampling import Samples

REFERENCE_RATE = 16_000
# Names of models in the repository, for servers that do not list theirs.
KNOWN_MODELS = ("cosyvoice3", "cosyvoice2", "cosyvoice2_dit")
_INPUTS = {"reference_wav", "reference_wav_len", "reference_text", "target_text"}
_OUTPUT = "waveform"


def is_speech_model(metadata: Any) -> bool:
    """Return whether a ``ModelMetadataResponse`` has the inputs and the output of CosyVoice."""
    inputs, outputs = {each.name for each in metadata.inputs}, {each.name for each in metadata.outputs}
    return inputs >= _INPUTS and _OUTPUT in outputs


def fill_request(message: Any, reference: Samples, transcript: str, text: str) -> Any:
    """Fill a ``ModelInferRequest`` for the speech of ``text`` in the voice of ``reference``, and return it."""
    samples, length = reference.astype("<f4"), np.array([reference.size], "<i4")
    tensors = {
        "reference_wav": ("FP32", samples.size, samples.tobytes()),
        "reference_wav_len": ("INT32", 1, length.tobytes()),
        "reference_text": ("BYTES", 1, _text_tensor(transcript)),
        "target_text": ("BYTES", 1, _text_tensor(text)),
    }
    for name, (kind, size, content) in tensors.items():
        message.inputs.add(name=name, datatype=kind, shape=[1, size])
        message.raw_input_contents.append(content)
    message.outputs.add(name=_OUTPUT)
    message.parameters["triton_enable_empty_final_response"].bool_param = True
    return message


def read_samples(response: Any) -> Samples:
    """Return the samples of a ``ModelInferResponse``, none if it has no output. Raise ``ValueError``."""
    if not response.outputs:
        return np.zeros(0, np.float32)
    output, contents = response.outputs[0], response.raw_output_contents
    if output.name != _OUTPUT or output.datatype != "FP32" or len(contents) != 1:
        raise ValueError("another output")
    samples = np.frombuffer(contents[0], "<f4").astype(np.float32)
    if not np.isfinite(samples).all():
        raise ValueError("samples that are not numbers")
    return samples


def is_final(response: Any) -> bool:
    return bool(response.parameters["triton_final_response"].bool_param)


def _text_tensor(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<I", len(content)) + content
