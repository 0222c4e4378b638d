"""Resources used by a loaded model."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import noise_models
import psutil
import pytest
import torch

from studio.pipeline import loading
from studio.pipeline.loading import _voice_memory_bytes, load_synthesizer
from studio.pipeline.request import EngineOptions
from studio.pipeline.synthesizer import Synthesizer
from studio.text import rules
from studio.text.normalize import normalize
from studio.text.segmentation import prepare_text


def test_voices_get_a_share_of_the_memory_of_their_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Voices do not fill a small GPU in a computer with much memory."""
    free = {torch.device("cuda", 1): 4 << 30}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[device], 8 << 30))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=10 << 30))
    assert _voice_memory_bytes(torch.device("cuda:1")) == 1 << 30
    assert _voice_memory_bytes(torch.device("cpu")) == 4 << 30


@pytest.fixture
def tf32_enabled() -> Iterator[None]:
    """Set torch's default, or a less accurate setting."""
    switches = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [switch.allow_tf32 for switch in switches]
    for switch in switches:
        switch.allow_tf32 = True
    yield
    for switch, value in zip(switches, before, strict=True):
        switch.allow_tf32 = value


@pytest.mark.usefixtures("tf32_enabled", "synthesizer")  # in this order
def test_tf32_is_disabled() -> None:
    assert not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32


def test_the_rules_of_english_are_compiled_before_the_first_line() -> None:
    """Compiling them takes 0.1 s, a quarter of studio-mini's time to the first sound."""
    rules._compiled.cache_clear()
    normalize.cache_clear()
    opened = load_synthesizer(noise_models.V3, EngineOptions(speech_lm_precision="float32", num_threads=1))
    num_compiled = rules._compiled.cache_info().misses
    text = "The train had left, so we walked home."
    prepare_text(text, form=opened.stages.generation.text, tokenizer=opened.stages.text_tokenizer)
    assert rules._compiled.cache_info().misses == num_compiled


def test_the_description_names_the_fallback_engine_of_the_language_model(synthesizer: Synthesizer) -> None:
    """If vLLM fails, PyTorch takes over. Replacing another stage later keeps that name."""
    lm = synthesizer.stages.speech_lm
    at_first = synthesizer.description
    synthesizer.use(speech_lm=lm, words={"speech_lm": "many at once"}, names={"speech_lm": "vllm"})
    lm.max_concurrent_lines = 7
    assert synthesizer.description.stages == {**at_first.stages, "speech_lm": "many at once"}
    lm.engine, lm.max_concurrent_lines = "plain again", 1
    for _ in range(2):
        now = synthesizer.description
        assert now.stages == {**at_first.stages, "speech_lm": "plain again"}
        assert now.max_concurrent_lines == 1
        synthesizer.use(words={}, names={})


def test_a_small_model_uses_one_core_for_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    options = EngineOptions(speech_lm_precision="float32", num_threads=3)
    small = load_synthesizer(noise_models.V3, options).description
    assert (small.idle_cores, torch.get_num_threads()) == (2, 1)
    instructions = torch.backends.cpu.get_cpu_capability()
    assert small.stages["flow"] == f"torch float32, {instructions}, 1 thread"
    monkeypatch.setattr(loading, "_SMALL_MODEL_BYTES", 0)
    large = load_synthesizer(noise_models.V3, options).description
    assert (large.idle_cores, torch.get_num_threads()) == (0, 3)
    assert large.stages["flow"] == f"torch float32, {instructions}, 3 threads"
