"""The recorded step computes what the plain decoder does, and draws what the plain sampler draws.

Without a GPU, the step is not recorded but uses the same memory, so everything but recording is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from graph_cases import CPU, checkpoint_of
from samplers import ForcedSampler, GreedySampler

from studio.engines.candidate import Available, EngineTarget, Unusable
from studio.engines.cuda_graph.candidates import CANDIDATES
from studio.engines.cuda_graph.speech_lm import ContinuousBatch, GraphSpeechLM, Line, StartedStep
from studio.engines.cuda_graph.static_step import GpuSampler, static_step
from studio.engines.stage import Device, Stage
from studio.engines.torch_candidates import TorchCandidate
from studio.errors import ModelOverflow, SequenceTooLong
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.options import SamplingOptions
from studio.model.speech_lm import CachedSpeechLM, RepetitionAwareSampler, TransformerSpeechLM, linear
from studio.model.speech_lm.cuda_int8 import CudaInt8Linear
from studio.model.stages import SpeechTokenRequest, TokenSampler

CPU_DEVICE = torch.device("cpu")
REQUEST = SpeechTokenRequest((5, 9, 60, 3), (11, 40, 7), tuple(range(3, 40, 2)), max_tokens=60)


@cache
def plain_lm(reference: Path, family: str) -> CachedSpeechLM[Any]:
    return checkpoint_of(reference, family).load_speech_lm(Precision.FLOAT32, "cpu")


@cache
def graph_lm(reference: Path, family: str) -> GraphSpeechLM:
    return GraphSpeechLM(plain_lm(reference, family))


def samplers(options: SamplingOptions) -> list[TokenSampler]:
    return [GreedySampler(), RepetitionAwareSampler(options, seed=4), ForcedSampler((1, 2, 3), end_id=10**6)]


@pytest.mark.slow
def test_scores_equal_the_plain_decoder(reference: Path, every_family: str) -> None:
    """Two lines at different positions, teacher-forced over forty tokens, within the limit of specification E7."""
    lm = plain_lm(reference, every_family)
    step = static_step(lm, 512, num_rows=4)
    caches = {row: lm.open_cache(200) for row in (0, 2)}
    for row, plain_cache in caches.items():
        request = replace(REQUEST, prompt_speech_tokens=REQUEST.prompt_speech_tokens[3 * row :])
        for own in (plain_cache, step.cache(row)):
            lm.advance(lm.begin(request, own), own)
        step.position[row] = plain_cache.length
    for token in range(0, 160, 4):
        for row in caches:
            step.token[row] = token + row
        found = step.logits(4)
        for row, plain_cache in caches.items():
            wanted = lm.advance(lm.embed_speech((token + row,)), plain_cache)
            assert (found[row] - wanted).abs().max() <= 1e-4
            assert (found[row].argmax() == wanted.argmax()).item()
            step.position[row] += 1


@pytest.mark.slow
def test_tokens_equal_plain_pytorch_with_every_sampler(reference: Path, every_family: str) -> None:
    plain, graph = plain_lm(reference, every_family), graph_lm(reference, every_family)
    for ours, theirs in zip(samplers(graph.sampling), samplers(plain.sampling), strict=True):
        made = list(graph.generate(REQUEST, ours))
        assert made == list(plain.generate(REQUEST, theirs))
        assert len(made) >= 3


@pytest.mark.slow
def test_a_line_of_a_voice_without_a_clip_equals_plain_pytorch(reference: Path) -> None:
    """CosyVoice-300M receives the speaker as well, and no prompt."""
    plain, graph = plain_lm(reference, "cosyvoice1"), graph_lm(reference, "cosyvoice1")
    for value in (0.5, -2.0):
        speaker = tuple(value * (number % 7 - 3) for number in range(192))
        request = SpeechTokenRequest((5, 9, 60, 3), max_tokens=40, speaker=speaker)
        assert list(graph.generate(request, GreedySampler())) == list(plain.generate(request, GreedySampler()))


@pytest.mark.slow
def test_later_line_sees_nothing_of_the_first(reference: Path, every_family: str) -> None:
    """Memory is reused, so a longer line must not affect a later, shorter one."""
    graph, request = graph_lm(reference, every_family), replace(REQUEST, max_tokens=15)
    once = list(graph.generate(request, sampler_of(7)))
    longer = SpeechTokenRequest(tuple(range(50)), (1, 2), tuple(range(60)), max_tokens=30)
    list(graph.generate(longer, sampler_of(8)))
    assert list(graph.generate(request, sampler_of(7))) == once


@pytest.mark.slow
def test_concurrent_lines_equal_single_lines(reference: Path, every_family: str) -> None:
    """Six threads exceed the initial number of rows; lengths differ, and one line has another sampler."""
    plain, graph = plain_lm(reference, every_family), graph_lm(reference, every_family)
    requests = [replace(REQUEST, text_tokens=tuple(range(3, 6 + seed)), max_tokens=20 + 9 * seed) for seed in range(6)]

    def sampler(seed: int) -> TokenSampler:
        return GreedySampler() if seed == 3 else RepetitionAwareSampler(graph.sampling, seed=seed)

    with ThreadPoolExecutor(len(requests)) as pool:
        made = list(pool.map(lambda seed: list(graph.generate(requests[seed], sampler(seed))), range(len(requests))))
    assert made == [list(plain.generate(request, sampler(seed))) for seed, request in enumerate(requests)]


def test_one_step_serves_all_lines_and_rows_are_added_as_needed(reference: Path) -> None:
    batch = ContinuousBatch(plain_lm(reference, "cosyvoice3"), 512)
    lines = [join(batch, seed) for seed in range(3)]
    first = [batch.next_token(line) for line in lines]
    assert None not in first
    assert [len(line.waiting) for line in lines] == [0, 0, 0]
    batch.next_token(lines[0])
    assert [len(line.waiting) for line in lines] == [0, 1, 1], "the other lines have a token waiting"


def test_next_step_is_started_before_the_last_one_is_read(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step is started for a line that has all its tokens, because its memory may end there."""
    batch = ContinuousBatch(plain_lm(reference, "cosyvoice3"), 512)
    order: list[str] = []
    start, wait = batch._start_step, StartedStep.wait

    def noted_start() -> None:
        order.append("start")
        start()

    def noted_wait(step: StartedStep) -> list[int]:
        order.append("read")
        return wait(step)

    monkeypatch.setattr(batch, "_start_step", noted_start)
    monkeypatch.setattr(StartedStep, "wait", noted_wait)
    line = join(batch, 0, max_tokens=4)  # the prompt yields the first one
    assert len(list(iter(lambda: batch.next_token(line), None))) == 4
    assert order == ["start", "start", "read", "start", "read", "read"]


