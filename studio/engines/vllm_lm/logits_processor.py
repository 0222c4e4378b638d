"""Our way to draw as vLLM's logits processor: it leaves one token of each row, which vLLM's greedy choice then takes."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from studio.engines.vllm_lm.batch_sampler import BatchDraw, DrawPlan, Row

PLAN = "timbre_plan"  # in ``SamplingParams.extra_args``


def make_processor(batch: BatchDraw) -> type[Any]:
    """A class for ``EngineArgs.logits_processors`` that hands every batch of this process to ``batch``.

    Made when it is needed, for vLLM is imported here.
    """
    vllm: Any = importlib.import_module("vllm.v1.sample.logits_processor")

    class RepetitionAwareProcessor(vllm.LogitsProcessor):  # type: ignore[misc]
        @classmethod
        def validate_params(cls, sampling_params: Any) -> None:
            if not isinstance((sampling_params.extra_args or {}).get(PLAN), DrawPlan):
                raise ValueError("a line without a plan how its tokens are drawn")  # noqa: TRY004 - vLLM's way to refuse

        def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
            """Everything it knows is in ``batch``."""

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
