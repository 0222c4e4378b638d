"""A trained speculator in the published layout "DSpark" of the library speculators (specification E9).

A small network proposes a block of tokens in one run. It reads the states of some layers of the language model at all
positions before the last token, and its input is that token, followed by a mask token for each further one. A pair
table adds the influence of the token before. Its draws use the line's random numbers, as the language model will, so a
speculator with the distribution of the model is always right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

from studio.model.config import Precision
from studio.model.speculator_files import (
    SETTINGS_FILE,
    WEIGHTS_FILE,
    DSparkConfig,
    not_readable,
    read_config,
    require_weights,
    wrong_tensor,
)
from studio.model.speech_lm.decoder import KVCache, LayerTaps
from studio.model.speech_lm.linear import Linear, pack
from studio.model.speech_lm.network import rotate
from studio.model.speech_lm.sampling import NEVER, RepetitionAwareSampler
from studio.model.speech_lm.speculation import LineSpeculator
from studio.model.stages import SpeechTokenRequest, TokenSampler

if TYPE_CHECKING:
    from studio.model.speech_lm.torch_lm import TorchSpeechLM


@dataclass(frozen=True, slots=True)
class _Layer:
    input_norm: torch.Tensor
    query: Linear
    key_value: Linear
    query_norm: torch.Tensor
    key_norm: torch.Tensor
    output: Linear
    mlp_norm: torch.Tensor
    gate_up: Linear
    down: Linear


class DSparkSpeculator:
    """The speculator of one language model."""

    def __init__(
        self,
        lm: TorchSpeechLM,
        config: DSparkConfig,
        tensors: Mapping[str, torch.Tensor],
        *,
        first_speech_id: int,
        precision: Precision,
    ) -> None:
        """``first_speech_id`` is the number of text ids, which speech ids follow. Raise ``WrongTensors``."""
        self.config = config
        self.num_proposed = config.block_size - 1  # as published: the last slot of a block is not used
        self._layout = lm.config.layout
        self.device = device = lm.inputs.speech.device
        if max(config.tapped_layers) >= lm.config.backbone.num_layers:
            raise wrong_tensor("aux_hidden_state_layer_ids")

        def take(name: str, *shape: int) -> torch.Tensor:
            found = tensors.get(name)
            if (
                found is None
                or found.dim() != len(shape)
                or any(wanted not in (-1, size) for wanted, size in zip(shape, found.shape, strict=True))
            ):
                raise wrong_tensor(name)
            return found.float()

        def linear(*names: str, out: int, size: int, is_mixed: bool = False) -> Linear:
            weight = torch.cat([take(f"{name}.weight", -1, size) for name in names])
            biases = [tensors[f"{name}.bias"] for name in names if f"{name}.bias" in tensors]
            if len(weight) != out or len(biases) not in (0, len(names)):
                raise wrong_tensor(names[0])
            bias = torch.cat(biases).float() if biases else None
            return pack(weight, bias, precision, device, is_mixed=is_mixed)

        size, head = config.hidden_size, config.head_size
        query_size, kv_size = config.num_heads * head, config.num_kv_heads * head

        def layer(index: int) -> _Layer:
            prefix = f"layers.{index}"
            attention, mlp = f"{prefix}.self_attn", f"{prefix}.mlp"
            inner = len(take(f"{mlp}.gate_proj.weight", -1, size))
            return _Layer(
                input_norm=take(f"{prefix}.input_layernorm.weight", size).to(device),
                query=linear(f"{attention}.q_proj", out=query_size, size=size),
                key_value=linear(f"{attention}.k_proj", f"{attention}.v_proj", out=2 * kv_size, size=size),
                query_norm=take(f"{attention}.q_norm.weight", head).to(device),
                key_norm=take(f"{attention}.k_norm.weight", head).to(device),
                output=linear(f"{attention}.o_proj", out=size, size=query_size, is_mixed=True),
                mlp_norm=take(f"{prefix}.post_attention_layernorm.weight", size).to(device),
                gate_up=linear(f"{mlp}.gate_proj", f"{mlp}.up_proj", out=2 * inner, size=size, is_mixed=True),
                down=linear(f"{mlp}.down_proj", out=size, size=inner, is_mixed=True),
            )

        self.layers = [layer(index) for index in range(config.num_layers)]
        num_taps = len(config.tapped_layers) * lm.config.backbone.hidden_size
        self._combine = linear("fc", out=size, size=num_taps)
        self._context_norm = take("hidden_norm.weight", size).to(device)
        self._norm = take("norm.weight", size).to(device)
        self._set_tables(lm, tensors, take, first_speech_id, precision)
        exponents = torch.arange(0, head, 2, device=device, dtype=torch.float32) / head
        self._frequencies = 1.0 / config.rope_theta**exponents

    def _set_tables(
        self,
        lm: TorchSpeechLM,
        tensors: Mapping[str, torch.Tensor],
        take: Any,
        first: int,
        precision: Precision,
    ) -> None:
        """Keep the rows of speech tokens only: in the file, text and speech share one table."""
        num_speech, size, device = self._layout.num_speech_tokens, self.config.hidden_size, lm.inputs.speech.device
        mask = self.config.mask_id
        if "embed_tokens.weight" in tensors:
            embeddings = tensors["embed_tokens.weight"]
            if embeddings.shape[1:] != (size,) or len(embeddings) <= max(mask, first + num_speech - 1):
                raise wrong_tensor("embed_tokens.weight")
            rows, mask_row = embeddings[first : first + num_speech], embeddings[mask]
        else:  # later files leave out what the language model has
            rows = lm.inputs.speech[:num_speech]
            has_mask = 0 <= mask < first + len(lm.inputs.speech) and lm.inputs.speech.shape[1] == size
            if not has_mask:
                raise wrong_tensor("embed_tokens.weight")
            mask_row = lm.inputs.text[mask] if mask < first else lm.inputs.speech[mask - first]
        self._embeddings = torch.cat((rows.float(), mask_row.float()[None])).to(device)  # the mask is the last row
        before, after = take("markov_head.markov_w1.weight", -1, -1), take("markov_head.markov_w2.weight", -1, -1)
        head = take("lm_head.weight", -1, size)
        ids = torch.arange(len(head))
        if "d2t" in tensors:
            if tensors["d2t"].shape != ids.shape:
                raise wrong_tensor("d2t")
            ids = ids + tensors["d2t"].long()
        if len(after) != len(head) or len(before) < first + num_speech:
            raise wrong_tensor("d2t")
        is_speech = (ids >= first) & (ids < first + num_speech)
        self._tokens = (ids[is_speech] - first).to(device)  # of each column of the head
        if not len(self._tokens):
            raise wrong_tensor("d2t")
        self._before = before[first : first + num_speech].to(device)
        self._after = pack(after[is_speech], None, precision, device)
        self._head = pack(head[is_speech], None, precision, device)

    @property
    def num_speech_tokens(self) -> int:
        return self._layout.num_speech_tokens

    def open_line(self, request: SpeechTokenRequest, cache: KVCache) -> LineSpeculator:  # noqa: ARG002 - interface
        cache.taps = LayerTaps(self.config.tapped_layers)
        return DSparkLine(self, cache)

    @torch.inference_mode()
    def context(self, states: torch.Tensor, start: int | torch.Tensor) -> list[torch.Tensor]:
        """Return keys and values (2, kv_heads, positions, head_size) of each layer for tapped ``states``.

        ``start``, the first position, may also be a tensor (1,).
        """
        eps, size = self.config.rms_norm_eps, self.config.hidden_size
        normed = F.rms_norm(self._combine(states), (size,), self._context_norm, eps)
        tables = self._rotary_tables(start, len(states))
        return [self._keys_values(layer, normed, tables) for layer in self.layers]

    def _keys_values(
        self, layer: _Layer, rows: torch.Tensor, tables: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        config = self.config
        mixed = layer.key_value(rows).view(len(rows), 2, config.num_kv_heads, config.head_size).permute(1, 2, 0, 3)
        keys = F.rms_norm(mixed[0], (config.head_size,), layer.key_norm, config.rms_norm_eps)
        return torch.stack((rotate(keys[None], *tables)[0], mixed[1]))

    def _rotary_tables(self, start: int | torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the tables of ``rotate`` for ``count`` positions from ``start`` on."""
        positions = (torch.arange(count, device=self.device) + start).float()
        angles = torch.outer(positions, self._frequencies).repeat(1, 2)
        return angles.cos(), angles.sin()

    @torch.inference_mode()
    def states(
        self,
        token: torch.Tensor,
        context: Sequence[torch.Tensor],
        start: int | torch.Tensor,
        bias: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the states (num_proposed, hidden) of ``token`` (1,) at position ``start`` and the masks after it.

        ``bias`` (1, positions of ``context`` and the block) is added to the scores of attention.
        """
        config, eps = self.config, self.config.rms_norm_eps
        shape, count = (config.hidden_size,), self.num_proposed
        masks = self._embeddings[-1:].expand(count - 1, -1)
        hidden = torch.cat((F.embedding(token, self._embeddings), masks))
        group = config.num_heads // config.num_kv_heads
        tables = self._rotary_tables(start, count)
        for layer, past in zip(self.layers, context, strict=True):
            normed = F.rms_norm(hidden, shape, layer.input_norm, eps)
            queries = layer.query(normed).view(count, config.num_heads, config.head_size).transpose(0, 1)
            queries = F.rms_norm(queries, (config.head_size,), layer.query_norm, eps)
            queries = rotate(queries[None], *tables)[0]
            keys, values = torch.cat((past, self._keys_values(layer, normed, tables)), dim=2)
            # Every row sees the whole block.
            attended = F.scaled_dot_product_attention(
                queries[None], keys.repeat_interleave(group, 0)[None], values.repeat_interleave(group, 0)[None],
                bias, scale=1 / math.sqrt(config.head_size),
            )  # fmt: skip
            hidden = hidden + layer.output(attended[0].transpose(0, 1).reshape(count, -1))
            gate, up = layer.gate_up(F.rms_norm(hidden, shape, layer.mlp_norm, eps)).chunk(2, dim=1)
            hidden = hidden + layer.down(F.silu(gate) * up)
        return F.rms_norm(hidden, shape, self._norm, eps)

    @torch.inference_mode()
    def scores(self, states: torch.Tensor) -> torch.Tensor:
        """Return the scores (rows, columns) of ``states`` without the influence of the token before."""
        return self._head(states)

    @torch.inference_mode()
    def scores_after(self, scores: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        """Return the scores (head_rows,) of the token after ``token`` (1,) from one row of ``scores``."""
        full = scores.new_full((self._layout.num_rows,), NEVER)
        return full.index_copy_(0, self._tokens, scores + self._after(F.embedding(token, self._before))[0])


class DSparkLine(LineSpeculator):
    """Keeps the keys and values of the speculator for one line."""

    def __init__(self, speculator: DSparkSpeculator, cache: KVCache) -> None:
        self._speculator, self._cache = speculator, cache
        self._context: list[torch.Tensor] = []

    def propose(self, history: Sequence[int], sampler: TokenSampler) -> Sequence[int]:
        """Draw with a copy of ``sampler``. The first proposed token follows the last of ``history``."""
        speculator, cache = self._speculator, self._cache
        assert cache.taps is not None
        known = self._context[0].shape[2] if self._context else 0
        added = speculator.context(cache.taps.take(), known)
        self._context = [
            torch.cat(pair, dim=2) for pair in zip(self._context, added, strict=True)
        ] if self._context else added  # fmt: skip
        assert self._context[0].shape[2] == cache.length
        last = self._tensor(history[-1])
        scores = speculator.scores(speculator.states(last, self._context, cache.length))
        guess = sampler.copy() if isinstance(sampler, RepetitionAwareSampler) else sampler
        expected = list(history)
        for row in scores:
            expected.append(guess(speculator.scores_after(row, self._tensor(expected[-1])), expected, forbid=None))
        return expected[len(history) :]

    def _tensor(self, token: int) -> torch.Tensor:
        return torch.tensor((token,), device=self._speculator.device)


def load_dspark(lm: TorchSpeechLM, folder: Path, *, first_speech_id: int, precision: Precision) -> DSparkSpeculator:
    """Load the speculator of ``lm`` from ``folder``, with ``config.json`` and ``model.safetensors``.

    Raise ``MissingModelFile``, ``DamagedModelFile``, ``BadModelSettings``, ``WrongTensors``.
    """
    import safetensors  # noqa: PLC0415 - only for this file
    from safetensors.torch import load_file  # noqa: PLC0415

    config, path = read_config(folder / SETTINGS_FILE), folder / WEIGHTS_FILE
    require_weights(path)
    try:
        tensors = load_file(path)
    except (OSError, safetensors.SafetensorError, ValueError) as error:
        raise not_readable(path) from error
    return DSparkSpeculator(lm, config, tensors, first_speech_id=first_speech_id, precision=precision)
