"""Flow and vocoder in 8 bits: calibrated on clips, written as QDQ pairs, and rejected if the distortion is audible."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from graph_cases import CPU, checkpoint_of, flow_folder, open_graph, vocoder_folder
from onnx import TensorProto, numpy_helper

from studio.engines.candidate import Available, BuildCancelled, EngineTarget, Unusable
from studio.engines.onnx import files
from studio.engines.onnx.files import open_flow, open_vocoder
from studio.engines.quantized import building
from studio.engines.quantized.building import (
    Effort,
    calibration_clips,
    write_quantized_flow,
    write_quantized_vocoder,
)
from studio.engines.quantized.candidates import CANDIDATES
from studio.engines.stage import Device
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import Checkpoint
from studio.model.device_kind import DeviceKind

FEW = Effort(num_clips=6, num_held_out=2)
SPOILT = Effort(num_clips=1, num_held_out=1, percentile=30.0)
Write = Callable[[Checkpoint, Path, Device, Callable[[float, float], None], Effort], float]
STAGES = {"flow": write_quantized_flow, "vocoder": write_quantized_vocoder}


@pytest.fixture(params=list(STAGES))
def write(request: pytest.FixtureRequest, reference: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return the function to test, which copies the float32 graphs, since writing them is slow."""

    def copy(folder: Path) -> Callable[..., None]:
        return lambda checkpoint, target, *_: shutil.copytree(folder, target, dirs_exist_ok=True)

    monkeypatch.setattr(files, "write_flow", copy(flow_folder(reference, "cosyvoice3")))
    monkeypatch.setattr(files, "write_vocoder", copy(vocoder_folder(reference, "cosyvoice3")))
    return STAGES[request.param]


def test_held_out_clips_come_from_another_voice(reference: Path) -> None:
    checkpoint = checkpoint_of(reference, "cosyvoice3")
    clips, held_out = calibration_clips(checkpoint, 20), calibration_clips(checkpoint, 4, held_out=True)
    assert len(clips) == 20
    voices = {clip.prompt.embedding.tobytes() for clip in clips}
    assert 2 <= len(voices) <= 4
    assert not voices & {clip.prompt.embedding.tobytes() for clip in held_out}
    assert all(len(clip.tokens) == 25 and clip.mel.shape == (80, 50) for clip in clips)
    assert len({clip.tokens for clip in clips}) > 10
    again = calibration_clips(checkpoint, 20)
    assert [clip.tokens for clip in again] == [clip.tokens for clip in clips]


@pytest.mark.slow
def test_accepted_quantisation_is_written_and_runs(
    write: Write, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "MAX_DISTORTION_DB", 1.6)  # random weights tolerate less
    checkpoint, reported = checkpoint_of(reference, "cosyvoice3"), list[float]()
    distortion = write(checkpoint, tmp_path, CPU, lambda done, total: reported.append(done / total), FEW)
    assert 0 < distortion <= 1.6
    assert reported == sorted(reported)
    assert reported[-1] == 1.0
    clip = calibration_clips(checkpoint, 1, held_out=True)[0]
    if write is write_quantized_flow:
        flow, graph = open_flow(tmp_path, open_graph, blocks_at_once=1), tmp_path / files.FLOW_STEP
        result = flow.open_stream(flow.prepare_prompt(clip.prompt)).decode(clip.tokens, ())
    else:
        vocoder, graph = open_vocoder(tmp_path, checkpoint, open_graph), tmp_path / files.VOCODER_DECODER
        result = vocoder.synthesize_whole(torch.from_numpy(clip.mel), vocoder.noise(0))
    assert result.isfinite().all()
    assert_eight_bit(onnx.load(graph))


def assert_eight_bit(model: onnx.ModelProto) -> None:
    """Check that multiplications read symmetric dequantised tensors and that weights are stored as bytes."""
    made_by = {name: node for node in model.graph.node for name in node.output}
    weights = {weight.name: weight for weight in model.graph.initializer}
    products = [node for node in model.graph.node if node.op_type in ("Conv", "MatMul")]
    eight_bit = [
        node
        for node in products
        if all(made_by[name].op_type == "DequantizeLinear" for name in node.input[:2] if name in made_by)
        and node.input[1] in made_by
        and made_by[node.input[1]].input[0] in weights
    ]
    assert len(eight_bit) >= 10
    for node in eight_bit:
        weight = made_by[node.input[1]]
        assert weights[weight.input[0]].data_type == TensorProto.INT8
        for name in node.input[:2]:
            zero_point = made_by[name].input[2] if len(made_by[name].input) > 2 else None
            assert zero_point is None or not np.any(numpy_helper.to_array(weights[zero_point]))
    assert not [node for node in eight_bit if "proj_out" in str(node) or "conv_post" in str(node)]


@pytest.mark.slow
def test_audible_distortion_is_rejected(write: Write, reference: Path, tmp_path: Path) -> None:
    """Activations clipped at the 30th percentile are noise."""
    with pytest.raises(UnsupportedPrecision, match=r"differs from float32 by .* dB, more than 1 dB"):
        write(checkpoint_of(reference, "cosyvoice3"), tmp_path, CPU, lambda done, total: None, SPOILT)


def test_non_finite_mel_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    mels = [np.zeros((80, 4), np.float32)]
    with pytest.raises(UnsupportedPrecision, match="inf dB"):
        building._check_distortion(mels, [np.full((80, 4), np.nan, np.float32)], FEW, lambda done, total: None)


@pytest.mark.slow
def test_calibration_can_be_cancelled(write: Write, reference: Path, tmp_path: Path) -> None:
    def report(done: float, total: float) -> None:
        if done >= 1:
            raise BuildCancelled

    with pytest.raises(BuildCancelled):
        write(checkpoint_of(reference, "cosyvoice3"), tmp_path, CPU, report, FEW)


def test_candidates_use_100_clips_and_run_on_the_processor(reference: Path) -> None:
    assert Effort().num_clips >= 100
    target = EngineTarget(checkpoint_of(reference, "cosyvoice3"), CPU)
    gpu = Device(DeviceKind.CUDA, "a GPU", num_threads=1, total_bytes=8 << 30)
    for candidate in CANDIDATES:
        assert isinstance(candidate.probe(target), Available)
        assert isinstance(candidate.probe(EngineTarget(target.checkpoint, gpu)), Unusable)
        assert "num_clips=100" in candidate.key_facts(target)["calibration"]
