"""The network for vLLM: its Qwen2 over speech tokens, with the bias of CosyVoice2's head."""

from __future__ import annotations

import importlib
from typing import Any

import torch

ARCHITECTURE = "TimbreSpeechLM"
# Added to Qwen2's config.json.
HEAD_HAS_BIAS = "speech_head_has_bias"


def register() -> None:
    """Register the network with vLLM: the entry point ``vllm.general_plugins``, called in each vLLM process."""
    registry: Any = importlib.import_module("vllm").ModelRegistry
    if ARCHITECTURE not in registry.get_supported_archs():
        registry.register_model(ARCHITECTURE, make_network())


def make_network() -> type[Any]:
    """Return the network's class. Imports vLLM."""
    qwen2: Any = importlib.import_module("vllm.model_executor.models.qwen2")
    embedding: Any = importlib.import_module("vllm.model_executor.layers.vocab_parallel_embedding")

    class SpeechQwen2(qwen2.Qwen2ForCausalLM):  # type: ignore[misc]
        def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
            super().__init__(vllm_config=vllm_config, prefix=prefix)
            if getattr(self.config, HEAD_HAS_BIAS):
                self.lm_head = embedding.ParallelLMHead(
                    self.config.vocab_size,
                    self.config.hidden_size,
                    bias=True,
                    quant_config=self.quant_config,
                    prefix=f"{prefix}.lm_head" if prefix else "lm_head",
                )

        def compute_logits(self, hidden_states: torch.Tensor) -> torch.Tensor | None:
            scores: torch.Tensor | None = self.logits_processor(self.lm_head, hidden_states, self.lm_head.bias)
            return scores

    return SpeechQwen2
