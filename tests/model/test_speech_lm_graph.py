"""The decoder as a graph with 8-bit or 4-bit weights, compared with the decoder that runs layer by layer."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from samplers import GreedySampler
from speech_lm_cases import random_network, small_config

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision, SpeechLMConfig
from studio.model.onnx_networks import open_graph
from studio.model.speech_lm import (
    RepetitionAwareSampler,
    SpeechLMNetwork,
    TorchSpeechLM,
    build_speech_lm,
    compare_with_reference,
    graph_decoder,
    load_speech_lm,
    loading,
    random_request,
)
from studio.model.speech_lm.bfloat16_prefill import is_worthwhile
from studio.model.speech_lm.block_weights import BLOCKS, BlockWeights, block_size, quantize_blocks
from studio.model.speech_lm.graph_decoder import GraphDecoder, fits_graph, gains_from_bfloat16, has_fast_product
from studio.model.stages import AttentionHead, AttentionTrace

BITS = (Precision.INT8, Precision.INT4)


def config_of_blocks(**sizes: int) -> SpeechLMConfig:
    """Return a small config whose sizes the graph supports: six heads of 32, three for each key/value head."""
    config = small_config(num_layers=3)
    return replace(
        config, backbone=replace(config.backbone, **({"hidden_size": 192, "intermediate_size": 320} | sizes))
    )


CONFIG = config_of_blocks()


def widened(weight: torch.Tensor, bits: int, block: int) -> torch.Tensor:
    """Return the values that ``weight`` has in ``bits`` bits, computed from the packed form."""
    packed = quantize_blocks(weight, bits, block)
    return torch.from_numpy(unpack(packed)).reshape(weight.shape)


def unpack(packed: BlockWeights) -> np.ndarray:
    levels = packed.levels.astype(np.float32)
    if packed.bits == 8:
        return (levels - 128) * packed.scales[..., None]
    assert packed.zeros is not None
    levels = np.stack((packed.levels & 15, packed.levels >> 4), axis=-1).reshape(*packed.levels.shape[:2], -1)
    zeros = np.stack((packed.zeros & 15, packed.zeros >> 4), axis=-1).reshape(len(packed.zeros), -1)
    zeros = zeros[:, : packed.scales.shape[1]]
    return (levels.astype(np.float32) - zeros[..., None]) * packed.scales[..., None]


@pytest.fixture(scope="module")
def network() -> SpeechLMNetwork:
    return random_network(CONFIG)


def graph_and_layers(config: SpeechLMConfig, precision: Precision) -> tuple[TorchSpeechLM, TorchSpeechLM]:
    """Return a graph, and the layers one by one in float32 with the weights as the graph rounds them."""
    network = random_network(config)
    graph = build_speech_lm(network, precision)
    assert isinstance(graph.decoder, GraphDecoder)
    gated_bits = 8 if precision is Precision.INT8 else 4
    block = block_size(config.backbone.hidden_size, config.backbone.intermediate_size)
    assert block is not None
    for layer in network.backbone.layers:
        for name, weight in layer.named_parameters():
            if weight.dim() == 2:
                weight.copy_(widened(weight, gated_bits if "mlp" in name else 8, block))
    return graph, build_speech_lm(network)


@pytest.fixture(scope="module", params=BITS, ids=lambda precision: precision.value)
def pair(request: pytest.FixtureRequest) -> tuple[TorchSpeechLM, TorchSpeechLM]:
    return graph_and_layers(CONFIG, request.param)


def states(speech_lm: TorchSpeechLM, embeddings: torch.Tensor, *sizes: int) -> torch.Tensor:
    cache = speech_lm.open_cache(len(embeddings))
    return torch.cat([speech_lm.decoder.advance(part, cache) for part in embeddings.split(sizes)])


def embeddings_of(count: int, config: SpeechLMConfig = CONFIG) -> torch.Tensor:
    return torch.randn(count, config.backbone.hidden_size, generator=torch.Generator().manual_seed(0)) / 2


@pytest.mark.parametrize("sizes", [(40,), (17, 1, 1, 4, 17)], ids=["at once", "in parts"])
def test_the_graph_computes_what_the_layers_compute(
    pair: tuple[TorchSpeechLM, TorchSpeechLM], sizes: tuple[int, ...]
) -> None:
    """The rest is the rounding of activations to 8 bits."""
    graph, plain = pair
    embeddings = embeddings_of(40)
    wanted = states(plain, embeddings, 40)
    assert (states(graph, embeddings, *sizes) - wanted).norm() / wanted.norm() <= 0.02


def test_steps_and_several_rows_agree(pair: tuple[TorchSpeechLM, TorchSpeechLM]) -> None:
    graph, _ = pair
    embeddings = embeddings_of(12)
    torch.testing.assert_close(
        states(graph, embeddings, *[1] * 12), states(graph, embeddings, 12), atol=1e-3, rtol=1e-3
    )


def test_a_cache_grows_and_another_continues_from_it(pair: tuple[TorchSpeechLM, TorchSpeechLM]) -> None:
    graph, _ = pair
    embeddings = embeddings_of(30)
    wanted = states(graph, embeddings, 10, *[1] * 20)
    small, other = graph.open_cache(10), graph.open_cache(50)
    parts = [graph.decoder.advance(embeddings[:10], small)]
    other.start_from(small.filled())
    parts += [graph.decoder.advance(row[None], small) for row in embeddings[10:]]
    assert torch.equal(torch.cat(parts), wanted)
    again = [graph.decoder.advance(row[None], other) for row in embeddings[10:]]
    assert torch.equal(torch.cat(again), wanted[10:])


def test_weights_belong_to_the_graph() -> None:
    """The session must not read memory that was freed, or the network's, which training changes."""
    changed = random_network(CONFIG)
    speech_lm = build_speech_lm(changed, Precision.INT8)
    before = list(speech_lm.generate(random_request(CONFIG), GreedySampler()))
    for weight in changed.backbone.layers.parameters():
        weight.zero_()
    gc.collect()
    filler = [torch.full((1000,), 7.0) for _ in range(1000)]
    assert list(speech_lm.generate(random_request(CONFIG), GreedySampler())) == before
    assert len(filler) == 1000


