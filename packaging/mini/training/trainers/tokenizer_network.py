"""The speech tokenizer of the bundled voice: from a Whisper log-mel to the pair of sounds and the pitch of each 40 ms.

The mean spectrum of each clip is subtracted first, which removes the influence of the microphone. Pitch is relative
to the clip. ``tokenizer_onnx.py`` writes the same graph with the official inputs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from training.corpus.tokens import TokenTable
from training.trainers.factored import FactoredTable

MEL_BINS = 128
FRAMES_PER_TOKEN = 4
NORM_EPSILON = 1e-6


class AudioEncoder(nn.Module):
    """The layers that the speech tokenizer and the recogniser share."""

    def __init__(self, *, width: int, num_blocks: int, front_width: int) -> None:
        super().__init__()
        self.front = nn.Conv1d(MEL_BINS, front_width, 5, stride=2, padding=2)
        self.halving = nn.Conv1d(front_width, width, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(Block(width) for _ in range(num_blocks))
        self.clip = nn.Linear(width, width)
        self.clip_after = num_blocks // 2
        self.norm = nn.Parameter(torch.ones(width))

    def hidden(self, log_mel: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the features (batch, tokens, width) of ``log_mel`` (batch, 128, frames).

        Frames beyond ``lengths`` (batch,) are ignored. There are ceil(frames / 4) tokens.
        """
        is_sound = torch.arange(log_mel.shape[2], device=log_mel.device)[None] < lengths[:, None]
        mask = is_sound[:, None].to(log_mel.dtype)
        mean = (log_mel * mask).sum(dim=2, keepdim=True) / mask.sum(dim=2, keepdim=True)
        x = F.silu(self.front((log_mel - mean) * mask)) * mask[..., ::2]
        x = self.halving(x).transpose(1, 2)
        token_mask = mask[:, 0, ::FRAMES_PER_TOKEN, None]
        for index, block in enumerate(self.blocks):
            if index == self.clip_after:
                whole = (x * token_mask).sum(dim=1, keepdim=True) / token_mask.sum(dim=1, keepdim=True)
                x = x + self.clip(whole)
            x = block(x * token_mask)
        return rms_norm(x, self.norm)


class SpeechTokenizerNetwork(AudioEncoder):
    """The default sizes have 1.9 M weights."""

    def __init__(self, table: TokenTable, *, width: int = 256, num_blocks: int = 5, front_width: int = 192) -> None:
        super().__init__(width=width, num_blocks=num_blocks, front_width=front_width)
        self.heads = FactoredTable(table, width)
        self.pair_bias = nn.Parameter(torch.zeros(table.scheme.sounds))
        self.pitch_bias = nn.Parameter(torch.zeros(table.scheme.pitches))

    def forward(self, log_mel: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores of pairs and of pitches, both (batch, tokens, classes); see ``hidden``."""
        hidden = self.hidden(log_mel, lengths)
        return (
            F.linear(hidden, self.heads.pairs(), self.pair_bias),
            F.linear(hidden, self.heads.pitch, self.pitch_bias),
        )


class Block(nn.Module):
    """A block: mixes neighbouring tokens (0.36 s), then transforms each token separately."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.around = nn.Conv1d(width, width, 9, padding=4, groups=width)
        self.norm = nn.Parameter(torch.ones(width))
        self.into = nn.Linear(width, 2 * width)
        self.out_of = nn.Linear(2 * width, width)
        nn.init.normal_(self.out_of.weight, std=0.01)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        around = self.around(x.transpose(1, 2)).transpose(1, 2)
        after: torch.Tensor = x + self.out_of(F.silu(self.into(rms_norm(around, self.norm))))
        return after


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + NORM_EPSILON) * weight
