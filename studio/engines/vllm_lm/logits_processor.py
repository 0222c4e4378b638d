"""Our sampler as a vLLM logits processor: it masks all but one token of each row, which greedy decoding then takes."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from studio.engines.vllm_lm.batch_sampler import BatchDraw, DrawPlan, Row

PLAN = "timbre_plan"  # in ``SamplingParams.extra_args``


def make_processor(batch: BatchDraw) -> type[Any]:
    """Return a class for ``EngineArgs.logits_processors`` that passes every batch to ``batch``. Imports vLLM."""
    vllm: Any = importlib.import_module("vllm.v1.sample.logits_processor")

    class RepetitionAwareProcessor(vllm.LogitsProcessor):  # type: ignore[misc]
        @classmethod
        def validate_params(cls, sampling_params: Any) -> None:
            if not isinstance((sampling_params.extra_args or {}).get(PLAN), DrawPlan):
                raise ValueError("the request has no sampling plan")  # noqa: TRY004 - vLLM's protocol for a rejection

        def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
            """The state is in ``batch``."""

        def is_argmax_invariant(self) -> bool:
            return False

        def update_state(self, batch_update: Any) -> None:
            if batch_update is None:
                return
            for index in batch_update.removed:
                batch.place(index, None)
            for index, params, _, spoken in batch_update.added:
                plan = (params.extra_args or {}).get(PLAN)
                batch.place(index, None if plan is None else Row(plan, spoken))
            for source, target, direction in batch_update.moved:
                batch.move(source, target, is_swap=direction is vllm.MoveDirectionality.SWAP)

        def apply(self, logits: torch.Tensor) -> torch.Tensor:
            return batch.choose(logits)

    return RepetitionAwareProcessor
