"""CosyVoice-300M's miniature flow, its recorded arrays, and random prompts."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch
from reference_limits import limit_of
from safetensors.torch import load_file

from studio.model.config import FlowConfig, LengthRegulatorConfig, Precision, RelativeTransformerConfig, UNetConfig
from studio.model.flow import NonCausalFlowDecoder
from studio.model.flow.non_causal_decoder import NoiseDraw
from studio.model.flow.non_causal_network import NonCausalFlow, build_non_causal_network
from studio.model.generations import GENERATIONS
from studio.model.official_yaml import Document
from studio.model.stages import FlowPrompt
from studio.model.weights import load_weights, meta_init, read_tensors

FAMILY = "cosyvoice1"
FULL_SIZE = FlowConfig(
    4096,
    512,
    encoder=RelativeTransformerConfig(512, 8, 2048, 6),
    length_regulator=LengthRegulatorConfig(80, 4, 50, 22_050, 256),
    unet=UNetConfig(256, 8, 64, 12, 4, num_levels=2, is_causal=False),
)


@lru_cache
def non_causal_config(reference: Path) -> FlowConfig:
    generation = next(known for known in GENERATIONS if known.name == FAMILY)
    return generation.read_flow(Document(reference / FAMILY / "checkpoint" / generation.yaml_name).root)


def non_causal_network(reference: Path, dtype: torch.dtype = torch.float32) -> NonCausalFlow:
    network = meta_init(lambda: build_non_causal_network(non_causal_config(reference)))
    load_weights(network, read_tensors(reference / FAMILY / "checkpoint" / "flow.pt"), file_name="flow.pt")
    return network.to(dtype)


def non_causal_decoder(
    reference: Path, dtype: torch.dtype = torch.float32, precision: Precision = Precision.FLOAT32
) -> NonCausalFlowDecoder:
    return NonCausalFlowDecoder.of_network(
        non_causal_network(reference, dtype), non_causal_config(reference), precision=precision
    )


def table_draw(reference: Path) -> NoiseDraw:
    """Return draws from the recorded table, which begin at its start in each call."""
    table = load_file(reference / "inputs" / "noise.safetensors")["z"].t()
    return lambda num_frames: table[torch.arange(num_frames) % len(table)]


def random_voice(config: FlowConfig, num_tokens: int, num_frames: int, seed: int = 0) -> FlowPrompt:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(config.num_speech_tokens, (num_tokens,), generator=generator)
    mel = torch.randn(num_frames, config.mel_bins, generator=generator) * 2 - 5
    return FlowPrompt(tuple(ids.tolist()), mel.numpy(), torch.randn(192, generator=generator).numpy())


class NonCausalGolden:
    """Recorded arrays, and the difference between two runs of the official program."""

    def __init__(self, reference: Path) -> None:
        self.arrays = load_file(reference / FAMILY / "golden" / "flow.safetensors")
        self.tolerance = 2 * limit_of(
            reference, FAMILY, "flow:estimator/out*", "flow:full*", "flow:short*", "flow:cached*"
        )
        self.tokens: list[int] = self.arrays["tokens"][0].tolist()
        self.prompt = FlowPrompt(
            tuple(self.arrays["flow_prompt_speech_token"][0].tolist()),
            self.arrays["prompt_speech_feat"][0].numpy(),
            self.arrays["flow_embedding"][0].numpy(),
        )

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.arrays[name]