def test_a_trace_records_the_attention_of_the_layers(pair: tuple[TorchSpeechLM, TorchSpeechLM]) -> None:
    weights = []
    for speech_lm in pair:
        trace = AttentionTrace((AttentionHead(0, 1), AttentionHead(2, 4)))
        request = replace(random_request(CONFIG), min_tokens=15, max_tokens=15, attention=trace)
        tokens = list(speech_lm.generate(request, _Fixed()))
        assert trace.weights is not None
        weights.append(trace.weights)
        without = list(speech_lm.generate(replace(request, attention=None), RepetitionAwareSampler(CONFIG.sampling, 1)))
        traced = list(speech_lm.generate(request, RepetitionAwareSampler(CONFIG.sampling, 1)))
        assert traced == without
        assert len(tokens) == 15
    np.testing.assert_allclose(weights[0], weights[1], atol=0.01)


@pytest.mark.parametrize("precision", BITS)
def test_sizes_that_allow_it_use_larger_blocks(precision: Precision) -> None:
    config = config_of_blocks(hidden_size=384, intermediate_size=640)
    backbone = config.backbone
    assert block_size(backbone.hidden_size, backbone.intermediate_size) == 128
    assert block_size(CONFIG.backbone.hidden_size, CONFIG.backbone.intermediate_size) == 64
    assert block_size(192, 100) is None
    graph, plain = graph_and_layers(config, precision)
    embeddings = embeddings_of(40, config)
    wanted = states(plain, embeddings, 40)
    assert (states(graph, embeddings, 17, 1, 1, 4, 17) - wanted).norm() / wanted.norm() <= 0.03


class _Fixed:
    """Chooses the same tokens for every model."""

    def __call__(self, logits: torch.Tensor, history: list[int], *, forbid: slice | None) -> int:
        return 7 * len(history) % 50


def test_the_graph_passes_the_quality_check_in_8_bits(network: SpeechLMNetwork) -> None:
    report = compare_with_reference(build_speech_lm(network, Precision.INT8), network)
    assert report.is_good_enough(Precision.INT8), report


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("bits", [8, 4])
def test_each_block_has_its_own_scale(bits: int, block: int) -> None:
    weight = torch.randn(70, 3 * block, generator=torch.Generator().manual_seed(1))
    weight[:, block + 8] = 50.0
    weight[3] = 0.0
    rounded = widened(weight, bits, block)
    step = {8: 2.0, 4: 8.0}[bits] * 2 / 2**bits * 2.5
    assert (rounded - weight)[:, :block].abs().max() <= step
    assert (rounded - weight)[:, block : 2 * block].abs().max() > (rounded - weight)[:, :block].abs().max()
    assert torch.equal(rounded[3], weight[3])


def test_other_sizes_and_processors_use_the_layers_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    backbone = CONFIG.backbone
    assert fits_graph(backbone, Precision.INT4)
    assert not fits_graph(backbone, Precision.FLOAT32)
    assert not fits_graph(small_config().backbone, Precision.INT8)
    monkeypatch.setattr(graph_decoder, "has_fast_product", lambda bits, block: bits == 8)
    assert fits_graph(backbone, Precision.INT8)
    assert not fits_graph(backbone, Precision.INT4)
    monkeypatch.setattr(graph_decoder, "has_fast_product", lambda bits, block: False)
    speech_lm = build_speech_lm(random_network(CONFIG), Precision.INT8)
    assert not isinstance(speech_lm.decoder, GraphDecoder)
    assert "fbgemm" in speech_lm.engine


