"""The flow during training: the program's look-ahead layer and diffusion transformer, with factored token tables."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from studio.model.config import DiTConfig, FlowConfig, LookAheadConfig
from studio.model.flow.dit import Block, DiT
from studio.model.flow.network import TransformerFlow
from training.corpus.tokens import NUM_TOKENS, TokenTable
from training.trainers.checkpoints import Fact
from training.trainers.factored import FactoredTable

HEAD_SIZE = 64
_TABLE = "table."
_OFFICIAL_TABLE = "input_embedding.weight"
_TABLE_DEVIATION = 0.6
_FIRST_GATE = 0.2
_SPEAKER_DEVIATION = 0.7


def flow_config(size: int, depth: int, feed_forward_ratio: int, look_ahead_channels: int) -> FlowConfig:
    """Return the layout of CosyVoice3 with other sizes."""
    return FlowConfig(
        num_speech_tokens=NUM_TOKENS,
        input_size=80,
        lookahead=LookAheadConfig(in_channels=80, channels=look_ahead_channels),
        dit=DiTConfig(
            size=size,
            depth=depth,
            num_heads=size // HEAD_SIZE,
            head_size=HEAD_SIZE,
            feed_forward_ratio=feed_forward_ratio,
        ),
    )


def config_of_facts(facts: Mapping[str, Fact]) -> FlowConfig:
    return flow_config(
        int(facts["size"]), int(facts["depth"]), int(facts["feed_forward_ratio"]), int(facts["look_ahead_channels"])
    )


def facts_of_config(config: FlowConfig) -> dict[str, Fact]:
    assert config.dit is not None and config.lookahead is not None  # noqa: PT018 - CosyVoice3's layout
    return {
        "size": config.dit.size,
        "depth": config.dit.depth,
        "feed_forward_ratio": config.dit.feed_forward_ratio,
        "look_ahead_channels": config.lookahead.channels,
    }


class LearningFlow(TransformerFlow):
    """``embed`` sums the parts of each token; everything else is the same as in the model folder."""

    def __init__(self, config: FlowConfig, table: TokenTable) -> None:
        assert config.lookahead is not None and config.dit is not None  # noqa: PT018 - CosyVoice3's layout
        super().__init__(config, config.lookahead, config.dit)
        del self.input_embedding
        self.table = FactoredTable(table, config.input_size, _TABLE_DEVIATION)
        self.num_sounds = table.scheme.sounds

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        pairs, pitches = tokens % self.num_sounds, tokens // self.num_sounds
        embedded: torch.Tensor = self.table.pairs()[pairs] + self.table.pitch[pitches]
        return embedded

    @torch.no_grad()
    def begin(self, mean_mel: torch.Tensor) -> None:
        """Initialise: blocks hardly change their input, and the velocity leads to the average mel.

        The network then has to learn only the differences from it.
        """
        estimator = self.estimator
        assert isinstance(estimator, DiT)
        blocks = [block for block in estimator.transformer_blocks if isinstance(block, Block)]
        norms = [block.attn_norm for block in blocks]
        for norm in (*norms, estimator.norm_out):
            assert norm is not None
            nn.init.zeros_(norm.linear.weight)
            nn.init.zeros_(norm.linear.bias)
        for norm in norms:
            assert norm is not None
            gates = norm.linear.bias.view(norm.num_parts, -1)
            gates[2] = gates[5] = _FIRST_GATE
        # An embedding has length one, so its 192 numbers, and therefore the projected values, would be too small.
        nn.init.normal_(self.spk_embed_affine_layer.weight, std=_SPEAKER_DEVIATION)
        nn.init.zeros_(self.spk_embed_affine_layer.bias)
        nn.init.normal_(estimator.proj_out.weight, std=0.02)
        estimator.proj_out.bias.copy_(mean_mel)

    @torch.no_grad()
    def official_tensors(self) -> dict[str, torch.Tensor]:
        """``flow.pt`` (specification I4)."""
        state = self.state_dict()
        plain = {name: tensor.detach().clone() for name, tensor in state.items() if not name.startswith(_TABLE)}
        return {_OFFICIAL_TABLE: self.table.rows().detach().clone(), **plain}
