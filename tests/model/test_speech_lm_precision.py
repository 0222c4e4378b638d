"""Matrix products in reduced precision, and the quality check."""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from speech_lm_cases import random_network, read_golden, small_config

from studio import paths
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.speech_lm import (
    QualityReport,
    build_speech_lm,
    compare_with_reference,
    load_speech_lm,
    open_network,
    random_request,
)
from studio.model.speech_lm.graph_decoder import GraphDecoder
from studio.model.speech_lm.linear import Int4Linear, PlainLinear, check_support, describe, pack
from studio.pipeline.stage_opener import trial_requests

CPU = torch.device("cpu")
# Error relative to the exact product, from rounding normal weights (and for 16 bits, rows).
ERROR_LIMITS = {
    Precision.FLOAT32: 1e-6,
    Precision.BFLOAT16: 5e-3,
    Precision.FLOAT16: 6e-4,
    Precision.INT8: 1e-2,
    Precision.INT4: 1e-2,  # sizes that the kernel does not support use eight bits
}


@pytest.fixture(params=list(Precision), ids=lambda precision: precision.value)
def precision(request: pytest.FixtureRequest) -> Precision:
    return Precision(request.param)


def exact(weight: torch.Tensor, bias: torch.Tensor | None, rows: torch.Tensor) -> torch.Tensor:
    product = rows.double() @ weight.double().T
    return product if bias is None else product + bias.double()


@pytest.mark.parametrize("num_rows", [1, 2, 9])
@pytest.mark.parametrize("has_bias", [True, False])
def test_every_form_computes_the_product(precision: Precision, num_rows: int, has_bias: bool) -> None:
    generator = torch.Generator().manual_seed(num_rows)
    weight = torch.randn(93, 61, generator=generator)
    bias = torch.randn(93, generator=generator) if has_bias else None
    rows = torch.randn(num_rows, 61, generator=generator)
    given = rows.clone()
    product = pack(weight, bias, precision, CPU)(rows)
    assert product.shape == (num_rows, 93)
    assert product.dtype == torch.float32
    wanted = exact(weight, bias, rows)
    assert (product - wanted).norm() / wanted.norm() <= ERROR_LIMITS[precision]
    assert torch.equal(rows, given)


