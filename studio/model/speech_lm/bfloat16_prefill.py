"""The decoder in bfloat16, for many rows. A graph with 8-bit or 4-bit weights computes few rows.

With the matrix instructions of some processors (Intel AMX), the 282 tokens of a prompt and its text take 0.4 of the time
that the graph of CosyVoice3 takes, with smaller rounding errors. The weights are mapped from a file in the cache folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import torch
import torch.nn.functional as F

from studio.model.config import QwenConfig
from studio.model.cpu_products import ratio_of_seconds
from studio.model.speech_lm.decoder import Decoder, PackedLayer, merged_gate_up, merged_query_key_value
from studio.model.speech_lm.linear import PlainLinear
from studio.model.speech_lm.network import DecoderLayer

# With fewer rows, the graph is faster: with CosyVoice3, it takes 51 ms for 16 rows (bfloat16: 78 ms), and 147 ms for 64
# rows (110 ms).
MIN_ROWS = 48
# A smaller gain is not worth another copy of the weights. With AMX, 282 tokens are 2.3 times as fast.
_MIN_SPEEDUP, _CLEAR_SPEEDUP = 1.6, 2.0
_TRIAL_ROWS = 128


def is_worthwhile(product: Callable[[torch.Tensor], torch.Tensor], height: int, width: int) -> bool:
    """Return whether bfloat16 is clearly faster than ``product``, which multiplies rows by a matrix (height, width)."""
    rows, weight = torch.ones(_TRIAL_ROWS, width), torch.ones(height, width, dtype=torch.bfloat16)
    ratio = ratio_of_seconds(
        lambda: product(rows), lambda: F.linear(rows.bfloat16(), weight).float(), clear=_CLEAR_SPEEDUP
    )
    return ratio >= _MIN_SPEEDUP


def bfloat16_weights(config: QwenConfig, layers: Iterable[DecoderLayer]) -> dict[str, torch.Tensor]:
    """Return the weights for ``bfloat16_decoder``."""
    tensors: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        for index, layer in enumerate(layers):
            query_key_value, bias = merged_query_key_value(layer.self_attn, config)
            matrices = {
                "query_key_value": query_key_value,
                "output": layer.self_attn.o_proj.weight,
                "gate_up": merged_gate_up(layer.mlp),
                "down": layer.mlp.down_proj.weight,
            }
            vectors = {
                "bias": bias,
                "input_norm": layer.input_layernorm.weight,
                "mlp_norm": layer.post_attention_layernorm.weight,
            }
            tensors |= {f"{index}.{name}": matrix.to(torch.bfloat16, copy=True) for name, matrix in matrices.items()}
            tensors |= {f"{index}.{name}": vector.to(torch.float32, copy=True) for name, vector in vectors.items()}
    return tensors


def bfloat16_decoder(config: QwenConfig, tensors: Mapping[str, torch.Tensor], final_norm: torch.Tensor) -> Decoder:
    """Return the decoder with what ``bfloat16_weights`` returns. It uses the memory of ``tensors``."""
    layers = (
        PackedLayer(
            input_norm=tensors[f"{index}.input_norm"],
            query_key_value=PlainLinear(tensors[f"{index}.query_key_value"], tensors[f"{index}.bias"]),
            output=PlainLinear(tensors[f"{index}.output"], None),
            mlp_norm=tensors[f"{index}.mlp_norm"],
            gate_up=PlainLinear(tensors[f"{index}.gate_up"], None),
            down=PlainLinear(tensors[f"{index}.down"], None),
        )
        for index in range(config.num_layers)
    )
    return Decoder(config, layers, final_norm, torch.device("cpu"))