@pytest.mark.parametrize("precision", BITS)
def test_a_graph_is_written_once_for_each_file(
    precision: Precision, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "llm.pt"
    network = random_network(CONFIG)
    torch.save(network.state_dict(), path)
    embeddings = embeddings_of(20)
    wanted = states(build_speech_lm(network, precision), embeddings, 20)
    first = load_speech_lm(path, CONFIG, precision)
    monkeypatch.setattr(loading, "written_graph", None)
    monkeypatch.setattr(loading, "fits_graph", None)
    again = load_speech_lm(path, CONFIG, precision)
    for speech_lm in (first, again):
        assert isinstance(speech_lm.decoder, GraphDecoder)
        assert torch.equal(states(speech_lm, embeddings, 20), wanted)


def test_the_output_layer_has_8_bits(network: SpeechLMNetwork) -> None:
    hidden = torch.randn(3, CONFIG.backbone.hidden_size, generator=torch.Generator().manual_seed(2))
    wanted = network.llm_decoder(hidden)
    for precision in BITS:
        error = (build_speech_lm(network, precision).head(hidden) - wanted).norm() / wanted.norm()
        assert 1e-4 < error <= 0.02


def loaded(tmp_path: Path, precision: Precision) -> TorchSpeechLM:
    path = tmp_path / "llm.pt"
    if not path.exists():
        torch.save(random_network(CONFIG).state_dict(), path)
    return load_speech_lm(path, CONFIG, precision)


@pytest.mark.parametrize("precision", BITS)
def test_many_rows_are_computed_in_bfloat16_where_it_is_faster(
    precision: Precision, network: SpeechLMNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "gains_from_bfloat16", lambda config: True)
    embeddings = embeddings_of(70)
    wanted = states(build_speech_lm(network), embeddings, 70)
    graph = states(build_speech_lm(network, precision), embeddings, 70)
    speech_lm = loaded(tmp_path, precision)
    assert "prompts in bfloat16" in speech_lm.engine
    both = states(speech_lm, embeddings, 60, *[1] * 10)
    assert (both[:60] - wanted[:60]).norm() / wanted[:60].norm() <= 0.01  # bfloat16 has eight significant bits
    assert (both - wanted).norm() <= (graph - wanted).norm()
    few = states(speech_lm, embeddings, *[35] * 2)
    assert torch.equal(few, states(build_speech_lm(network, precision), embeddings, *[35] * 2))
    # Later starts use the same file, for all precisions.
    monkeypatch.setattr(loading, "gains_from_bfloat16", None)
    monkeypatch.setattr(loading, "bfloat16_weights", None)
    assert torch.equal(states(loaded(tmp_path, precision), embeddings, 60, *[1] * 10), both)


def test_attention_is_also_recorded_in_bfloat16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "gains_from_bfloat16", lambda config: True)
    weights = []
    for speech_lm in (loaded(tmp_path, Precision.INT8), build_speech_lm(random_network(CONFIG))):
        trace = AttentionTrace((AttentionHead(0, 1), AttentionHead(2, 4)))
        request = random_request(CONFIG)
        request = replace(
            request,
            text_tokens=request.text_tokens * 4,
            min_tokens=15,
            max_tokens=15,
            attention=trace,
        )
        assert len(list(speech_lm.generate(request, _Fixed()))) == 15
        weights.append(trace.weights)
    np.testing.assert_allclose(weights[0], weights[1], atol=0.01)


def test_bfloat16_must_be_clearly_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(rows: torch.Tensor) -> torch.Tensor:
        time.sleep(0.05)
        return rows

    assert is_worthwhile(slow, 64, 64)
    assert not is_worthwhile(lambda rows: rows, 64, 64)
    monkeypatch.setattr(graph_decoder, "multiplies_in", lambda precision: False)
    assert not gains_from_bfloat16(CONFIG.backbone)
    assert "bfloat16" not in loaded(tmp_path, Precision.INT8).engine


class ReadsLevelsInPlace:
    """A session without its own copy of the levels."""

    def __init__(self, model: bytes, weights: dict[str, np.ndarray], num_threads: int) -> None:
        self._levels = weights["product.levels"]

    def run(self, names: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [np.full((1, len(self._levels)), 896.0 if self._levels.any() else 0.0, np.float32)]


def test_a_slow_or_missing_operator_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnsupportedPrecision("No such operator.", remedy="None.")

    monkeypatch.setattr(graph_decoder, "_MIN_SPEED", 1e9)
    assert not has_fast_product.__wrapped__(8, 64)
    monkeypatch.setattr(graph_decoder, "_MIN_SPEED", 0.0)
    assert has_fast_product.__wrapped__(8, 64)
    monkeypatch.setattr(graph_decoder, "open_graph", ReadsLevelsInPlace)
    assert not has_fast_product.__wrapped__(8, 64)
    monkeypatch.setattr(graph_decoder, "open_graph", refuse)
    assert not has_fast_product.__wrapped__(8, 64)


def test_a_graph_that_onnxruntime_does_not_know_is_reported() -> None:
    with pytest.raises(UnsupportedPrecision, match="does not support 8-bit"):
        open_graph(b"no graph", {}, 1)
