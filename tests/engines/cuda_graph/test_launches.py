"""Numbers of kernels in the recorded computations of the released models, none of which may grow.

In a recorded graph, most kernels take less time than their launch, so their number determines the speed.
"""

from __future__ import annotations

import pytest
import torch
from launches import META, LaunchCounter, meta_flow, meta_speech_lm, meta_vocoder

from studio.engines.cuda_graph.captured_graph import CapturedGraph
from studio.engines.cuda_graph.prefill import SIZES, RecordedPrefill
from studio.engines.cuda_graph.solver_memory import SolverMemory
from studio.engines.cuda_graph.speech_lm import ContinuousBatch
from studio.engines.cuda_graph.vocoder import VocoderMemory
from studio.engines.cuda_graph.window_vocoder import SIZES as WINDOWS
from studio.engines.cuda_graph.window_vocoder import WindowMemory, graphed
from studio.model.config import Precision
from studio.model.flow.caches import CacheKind, FlowCaches
from studio.model.flow.network import EncoderContext
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import SpeechTokenRequest
from studio.model.vocoder.network import CausalHiFT, NonCausalHiFT
from studio.model.vocoder.vocoder import F0_PAST_FRAMES

_CAPACITY = 512
_BLOCK_FRAMES = 50


def test_counter_counts_kernels_and_copies_but_not_views() -> None:
    with torch.inference_mode(), LaunchCounter() as counter:
        x = torch.zeros(4, 6, device=META)
        y = torch.nn.functional.linear(x.view(2, 2, 6), torch.empty(5, 6, device=META), torch.empty(5, device=META))
        y[:, 0].add_(1).transpose(0, 1).contiguous()
        x.copy_(torch.ones(4, 6))
        torch.ones(3).mul_(2)
    assert dict(counter.kernels) == {"zeros": 1, "addmm": 1, "add_": 1, "clone": 1}
    assert dict(counter.host_copies) == {"copy_": 1}


