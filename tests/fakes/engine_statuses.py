"""Engine states for tests of the window: on a GPU, on a CPU, during a build."""

from __future__ import annotations

from dataclasses import replace

from studio.engines.overview import CandidateView, CurrentTrial, EngineStatus, StageView, Status
from studio.engines.stage import Device, Stage
from studio.engines.task import VERIFYING, Step
from studio.messages import Message, message
from studio.model.device_kind import DeviceKind
from studio.model.measurements import Timing, Verification

CARD = Device(DeviceKind.CUDA, "NVIDIA GeForce RTX 4090", 8, 24 << 30, 0, (8, 9), "580.65.06")
PROCESSOR = Device(DeviceKind.CPU, "AMD Ryzen 7 5800X", 8, 32 << 30, instructions="AVX2")
MADE_AT = "2026-11-20T10:00:00+00:00"


def candidate(
    stage: Stage,
    name: str,
    *,
    engine: str = "PyTorch",
    precision: str = "float32",
    status: Status = Status.VERIFIED,
    seconds: float | None = None,
    plain_seconds: float = 0.0,
    reason: Message | None = None,
    num_bytes: int = 0,
) -> CandidateView:
    is_known = seconds is not None
    return CandidateView(
        stage=stage,
        name=name,
        engine=engine,
        precision=precision,
        key=f"{stage.value}-{name}",
        status=status if is_known or status is not Status.VERIFIED else Status.UNTRIED,
        is_reference=name in ("torch-float32", "onnxruntime-cpu"),
        reason=reason,
        verification=Verification(True, 4.2e-3, 0.1, 100, mel_distance_db=0.04) if is_known else None,
        timing=Timing(seconds, plain_seconds or seconds, seconds / 2, 3) if seconds is not None else None,
        num_bytes=num_bytes,
        made_at=MADE_AT if is_known else "",
    )


def cpu_status() -> EngineStatus:
    """Return a status as `timbre engines` might show it, with invented numbers."""
    lm = (
        candidate(Stage.SPEECH_LM, "torch-float32", seconds=2.0),
        candidate(Stage.SPEECH_LM, "torch-int8", precision="int8", seconds=1.0, plain_seconds=2.0),
        candidate(
            Stage.SPEECH_LM,
            "torch-bfloat16",
            precision="bfloat16",
            status=Status.UNUSABLE,
            reason=message("this processor has no fast {precision}", precision="bfloat16"),
        ),
    )
    flow = (
        candidate(Stage.FLOW, "torch-float32", seconds=5.4),
        candidate(
            Stage.FLOW, "onnxruntime", engine="ONNX Runtime", seconds=4.1, plain_seconds=5.4, num_bytes=450 << 20
        ),
        candidate(
            Stage.FLOW,
            "onnxruntime-int8",
            engine="ONNX Runtime",
            precision="int8",
            status=Status.REJECTED,
            reason=message(
                "its audio differs from float32 by {distance:.2f} dB, more than {limit:g} dB",
                distance=1.31,
                limit=0.8,
            ),
        ),
        candidate(
            Stage.FLOW,
            "tensorrt",
            engine="TensorRT",
            precision="float16",
            status=Status.BACKED_OFF,
            reason=message(
                "it failed {count} times and is not tried again automatically; last failure: {reason}",
                count=2,
                reason=message("there is not enough memory"),
            ),
        ),
    )
    vocoder = (candidate(Stage.VOCODER, "torch-float32"),)
    return EngineStatus(
        "Fun-CosyVoice3-0.5B",
        PROCESSOR,
        (
            StageView(Stage.SPEECH_LM, "torch-int8", lm, in_use="torch-int8"),
            StageView(Stage.FLOW, "onnxruntime", flow, in_use="torch-float32"),
            StageView(Stage.VOCODER, "torch-float32", vocoder, in_use="torch-float32"),
        ),
        kept_bytes=450 << 20,
        limit_bytes=20 << 30,
    )


def tuning_status(*, is_paused: bool = False) -> EngineStatus:
    step = Step(VERIFYING, 2, 4, 1, 2)
    work = CurrentTrial(Stage.FLOW, "onnxruntime-int8", 3, 5, step, remaining_seconds=130.0)
    return replace(cpu_status(), work=work, is_paused=is_paused)
