"""The vocoder's decoder as a graph under ONNX Runtime equals the plain vocoder, streamed and whole (E4)."""

from __future__ import annotations

import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path

import onnx
import pytest
import torch
from graph_cases import checkpoint_of, open_graph, vocoder_folder
from safetensors.torch import load_file

from studio.engines.onnx.files import VOCODER_DECODER, open_vocoder
from studio.engines.onnx.graph import VocoderShapes
from studio.engines.onnx.mixed_precision import write_mixed_precision
from studio.errors import DamagedModelFile
from studio.model.config import Precision
from studio.model.stages import Vocoder

# E4: samples in -1..1, computed by another library in float32.
LIMIT = 1e-4
CUTS = [[], [50, 75], [1, 2, 7, 8, 40, 41]]


@cache
def vocoders(reference: Path, family: str) -> tuple[Vocoder, Vocoder]:
    """Return the plain vocoder and the one with a graph."""
    checkpoint = checkpoint_of(reference, family)
    plain = checkpoint.load_vocoder(Precision.FLOAT32, "cpu")
    return plain, open_vocoder(vocoder_folder(reference, family), checkpoint, open_graph)


def recorded_mel(reference: Path, family: str) -> torch.Tensor:
    mel = load_file(reference / family / "golden" / "hift.safetensors")["full/mel"][0]
    return mel.repeat(1, 3)[:, :120]


def streamed(vocoder: Vocoder, mel: torch.Tensor, cuts: list[int]) -> list[torch.Tensor]:
    stream = vocoder.open_stream(vocoder.noise(3))
    edges = [0, *cuts, mel.shape[1]]
    return [stream.synthesize(mel[:, i:j], is_last=j == mel.shape[1]) for i, j in pairwise(edges)]


@pytest.mark.slow
def test_whole_utterance_equals_the_plain_vocoder(reference: Path, family: str) -> None:
    plain, graph = vocoders(reference, family)
    mel = recorded_mel(reference, family)
    expected, made = (vocoder.synthesize_whole(mel, vocoder.noise(3)) for vocoder in (plain, graph))
    assert made.shape == expected.shape
    assert expected.abs().max() > 0.05
    assert (made - expected).abs().max() <= LIMIT


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_chunks_equal_the_plain_vocoder(reference: Path, family: str, cuts: list[int]) -> None:
    plain, graph = vocoders(reference, family)
    mel = recorded_mel(reference, family)
    expected, made = streamed(plain, mel, cuts), streamed(graph, mel, cuts)
    assert [len(chunk) for chunk in made] == [len(chunk) for chunk in expected]
    assert (torch.cat(made) - torch.cat(expected)).abs().max() <= LIMIT


def test_streams_are_independent(reference: Path, family: str) -> None:
    _, graph = vocoders(reference, family)
    mel = recorded_mel(reference, family)
    alone = torch.cat(streamed(graph, mel, [60]))
    first, second = (graph.open_stream(graph.noise(3)) for _ in range(2))
    made = [first.synthesize(mel[:, :60], is_last=False)]
    second.synthesize(mel[:, 20:70], is_last=False)
    made.append(first.synthesize(mel[:, 60:], is_last=True))
    assert torch.equal(torch.cat(made), alone)


def test_empty_mel_yields_no_samples(reference: Path, family: str) -> None:
    _, graph = vocoders(reference, family)
    assert graph.synthesize_whole(torch.zeros(80, 0), graph.noise(0)).shape == (0,)


@pytest.mark.slow
def test_16_bit_convolutions_are_close_to_float32(reference: Path, family: str, tmp_path: Path) -> None:
    """Snake and the last layer stay float32, so the error is at most a hundredth of full scale."""
    folder = Path(shutil.copytree(vocoder_folder(reference, family), tmp_path / "vocoder"))
    model = onnx.load(folder / VOCODER_DECODER)
    write_mixed_precision(model, Precision.FLOAT16, kept=("conv_post",))
    assert {node.op_type for node in model.graph.node if "half" in str(node.output)} == {"Conv", "Cast"} | (
        {"ConvTranspose"} if family == "cosyvoice2" else set()
    )
    onnx.save(model, folder / VOCODER_DECODER)
    plain, _ = vocoders(reference, family)
    half = open_vocoder(folder, checkpoint_of(reference, family), open_graph)
    mel = recorded_mel(reference, family)
    error = half.synthesize_whole(mel, half.noise(3)) - plain.synthesize_whole(mel, plain.noise(3))
    assert 0 < error.pow(2).mean().sqrt() <= 1e-2


def test_damaged_files_are_reported(reference: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(vocoder_folder(reference, "cosyvoice3"), tmp_path / "vocoder"))
    checkpoint = checkpoint_of(reference, "cosyvoice3")
    whole = (folder / VOCODER_DECODER).read_bytes()
    (folder / VOCODER_DECODER).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamagedModelFile, match=r"vocoder-decoder\.onnx"):
        open_vocoder(folder, checkpoint, open_graph)
    (folder / VocoderShapes.FILE_NAME).write_text("{}")
    with pytest.raises(DamagedModelFile):
        VocoderShapes.read(folder)
