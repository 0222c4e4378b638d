"""Noise depends on the sample index only."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from table_noise import TableNoise

from studio.model.config import FlowSizesForNoise, VocoderConfig, VocoderKind
from studio.model.generations import COSYVOICE3
from studio.model.official_yaml import Document
from studio.model.vocoder.network import NormalNoise, UniformTable

RELEASED = VocoderConfig(kind=VocoderKind.CAUSAL, sample_rate=24_000, base_channels=512, f0_channels=512)


def test_the_table_of_the_released_size_is_the_official_one() -> None:
    """Values from specification K."""
    table = UniformTable(RELEASED)
    start = torch.tensor([0.9228260, 0.4774475, 0.8270518, 0.2834572])
    assert torch.allclose(table.columns(0, 1)[0, :4], start, rtol=0, atol=5e-8)
    assert torch.allclose(
        table.columns(480_000, 480_001)[0, :3], torch.tensor([0.4725, 0.2097, 0.9145]), rtol=0, atol=5e-5
    )


@pytest.mark.reference
def test_the_table_of_another_size_is_what_the_official_constructor_drew(reference: Path) -> None:
    folder = reference / "cosyvoice3"
    config = COSYVOICE3.read_vocoder(Document(folder / "checkpoint" / COSYVOICE3.yaml_name).root)
    wanted = load_file(folder / "golden" / "hift.safetensors")["built/sine_waves"]
    assert torch.equal(UniformTable(config).columns(0, len(wanted)), wanted)


def test_the_table_depends_on_the_flow_built_before_it() -> None:
    config = VocoderConfig(
        kind=VocoderKind.CAUSAL,
        sample_rate=24_000,
        base_channels=512,
        f0_channels=512,
        preceding_flow=FlowSizesForNoise(num_speech_tokens=6562),
    )
    assert not torch.equal(UniformTable(config).columns(0, 10), UniformTable(RELEASED).columns(0, 10))


@settings(max_examples=25)
@given(st.integers(0, 70_000), st.integers(0, 12_000), st.sampled_from(["normal", "uniform"]))
def test_any_range_equals_that_range_of_the_whole_noise(start: int, length: int, kind: str) -> None:
    noise, again = WHOLE[kind]
    assert torch.equal(again.columns(start, start + length), noise[start : start + length])


_uniform = UniformTable(RELEASED)
WHOLE = {
    "normal": (NormalNoise(3, 9).columns(0, 82_000), NormalNoise(3, 9)),
    "uniform": (UniformTable(RELEASED).columns(0, 82_000), _uniform),
}


def test_normal_noise_is_normal_and_uniform_noise_is_not_centred() -> None:
    normal, uniform = WHOLE["normal"][0], WHOLE["uniform"][0]
    assert normal.dtype == uniform.dtype == torch.float32
    assert normal.mean().abs() < 0.01
    assert normal.std() == pytest.approx(1.0, abs=0.01)
    assert uniform.mean() == pytest.approx(0.5, abs=0.01)
    assert 0 <= uniform.min() < uniform.max() < 1


@pytest.mark.parametrize("seed", [0, 1, -1, 2**70])
def test_seeds_repeat_and_differ(seed: int) -> None:
    assert torch.equal(NormalNoise(seed, 9).columns(5, 50), NormalNoise(seed, 9).columns(5, 50))
    assert not torch.equal(NormalNoise(seed, 9).columns(5, 50), NormalNoise(seed + 1, 9).columns(5, 50))


def test_neighbouring_blocks_are_different_draws() -> None:
    noise = NormalNoise(0, 9)
    assert not torch.equal(noise.columns(0, 4800), noise.columns(4800, 9600))


def test_threads_share_one_table() -> None:
    table = UniformTable(RELEASED)
    spans = [(start, start + 5000) for start in range(0, 80_000, 5000)]
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda span: table.columns(*span), reversed(spans)))
    assert torch.equal(torch.cat(parts[::-1]), WHOLE["uniform"][0][:80_000])


def test_drawing_does_not_use_the_global_generator() -> None:
    before = torch.get_rng_state()
    UniformTable(RELEASED).columns(0, 10)
    NormalNoise(0, 9).columns(0, 10)
    assert torch.equal(torch.get_rng_state(), before)


def test_recorded_noise_repeats_only_on_request() -> None:
    table = torch.arange(10.0).view(5, 2)
    assert torch.equal(TableNoise(table, wraps=True).columns(4, 7), table[[4, 0, 1]])
    assert torch.equal(TableNoise(table, wraps=False).columns(1, 5), table[1:])
    with pytest.raises(AssertionError):
        TableNoise(table, wraps=False).columns(4, 7)
