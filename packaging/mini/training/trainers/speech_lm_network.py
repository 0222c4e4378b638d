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
from training.corpus.tokens import NUM_TOKENS, TokenTable
from training.trainers.factored import FactoredTable
from training.trainers.text_letters import TextLetters

_START, _TASK = 0, 1
_NUM_MARKS = 2

# Tokens repeat in long vowels, so the window only prevents endless repetition.
SAMPLING = SamplingOptions(top_p=0.8, top_k=25, window_tokens=25, repetition_ratio=1.0)


def speech_lm_config(
    num_text_rows: int,
    *,
    hidden_size: int = 256,
    num_layers: int = 8,
    num_heads: int = 4,
    num_kv_heads: int = 4,
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

    ``pairs_or_text`` (batch, length) are rows of text ++ marks ++ pairs, and ``pitches`` (batch, length) the pitches, or
    their number for other inputs. ``predicting`` (n,) are the flat positions whose next token is predicted:
    ``next_pair`` and ``next_pitch`` (n,), with ``weights`` (n,) in the loss. Pairs are followed by the end and the fill
    mark, which requests more text. ``reading`` (batch, length) is the position of the text token spoken next, or -1.
    """

    pairs_or_text: torch.Tensor
    pitches: torch.Tensor
    predicting: torch.Tensor
    next_pair: torch.Tensor
    next_pitch: torch.Tensor
    weights: torch.Tensor
    reading: torch.Tensor

    def to(self, device: torch.device) -> SequenceBatch:
        return SequenceBatch(*(getattr(self, each.name).to(device) for each in fields(self)))


class FactoredSpeechLM(nn.Module):
    """The trained network. Rows of its input table: text ids, start, task, then the pairs."""

    def __init__(self, config: SpeechLMConfig, table: TokenTable) -> None:
        super().__init__()
        size = config.backbone.hidden_size
        self.config = config
        self.num_pairs = table.scheme.sounds
        self.backbone = Qwen2(config.backbone)
        self.letters_in = TextLetters(config.backbone.vocabulary_size, size)
        self.marks_in = nn.Parameter(torch.empty(_NUM_MARKS, size).normal_(std=0.02))
        self.tokens_in = FactoredTable(table, size)
        self.tokens_out = FactoredTable(table, size)
        # Scores of the end, of the fill mark, and of all other ids. The latter must be unlikely; the head has no bias.
        self.end_out = nn.Parameter(torch.empty(size).normal_(std=0.02))
        self.fill_out = nn.Parameter(torch.empty(size).normal_(std=0.02))
        self.other_out = nn.Parameter(torch.empty(size).normal_(std=0.02))
        self.num_other_rows = config.layout.num_rows - table.scheme.sounds * table.scheme.pitches - 2
        for layer in self.backbone.layers:  # small initial residual branches, for stability of deep networks
            assert isinstance(layer, DecoderLayer)
            for matrix in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
                nn.init.normal_(matrix, std=0.02 / math.sqrt(2 * config.backbone.num_layers))

    def hidden(self, batch: SequenceBatch) -> torch.Tensor:
        """Return the hidden states (n, hidden) at the ``predicting`` positions."""
        table = torch.cat((self._text_rows(), self.marks_in, self.tokens_in.pairs()))
        pitches = F.pad(self.tokens_in.pitch, (0, 0, 0, 1))
        embedded = F.embedding(batch.pairs_or_text, table) + F.embedding(batch.pitches, pitches)
        hidden: torch.Tensor = self.backbone(embedded)
        return hidden.flatten(0, 1)[batch.predicting]

    def _text_rows(self) -> torch.Tensor:
        rows: torch.Tensor = self.backbone.embed_tokens.weight + self.letters_in()
        return rows

    def scores(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the scores of pairs, end and fill mark (n, pairs + 2), those of pitches (n, pitches), and the
        log-sum-exp of all rows (n,).

        The score of a token is that of its pair plus that of its pitch, so the sum over all tokens is a product of two
        sums.
        """
        pairs = F.linear(hidden, self.tokens_out.pairs())
        pitches = F.linear(hidden, self.tokens_out.pitch)
        marks = torch.stack((hidden @ self.end_out, hidden @ self.fill_out), dim=1)
        other = hidden @ self.other_out + math.log(self.num_other_rows)
        tokens = pairs.logsumexp(dim=1) + pitches.logsumexp(dim=1)
        everything = torch.cat((tokens[:, None], marks, other[:, None]), dim=1).logsumexp(dim=1)
        return torch.cat((pairs, marks), dim=1), pitches, everything

    def losses(self, hidden: torch.Tensor, batch: SequenceBatch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the loss of each prediction in nats (n,), and whether pair and pitch are the most likely (n,).

        The loss is exactly the cross-entropy of the program's head over its 6761 rows.
        """
        pairs, pitches, everything = self.scores(hidden)
        is_mark = batch.next_pair >= self.num_pairs
        own = pairs.gather(1, batch.next_pair[:, None])[:, 0]
        own = own + pitches.gather(1, batch.next_pitch[:, None])[:, 0].masked_fill(is_mark, 0.0)
        # Marks compete with whole tokens: the best pair with the best pitch.
        best_token, best_pair = pairs[:, : self.num_pairs].max(dim=1)
        best_mark, mark = pairs[:, self.num_pairs :].max(dim=1)
        chosen = torch.where(best_mark > best_token + pitches.max(dim=1).values, self.num_pairs + mark, best_pair)
        is_pitch_right = (pitches.argmax(dim=1) == batch.next_pitch) | is_mark
        return everything - own, chosen == batch.next_pair, is_pitch_right

    @torch.no_grad()
    def shipped(self) -> SpeechLMNetwork:
        """Return the program's network with a copy of these weights, in float32 on the CPU."""
        network = SpeechLMNetwork(self.config)
        network.backbone.load_state_dict(
            {name: tensor.float().cpu() for name, tensor in self.backbone.state_dict().items()}
        )
        network.backbone.embed_tokens.weight.copy_(self._text_rows())
        layout = self.config.layout
        assert layout.fill_id is not None
        rows_in, rows_out = network.speech_embedding.weight, network.llm_decoder.weight
        rows_in.zero_()
        rows_in[: layout.num_speech_tokens] = self.tokens_in.rows().cpu()
        rows_in[layout.sos_row] = self.marks_in[_START].cpu()
        rows_in[layout.task_row] = self.marks_in[_TASK].cpu()
        rows_out[: layout.num_speech_tokens] = self.tokens_out.rows(self.other_out).cpu()
        rows_out[layout.num_speech_tokens :] = self.other_out.cpu()
        rows_out[layout.end_id] = self.end_out.cpu()
        rows_out[layout.fill_id] = self.fill_out.cpu()
        network.requires_grad_(False)
        return network.eval()
