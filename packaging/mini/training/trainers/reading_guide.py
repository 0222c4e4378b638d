"""Guided attention: two heads are trained for a while to attend to the current letters and to the following ones.

A network learns without help that speech follows the text from left to right, but this takes most of its first hours.
The approximate text position of each phone is known. A loss pulls the attention there at first ("guided attention",
Tachibana and others, 2018), and its weight decreases later. There are two heads, because the pronunciation of a letter
often depends on the next one.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from studio.model.speech_lm.network import Attention, Qwen2, rotate

NOWHERE = -1
_MIN_SHARE = 1e-4


class ReadingGuide:
    """Records the attention of ``layer``; ``loss`` applies to its last input.

    Head 0 is pulled to the spoken text token, head 1 to the token after it, within ``reach_tokens``.
    """

    def __init__(self, backbone: Qwen2, *, layer: int, num_heads: int = 2, reach_tokens: float = 0.7) -> None:
        attention = backbone.get_submodule(f"layers.{layer}.self_attn")
        assert isinstance(attention, Attention)
        self._attention, self._num_heads, self._reach = attention, num_heads, reach_tokens
        self._heard: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
        self._handle: RemovableHandle = attention.register_forward_pre_hook(self._listen)

    def close(self) -> None:
        self._handle.remove()

    def loss(self, expected: torch.Tensor) -> torch.Tensor:
        """Return the mean negative logarithm of the share of attention near the expected token.

        ``expected`` (batch, length) is the position of the text token that each position should attend to, or
        ``NOWHERE``.
        """
        assert self._heard is not None
        positions = torch.arange(expected.shape[1], device=expected.device)
        is_somewhere = (expected != NOWHERE).float()
        astray = is_somewhere.new_zeros(())
        for head in range(self._num_heads):
            distance = (positions - head - expected[..., None]).float() / self._reach
            is_near = torch.exp(-0.5 * distance.square())
            found = (self._shares(head, *self._heard) * is_near).sum(dim=-1)
            astray = astray - ((found + _MIN_SHARE).log() * is_somewhere).sum()
        return astray / (self._num_heads * is_somewhere.sum().clamp(min=1.0))

    def _listen(self, _module: nn.Module, inputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> None:
        self._heard = inputs

    def _shares(self, head: int, hidden: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        """Return the attention (batch, length, length) of one head, computed as in the layer."""
        attention, config = self._attention, self._attention.config
        size = config.head_size
        kv_head = head * config.num_kv_heads // config.num_heads

        def of_head(projection: nn.Linear, number: int) -> torch.Tensor:
            rows = slice(number * size, (number + 1) * size)
            projected = nn.functional.linear(hidden, projection.weight[rows], projection.bias[rows])
            return rotate(projected[:, None], cosines, sines)[:, 0].float()

        queries, keys = of_head(attention.q_proj, head), of_head(attention.k_proj, kv_head)
        scores = queries @ keys.transpose(1, 2) * size**-0.5
        length = scores.shape[1]
        is_later = torch.ones(length, length, dtype=torch.bool, device=scores.device).triu(1)
        shares: torch.Tensor = scores.masked_fill(is_later, float("-inf")).softmax(dim=-1)
        return shares
