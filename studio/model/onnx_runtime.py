"""ONNX Runtime with telemetry disabled. All other modules import the library from here."""

from __future__ import annotations

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

__all__ = ["onnxruntime", "ort_errors"]

# Windows builds with event tracing ignore ORT_DISABLE_TELEMETRY (see ``studio.system.telemetry``).
onnxruntime.disable_telemetry_events()