def test_step_of_ended_lines_does_not_affect_later_ones(reference: Path) -> None:
    """A line is closed while its next step runs, and another one takes its row."""
    batch = ContinuousBatch(plain_lm(reference, "cosyvoice3"), 512)
    alone = join(batch, 1)
    wanted = list(iter(lambda: batch.next_token(alone), None))
    closed, other = join(batch, 0), join(batch, 2)
    for _ in range(3):
        assert batch.next_token(closed) is not None
        assert batch.next_token(other) is not None
    assert len(batch._started) == 1
    batch.remove(closed)
    line = join(batch, 1)
    assert line.row == closed.row
    assert list(iter(lambda: batch.next_token(line), None)) == wanted


def test_line_waits_for_a_row_if_memory_is_too_small(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = ContinuousBatch(plain_lm(reference, "cosyvoice3"), 512)
    first = join(batch, 0, max_tokens=5)

    def no_memory(num_rows: int) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(batch, "_make_memory", no_memory)
    second = join(batch, 1, max_tokens=5)
    assert first.is_over, "the first line was finished to free its row"
    assert second.row == first.row
    assert list(iter(lambda: batch.next_token(first), None)) == list(
        plain_lm(reference, "cosyvoice3").generate(replace(REQUEST, min_tokens=5, max_tokens=5), sampler_of(0))
    )


def test_idle_batches_are_freed_for_lines_of_another_length(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphSpeechLM(plain_lm(reference, "cosyvoice3"))
    make_memory = ContinuousBatch._make_memory
    kept = graph._batches

    def with_room_for_one(batch: ContinuousBatch, num_rows: int) -> None:
        if kept:
            raise RuntimeError("CUDA out of memory")
        make_memory(batch, num_rows)

    monkeypatch.setattr(ContinuousBatch, "_make_memory", with_room_for_one)
    longer = replace(REQUEST, max_tokens=900)
    once = list(graph.generate(REQUEST, sampler_of(1)))
    speaking = graph.generate(longer, sampler_of(2))
    assert next(speaking) is not None
    assert list(kept) == [1024]
    with pytest.raises(RuntimeError, match="out of memory"):
        list(graph.generate(REQUEST, sampler_of(1)))
    speaking.close()  # type: ignore[attr-defined]
    assert list(graph.generate(REQUEST, sampler_of(1))) == once


def test_sampler_error_is_raised_in_its_own_line(reference: Path) -> None:
    class Spoilt:
        def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
            if len(history) >= 2:
                raise ModelOverflow("No number.", remedy="None.")
            return 1

    batch = ContinuousBatch(plain_lm(reference, "cosyvoice3"), 512)
    good, spoilt = join(batch, 0), batch.add(REQUEST, Spoilt(), min_tokens=9, max_tokens=9)
    for _ in range(4):
        assert batch.next_token(good) is not None
    assert [batch.next_token(spoilt) for _ in range(2)] == [1, 1]
    with pytest.raises(ModelOverflow):
        batch.next_token(spoilt)


def join(batch: ContinuousBatch, seed: int, max_tokens: int = 12) -> Line:
    return batch.add(REQUEST, sampler_of(seed), min_tokens=max_tokens, max_tokens=max_tokens)


def sampler_of(seed: int) -> RepetitionAwareSampler:
    return RepetitionAwareSampler(SamplingOptions(), seed=seed)


def test_too_long_request_is_rejected_before_computing(reference: Path) -> None:
    graph = graph_lm(reference, "cosyvoice3")
    with pytest.raises(SequenceTooLong):
        graph.generate(SpeechTokenRequest((1,), max_tokens=10**6), GreedySampler())


@pytest.mark.slow
def test_samples_equal_the_plain_sampler() -> None:
    """The tokens of one seed are equal, with repetitions and forbidden end ids."""
    options = SamplingOptions()
    generator = torch.Generator().manual_seed(0)
    for min_tokens in (0, 30):
        plain, numbers = (RepetitionAwareSampler(options, seed=3) for _ in range(2))
        draw, token = GpuSampler(options, 50, 1000, torch.device("cpu")), torch.zeros(1, dtype=torch.long)
        draw.begin(numbers.draw_points(1000), min_tokens=min_tokens)
        history: list[int] = []
        num_repeated = 0
        for _ in range(1000):
            # Steep scores: few tokens are in the nucleus, so that they are repeated.
            logits = torch.randn(60, generator=generator) * 4
            wanted = plain(logits, history, forbid=slice(50, 60) if len(history) < min_tokens else None)
            draw.draw(logits[None], token)
            assert int(token) == wanted
            num_repeated += wanted in history[-10:]
            history.append(wanted)
        assert num_repeated > 10, "repetitions occurred"


def test_missing_gpu_is_the_reason(reference: Path) -> None:
    for candidate in CANDIDATES:
        found = candidate.probe(EngineTarget(checkpoint_of(reference, "cosyvoice3"), CPU))
        assert isinstance(found, Unusable)


def test_8_bits_on_a_gpu_need_the_compiler(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything else is the same as for other precisions."""
    gpu = Device(DeviceKind.CUDA, "a GPU", num_threads=1, total_bytes=8 << 30, compute_capability=(9, 0), driver="580")
    target = EngineTarget(checkpoint_of(reference, "cosyvoice3"), gpu)
    candidate = next(candidate for candidate in CANDIDATES if candidate.precision is Precision.INT8)
    assert (candidate.stage, candidate.name) == (Stage.SPEECH_LM, "cuda-graph-int8")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(linear, "load_compiler", object)
    assert isinstance(candidate.probe(target), Available)
    monkeypatch.setattr(linear, "load_compiler", lambda: None)
    found = candidate.probe(target)
    assert isinstance(found, Unusable)
    assert "NVRTC" in str(found.reason)


def test_flow_in_8_bits_is_not_tried_on_a_gpu(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Device(DeviceKind.CUDA, "a GPU", num_threads=1, total_bytes=8 << 30, compute_capability=(9, 0), driver="580")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(linear, "load_compiler", object)
    found = TorchCandidate(Stage.FLOW, Precision.INT8).probe(EngineTarget(checkpoint_of(reference, "cosyvoice3"), gpu))
    assert isinstance(found, Unusable)
    assert str(found.reason) == "The flow cannot run in int8."


@pytest.mark.slow
def test_8_bit_steps_equal_the_plain_decoder(
    reference: Path, every_family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights have the layout for GPUs, and a fake kernel multiplies them on the processor."""
    monkeypatch.setattr(
        linear,
        "Int8Linear",
        lambda weight, bias: CudaInt8Linear(*linear.quantize_int8_per_channel(weight), bias, CPU_DEVICE),
    )
    plain = checkpoint_of(reference, every_family).load_speech_lm(Precision.INT8, "cpu")
    layer = plain.decoder.layers[0]
    assert isinstance(layer.contract if isinstance(plain, TransformerSpeechLM) else layer.down, CudaInt8Linear)
    graph = GraphSpeechLM(plain)
    for ours, theirs in zip(samplers(graph.sampling), samplers(plain.sampling), strict=True):
        made = list(graph.generate(REQUEST, ours))
        assert made == list(plain.generate(REQUEST, theirs))
        assert len(made) >= 3


@pytest.mark.gpu
@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16, Precision.FLOAT16, Precision.INT8])
def test_recorded_tokens_equal_plain_pytorch(reference: Path, every_family: str, precision: Precision) -> None:
    """Greedy sampling on a GPU."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    plain = checkpoint_of(reference, every_family).load_speech_lm(precision, "cuda:0")
    made = list(GraphSpeechLM(plain).generate(REQUEST, GreedySampler()))
    wanted = list(plain.generate(REQUEST, GreedySampler()))
    assert made == wanted if precision is Precision.FLOAT32 else made[:5] == wanted[:5]
