"""ONNX Runtime with its telemetry events off; every other module imports the library from here."""

from __future__ import annotations

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

__all__ = ["onnxruntime", "ort_errors"]

# Builds for Windows that record events by its tracing do not read ORT_DISABLE_TELEMETRY (see ``studio.system.telemetry``).
onnxruntime.disable_telemetry_events()
