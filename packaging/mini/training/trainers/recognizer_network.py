"""The recogniser of the bundled model: from a Whisper log-mel to the phone of each 20 ms.

Decision: a classifier of frames, not connectionist temporal classification. Reason: the synthesizers and the speech
tokens determine the phone of each 20 ms, so the network learns in minutes, and its phones have exact times.
"""

from __future__ import annotations

import torch
from torch import nn

from training.shipping.respellings import LETTER_OF_PHONE
from training.trainers.tokenizer_network import AudioEncoder

NUM_PHONES = 1 + len(LETTER_OF_PHONE)  # the first is silence
FRAMES_PER_TOKEN = 2  # of 20 ms


class RecognizerNetwork(AudioEncoder):
    """The default sizes have 1.9 M weights."""

    def __init__(self, *, width: int = 256, num_blocks: int = 6, front_width: int = 160) -> None:
        super().__init__(width=width, num_blocks=num_blocks, front_width=front_width)
        self.head = nn.Linear(width, FRAMES_PER_TOKEN * NUM_PHONES)

    def forward(self, log_mel: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return scores (batch, frames of 20 ms, phones); see ``hidden``."""
        scores: torch.Tensor = self.head(self.hidden(log_mel, lengths)).unflatten(2, (FRAMES_PER_TOKEN, NUM_PHONES))
        return scores.flatten(1, 2)
