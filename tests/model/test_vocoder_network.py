"""The plain networks: official names, gradients, merged taps, and all naming schemes of files."""

from pathlib import Path

import pytest
import torch
from small_vocoders import random_mel, small_config, small_network
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from studio.errors import DamagedModelFile, MissingModelFile, WrongTensors
from studio.model.config import Precision, VocoderKind
from studio.model.vocoder import load_vocoder
from studio.model.vocoder.network import CausalHiFT, HiFT
from studio.model.vocoder.vocoder import HalfConvolution

UNNORMED = ("source_downs", "m_source", "classifier")


@pytest.fixture(params=list(VocoderKind))
def kind(request: pytest.FixtureRequest) -> VocoderKind:
    assert isinstance(request.param, VocoderKind)
    return request.param


def with_weight_norm(network: HiFT) -> HiFT:
    """Apply weight normalisation, as in training."""
    for name, layer in network.named_modules():
        if isinstance(layer, (nn.Conv1d, nn.ConvTranspose1d)) and not any(word in name for word in UNNORMED):
            weight_norm(layer)
    return network


def older_spelling(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {
        name.replace(".parametrizations.weight.original0", ".weight_g").replace(
            ".parametrizations.weight.original1", ".weight_v"
        ): tensor
        for name, tensor in tensors.items()
    }


def one_run(network: HiFT, num_frames: int = 12) -> torch.Tensor:
    noise = torch.rand(num_frames * network.samples_per_frame, 9, generator=torch.Generator().manual_seed(0))
    return network(random_mel(num_frames)[None].to(network.conv_pre.weight), noise)[0]


@pytest.mark.reference
def test_weight_normalised_network_has_the_official_names(reference: Path, family: str) -> None:
    official = torch.load(reference / family / "checkpoint" / "hift.pt", weights_only=True)
    network = small_network(VocoderKind.NON_CAUSAL if family == "cosyvoice2" else VocoderKind.CAUSAL)
    assert set(with_weight_norm(network).state_dict()) == set(official)


@pytest.mark.slow
@pytest.mark.parametrize("spelling", ["folded", "newer", "older", "trained with discriminators"])
def test_every_naming_scheme_gives_the_same_samples(tmp_path: Path, kind: VocoderKind, spelling: str) -> None:
    network = small_network(kind, torch.float32)
    network.f0_predictor.to(torch.float64 if kind is VocoderKind.CAUSAL else torch.float32)
    wanted = one_run(network)
    network = small_network(kind, torch.float32)
    tensors = network.state_dict() if spelling == "folded" else with_weight_norm(network).state_dict()
    if spelling == "older":
        tensors = older_spelling(tensors)
    if spelling == "trained with discriminators":
        tensors = {f"generator.{name}": tensor for name, tensor in tensors.items()}
    torch.save(tensors, tmp_path / "hift.pt")
    vocoder = load_vocoder(tmp_path / "hift.pt", small_config(kind), Precision.FLOAT32, "cpu")
    assert (one_run(vocoder.network) - wanted).abs().max() < 1e-5


def test_a_loaded_vocoder_is_float32_and_its_causal_pitch_float64(tmp_path: Path, kind: VocoderKind) -> None:
    torch.save(small_network(kind, torch.float32).state_dict(), tmp_path / "hift.pt")
    network = load_vocoder(tmp_path / "hift.pt", small_config(kind), Precision.FLOAT32, "cpu").network
    of_pitch = {parameter.dtype for parameter in network.f0_predictor.parameters()}
    of_others = {parameter.dtype for name, parameter in network.named_parameters() if "f0_predictor" not in name}
    assert of_pitch == {torch.float64 if kind is VocoderKind.CAUSAL else torch.float32}
    assert of_others == {torch.float32}
    assert not any(parameter.requires_grad for parameter in network.parameters())


@pytest.mark.slow
def test_only_residual_blocks_use_sixteen_bits(tmp_path: Path, kind: VocoderKind) -> None:
    torch.save(small_network(kind, torch.float32).state_dict(), tmp_path / "hift.pt")
    plain, half = (
        load_vocoder(tmp_path / "hift.pt", small_config(kind), precision, "cpu").network
        for precision in (Precision.FLOAT32, Precision.BFLOAT16)
    )
    narrow = {name for name, parameter in half.named_parameters() if parameter.dtype is torch.bfloat16}
    assert narrow == {name for name in dict(half.named_parameters()) if "resblocks" in name and ".convs" in name}
    wanted, found = one_run(plain), one_run(half)
    assert found.dtype is torch.float32
    assert 1e-6 < (found - wanted).norm() / wanted.norm() < 0.1
    assert not any(parameter.requires_grad for parameter in half.parameters())


def test_file_of_the_other_generation_is_reported(tmp_path: Path, kind: VocoderKind) -> None:
    other = VocoderKind.NON_CAUSAL if kind is VocoderKind.CAUSAL else VocoderKind.CAUSAL
    torch.save(small_network(other).state_dict(), tmp_path / "hift.pt")
    with pytest.raises(WrongTensors, match=r"conv_pre.weight \(16, 20, \d\) instead of"):
        load_vocoder(tmp_path / "hift.pt", small_config(kind), Precision.FLOAT32, "cpu")


def test_missing_tensor_of_a_weight_norm_pair_is_named(tmp_path: Path, kind: VocoderKind) -> None:
    tensors = with_weight_norm(small_network(kind)).state_dict()
    del tensors["f0_predictor.condnet.2.parametrizations.weight.original1"]
    torch.save(tensors, tmp_path / "hift.pt")
    with pytest.raises(WrongTensors, match=r"missing: f0_predictor\.condnet\.2\.weight"):
        load_vocoder(tmp_path / "hift.pt", small_config(kind), Precision.FLOAT32, "cpu")


def test_missing_and_truncated_files_are_reported(tmp_path: Path, kind: VocoderKind) -> None:
    path = tmp_path / "hift.pt"
    with pytest.raises(MissingModelFile, match=r"hift\.pt is missing"):
        load_vocoder(path, small_config(kind), Precision.FLOAT32, "cpu")
    torch.save(small_network(kind).state_dict(), path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DamagedModelFile):
        load_vocoder(path, small_config(kind), Precision.FLOAT32, "cpu")


@pytest.mark.slow
def test_gradients_reach_every_weight(kind: VocoderKind) -> None:
    """The plain ``forward`` is differentiable, also after inference."""
    network = with_weight_norm(small_network(kind).requires_grad_(True))
    with torch.inference_mode():
        one_run(network)
    actual, f0 = network(
        random_mel(24).view(2, 20, 12), torch.rand(12 * network.samples_per_frame, 9, dtype=torch.float64)
    )
    (actual.pow(2).sum() + f0.sum()).backward()
    assert actual.shape == (2, 12 * network.samples_per_frame)
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert silent == []


@pytest.mark.slow
def test_rows_of_a_batch_equal_single_runs(kind: VocoderKind) -> None:
    network, mel = small_network(kind), random_mel(24).view(2, 20, 12)
    noise = torch.rand(
        12 * network.samples_per_frame, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    together, _ = network(mel, noise)
    for row in range(2):
        assert (network(mel[row : row + 1], noise)[0][0] - together[row]).abs().max() < 1e-12


def test_merged_taps_are_the_same_convolution() -> None:
    plain, merged = small_network(VocoderKind.CAUSAL), small_network(VocoderKind.CAUSAL)
    assert isinstance(merged, CausalHiFT)
    merged.merge_taps()
    assert (one_run(merged) - one_run(plain)).abs().max() < 1e-12


@pytest.mark.slow
def test_training_merges_taps_again_in_every_step() -> None:
    plain, learning = (small_network(VocoderKind.CAUSAL).requires_grad_(True) for _ in range(2))
    learning.train()
    noise = torch.rand(12 * plain.samples_per_frame, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    actual = [network(random_mel(12)[None], noise)[0] for network in (plain, learning)]
    assert (actual[0] - actual[1]).abs().max() < 1e-12
    for sound in actual:
        sound.square().sum().backward()
    for one, other in zip(plain.ups.parameters(), learning.ups.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)
    with torch.no_grad():
        learning.ups[0].weight.mul_(1.5)
        assert (learning(random_mel(12)[None], noise)[0] - actual[0]).abs().max() > 1e-6


def test_samples_are_limited(kind: VocoderKind) -> None:
    network = small_network(kind)
    network.conv_post.bias.data += 4.0
    actual = one_run(network)
    assert actual.abs().max() == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("kind", "num_before", "num_after"),
    [(VocoderKind.NON_CAUSAL, 5, 5), (VocoderKind.SAMPLE_PHASE, 5, 5), (VocoderKind.CAUSAL, 3, 8)],
)
def test_a_frame_influences_the_pitch_of_the_frames_around_it(
    kind: VocoderKind, num_before: int, num_after: int
) -> None:
    """Comparisons with the official arrays do not notice that the outermost frames are missing."""
    predictor, mel = small_network(kind).f0_predictor, random_mel(60)[None]
    changed = mel.clone()
    changed[:, :, 30] += 5.0
    differs = (predictor(changed) != predictor(mel))[0]
    assert differs.nonzero().flatten().tolist() == list(range(30 - num_before, 31 + num_after))


@pytest.mark.parametrize("kernel", [3, 11])
def test_a_convolution_as_an_image_is_the_one_of_a_line(kernel: int) -> None:
    generator = torch.Generator().manual_seed(3)
    plain = torch.nn.Conv1d(16, 16, kernel, dilation=3)
    columns = torch.randn(2, 16, 50, generator=generator)
    with torch.inference_mode():
        half = HalfConvolution(plain, torch.bfloat16)(columns)
        expected = plain.bfloat16()(columns.bfloat16()).float()
    assert half.is_contiguous()
    torch.testing.assert_close(half, expected, rtol=2**-7, atol=2**-9)
