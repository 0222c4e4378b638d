"""Which parts of a mixed-precision graph are 16-bit, and the effect on the mel."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx
import pytest
from flow_cases import PlainFlow, flow_config, grid_cuts, random_prompt, random_tokens, relative_error, streamed_mel
from graph_cases import flow_folder, graph_decoder, tensor_types, with_products_in_float32
from onnx import TensorProto

from studio.engines.onnx.files import FLOW_STEP
from studio.model.config import Precision

HALVES = {Precision.FLOAT16: TensorProto.FLOAT16, Precision.BFLOAT16: TensorProto.BFLOAT16}
# Twice the errors measured with these weights. float16 keeps eleven bits of a product and bfloat16 eight, which is a
# factor of eight. The limit is 1e-2, so CosyVoice2 in bfloat16 would be rejected with such weights.
MEL_LIMITS = {
    ("cosyvoice2", Precision.FLOAT16): 4e-3,
    ("cosyvoice2", Precision.BFLOAT16): 4e-2,
    ("cosyvoice3", Precision.FLOAT16): 1.5e-3,
    ("cosyvoice3", Precision.BFLOAT16): 1e-2,
}
FLOAT32_ONLY = {"LayerNormalization", "Softmax", "Add", "Sub", "Mul", "Div", "Erf", "Tanh", "Softplus", "Split"}


@pytest.fixture(params=list(HALVES), ids=lambda precision: precision.value)
def precision(request: pytest.FixtureRequest) -> Precision:
    return Precision(request.param)


@pytest.mark.slow
def test_only_matrix_multiplications_are_16_bit(reference: Path, family: str, precision: Precision) -> None:
    model = onnx.load(flow_folder(reference, family, precision) / FLOW_STEP)
    onnx.checker.check_model(model, full_check=True)
    types, half = tensor_types(model), HALVES[precision]
    products = {"MatMul", "Conv"}
    kept = [node for node in model.graph.node if node.op_type in products and types[node.output[0]] != half]
    assert [node for node in kept if "final_proj" not in str(node) and "proj_out" not in str(node)] == []
    assert len(kept) == 1, "the last layer stays float32"
    for node in model.graph.node:
        if node.op_type in FLOAT32_ONLY:
            assert half not in {types[name] for name in (*node.input, *node.output)}, node.name


def test_ports_of_keys_and_values_are_16_bit(reference: Path, family: str, precision: Precision) -> None:
    """This halves the memory of a prompt state; tails, mel and conditions stay float32."""
    model = onnx.load(flow_folder(reference, family, precision) / FLOW_STEP)
    for port in (*model.graph.input, *model.graph.output):
        kind = port.type.tensor_type.elem_type
        is_cache = ".keys." in port.name or ".values." in port.name
        expected = TensorProto.INT64 if port.name == "step" else HALVES[precision] if is_cache else TensorProto.FLOAT
        assert kind == expected, port.name


def test_no_weight_is_stored_twice(reference: Path, family: str, precision: Precision) -> None:
    whole = (flow_folder(reference, family) / FLOW_STEP).stat().st_size
    assert (flow_folder(reference, family, precision) / FLOW_STEP).stat().st_size < 0.85 * whole


@pytest.mark.slow
def test_mel_is_close_to_float32(reference: Path, family: str, precision: Precision, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(flow_folder(reference, family, precision), tmp_path / "flow"))
    onnx.save(with_products_in_float32(onnx.load(folder / FLOW_STEP)), folder / FLOW_STEP)
    config, decoder = flow_config(reference, family), graph_decoder(folder)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 60)
    mel = streamed_mel(decoder, decoder.prepare_prompt(prompt), tokens, grid_cuts(53, 60))
    error = relative_error(mel, PlainFlow(reference, family).mel(prompt, tokens))
    assert 0 < error <= MEL_LIMITS[family, precision]


@pytest.mark.slow
def test_float16_runs_on_a_processor(reference: Path, family: str) -> None:
    config = flow_config(reference, family)
    decoder = graph_decoder(flow_folder(reference, family, Precision.FLOAT16))
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 40)
    state = decoder.prepare_prompt(prompt)
    mel = streamed_mel(decoder, state, tokens, grid_cuts(53, 40))
    assert (
        relative_error(mel, PlainFlow(reference, family).mel(prompt, tokens)) <= MEL_LIMITS[family, Precision.FLOAT16]
    )
    wide = graph_decoder(flow_folder(reference, family)).prepare_prompt(prompt)
    assert state.num_bytes < 0.75 * wide.num_bytes
