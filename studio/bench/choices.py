"""Comparison of the program's automatic choices with their alternatives, on this machine."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator

import psutil
import torch

from studio.bench.inputs import random_mel, random_prompt, random_tokens
from studio.bench.measurements import Decision, Measurement
from studio.bench.stage_measures import good_prompt_tokens, speech_lm_request, stream_flow, time_speech_lm
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.speech_lm import QualityReport, TorchSpeechLM, compare_with_reference, open_network
from studio.model.stages import FlowDecoder, SpeechLM, Vocoder
from studio.model.weights import release_pages
from studio.pipeline.precision_selection import trial_requests

_COMPARED_TOKENS = 40
_PROMPT_TOKENS = 50
_TIMED_RUNS = 3


def choose_threads(
    speech_lm: SpeechLM, flow: FlowDecoder, vocoder: Vocoder, num_speech_tokens: int, *, requested: int | None = None
) -> Decision:
    """Time each stage with different numbers of threads, and restore the current number afterwards.

    ``requested`` is the number that the user has set, if any.
    """
    present = torch.get_num_threads()
    candidates = sorted({1, present, *_halves(psutil.cpu_count() or 1)})
    work = _work(speech_lm, flow, vocoder, num_speech_tokens)
    measured: list[Measurement] = []
    costs: dict[tuple[str, int], float] = {}
    try:
        for num_threads in candidates:
            torch.set_num_threads(num_threads)
            for name, task in work.items():
                costs[name, num_threads] = _best_seconds(task)
                measured.append(
                    Measurement(
                        f"threads.{name}_with_{num_threads}",
                        costs[name, num_threads],
                        "s",
                        f"The fastest of several runs of a small {name} task on {num_threads} threads.",
                    )
                )
    finally:
        torch.set_num_threads(present)
    gains = ", ".join(f"{name} {costs[name, 1] / costs[name, present]:.1f}x" for name in work)
    if present < (requested or psutil.cpu_count(logical=False) or 1):
        reason = "one core, because the model is small"
    else:
        reason = "set by the user" if requested else "the number of physical cores, as stages run in turn"
    return Decision(
        "threads",
        str(present),
        f"{reason}; speedup over one thread: {gains}",
        tuple(measured),
    )


def compare_precisions(checkpoint: Checkpoint, device: str) -> list[Measurement]:
    """Measure the speech LM in each supported precision: speed, and divergence from float32 on real sentences."""
    path = checkpoint.speech_lm_path(None)
    num_speech_tokens = checkpoint.speech_lm.layout.num_speech_tokens
    request = speech_lm_request(num_speech_tokens, _COMPARED_TOKENS)
    tokens = random_tokens(_COMPARED_TOKENS, num_speech_tokens)
    sentences = trial_requests(checkpoint)
    figures: list[Measurement] = []
    for precision in Precision:
        try:
            speech_lm = checkpoint.load_speech_lm(precision, device)
        except UnsupportedPrecision:
            continue
        _, per_token = time_speech_lm(speech_lm, request, tokens)
        quality = compare_with_reference(speech_lm, open_network(path, checkpoint.speech_lm), requests=sentences)
        figures += _precision_figures(precision, per_token, quality)
        del speech_lm
        release_pages(path)
    return figures


def _precision_figures(precision: Precision, per_token: float, quality: QualityReport) -> Iterator[Measurement]:
    name = f"precision.{precision.value}"
    yield Measurement(f"{name}_speed", 1 / per_token, "tokens/s", f"{_COMPARED_TOKENS} steps, excluding the first.")
    yield Measurement(
        f"{name}_agreement",
        100 * quality.top_agreement,
        "%",
        f"Share of {quality.num_tokens} steps with the same most likely token as float32, given the same history.",
    )
    yield Measurement(
        f"{name}_divergence",
        quality.divergence_nats,
        "nats",
        "Mean Kullback-Leibler divergence of the next-token distribution from that of float32.",
    )


def _work(
    speech_lm: SpeechLM, flow: FlowDecoder, vocoder: Vocoder, num_speech_tokens: int
) -> dict[str, Callable[[], object]]:
    """Return a small task for each stage that uses torch's threads, by name."""
    request = speech_lm_request(num_speech_tokens, 8)
    steps = random_tokens(8, num_speech_tokens)
    prompt_tokens = good_prompt_tokens(_PROMPT_TOKENS, flow.chunk_tokens)
    prompt = random_prompt(prompt_tokens, num_speech_tokens, num_frames=flow.frames_of_tokens(prompt_tokens))
    state = flow.prepare_prompt(prompt)
    tokens = random_tokens(10, num_speech_tokens)
    mel = torch.from_numpy(random_mel(50))
    has_own_threads = isinstance(speech_lm, TorchSpeechLM) and speech_lm.decoder.num_threads is not None
    work: dict[str, Callable[[], object]] = (
        {} if has_own_threads else {"speech_lm": lambda: time_speech_lm(speech_lm, request, steps)}
    )
    return work | {
        "flow": lambda: list(stream_flow(flow, state, prompt_tokens, tokens)),
        "vocoder": lambda: vocoder.synthesize_whole(mel, vocoder.noise(0)),
    }


def _halves(count: int) -> Iterator[int]:
    while count:
        yield count
        count //= 2


def _best_seconds(task: Callable[[], object]) -> float:
    """Return the shortest of a few runs after a warm-up, because disturbances only add time."""
    task()
    return min(timeit.repeat(task, number=1, repeat=_TIMED_RUNS))
