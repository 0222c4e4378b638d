"""Models and recorded arrays for the tests of the speech language model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
from reference_limits import limit_of
from safetensors.torch import load_file

from studio.model.config import QwenConfig, SpeechLMConfig, SpeechTokenLayout
from studio.model.speech_lm import SpeechLMNetwork, open_network
from studio.model.stages import SpeechTokenRequest

# Both programs round, in another order.
_SLACK = 3.0
OWN_IMPLEMENTATIONS_LIMIT = 1e-4  # between our implementations, over longer sequences


@dataclass(frozen=True)
class Golden:
    """Arrays recorded from the official language model of one family."""

    path: Path
    config: SpeechLMConfig
    facts: dict[str, Any]
    arrays: dict[str, torch.Tensor]
    features: dict[str, torch.Tensor] = field(repr=False)
    log_probability_limit: float
    hidden_limit: float

    @property
    def weights(self) -> Path:
        return self.path / "checkpoint" / "llm.pt"

    def request(self, mode: str, **limits: int) -> SpeechTokenRequest:
        def tokens(name: str) -> tuple[int, ...]:
            array = self.features.get(f"model_input/{mode}/{name}")
            return () if array is None else tuple(array[0].tolist())

        return SpeechTokenRequest(tokens("text"), tokens("prompt_text"), tokens("llm_prompt_speech_token"), **limits)


@cache
def read_golden(reference: Path, family: str) -> Golden:
    path = reference / family
    facts = json.loads((path / "golden" / "llm.json").read_text("utf-8"))
    qwen = json.loads((path / "checkpoint" / "CosyVoice-BlankEN" / "config.json").read_text("utf-8"))
    is_second = family == "cosyvoice2"
    layout = SpeechTokenLayout(
        num_speech_tokens=facts["speech_token_size"],
        num_rows=facts["vocabulary"],
        has_llm_embedding=is_second,
        head_has_bias=is_second,
        sos_row=facts["sos"],
        task_row=facts["task_id"],
        end_id=facts["eos_token"],
        fill_id=facts["fill_token"],
    )
    backbone = QwenConfig(
        vocabulary_size=qwen["vocab_size"],
        hidden_size=qwen["hidden_size"],
        intermediate_size=qwen["intermediate_size"],
        num_layers=qwen["num_hidden_layers"],
        num_heads=qwen["num_attention_heads"],
        num_kv_heads=qwen["num_key_value_heads"],
        rope_theta=qwen["rope_theta"],
        rms_norm_eps=qwen["rms_norm_eps"],
    )
    config = SpeechLMConfig(backbone, layout)
    arrays = load_file(path / "golden" / "llm.safetensors")
    hidden_rounding, logp_rounding = _rounding(path / "checkpoint" / "llm.pt", config, arrays)
    return Golden(
        path=path,
        config=config,
        facts=facts,
        arrays=arrays,
        features=load_file(path / "golden" / "frontend.safetensors"),
        log_probability_limit=max(2 * limit_of(reference, family, "llm:*logp"), _SLACK * logp_rounding),
        hidden_limit=max(2 * limit_of(reference, family, "llm:*/hidden"), _SLACK * hidden_rounding),
    )


@torch.inference_mode()
def _rounding(path: Path, config: SpeechLMConfig, arrays: dict[str, torch.Tensor]) -> tuple[float, float]:
    """Return the largest rounding errors of hidden states and log-probabilities in float32.

    A rerun of the official program on one computer often differs by nothing, which is no measure of them.
    """
    network, exact = open_network(path, config), open_network(path, config).double()
    errors = []
    for name in (name for name in arrays if name.endswith("/lm_input")):
        hidden, wanted = network(arrays[name]), exact(arrays[name].double())
        logp, wanted_logp = (of.logits(each).log_softmax(dim=-1) for of, each in ((network, hidden), (exact, wanted)))
        errors.append([float((hidden - wanted).abs().max()), float((logp - wanted_logp).abs().max())])
    return max(each for each, _ in errors), max(each for _, each in errors)


def small_config(*, is_second: bool = False, max_positions: int = 1000, num_layers: int = 2) -> SpeechLMConfig:
    """Return a config with three query heads per key/value head, a width that is not a power of two, 50 speech tokens."""
    speech = 50
    return SpeechLMConfig(
        QwenConfig(
            vocabulary_size=80,
            hidden_size=48,
            intermediate_size=70,
            num_layers=num_layers,
            num_heads=6,
            num_kv_heads=2,
            max_positions=max_positions,
        ),
        SpeechTokenLayout(
            num_speech_tokens=speech,
            num_rows=speech + (3 if is_second else 20),
            has_llm_embedding=is_second,
            head_has_bias=is_second,
            sos_row=0 if is_second else speech,
            task_row=1 if is_second else speech + 2,
            end_id=speech if is_second else speech + 1,
            fill_id=speech + 2 if is_second else speech + 3,
        ),
    )


def random_network(config: SpeechLMConfig, seed: int = 0) -> SpeechLMNetwork:
    """Return a network with random weights and the score range of a trained model."""
    network = SpeechLMNetwork(config).requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    for name, weight in network.named_parameters():
        if "norm" in name:
            weight.normal_(1.0, 0.1, generator=generator)
        elif "embed" in name:
            weight.normal_(0.0, 0.5, generator=generator)
        elif weight.dim() == 1:
            weight.normal_(0.0, 0.1, generator=generator)
        else:
            weight.normal_(0.0, weight.shape[1] ** -0.5, generator=generator)
    network.llm_decoder.weight.mul_(3.0)
    return network


@dataclass
class RecordingSampler:
    """Records the logits and history of each call of ``choose``."""

    choose: Any
    scores: list[torch.Tensor] = field(default_factory=list)
    forbidden: list[slice | None] = field(default_factory=list)

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        self.scores.append(logits.clone())
        self.forbidden.append(forbid)
        return int(self.choose(logits, history, forbid=forbid))
