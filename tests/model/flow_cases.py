"""Miniature flows and random prompts for flow tests."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import torch
from reference_limits import limit_of
from safetensors.torch import load_file

from studio.model.config import FlowConfig, Precision
from studio.model.flow import CachedFlowDecoder, FlowOptions
from studio.model.flow.model import FlowModel
from studio.model.flow.network import FlowNetwork, build_network
from studio.model.generations import GENERATIONS
from studio.model.official_yaml import Document
from studio.model.stages import FlowDecoder, FlowPrompt, FlowPromptState
from studio.model.weights import load_weights, meta_init, read_tensors

GRID_TOKENS, LOOK_AHEAD = 25, 3
# Solver steps run the same networks one after another, so three are enough to compare streams.
FEW_STEPS = 3


@lru_cache
def flow_config(reference: Path, family: str) -> FlowConfig:
    generation = next(g for g in GENERATIONS if g.name == family)
    return generation.read_flow(Document(reference / family / "checkpoint" / generation.yaml_name).root)


def flow_network(reference: Path, family: str, dtype: torch.dtype = torch.float32) -> FlowNetwork:
    network = meta_init(lambda: build_network(flow_config(reference, family)))
    load_weights(network, read_tensors(reference / family / "checkpoint" / "flow.pt"), file_name="flow.pt")
    return network.to(dtype)


def flow_decoder(
    reference: Path,
    family: str,
    dtype: torch.dtype = torch.float32,
    precision: Precision = Precision.FLOAT32,
    **options: object,
) -> CachedFlowDecoder:
    return CachedFlowDecoder(
        flow_network(reference, family, dtype),
        flow_config(reference, family),
        precision=precision,
        options=FlowOptions(**options),  # type: ignore[arg-type]
    )


class PlainFlow:
    """Return the mel of one streaming run over all tokens with the plain layers, which every stream must equal."""

    def __init__(self, reference: Path, family: str, dtype: torch.dtype = torch.float32, num_steps: int = 10) -> None:
        config = flow_config(reference, family)
        self.model = FlowModel(flow_network(reference, family, dtype), config, num_steps)

    @torch.inference_mode()
    def mel(
        self, prompt: FlowPrompt, tokens: Sequence[int], lookahead: Sequence[int] = (), *, is_streaming: bool = True
    ) -> torch.Tensor:
        voice = self.model.voice(prompt)
        return self.model.decode_sequence(voice, tokens, lookahead, is_streaming=is_streaming).t()


def random_prompt(config: FlowConfig, num_tokens: int, seed: int = 0) -> FlowPrompt:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(config.num_speech_tokens, (num_tokens,), generator=generator)
    mel = torch.randn(2 * num_tokens, config.mel_bins, generator=generator) * 2 - 5
    return FlowPrompt(tuple(ids.tolist()), mel.numpy(), torch.randn(192, generator=generator).numpy())


def random_tokens(config: FlowConfig, num_tokens: int, seed: int = 1) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(config.num_speech_tokens, (num_tokens,), generator=generator).tolist()


def grid_cuts(num_prompt_tokens: int, num_tokens: int) -> list[int]:
    """Return all positions in 1..num_tokens where a stream may cut, given its look-ahead."""
    return [
        cut
        for cut in range(1, num_tokens - LOOK_AHEAD + 1)
        if (num_prompt_tokens + cut) % GRID_TOKENS == 0
    ]  # fmt: skip


def streamed_mel(
    decoder: FlowDecoder, state: FlowPromptState, tokens: Sequence[int], cuts: Sequence[int]
) -> torch.Tensor:
    stream = decoder.open_stream(state)
    edges = [0, *cuts, len(tokens)]
    mels = [
        stream.decode(tokens[start:stop], tokens[stop : stop + LOOK_AHEAD]) for start, stop in itertools.pairwise(edges)
    ]
    stream.close()
    return torch.cat(mels, dim=1)


def relative_error(mel: torch.Tensor, expected: torch.Tensor) -> float:
    return float((mel.double() - expected.double()).abs().max() / expected.double().abs().max())


class Golden:
    """Flow arrays recorded from the official implementation, and the difference between two of its runs."""

    def __init__(self, reference: Path, family: str) -> None:
        folder = reference / family / "golden"
        self.arrays = load_file(folder / "flow.safetensors")
        self.notes = json.loads((folder / "flow.json").read_text("utf-8"))
        self.tolerance = 2 * limit_of(reference, family, "flow:estimator/out*", "flow:full*", "flow:stream*")
        self.tokens: list[int] = self.arrays["tokens"][0].tolist()
        self.prompt = FlowPrompt(
            tuple(self.arrays["flow_prompt_speech_token"][0].tolist()),
            self.arrays["prompt_speech_feat"][0].numpy(),
            self.arrays["flow_embedding"][0].numpy(),
        )

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.arrays[name]
