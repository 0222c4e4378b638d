"""ONNX Runtime sessions of recognisers."""

from __future__ import annotations

from pathlib import Path

from studio.messages import message
from studio.model.onnx_networks import onnxruntime, open_session
from studio.system.cores import num_cores


def open_recognizer_session(path: Path) -> onnxruntime.InferenceSession:
    """Open a network on half of the cores: checks run beside the synthesis. Raise ``DamagedModelFile``."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, num_cores() // 2)
    return open_session(path, options, None, remedy=message("Install the model again."))
