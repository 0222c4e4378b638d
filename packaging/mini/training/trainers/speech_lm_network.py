"""The speech language model during training: the program's Qwen2 layers, with factored tables of speech tokens.

``shipped()`` is the program's ``SpeechLMNetwork`` with the same weights and expanded tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import QwenConfig, SpeechLMConfig
from studio.model.generations import COSYVOICE3
from studio.model.options import SamplingOptions
from studio.model.speech_lm import SpeechLMNetwork
from studio.model.speech_lm.network import DecoderLayer, Qwen2
from training.corpus.tokens import NUM_COLOURS, NUM_PAIRS, NUM_TOKENS
from training.trainers.factored import FactoredTable, PairLabels
from training.trainers.text_letters import TextLetters

NO_COLOUR = NUM_COLOURS  # colour of an input that is not a speech token
_START, _TASK = 0, 1
_NUM_MARKS = 2

# Anchored tokens repeat in long vowels, so the window only prevents endless repetition.
SAMPLING = SamplingOptions(top_p=0.7, top_k=25, window_tokens=25, repetition_ratio=1.0)


def speech_lm_config(
    num_text_rows: int,
    *,
    hidden_size: int = 192,
    num_layers: int = 6,
    num_heads: int = 3,
    num_kv_heads: int = 3,
    intermediate_size: int = 768,
) -> SpeechLMConfig:
    return SpeechLMConfig(
        backbone=QwenConfig(
            vocabulary_size=num_text_rows,
            hidden_size=hidden_size,
            intermediate_size=intermediate_size,
            num_layers=num_layers,
            num_heads=num_heads,
            num_kv_heads=num_kv_heads,
            rope_theta=10_000.0,
            max_positions=8192,
        ),
        layout=COSYVOICE3.speech_token_layout(NUM_TOKENS),
        sampling=SAMPLING,
    )


@dataclass(frozen=True, slots=True)
class SequenceBatch:
    """A batch of sequences, padded on the right.

    ``pairs_or_text`` (batch, length) are rows of text ++ marks ++ pairs, and ``colours`` (batch, length) the colours or
    ``NO_COLOUR``. ``predicting`` (n,) are the flat positions whose next token is predicted: ``next_pair`` and
    ``next_colour`` (n,), where pair 729 is the end, with ``weights`` (n,) in the loss. ``reading`` (batch, length) is
    the approximate position of the text token spoken next, or -1.
    """

    pairs_or_text: torch.Tensor
    colours: torch.Tensor
    predicting: torch.Tensor
    next_pair: torch.Tensor
    next_colour: torch.Tensor
    weights: torch.Tensor
    reading: torch.Tensor

    def to(self, device: torch.device) -> SequenceBatch:
        return SequenceBatch(*(getattr(self, each.name).to(device) for each in fields(self)))


END = NUM_PAIRS


class FactoredSpeechLM(nn.Module):
    """The trained network. Rows of its input table: text ids, start, task, then the 729 pairs."""

    def __init__(self, config: SpeechLMConfig, labels: PairLabels) -> None:
        super().__init__()
        size = config.backbone.hidden_size
        self.config = config
        self.backbone = Qwen2(config.backbone)
        self.letters_in = TextLetters(config.backbone.vocabulary_size, size)
        self.marks_in = nn.Parameter(torch.empty(_NUM_MARKS, size).normal_(std=0.02))
        self.tokens_in = FactoredTable(labels, size)
        self.tokens_out = FactoredTable(labels, size)
        # Scores of the end and of all other special ids. The latter must be unlikely, and the head has no bias.
        self.end_out = nn.Parameter(torch.empty(size).normal_(std=0.02))
        self.other_out = nn.Parameter(torch.empty(size).normal_(std=0.02))
        self.num_other_rows = config.layout.num_rows - config.layout.num_speech_tokens - 1
        for layer in self.backbone.layers:  # small initial residual branches, for stability of deep networks
            assert isinstance(layer, DecoderLayer)
            for matrix in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
                nn.init.normal_(matrix, std=0.02 / math.sqrt(2 * config.backbone.num_layers))

    def hidden(self, batch: SequenceBatch) -> torch.Tensor:
        """Return the hidden states (n, hidden) at the ``predicting`` positions."""
        table = torch.cat((self._text_rows(), self.marks_in, self.tokens_in.pairs()))
        colours = F.pad(self.tokens_in.colour, (0, 0, 0, 1))
        embedded = F.embedding(batch.pairs_or_text, table) + F.embedding(batch.colours, colours)
        hidden: torch.Tensor = self.backbone(embedded)
        return hidden.flatten(0, 1)[batch.predicting]

    def _text_rows(self) -> torch.Tensor:
        rows: torch.Tensor = self.backbone.embed_tokens.weight + self.letters_in()
        return rows

    def scores(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the scores of pairs (n, 729) and colours (n, 9), and the log-sum-exp of all rows (n,).

        The score of a token is that of its pair plus that of its colour, so the sum over all 6561 tokens is a product
        of two sums.
        """
        pairs = F.linear(hidden, self.tokens_out.pairs())
        colours = F.linear(hidden, self.tokens_out.colour)
        end, other = hidden @ self.end_out, hidden @ self.other_out
        tokens = pairs.logsumexp(dim=1) + colours.logsumexp(dim=1)
        everything = torch.stack((tokens, end, other + math.log(self.num_other_rows))).logsumexp(dim=0)
        return torch.cat((pairs, end[:, None]), dim=1), colours, everything

    def losses(self, hidden: torch.Tensor, batch: SequenceBatch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the loss of each prediction in nats (n,), and whether pair and colour are the most likely (n,).

        The loss is exactly the cross-entropy of the program's head over its 6761 rows.
        """
        pairs, colours, everything = self.scores(hidden)
        is_end = batch.next_pair == END
        own = pairs.gather(1, batch.next_pair[:, None])[:, 0]
        own = own + colours.gather(1, batch.next_colour[:, None])[:, 0].masked_fill(is_end, 0.0)
        # The end competes with whole tokens: the best pair with the best colour.
        best_token, best_pair = pairs[:, :END].max(dim=1)
        best_token = best_token + colours.max(dim=1).values
        chosen = torch.where(pairs[:, END] > best_token, END, best_pair)
        is_pair_right = chosen == batch.next_pair
        is_colour_right = (colours.argmax(dim=1) == batch.next_colour) | is_end
        return everything - own, is_pair_right, is_colour_right

    @torch.no_grad()
    def shipped(self) -> SpeechLMNetwork:
        """Return the program's network with a copy of these weights, in float32 on the CPU."""
        network = SpeechLMNetwork(self.config)
        network.backbone.load_state_dict(
            {name: tensor.float().cpu() for name, tensor in self.backbone.state_dict().items()}
        )
        network.backbone.embed_tokens.weight.copy_(self._text_rows())
        layout = self.config.layout
        rows_in, rows_out = network.speech_embedding.weight, network.llm_decoder.weight
        rows_in.zero_()
        rows_in[: layout.num_speech_tokens] = self.tokens_in.rows().cpu()
        rows_in[layout.sos_row] = self.marks_in[_START].cpu()
        rows_in[layout.task_row] = self.marks_in[_TASK].cpu()
        rows_out[: layout.num_speech_tokens] = self.tokens_out.rows().cpu()
        rows_out[layout.num_speech_tokens :] = self.other_out.cpu()
        rows_out[layout.end_id] = self.end_out.cpu()
        network.requires_grad_(False)
        return network.eval()

    @torch.no_grad()
    def continue_from(self, network: SpeechLMNetwork) -> None:
        """Load the weights of the bundled model."""
        layout = self.config.layout
        self.backbone.load_state_dict(network.backbone.state_dict())
        self.letters_in.of_place.zero_()
        rows_in, rows_out = network.speech_embedding.weight, network.llm_decoder.weight
        self.tokens_in.take_apart(rows_in[: layout.num_speech_tokens])
        self.marks_in.copy_(rows_in[[layout.sos_row, layout.task_row]])
        self.tokens_out.take_apart(rows_out[: layout.num_speech_tokens])
        self.end_out.copy_(rows_out[layout.end_id])
        self.other_out.copy_(rows_out[layout.sos_row])
