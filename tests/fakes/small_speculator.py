"""A small speculator with random weights in the published layout, and its catalogue entry."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import noise_models

from studio.catalog.known import Ability, KnownModel, ModelFile, SourceKind

if TYPE_CHECKING:
    from studio.model.speech_lm import TorchSpeechLM

REPOSITORY = "someone/small_llm_dspark"
FIRST = 930  # the first speech id
BLOCK, LAYERS, HEADS, KV_HEADS, RANK = 5, 2, 6, 2, 8
HEAD = 14  # of the speculator; queries are as wide as the model


def write_speculator(folder: Path, lm: TorchSpeechLM, **changes: object) -> Path:
    """Write a small speculator with random weights, in the layout of the library speculators."""
    import torch
    from safetensors.torch import save_file

    hidden, num_rows = lm.config.backbone.hidden_size, lm.config.layout.num_rows
    vocabulary = FIRST + num_rows + 3
    draw = torch.Generator().manual_seed(0)

    def values(*shape: int, scale: float = 0.3) -> torch.Tensor:
        return torch.randn(shape, generator=draw) * scale

    tensors = {
        "embed_tokens.weight": values(vocabulary, hidden),
        "fc.weight": values(hidden, 2 * hidden),
        "hidden_norm.weight": 1 + values(hidden),
        "norm.weight": 1 + values(hidden),
        "lm_head.weight": values(300, hidden),
        "markov_head.markov_w1.weight": values(vocabulary, RANK),
        "markov_head.markov_w2.weight": values(300, RANK, scale=1.0),
        "confidence_head.proj.weight": values(1, hidden + RANK),
        # Some columns are text; the others are every second speech token.
        "d2t": torch.cat((torch.full((20,), 7), FIRST - 20 + torch.arange(280))),
    }
    for index in range(LAYERS):
        prefix = f"layers.{index}."
        for name, rows in (("q", HEADS * HEAD), ("k", KV_HEADS * HEAD), ("v", KV_HEADS * HEAD)):
            tensors[f"{prefix}self_attn.{name}_proj.weight"] = values(rows, hidden)
        tensors[f"{prefix}self_attn.o_proj.weight"] = values(hidden, HEADS * HEAD)
        for name in ("q", "k"):
            tensors[f"{prefix}self_attn.{name}_norm.weight"] = 1 + values(HEAD)
        for name, shape in (("gate", (50, hidden)), ("up", (50, hidden)), ("down", (hidden, 50))):
            tensors[f"{prefix}mlp.{name}_proj.weight"] = values(*shape)
        for name in ("input", "post_attention"):
            tensors[f"{prefix}{name}_layernorm.weight"] = 1 + values(hidden)
    settings = {
        "speculators_model_type": "dspark",
        "architectures": ["DSparkDraftModel"],
        "transformer_layer_config": {
            "hidden_size": hidden, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "num_key_value_heads": KV_HEADS, "head_dim": HEAD, "rms_norm_eps": 1e-6, "rope_theta": 10_000.0,
            "layer_types": ["full_attention"] * LAYERS,
        },
        "aux_hidden_state_layer_ids": [1, 2],
        "mask_token_id": 3,
        "block_size": BLOCK,
        "draft_vocab_size": 300,
        "markov_rank": RANK,
        "markov_head_type": "vanilla",
    } | changes  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings))
    save_file(tensors, folder / "model.safetensors")
    return folder


@cache
def speculator_files() -> dict[str, bytes]:
    """Return the files of a speculator of ``noise_models.V3``."""
    from studio.model.checkpoint import open_checkpoint
    from studio.model.config import Precision

    lm = open_checkpoint(noise_models.V3).load_speech_lm(Precision.FLOAT32, "cpu")
    with tempfile.TemporaryDirectory() as scratch:
        folder = write_speculator(Path(scratch), lm)  # type: ignore[arg-type]
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def known_speculator(model: str) -> KnownModel:
    """Return its catalogue entry, without sizes and checksums like those of the published speculators."""
    return KnownModel(
        name=f"{model}-speculator",
        rank=21,
        generation="dspark",
        licence="",
        languages=(),
        num_dialects=0,
        abilities=frozenset({Ability.SPECULATE}),
        repositories={SourceKind.HUGGING_FACE: REPOSITORY},
        revisions={},
        files=(ModelFile("config.json"), ModelFile("model.safetensors")),
        approximate_bytes=1_500_000,
    )
