"""A real model without comparisons of precisions, which take longer than a short line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.pipeline.request import EngineOptions, RequestControl
from studio.worker.model_host import ModelHost, open_accelerated

ENGINE = "float32_model:open_in_float32"  # for ``WorkerProcess``


def open_in_float32(folder: Path, options: EngineOptions, control: RequestControl | None = None) -> ModelHost:
    return open_accelerated(folder, replace(options, speech_lm_precision="float32", flow_precision="float32"), control)
