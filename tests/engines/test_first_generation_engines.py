"""The candidates for CosyVoice-300M: what is available on each kind of device, and the reasons for the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graph_cases import CPU, checkpoint_of

from studio.engines.candidate import Available, EngineTarget, Unusable, all_candidates
from studio.engines.stage import Device, Stage
from studio.model.device_kind import DeviceKind

GPU = replace(CPU, kind=DeviceKind.CUDA, name="a GPU", compute_capability=(9, 0), driver="580")


def probed(reference: Path, device: Device) -> dict[tuple[Stage, str], Available | Unusable]:
    target = EngineTarget(checkpoint_of(reference, "cosyvoice1"), device)
    return {(candidate.stage, candidate.name): candidate.probe(target) for candidate in all_candidates()}


def test_a_processor_runs_8_bit_and_16_bit_language_models_and_graphs(reference: Path) -> None:
    found = probed(reference, CPU)
    usable = {key for key, answer in found.items() if isinstance(answer, Available)}
    assert usable >= {
        *((Stage.SPEECH_LM, f"torch-{precision}") for precision in ("float32", "float16", "int8", "int4")),
        (Stage.FLOW, "torch-float32"),
        (Stage.FLOW, "onnxruntime-cpu"),
        (Stage.VOCODER, "torch-float32"),
        (Stage.VOCODER, "onnxruntime-cpu"),
        (Stage.VOCODER, "onnxruntime-cpu-int8"),
    }
    refused = found[Stage.FLOW, "onnxruntime-cpu-int8"]
    assert isinstance(refused, Unusable)
    assert str(refused.reason) == "8-bit calibration needs streamed blocks; this model has none"


def test_a_gpu_runs_the_language_model_as_a_graph_and_not_the_flow(reference: Path) -> None:
    found = probed(reference, GPU)
    assert isinstance(found[Stage.SPEECH_LM, "cuda-graph-float32"], Available)
    flow = found[Stage.FLOW, "cuda-graph-float32"]
    assert isinstance(flow, Unusable)
    assert "vary in length" in str(flow.reason)


def test_the_reason_against_vllm_is_its_lack_of_an_architecture(reference: Path) -> None:
    """Also where vLLM is not installed, because installing it would not help."""
    for device in (CPU, GPU):
        refused = probed(reference, device)[Stage.SPEECH_LM, "vllm-bfloat16"]
        assert isinstance(refused, Unusable)
        assert str(refused.reason) == "vLLM has no architecture with the relative positions of this language model"
