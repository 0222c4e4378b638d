"""Example engine states for the screenshots; the figures are invented."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QWidget

from studio.app.engines.engines_controller import EnginesController
from studio.engines.overview import CandidateView, CurrentTrial, EngineStatus, StageView, Status
from studio.engines.stage import Device, Stage
from studio.engines.task import VERIFYING, Step
from studio.messages import Message, message
from studio.model.device_kind import DeviceKind
from studio.model.measurements import Timing, Verification

_PLACE = Device(DeviceKind.CPU, "AMD Ryzen 7 5800X", 8, 32 << 30, instructions="AVX2")
_MADE_AT = "2026-11-20T10:00:00+00:00"
_KEPT_BYTES = 450 << 20


def engine_scenes(desk: EnginesController, window: QWidget) -> Iterator[tuple[str, QWidget]]:
    """Yield names and widgets. No engine is tested."""
    desk.show(_overview())
    desk.open_page()
    assert desk.page is not None, "it was opened"
    yield "engines", desk.page
    desk.page.hide()
    yield "engines-panel", window
    desk.show(None)


def _overview() -> EngineStatus:
    flow = (
        _proven(Stage.FLOW, "torch-float32", "PyTorch", "float32", (5.4, 5.4)),
        _proven(Stage.FLOW, "onnxruntime", "ONNX Runtime", "float32", (4.1, 5.4)),
        _not_usable(
            Stage.FLOW,
            "tensorrt",
            "TensorRT",
            Status.BACKED_OFF,
            message(
                "it failed {count} times and is not tried again automatically; last failure: {reason}",
                count=2,
                reason=message("there is not enough memory"),
            ),
        ),
    )
    speech_lm = (
        _proven(Stage.SPEECH_LM, "torch-float32", "PyTorch", "float32", (2.0, 2.0)),
        _proven(Stage.SPEECH_LM, "torch-int8", "PyTorch", "int8", (1.0, 2.0)),
    )
    vocoder = (_proven(Stage.VOCODER, "torch-float32", "PyTorch", "float32", (0.9, 0.9)),)
    return EngineStatus(
        "Fun-CosyVoice3-0.5B-2512",
        _PLACE,
        (
            StageView(Stage.SPEECH_LM, "torch-int8", speech_lm, in_use="torch-int8"),
            StageView(Stage.FLOW, "onnxruntime", flow, in_use="torch-float32"),
            StageView(Stage.VOCODER, "torch-float32", vocoder, in_use="torch-float32"),
        ),
        kept_bytes=_KEPT_BYTES,
        limit_bytes=20 << 30,
        work=CurrentTrial(Stage.FLOW, "tensorrt", 3, 5, Step(VERIFYING, 2, 4, 1, 2), remaining_seconds=130.0),
    )


def _proven(stage: Stage, name: str, engine: str, precision: str, times: tuple[float, float]) -> CandidateView:
    """Return a candidate. ``times`` are the durations of its trial and of plain float32, in seconds."""
    return CandidateView(
        stage=stage,
        name=name,
        engine=engine,
        precision=precision,
        key=f"{stage.value}-{name}",
        status=Status.VERIFIED,
        is_reference=name == "torch-float32",
        verification=Verification(True, 4.2e-3, 0.1, 100, mel_distance_db=0.04),
        timing=Timing(*times, times[0] / 2, 3),
        made_at=_MADE_AT,
    )


def _not_usable(stage: Stage, name: str, engine: str, status: Status, reason: Message) -> CandidateView:
    return CandidateView(stage, name, engine, "float16", f"{stage.value}-{name}", status, reason=reason)
