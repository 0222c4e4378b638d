"""Checkpoint plans small enough for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from measurements.random_models.reference_sizes import CheckpointPlan, preceding_flow, released_plan
from studio.model.config import (
    ConformerConfig,
    DiTConfig,
    LookAheadConfig,
    QwenConfig,
    RelativeTransformerConfig,
    SpeechLMConfig,
    TransformerLMConfig,
    UNetConfig,
)


@pytest.fixture(scope="session")
def small_plan() -> Callable[[str], CheckpointPlan]:
    """A plan of a family with every width another number, so that swapped sizes show."""
    return _small_plan


def _small_plan(family: str) -> CheckpointPlan:
    plan = released_plan(family)
    if family == "cosyvoice1":
        return _small_first_plan(plan)
    num_speech_tokens = 2349
    is_second = plan.flow.unet is not None
    flow = replace(
        plan.flow,
        num_speech_tokens=num_speech_tokens,
        input_size=32 if is_second else 80,
        conformer=ConformerConfig(size=32, num_heads=2, feed_forward_size=48, num_blocks=2) if is_second else None,
        unet=UNetConfig(channels=24, num_heads=3, head_size=8, num_mid_blocks=2, num_transformer_blocks=2)
        if is_second
        else None,
        lookahead=None if is_second else LookAheadConfig(in_channels=80, channels=40),
        dit=None if is_second else DiTConfig(size=64, depth=2, num_heads=4, head_size=16, feed_forward_ratio=2),
    )
    backbone = QwenConfig(
        vocabulary_size=1024, hidden_size=48, intermediate_size=64, num_layers=2, num_heads=6, num_kv_heads=2
    )
    layout = plan.generation.speech_token_layout(num_speech_tokens)
    return replace(
        plan,
        num_base_text_tokens=640,
        speech_lm=SpeechLMConfig(backbone=backbone, layout=layout),
        flow=flow,
        vocoder=replace(plan.vocoder, base_channels=40, f0_channels=32, preceding_flow=preceding_flow(flow)),
    )


def _small_first_plan(plan: CheckpointPlan) -> CheckpointPlan:
    num_speech_tokens = 700
    assert isinstance(plan.speech_lm, TransformerLMConfig)
    flow = replace(
        plan.flow,
        num_speech_tokens=num_speech_tokens,
        input_size=32,
        encoder=RelativeTransformerConfig(size=40, num_heads=2, feed_forward_size=48, num_blocks=2),
        unet=UNetConfig(24, 3, 16, num_mid_blocks=2, num_transformer_blocks=2, num_levels=2, is_causal=False),
    )
    speech_lm = replace(
        plan.speech_lm,
        text_embedding_size=12,
        text_encoder=RelativeTransformerConfig(size=36, num_heads=2, feed_forward_size=52, num_blocks=2),
        decoder=RelativeTransformerConfig(size=64, num_heads=4, feed_forward_size=72, num_blocks=2),
        layout=plan.generation.speech_token_layout(num_speech_tokens),
    )
    vocoder = replace(plan.vocoder, base_channels=48, f0_channels=32, preceding_flow=preceding_flow(flow))
    return replace(plan, speech_lm=speech_lm, flow=flow, vocoder=vocoder)
