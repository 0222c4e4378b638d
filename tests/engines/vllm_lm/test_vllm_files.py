"""The folder for vLLM contains the weights under the names of a Qwen2, and no executable code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from vllm_cases import small_checkpoint

from studio.engines.vllm_lm.model_files import DTYPES, num_file_bytes, write_model_files
from studio.engines.vllm_lm.network import ARCHITECTURE, HEAD_HAS_BIAS
from studio.model.config import Precision
from studio.model.speech_lm.loading import open_network


@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16])
def test_every_tensor_is_written_in_the_precision(tmp_path: Path, family: str, precision: Precision) -> None:
    checkpoint = small_checkpoint(family)
    network = open_network(checkpoint.folder / "llm.pt", checkpoint.speech_lm)
    reports: list[tuple[int, int]] = []
    write_model_files(network, tmp_path, precision, lambda done, total: reports.append((done, total)))

    found: dict[str, torch.Tensor] = {}
    for path in tmp_path.glob("*.safetensors"):
        found |= load_file(path)
    wanted = {
        f"model.{name}": tensor for name, tensor in network.backbone.state_dict().items() if "embed_tokens" not in name
    }
    wanted |= {"model.embed_tokens.weight": network.speech_embedding.weight}
    wanted |= {f"lm_head.{name}": tensor for name, tensor in network.llm_decoder.state_dict().items()}
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert torch.equal(found[name], tensor.to(DTYPES[precision])), name
    assert ("lm_head.bias" in found) is (family == "cosyvoice2")
    assert reports == [(1, 3), (2, 3), (3, 3)]
    num_bytes = sum(tensor.numel() * tensor.element_size() for tensor in found.values())
    assert num_bytes == num_file_bytes(checkpoint.speech_lm, precision)


def test_config_matches_the_network(tmp_path: Path, family: str) -> None:
    checkpoint = small_checkpoint(family)
    network = open_network(checkpoint.folder / "llm.pt", checkpoint.speech_lm)
    write_model_files(network, tmp_path, Precision.FLOAT16, lambda done, total: None)
    settings = json.loads((tmp_path / "config.json").read_text("utf-8"))
    backbone, layout = checkpoint.speech_lm.backbone, checkpoint.speech_lm.layout
    assert settings["architectures"] == [ARCHITECTURE]
    assert settings["vocab_size"] == layout.num_rows
    assert settings[HEAD_HAS_BIAS] is layout.head_has_bias
    assert settings["rope_theta"] == backbone.rope_theta
    assert settings["num_attention_heads"] == backbone.num_heads
    assert settings["num_key_value_heads"] == backbone.num_kv_heads
    assert settings["eos_token_id"] is None
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".safetensors"}
