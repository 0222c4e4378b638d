"""Input embeddings of the speech language model, in the order of specification E5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from studio.model.stages import SpeechTokenRequest


@dataclass(frozen=True, slots=True)
class InputEmbeddings:
    """``start`` and ``task`` (1, hidden), ``text`` (vocabulary, hidden), ``speech`` (rows, hidden).

    ``text`` may be on another device: it is large and used once per utterance.
    """

    start: torch.Tensor
    task: torch.Tensor
    text: torch.Tensor
    speech: torch.Tensor

    def to(self, device: torch.device) -> InputEmbeddings:
        """Return detached tables, all but the text table on ``device``."""
        start, task, speech = (table.detach().to(device) for table in (self.start, self.task, self.speech))
        return InputEmbeddings(start, task, self.text.detach(), speech)

    def embed_text(self, tokens: Sequence[int]) -> torch.Tensor:
        """(len(tokens), hidden)"""
        return F.embedding(torch.tensor(tokens, dtype=torch.long, device=self.text.device), self.text).to(
            self.speech.device
        )

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        """(len(tokens), hidden)"""
        return F.embedding(torch.tensor(tokens, dtype=torch.long, device=self.speech.device), self.speech)

    def embed_prompt_text(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return the part shared by all sentences of a voice, start and prompt text: (1 + len(tokens), hidden)."""
        return torch.cat((self.start, self.embed_text(tokens)))

    def embed_rest(self, request: SpeechTokenRequest) -> torch.Tensor:
        """Return the input between the prompt text and the first new speech token: (tokens, hidden)."""
        return torch.cat((
            self.embed_text(request.text_tokens), self.task, self.embed_speech(request.prompt_speech_tokens)
        ))  # fmt: skip

    def embed_request(self, request: SpeechTokenRequest) -> torch.Tensor:
        """Return the whole input before the first new speech token: (tokens, hidden)."""
        return torch.cat((self.embed_prompt_text(request.prompt_text_tokens), self.embed_rest(request)))
