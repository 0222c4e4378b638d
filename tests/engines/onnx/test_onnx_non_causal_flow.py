"""CosyVoice-300M's flow and vocoder as graphs under ONNX Runtime equal the plain layers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import onnx
import pytest
import torch
from graph_cases import CPU, checkpoint_of, flow_folder, open_graph, tensor_types, vocoder_folder
from non_causal_flow_cases import (
    FAMILY,
    NonCausalGolden,
    non_causal_config,
    non_causal_decoder,
    random_voice,
    table_draw,
)
from onnx import TensorProto
from table_noise import TableNoise

from studio.engines.candidate import EngineTarget, Unusable
from studio.engines.cuda_graph.candidates import CANDIDATES as CUDA_GRAPHS
from studio.engines.onnx import files
from studio.engines.onnx.files import FLOW_STEP, VOCODER_DECODER, open_any_flow, open_vocoder
from studio.engines.onnx.mixed_precision import write_mixed_precision
from studio.engines.onnx.non_causal_flow import GraphNonCausalDecoder, NonCausalFlowShapes
from studio.engines.quantized.candidates import CANDIDATES as QUANTIZED
from studio.engines.stage import Device, Stage
from studio.errors import DamagedModelFile
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

LIMIT = 1e-5


@cache
def decoder_of(reference: Path) -> GraphNonCausalDecoder:
    opened = open_any_flow(
        flow_folder(reference, FAMILY),
        checkpoint_of(reference, FAMILY),
        Precision.FLOAT32,
        open_graph,
        blocks_at_once=1,
    )
    assert isinstance(opened, GraphNonCausalDecoder)
    return opened


def relative_error(mel: torch.Tensor, expected: torch.Tensor) -> float:
    return float((mel - expected).abs().max() / expected.abs().max())


@pytest.mark.slow
@pytest.mark.parametrize(("num_prompt_tokens", "num_tokens"), [(0, 7), (40, 61), (60, 120)])
def test_graph_equals_the_plain_layers(reference: Path, num_prompt_tokens: int, num_tokens: int) -> None:
    """Sizes unlike that of the traced example, with odd and even numbers of frames."""
    config = non_causal_config(reference)
    prompt = random_voice(config, num_prompt_tokens, config.frames_of_tokens(num_prompt_tokens))
    tokens = list(range(num_tokens))
    mel = decoder_of(reference).decode_whole(prompt, tokens)
    assert relative_error(mel, non_causal_decoder(reference).decode_whole(prompt, tokens)) <= LIMIT


@pytest.mark.slow
def test_stream_equals_the_plain_stream(reference: Path) -> None:
    config, tokens = non_causal_config(reference), [index % 500 for index in range(150)]
    prompt = random_voice(config, 60, 103)
    mels = []
    for decoder in (decoder_of(reference), non_causal_decoder(reference)):
        stream = decoder.open_stream(decoder.prepare_prompt(prompt))
        mels.append(torch.cat([stream.decode(tokens[:100], tokens[100:120]), stream.decode(tokens[100:], ())], dim=1))
    assert relative_error(*mels) <= LIMIT


@pytest.mark.slow
@pytest.mark.reference
def test_graph_equals_the_official_implementation(reference: Path) -> None:
    golden, model = NonCausalGolden(reference), decoder_of(reference)._model
    mel = model.decode(model.voice(golden.prompt), golden.tokens, table_draw(reference)).mel.t()
    assert relative_error(mel, golden["full/mel"][0]) <= LIMIT


def test_the_estimator_is_not_kept_twice(reference: Path) -> None:
    names = [name for name, _ in decoder_of(reference)._model.network.named_parameters()]
    assert names
    assert not any(name.startswith("decoder.") for name in names)


def test_sixteen_bit_graph_multiplies_in_sixteen_bits(reference: Path) -> None:
    step = onnx.load(flow_folder(reference, FAMILY) / FLOW_STEP)
    write_mixed_precision(step, Precision.FLOAT16, kept=files._FLOW_KEPT)
    types = tensor_types(step)
    products = [node for node in step.graph.node if node.op_type in ("MatMul", "Gemm", "Conv", "ConvTranspose")]
    halves = [node for node in products if types.get(node.output[0]) == TensorProto.FLOAT16]
    assert len(halves) > 0.9 * len(products)
    norms = [node for node in step.graph.node if "Normalization" in node.op_type]
    assert norms
    assert {types.get(node.output[0]) for node in norms} == {TensorProto.FLOAT}


@pytest.mark.slow
def test_vocoder_graph_equals_the_plain_vocoder(reference: Path) -> None:
    checkpoint = checkpoint_of(reference, FAMILY)
    plain = checkpoint.load_vocoder(Precision.FLOAT32, "cpu")
    graph = open_vocoder(vocoder_folder(reference, FAMILY), checkpoint, open_graph)
    assert (vocoder_folder(reference, FAMILY) / VOCODER_DECODER).is_file()
    mel = torch.randn(80, 60, generator=torch.Generator().manual_seed(0)) * 2 - 5
    noise = TableNoise(torch.randn(4801, 9, generator=torch.Generator().manual_seed(1)), wraps=True)
    wanted = plain.synthesize_whole(mel, noise)
    assert (graph.synthesize_whole(mel, noise) - wanted).abs().max() < 1e-4
    stream = graph.open_stream(noise)
    streamed = torch.cat([stream.synthesize(mel[:, :31], is_last=False), stream.synthesize(mel[:, 31:], is_last=True)])
    assert (streamed - wanted).abs().max() < 1e-4


def test_damaged_description_is_reported(reference: Path, tmp_path: Path) -> None:
    (tmp_path / NonCausalFlowShapes.FILE_NAME).write_text("{}", "utf-8")
    with pytest.raises(DamagedModelFile):
        open_any_flow(tmp_path, checkpoint_of(reference, FAMILY), Precision.FLOAT32, open_graph, blocks_at_once=1)


def test_engines_that_do_not_fit_say_why(reference: Path) -> None:
    checkpoint = checkpoint_of(reference, FAMILY)
    gpu = Device(DeviceKind.CUDA, "a card", 1, 8 << 30, compute_capability=(8, 9), driver="550.1")
    graphs = [candidate for candidate in CUDA_GRAPHS if candidate.stage is Stage.FLOW]
    eight_bits = [candidate for candidate in QUANTIZED if candidate.stage is Stage.FLOW]
    for candidates, device, reason in ((graphs, gpu, "vary in length"), (eight_bits, CPU, "streamed blocks")):
        assert candidates
        for candidate in candidates:
            found = candidate.probe(EngineTarget(checkpoint, device))
            assert isinstance(found, Unusable)
            assert reason in str(found.reason)
