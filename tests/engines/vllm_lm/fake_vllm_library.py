"""Fakes of the vLLM modules that the engine uses, with their checks of arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from types import ModuleType, SimpleNamespace
from typing import Any

import torch


class MoveDirectionality(Enum):
    UNIDIRECTIONAL = auto()
    SWAP = auto()


class LogitsProcessor(ABC):
    @abstractmethod
    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None: ...

    @abstractmethod
    def apply(self, logits: torch.Tensor) -> torch.Tensor: ...

    @abstractmethod
    def is_argmax_invariant(self) -> bool: ...

    @abstractmethod
    def update_state(self, batch_update: Any) -> None: ...


@dataclass(frozen=True)
class BatchUpdate:
    batch_size: int
    removed: Sequence[int] = ()
    added: Sequence[tuple[int, Any, list[int] | None, list[int]]] = ()
    moved: Sequence[tuple[int, int, MoveDirectionality]] = ()


@dataclass
class SamplingParams:
    extra_args: dict[str, Any] | None = None
    temperature: float = 1.0
    max_tokens: int = 16
    stop_token_ids: list[int] = field(default_factory=list)
    detokenize: bool = True
    output_kind: str = "cumulative"


class ParallelLMHead(torch.nn.Module):
    def __init__(self, rows: int, hidden: int, bias: bool = False, **_: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(rows, hidden))
        self.register_parameter("bias", torch.nn.Parameter(torch.zeros(rows)) if bias else None)


class Qwen2ForCausalLM(torch.nn.Module):
    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__()
        self.config = vllm_config
        self.quant_config = None
        self.lm_head = ParallelLMHead(vllm_config.vocab_size, vllm_config.hidden_size)

    def logits_processor(
        self, lm_head: ParallelLMHead, hidden: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        return torch.nn.functional.linear(hidden, lm_head.weight, bias)


class ModelRegistry:
    def __init__(self) -> None:
        self.models: dict[str, type] = {}

    def get_supported_archs(self) -> set[str]:
        return set(self.models)

    def register_model(self, name: str, model: type) -> None:
        assert name not in self.models
        self.models[name] = model


class FakeEngine:
    """A fake engine: the scores after a token are a row of a random table, and a step yields one token per line."""

    def __init__(self, processor: LogitsProcessor, num_ids: int, num_rows: int = 3) -> None:
        self._processor = processor
        self._scores = torch.randn(num_ids, num_ids, generator=torch.Generator().manual_seed(9)) * 3
        self._rows: list[str | None] = [None] * num_rows
        self._lines: dict[str, tuple[SamplingParams, list[int]]] = {}
        self._waiting: list[str] = []
        self.aborted: list[str] = []

    def add_request(self, name: str, prompt: dict[str, torch.Tensor], params: SamplingParams) -> None:
        embeddings = prompt["prompt_embeds"]
        if len(embeddings) > 100:
            raise ValueError("the prompt is longer than the model")
        self._lines[name] = (params, [])
        self._waiting.append(name)

    def abort_request(self, names: list[str]) -> None:
        self.aborted += names
        for name in names:
            self._lines.pop(name, None)
        self._waiting = [name for name in self._waiting if name not in names]

    def scores_after(self, spoken: list[int]) -> torch.Tensor:
        return self._scores[spoken[-1] if spoken else 0]

    def step(self) -> list[Any]:
        self._update_rows()
        scores = torch.stack(
            [self.scores_after(self._lines[name][1]) if name else torch.zeros(len(self._scores)) for name in self._rows]
        )
        chosen = self._processor.apply(scores.clone()).argmax(dim=1).tolist()
        outputs = []
        for name, token in zip(self._rows, chosen, strict=True):
            if name is not None:
                params, spoken = self._lines[name]
                spoken.append(token)
                is_over = token in params.stop_token_ids or len(spoken) >= params.max_tokens
                part = SimpleNamespace(token_ids=[token])
                outputs.append(
                    SimpleNamespace(request_id=name, outputs=[part], finished=is_over, num_cached_tokens=None)
                )
                if is_over:
                    del self._lines[name]
        return outputs

    def _update_rows(self) -> None:
        removed = [index for index, name in enumerate(self._rows) if name is not None and name not in self._lines]
        for index in removed:
            self._rows[index] = None
        added = []
        for index, name in enumerate(self._rows):
            if name is None and self._waiting:
                waiting = self._waiting.pop(0)
                self._rows[index] = waiting
                added.append((index, self._lines[waiting][0], None, self._lines[waiting][1]))
        self._processor.update_state(BatchUpdate(len(self._rows), removed, added))


def fake_modules() -> dict[str, ModuleType]:
    """Return the fake modules by import name."""
    parts: dict[str, dict[str, Any]] = {
        "vllm": {"ModelRegistry": ModelRegistry(), "SamplingParams": SamplingParams, "__version__": "0.0"},
        "vllm.sampling_params": {"RequestOutputKind": SimpleNamespace(DELTA="delta")},
        "vllm.v1.sample.logits_processor": {
            "LogitsProcessor": LogitsProcessor,
            "MoveDirectionality": MoveDirectionality,
        },
        "vllm.model_executor.models.qwen2": {"Qwen2ForCausalLM": Qwen2ForCausalLM},
        "vllm.model_executor.layers.vocab_parallel_embedding": {"ParallelLMHead": ParallelLMHead},
    }
    modules = {}
    for name, content in parts.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(content)
    return modules
