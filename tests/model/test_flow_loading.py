"""Loading of ``flow.pt``: accepted and rejected files, and its cost."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from flow_cases import (
    FEW_STEPS,
    Golden,
    PlainFlow,
    flow_config,
    flow_decoder,
    grid_cuts,
    random_prompt,
    random_tokens,
    relative_error,
    streamed_mel,
)

from studio.errors import MissingModelFile, UnsupportedPrecision, WrongTensors
from studio.model import cpu_products
from studio.model.config import Precision
from studio.model.cpu_products import OneDnnConvolution, OneDnnLinear, linear, multiplies_in, speedup
from studio.model.flow import CachedFlowDecoder
from studio.model.flow.caches import CacheKind, FlowCaches, attend_segments
from studio.model.weights import read_tensors, release_pages

HAS_BFLOAT16 = torch.ops.mkldnn._is_mkldnn_bf16_supported()


def _flow_path(reference: Path, family: str) -> Path:
    return reference / family / "checkpoint" / "flow.pt"


@pytest.mark.slow
@pytest.mark.reference
def test_loaded_flow_computes_the_official_mel(reference: Path, family: str) -> None:
    golden = Golden(reference, family)
    decoder = CachedFlowDecoder.load(
        _flow_path(reference, family), flow_config(reference, family), Precision.FLOAT32, "cpu"
    )
    assert (decoder.chunk_tokens, decoder.lookahead_tokens, decoder.frames_of_tokens(7)) == (25, 3, 14)
    mel = decoder.decode_whole(golden.prompt, golden.tokens)
    assert (mel - golden["full/mel"][0]).abs().max() <= golden.tolerance
    assert not mel.requires_grad


def test_missing_file_is_reported(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingModelFile, match=r"flow\.pt"):
        CachedFlowDecoder.load(tmp_path / "flow.pt", flow_config(reference, "cosyvoice3"), Precision.FLOAT32, "cpu")


def test_file_of_another_generation_is_refused(reference: Path) -> None:
    with pytest.raises(WrongTensors, match="unknown"):
        CachedFlowDecoder.load(
            _flow_path(reference, "cosyvoice2"), flow_config(reference, "cosyvoice3"), Precision.FLOAT32, "cpu"
        )


def test_settings_of_another_size_are_refused(reference: Path) -> None:
    config = replace(flow_config(reference, "cosyvoice3"), num_speech_tokens=999)
    with pytest.raises(WrongTensors, match="input_embedding"):
        CachedFlowDecoder.load(_flow_path(reference, "cosyvoice3"), config, Precision.FLOAT32, "cpu")


@pytest.mark.parametrize("precision", [Precision.INT4, Precision.FLOAT16])
def test_precision_that_cannot_run_here_is_refused(reference: Path, precision: Precision) -> None:
    with pytest.raises(UnsupportedPrecision, match=precision.value):
        CachedFlowDecoder.load(
            _flow_path(reference, "cosyvoice3"), flow_config(reference, "cosyvoice3"), precision, "cpu"
        )


@pytest.mark.skipif(not HAS_BFLOAT16, reason="this processor does not multiply in bfloat16")
def test_bfloat16_stays_within_its_limit(reference: Path, family: str) -> None:
    """Random miniature weights magnify rounding. The error of full-size weights is below 4e-3."""
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 97)
    decoder = flow_decoder(reference, family, precision=Precision.BFLOAT16)
    mel = streamed_mel(decoder, decoder.prepare_prompt(prompt), tokens, grid_cuts(53, 97))
    expected = PlainFlow(reference, family).mel(prompt, tokens)
    rms_error = (mel - expected).square().mean().sqrt() / expected.square().mean().sqrt()
    assert 1e-5 < rms_error < {"cosyvoice2": 3e-2, "cosyvoice3": 1e-2}[family]
    assert decoder.prompt_key() != flow_decoder(reference, family).prompt_key()


@pytest.mark.slow
@pytest.mark.skipif(not HAS_BFLOAT16, reason="this processor does not multiply in bfloat16")
@pytest.mark.parametrize("kind", CacheKind)
def test_bfloat16_stream_equals_one_run_and_a_restored_state(
    reference: Path, family: str, kind: CacheKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as different orders of summation permit, after rounding to 8 bits: closer than to float32."""
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 97)
    decoder = flow_decoder(reference, family, precision=Precision.BFLOAT16, num_steps=FEW_STEPS)
    if kind is CacheKind.INPUTS:
        monkeypatch.setattr(decoder, "_empty_caches", lambda n: _caches_of(decoder, kind, n))
    state = decoder.prepare_prompt(prompt)
    tensors = state.tensors()
    names = {"estimator.keys", "estimator.values"} if kind is CacheKind.KEYS_VALUES else {"estimator.inputs"}
    assert names < set(tensors)
    assert {tensors[name].dtype for name in names} == {torch.bfloat16}
    mel = streamed_mel(decoder, state, tokens, grid_cuts(53, 97))
    restored = decoder.restore_prompt(prompt, tensors)
    assert torch.equal(streamed_mel(decoder, restored, tokens, grid_cuts(53, 97)), mel)
    with torch.inference_mode():
        voice = decoder._model.voice(prompt)
        whole = decoder._model.decode_sequence(voice, tokens, (), is_streaming=True).t()
    expected = PlainFlow(reference, family, num_steps=FEW_STEPS).mel(prompt, tokens)
    assert (mel - whole).square().mean() < (mel - expected).square().mean()


