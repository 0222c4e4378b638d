"""Network of the speech language model: embedding tables around a Qwen2 decoder (specification E5, E6).

Names in the ``state_dict`` equal those of ``llm.pt``.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import nn

from studio.model.config import SpeechLMConfig
from studio.model.speech_lm.inputs import InputEmbeddings
from studio.model.speech_lm.qwen2 import Qwen2, table

BACKBONE = "llm.model.model"
# Tied to the text table in the file and not used for speech.
UNUSED_TENSORS: Collection[str] = ("llm.model.lm_head.weight",)


class _Named(nn.Module):
    """Adds a level to the official names."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model


class SpeechLMNetwork(nn.Module):
    """Differentiable network for whole sequences, without caches: for training, and as the reference for ``Decoder``."""

    def __init__(self, config: SpeechLMConfig) -> None:
        super().__init__()
        layout, hidden_size = config.layout, config.backbone.hidden_size
        self.config = config
        if layout.has_llm_embedding:
            self.llm_embedding = table(2, hidden_size)
        self.llm = _Named(_Named(Qwen2(config.backbone)))
        self.llm_decoder = nn.Linear(hidden_size, layout.num_rows, bias=layout.head_has_bias)
        self.speech_embedding = table(layout.num_rows, hidden_size)

    def forward(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Return the hidden states after the final norm, shaped like ``embeddings`` (batch, tokens, hidden)."""
        hidden: torch.Tensor = self.backbone(embeddings)
        return hidden

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits (…, head_rows) of the next speech token."""
        scores: torch.Tensor = self.llm_decoder(hidden)
        return scores

    @property
    def backbone(self) -> Qwen2:
        backbone = self.get_submodule(BACKBONE)
        assert isinstance(backbone, Qwen2)
        return backbone

    @property
    def inputs(self) -> InputEmbeddings:
        """Return the current tables, with gradients."""
        layout = self.config.layout
        special = self.llm_embedding if layout.has_llm_embedding else self.speech_embedding
        return InputEmbeddings(
            start=special.weight[layout.sos_row][None],
            task=special.weight[layout.task_row][None],
            text=self.backbone.embed_tokens.weight,
            speech=self.speech_embedding.weight,
        )