def test_eight_bit_weights_keep_small_activations_beside_a_large_one() -> None:
    """A single 8-bit scale would round all but the large value to a few levels."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(50, 64, generator=generator)
    weight[:, 3] = 0.0  # the large value contributes nothing, so that only the small ones count
    rows = torch.randn(4, 64, generator=generator)
    rows[:, 3] = 300.0
    wanted = exact(weight, None, rows)
    error = (pack(weight, None, Precision.INT8, CPU)(rows) - wanted).norm() / wanted.norm()
    assert error <= 2e-2
    one_scale = (rows / 300 * 127).round() / 127 * 300
    assert (exact(weight, None, one_scale) - wanted).norm() / wanted.norm() > 0.5


@pytest.mark.parametrize("num_rows", [1, 9])
def test_four_bit_weights_are_rounded_within_their_groups(num_rows: int) -> None:
    """A large weight reduces the resolution of its group of 32 only."""
    generator = torch.Generator().manual_seed(num_rows)
    weight = torch.randn(48, 96, generator=generator)
    weight[:, 40] = 50.0
    bias, rows = torch.randn(48, generator=generator), torch.randn(num_rows, 96, generator=generator)
    rows[:, 32:64] = 0.0
    linear = pack(weight, bias, Precision.INT4, CPU)
    assert isinstance(linear, Int4Linear)
    wanted = exact(weight, bias, rows)
    assert 1e-3 < (linear(rows) - wanted).norm() / wanted.norm() <= 0.12
    assert torch.equal(linear(torch.zeros(2, 96)), bias.expand(2, -1))
    assert torch.equal(pack(torch.zeros(16, 32), None, Precision.INT4, CPU)(torch.ones(1, 32)), torch.zeros(1, 16))


@pytest.mark.slow
def test_four_bits_suffice_for_weights_like_trained_ones() -> None:
    """Not for random weights, which are all equally important."""
    checkpoint = open_checkpoint(paths.resources() / "models" / "studio-mini")
    speech_lm = checkpoint.load_speech_lm(Precision.INT4, "cpu")
    assert "int4" in speech_lm.engine
    assert isinstance(speech_lm.decoder, GraphDecoder)
    network = open_network(checkpoint.speech_lm_path(), checkpoint.speech_lm)
    report = compare_with_reference(speech_lm, network, requests=trial_requests(checkpoint))
    assert report.is_good_enough(Precision.INT4), report


@pytest.mark.slow
def test_a_damaged_layer_is_refused_in_eight_bits() -> None:
    """30 % of noise in one layer changed the scores of all tokens by less than the limit."""
    checkpoint = open_checkpoint(paths.resources() / "models" / "studio-mini")
    exact = open_network(checkpoint.speech_lm_path(), checkpoint.speech_lm)
    requests = trial_requests(checkpoint)
    assert compare_with_reference(build_speech_lm(exact, Precision.INT8), exact, requests=requests).is_good_enough(
        Precision.INT8
    )
    generator = torch.Generator().manual_seed(0)
    for layer in range(6):
        damaged = copy.deepcopy(exact)
        with torch.no_grad():
            for weight in damaged.llm.model.model.layers[layer].parameters():  # type: ignore[union-attr]
                weight.add_(0.3 * weight.std() * torch.randn(weight.shape, generator=generator))
        report = compare_with_reference(build_speech_lm(damaged, Precision.INT8), exact, requests=requests)
        assert not report.is_good_enough(Precision.INT8), (layer, report)


def test_zero_rows_give_zero_products(precision: Precision) -> None:
    rows = torch.zeros(2, 8)
    assert torch.equal(pack(torch.ones(5, 8), None, precision, CPU)(rows), torch.zeros(2, 5))
    assert torch.equal(pack(torch.zeros(5, 8), None, precision, CPU)(rows + 1), torch.zeros(2, 5))


def test_half_precision_does_not_turn_large_activations_into_infinity() -> None:
    product = pack(torch.full((1, 2), 0.25), None, Precision.FLOAT16, CPU)(torch.tensor([[1e6, 1.0]]))
    assert math.isfinite(float(product))


def test_no_warning_escapes_while_packing(recwarn: pytest.WarningsRecorder) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pack(torch.randn(8, 8), None, Precision.INT8, CPU)
    assert caught == []
    before = torch.backends.quantized.engine
    pack(torch.randn(8, 8), None, Precision.INT8, CPU)
    assert torch.backends.quantized.engine == before


def test_processor_without_eight_bit_arithmetic_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(torch.backends.quantized), "supported_engines", ["none"])
    with pytest.raises(UnsupportedPrecision, match="no supported fast 8-bit arithmetic"):
        check_support(Precision.INT8, CPU)
    with pytest.raises(UnsupportedPrecision, match="no supported fast 8-bit arithmetic"):
        check_support(Precision.INT4, CPU)
    check_support(Precision.FLOAT16, CPU)


def test_plain_matrices_are_used_without_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert isinstance(pack(torch.ones(2, 2), None, Precision.FLOAT32, CPU), PlainLinear)
    assert describe(Precision.FLOAT32, CPU) == "torch float32"
    network = random_network(small_config())
    report = compare_with_reference(build_speech_lm(network), network)
    assert report.is_good_enough(Precision.FLOAT32)
    assert report.relative_error <= 1e-4


@pytest.mark.slow
def test_precision_passes_its_check(precision: Precision) -> None:
    network = random_network(small_config())
    report = compare_with_reference(build_speech_lm(network, precision), network)
    assert report.num_tokens == 32
    assert report.is_good_enough(precision), report


@pytest.mark.slow
@pytest.mark.reference
def test_precision_passes_its_check_on_the_reference_checkpoints(
    reference: Path, family: str, precision: Precision
) -> None:
    golden = read_golden(reference, family)
    speech_lm = load_speech_lm(golden.weights, golden.config, precision)
    network = open_network(golden.weights, golden.config)
    report = compare_with_reference(speech_lm, network, requests=[golden.request("zero_shot")])
    assert report.is_good_enough(precision), report
    assert report.top_agreement >= 0.8


def test_model_with_other_weights_fails_the_check() -> None:
    network, other = random_network(small_config()), random_network(small_config())
    other.speech_embedding.weight.add_(0.05)
    report = compare_with_reference(build_speech_lm(other), network)
    assert not report.is_good_enough(Precision.INT8)
    assert report.divergence_nats > 0


def test_nan_fails_the_check() -> None:
    assert not QualityReport(8, math.nan, math.nan, 0.0, math.nan).is_good_enough(Precision.INT8)


@pytest.mark.parametrize(
    ("worst_divergence_nats", "top_agreement", "is_good"),
    [(0.01, 1.0, True), (1.5, 1.0, False), (math.nan, 1.0, False), (0.01, 0.6, False)],
)
def test_one_bad_step_or_other_top_tokens_fail_the_check_despite_a_good_mean(
    worst_divergence_nats: float, top_agreement: float, is_good: bool
) -> None:
    report = QualityReport(128, 1e-3, 1e-3, top_agreement, worst_divergence_nats)
    assert report.is_good_enough(Precision.INT8) is is_good


def test_every_request_is_compared_and_the_worst_step_counts() -> None:
    network = random_network(small_config())
    speech_lm = build_speech_lm(network, Precision.INT8)
    request = random_request(small_config())
    other = replace(request, text_tokens=request.text_tokens[::-1])
    alone = [compare_with_reference(speech_lm, network, requests=[each], num_tokens=8) for each in (request, other)]
    both = compare_with_reference(speech_lm, network, requests=[request, other], num_tokens=8)
    assert both.num_tokens == 16
    assert both.worst_divergence_nats == max(report.worst_divergence_nats for report in alone)
    assert both.worst_divergence_nats > both.divergence_nats


def test_random_request_is_valid_for_the_model() -> None:
    config = small_config()
    request = random_request(config)
    assert request == random_request(config)
    assert max(request.text_tokens + request.prompt_text_tokens) < config.backbone.vocabulary_size
    assert max(request.prompt_speech_tokens) < config.layout.num_speech_tokens