def _caches_of(decoder: CachedFlowDecoder, kind: CacheKind, num_tokens: int) -> FlowCaches:
    caches = FlowCaches.empty(decoder._layouts, kind, decoder._model.noise, torch.bfloat16)
    assert caches.make_prompt_room(num_tokens, decoder._model)
    return caches


@pytest.mark.skipif(HAS_BFLOAT16, reason="this processor multiplies in bfloat16")
def test_bfloat16_is_refused_where_it_cannot_run(reference: Path, family: str) -> None:
    with pytest.raises(UnsupportedPrecision):
        flow_decoder(reference, family, precision=Precision.BFLOAT16)


@pytest.mark.parametrize("shape", [(1, 50, 48), (2, 50, 48), (2, 1, 48), (2, 1300, 48)])
def test_product_of_any_number_of_rows(shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator)
    weight, bias = torch.randn(33, 48, generator=generator), torch.randn(33, generator=generator)
    expected = torch.nn.functional.linear(x, weight, bias)
    assert (OneDnnLinear(weight, bias, 100)(x) - expected).abs().max() < 1e-4
    strided = torch.randn((*shape[:2], 96), generator=generator)[..., ::2]
    expected = torch.nn.functional.linear(strided, weight)
    assert (OneDnnLinear(weight, None, 100)(strided) - expected).abs().max() < 1e-4


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_product_with_gelu(approximate: str) -> None:
    generator = torch.Generator().manual_seed(1)
    x, weight = torch.randn(2, 50, 48, generator=generator), torch.randn(33, 48, generator=generator)
    expected = torch.nn.functional.gelu(torch.nn.functional.linear(x, weight), approximate=approximate)
    assert (OneDnnLinear(weight, None, 100, gelu=approximate)(x) - expected).abs().max() < 1e-4


@pytest.mark.parametrize("frames", [31, 80, 230])
def test_convolution_in_groups(frames: int) -> None:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(2, frames, 32, generator=generator)
    weight, bias = torch.randn(32, 8, 31, generator=generator), torch.randn(32, generator=generator)
    expected = torch.nn.functional.conv1d(x.transpose(1, 2), weight, bias, groups=4).transpose(1, 2)
    assert (OneDnnConvolution(weight, bias, 4, 50)(x) - expected).abs().max() < 1e-4


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("frames", [20, 50, 130])
@pytest.mark.parametrize("has_bias", [False, True])
def test_attention_to_segments(dtype: torch.dtype, frames: int, has_bias: bool) -> None:
    """Equal to attention to all keys at once with a mask that hides later blocks."""
    generator = torch.Generator().manual_seed(3)
    num_keys = 100 + frames
    queries, keys, values = (torch.randn(2, 3, n, 64, generator=generator) for n in (frames, num_keys, num_keys))
    bias = torch.randn(2, 3, frames, num_keys, generator=generator) if has_bias else None
    block = torch.arange(num_keys) // 50
    hidden = torch.zeros(frames, num_keys).masked_fill_(block > block[100:, None], float("-inf"))
    mask = hidden if bias is None else bias + hidden
    expected = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    segments = [
        (keys[:, :, part].to(dtype), values[:, :, part].to(dtype))
        for part in (slice(30), slice(30, 100), slice(100, None))
    ]
    found = attend_segments(queries.to(dtype), segments, None if bias is None else bias.to(dtype), 50)
    assert found.dtype is dtype
    assert (found.float() - expected).abs().max() < (1e-5 if dtype is torch.float32 else 4e-2)