@pytest.mark.parametrize(
    ("generation", "precision", "most"),
    [
        ("cosyvoice3", Precision.FLOAT16, 2_900),
        ("cosyvoice3", Precision.FLOAT32, 2_450),
        ("cosyvoice2", Precision.FLOAT16, 7_150),
        ("cosyvoice2", Precision.FLOAT32, 7_100),
    ],
)
def test_flow_block(generation: str, precision: Precision, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = meta_flow(generation, precision, monkeypatch)
    memory = SolverMemory(flow._model, flow._layouts.estimator, 12 * _BLOCK_FRAMES, flow._cache_dtype)
    with torch.inference_mode(), LaunchCounter() as counter:
        memory._compute()
    assert counter.num_launches <= most, counter.kernels
    assert not counter.host_copies


@pytest.mark.parametrize(
    ("generation", "precision", "most"),
    [
        ("cosyvoice3", Precision.FLOAT16, 13),
        ("cosyvoice2", Precision.FLOAT16, 385),
        ("cosyvoice2", Precision.FLOAT32, 365),
    ],
)
def test_encoder_of_a_flow_block(
    generation: str, precision: Precision, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not recorded, and not in 16 bits, because conversions would take as many kernels as products."""
    flow = meta_flow(generation, precision, monkeypatch)
    model = flow._model
    caches = FlowCaches.empty(flow._layouts, CacheKind.KEYS_VALUES, model.noise, flow._cache_dtype)
    with torch.inference_mode():
        assert caches.make_prompt_room(250, model)
        contexts = EncoderContext(caches.tokens.context(0), caches.frames.context(0))
        with LaunchCounter() as counter:
            model.mean([1] * 25, [1] * 3, contexts)
    assert counter.num_launches <= most, counter.kernels
    # Convolutions of cuDNN are planned for each new length, in each thread.
    assert not counter.kernels["convolution"]


@pytest.mark.parametrize(
    ("precision", "most", "most_in_prefill"),
    [
        (Precision.INT8, 320, 750),
        (Precision.BFLOAT16, 415, 440),
        (Precision.FLOAT16, 610, 640),
        (Precision.FLOAT32, 340, 370),
    ],
)
def test_token(precision: Precision, most: int, most_in_prefill: int, monkeypatch: pytest.MonkeyPatch) -> None:
    speech_lm = meta_speech_lm(precision, monkeypatch)
    batch = ContinuousBatch(speech_lm, _CAPACITY)
    for num_rows in (1, 2):
        batch._make_memory(num_rows)
        with torch.inference_mode(), LaunchCounter() as counter:
            batch._compute(num_rows)
        assert counter.num_launches <= most, counter.kernels
        assert not counter.host_copies
        # Of the scores, which sampling changes. A clone of keys and values would take longer than the step.
        assert counter.kernels["clone"] <= 1
    prefill = RecordedPrefill(speech_lm)
    for size in (SIZES[0], SIZES[-1]):
        with torch.inference_mode(), LaunchCounter() as counter:
            prefill._compute(size)
        assert counter.num_launches <= most_in_prefill, counter.kernels
        assert not counter.host_copies


def test_begin_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two recorded runs, the second line of a voice takes a few kernels, and waits for nothing."""
    speech_lm = meta_speech_lm(Precision.BFLOAT16, monkeypatch)
    monkeypatch.setattr(CapturedGraph, "run", lambda graph, compute: None)
    batch = ContinuousBatch(speech_lm, _CAPACITY, RecordedPrefill(speech_lm))
    request = SpeechTokenRequest(tuple(range(20)), tuple(range(30)), tuple(range(100)), max_tokens=99)
    for _ in range(2):
        with torch.inference_mode(), LaunchCounter() as counter:
            line = batch.add(request, RepetitionAwareSampler(speech_lm.sampling, seed=0), min_tokens=9, max_tokens=99)
        batch.remove(line)
    assert counter.num_launches <= 20, counter.kernels
    assert set(counter.host_copies) <= {"_to_copy", "copy_"}, "inputs are copied, nothing is read"


@pytest.mark.parametrize(
    ("generation", "precision", "most"),
    [
        ("cosyvoice3", Precision.FLOAT16, 800),
        ("cosyvoice3", Precision.FLOAT32, 650),
        ("cosyvoice2", Precision.FLOAT16, 730),
        ("cosyvoice2", Precision.FLOAT32, 580),
    ],
)
def test_vocoder_chunk(generation: str, precision: Precision, most: int) -> None:
    vocoder = meta_vocoder(generation, precision)
    stream = vocoder.open_stream(vocoder.noise(0))
    with torch.inference_mode(), LaunchCounter() as counter:
        stream.synthesize(torch.empty(80, _BLOCK_FRAMES, device=META), is_last=False)
    assert counter.num_launches <= most, counter.kernels


@pytest.mark.parametrize(("precision", "most"), [(Precision.FLOAT16, 820), (Precision.FLOAT32, 680)])
def test_recorded_vocoder_chunk(precision: Precision, most: int) -> None:
    network = graphed(meta_vocoder("cosyvoice3", precision)).network
    assert isinstance(network, CausalHiFT)
    memory = VocoderMemory(network)
    for is_first in (True, False):
        run = memory.find_run(_BLOCK_FRAMES, is_first=is_first)
        with torch.inference_mode(), LaunchCounter() as counter:
            memory._compute(run)
        assert counter.num_launches <= most, counter.kernels
        assert not counter.host_copies


@pytest.mark.parametrize(("precision", "most"), [(Precision.FLOAT16, 860), (Precision.FLOAT32, 720)])
def test_recorded_vocoder_window(precision: Precision, most: int) -> None:
    network = graphed(meta_vocoder("cosyvoice2", precision)).network
    assert isinstance(network, NonCausalHiFT)
    memory = WindowMemory(network)
    for offset in (0, F0_PAST_FRAMES):
        run = memory.find_run(WINDOWS[2], offset)
        with torch.inference_mode(), LaunchCounter() as counter:
            memory.compute_run(run)
        assert counter.num_launches <= most, counter.kernels
        assert not counter.host_copies
