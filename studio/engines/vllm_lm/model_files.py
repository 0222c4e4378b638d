"""Write the weights of a speech language model as a folder that vLLM loads; it contains no executable code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file

from studio.engines.vllm_lm.network import ARCHITECTURE, HEAD_HAS_BIAS
from studio.model.config import Precision, SpeechLMConfig
from studio.model.speech_lm.network import SpeechLMNetwork

DTYPES = {
    Precision.FLOAT32: torch.float32,
    Precision.BFLOAT16: torch.bfloat16,
    Precision.FLOAT16: torch.float16,
}


def write_model_files(
    network: SpeechLMNetwork, folder: Path, precision: Precision, report: Callable[[int, int], None]
) -> None:
    """Fill ``folder``. The vocabulary is the speech tokens: text enters as embeddings, so its table is not written.

    Peak memory is about one layer. ``report`` receives the number of parts written and their total.
    """
    backbone, head = network.backbone, network.llm_decoder
    tables = {
        "model.embed_tokens.weight": network.speech_embedding.weight,
        "model.norm.weight": backbone.norm.weight,
        "lm_head.weight": head.weight,
    }
    if head.bias is not None:
        tables["lm_head.bias"] = head.bias
    total = 1 + len(backbone.layers)
    _write(tables, folder / "tables.safetensors", precision)
    report(1, total)
    for index, layer in enumerate(backbone.layers):
        parts = {f"model.layers.{index}.{name}": tensor for name, tensor in layer.state_dict().items()}
        _write(parts, folder / f"layer-{index:02}.safetensors", precision)
        report(2 + index, total)
    (folder / "config.json").write_text(json.dumps(_settings(network.config, precision), indent=1), "utf-8")


def num_file_bytes(config: SpeechLMConfig, precision: Precision) -> int:
    """Return the bytes ``write_model_files`` writes, without headers."""
    backbone, layout = config.backbone, config.layout
    hidden, kv_size = backbone.hidden_size, backbone.num_kv_heads * backbone.head_size
    tables = (2 * layout.num_rows + 1) * hidden + layout.num_rows * layout.head_has_bias
    layer = hidden * (2 * hidden + 2 * kv_size + 3 * backbone.intermediate_size + 3) + 2 * kv_size
    return (tables + backbone.num_layers * layer) * DTYPES[precision].itemsize


def _write(tensors: Mapping[str, torch.Tensor], path: Path, precision: Precision) -> None:
    dtype = DTYPES[precision]
    save_file({name: tensor.detach().to(dtype).contiguous() for name, tensor in tensors.items()}, path)


def _settings(config: SpeechLMConfig, precision: Precision) -> dict[str, object]:
    """Return the ``config.json`` of a Qwen2 in Hugging Face form, without an end token: requests set their own."""
    backbone = config.backbone
    return {
        "architectures": [ARCHITECTURE],
        "model_type": "qwen2",
        "vocab_size": config.layout.num_rows,
        "hidden_size": backbone.hidden_size,
        "intermediate_size": backbone.intermediate_size,
        "num_hidden_layers": backbone.num_layers,
        "num_attention_heads": backbone.num_heads,
        "num_key_value_heads": backbone.num_kv_heads,
        "hidden_act": "silu",
        "rms_norm_eps": backbone.rms_norm_eps,
        "rope_theta": backbone.rope_theta,
        "max_position_embeddings": backbone.max_positions,
        "use_sliding_window": False,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": None,
        "torch_dtype": precision.value,
        HEAD_HAS_BIAS: config.layout.head_has_bias,
    }