X86_ONLY = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="not an x86 processor")


@pytest.fixture(params=["oneDNN", "fbgemm"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The library of products in 8 bits."""
    name = str(request.param)
    if name == "oneDNN" and not cpu_products._multiplies_int8_exactly():
        pytest.skip("this processor does not add products of 8 bits in 32 bits")
    if name == "fbgemm" and not cpu_products.has_fbgemm():
        pytest.skip("not an x86 processor")
    monkeypatch.setattr(cpu_products, "_multiplies_int8_exactly", lambda: name == "oneDNN")
    return name


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("approximate", [None, "tanh"])
def test_product_in_8_bits(approximate: str | None) -> None:
    generator = torch.Generator().manual_seed(5)
    x, weight = torch.randn(2, 50, 256, generator=generator), torch.randn(64, 256, generator=generator)
    bias = torch.randn(64, generator=generator)
    x[0, 0] = 0.0
    x[1] *= 1000.0  # each row has its own scale
    expected = torch.nn.functional.linear(x, weight, bias)
    if approximate is not None:
        expected = torch.nn.functional.gelu(expected, approximate=approximate)
    product = linear(weight, bias, 100, Precision.INT8, gelu=approximate)
    found = product(x)
    for row in (0, 1):
        assert 0 < relative_error(found[row], expected[row]) < 0.02
    assert torch.equal(found[0, 0], expected[0, 0])
    assert torch.equal(product(x[:, 10:20]), found[:, 10:20])


@X86_ONLY
@pytest.mark.slow
@pytest.mark.parametrize("instructions", ["AVX2", "ALL"])
def test_the_largest_8_bit_numbers_are_multiplied_exactly(instructions: str) -> None:
    """Processors without VNNI add pairs of products in 16 bits, which must not saturate."""
    code = (
        "import torch; from studio.model.config import Precision; from studio.model.cpu_products import linear; "
        "weight = torch.full((32, 64), 127.0); weight[::2] *= -1; x = torch.full((4, 64), -1e3); "
        "product = linear(weight, None, 4, Precision.INT8); print(type(product).__name__); "
        "torch.testing.assert_close(product(x), x @ weight.T, rtol=1e-6, atol=0)"
    )
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": instructions}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert instructions == "ALL" or ran.stdout.strip() == "Int8FbgemmLinear"


@pytest.mark.usefixtures("library")
@pytest.mark.slow
def test_stream_in_8_bits_equals_one_run(reference: Path, family: str) -> None:
    """As far as rounding to 8 bits permits after another order of summation: closer than to float32."""
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 97)
    decoder = flow_decoder(reference, family, precision=Precision.INT8, num_steps=FEW_STEPS, cache_dtype=torch.float32)
    mel = streamed_mel(decoder, decoder.prepare_prompt(prompt), tokens, grid_cuts(53, 97))
    with torch.inference_mode():
        voice = decoder._model.voice(prompt)
        whole = decoder._model.decode_sequence(voice, tokens, (), is_streaming=True).t()
    expected = PlainFlow(reference, family, num_steps=FEW_STEPS).mel(prompt, tokens)
    assert 0 < relative_error(mel, expected) < 0.11
    assert (mel - whole).square().mean() < (mel - expected).square().mean()


@pytest.mark.usefixtures("library")
@pytest.mark.slow
def test_caches_of_a_flow_in_8_bits_have_8_bits(reference: Path, family: str) -> None:
    """They take a quarter of the memory, and their scales little. Beside the rounding of the products, theirs does not
    increase the error.
    """
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 103), random_tokens(config, 97)
    cuts = grid_cuts(103, 97)
    narrow = flow_decoder(reference, family, precision=Precision.INT8, num_steps=FEW_STEPS)
    wide = flow_decoder(reference, family, precision=Precision.INT8, num_steps=FEW_STEPS, cache_dtype=torch.float32)
    state, wide_state = narrow.prepare_prompt(prompt), wide.prepare_prompt(prompt)
    keys, wide_keys = (each.tensors()["estimator.keys"] for each in (state, wide_state))
    assert (keys.dtype, keys.shape) == (torch.int8, wide_keys.shape)
    assert 4 * keys.numel() * keys.element_size() == wide_keys.numel() * wide_keys.element_size()
    scales = state.tensors()["estimator.key_scales"]
    assert scales.shape == (*keys.shape[:-1], 1)
    mel, wide_mel = streamed_mel(narrow, state, tokens, cuts), streamed_mel(wide, wide_state, tokens, cuts)
    exact = PlainFlow(reference, family, num_steps=FEW_STEPS).mel(prompt, tokens)
    assert not torch.equal(mel, wide_mel)
    assert (mel - exact).square().mean() < 1.3 * (wide_mel - exact).square().mean()


def test_a_program_that_occupies_a_core_for_a_moment_does_not_hide_a_speedup(monkeypatch: pytest.MonkeyPatch) -> None:
    is_disturbed = True

    def end_disturbance(_seconds: float) -> None:
        nonlocal is_disturbed
        is_disturbed = False

    monkeypatch.setattr(cpu_products.time, "sleep", end_disturbance)
    monkeypatch.setattr(cpu_products.timeit, "timeit", lambda product, number: 8.0 if is_disturbed else product())
    assert cpu_products.ratio_of_seconds(lambda: 3.0, lambda: 1.0, clear=1.5) == 3.0
    assert cpu_products.ratio_of_seconds(lambda: 1.0, lambda: 1.0, clear=1.5) == 1.0


@pytest.mark.parametrize("precision", [Precision.BFLOAT16, Precision.INT8])
def test_speedup_is_measured(precision: Precision) -> None:
    assert (speedup(precision, 10, 64) > 0) is multiplies_in(precision)


@pytest.mark.slow
def test_fewer_steps_are_coarser(reference: Path, family: str) -> None:
    """An optional approximation."""
    golden = Golden(reference, family)
    coarse, fine = (flow_decoder(reference, family, num_steps=steps) for steps in (3, 10))
    error = relative_error(
        coarse.decode_whole(golden.prompt, golden.tokens), fine.decode_whole(golden.prompt, golden.tokens)
    )
    assert 1e-3 < error < 0.5


def test_released_pages_are_read_again(reference: Path) -> None:
    path = _flow_path(reference, "cosyvoice3")
    tensors = read_tensors(path)
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    release_pages(path)
    assert all(torch.equal(tensor, before[name]) for name, tensor in tensors.items())


@pytest.mark.slow
def test_building_the_networks_does_not_import_the_compiler() -> None:
    """That would take longer than the rest of the start."""
    code = (
        "import sys\n"
        "from studio.model.config import ConformerConfig, DiTConfig, FlowConfig, LookAheadConfig, UNetConfig\n"
        "from studio.model.flow.network import build_network\n"
        "from studio.model.weights import meta_init\n"
        "two = FlowConfig(50, 16, conformer=ConformerConfig(16, 2, 32, 1), unet=UNetConfig(8, 2, 4, 1, 1))\n"
        "three = FlowConfig(50, 80, lookahead=LookAheadConfig(80, 8), dit=DiTConfig(32, 1, 2, 16, 2))\n"
        "meta_init(lambda: build_network(two))\n"
        "network = meta_init(lambda: build_network(three))\n"
        "assert all(p.is_meta for p in network.parameters())\n"
        "assert 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
