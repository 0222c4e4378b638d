"""Random prompts and speech tokens of a flow."""

from __future__ import annotations

import numpy as np

from studio.model.stages import FlowPrompt


def prompt(seed: int = 0, *, num_tokens: int) -> FlowPrompt:
    random = np.random.default_rng(seed)
    return FlowPrompt(
        tuple(random.integers(0, 700, num_tokens).tolist()),
        random.standard_normal((2 * num_tokens, 80)).astype(np.float32),
        random.standard_normal(192).astype(np.float32),
    )


def tokens(count: int, seed: int = 5) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).integers(0, 700, count).tolist())
