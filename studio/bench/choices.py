"""What the program chooses by itself on this machine, and what else could have been chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psutil
import torch

from studio.bench.inputs import random_mel, random_tokens
from studio.bench.measurements import Decision, Measurement
from studio.bench.stage_measures import flow_prompt, good_prompt_tokens, speech_lm_request, stream_flow, time_speech_lm
from studio.bench.timing import best_seconds
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.speech_lm import QualityReport, compare_with_reference, open_network
from studio.model.stages import FlowDecoder, SpeechLM, Vocoder
from studio.model.weights import release_pages
from studio.pipeline.precision_selection import trial_requests

_COMPARED_TOKENS = 40


def choose_threads(
    speech_lm: SpeechLM, flow: FlowDecoder, vocoder: Vocoder, num_speech_tokens: int, *, asked: int | None = None
) -> Decision:
    """Each stage with one thread up to one a logical core, by halves; the present count is put back.

    ``asked``: the count a person asked for, where the program did not choose.
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
                costs[name, num_threads] = best_seconds(task)
                measured.append(
                    Measurement(
                        f"threads.{name}_with_{num_threads}",
                        costs[name, num_threads],
                        "s",
                        f"The shortest of several runs of a small piece of {name} work on {num_threads} threads.",
                    )
                )
    finally:
        torch.set_num_threads(present)
    gains = ", ".join(f"{name} {costs[name, 1] / costs[name, present]:.1f} times" for name in work)
    reason = "that many were asked for" if asked else "there are that many physical cores, and stages take turns"
    return Decision(
        "threads",
        str(present),
        f"{reason}; against one thread this makes {gains} as fast",
        tuple(measured),
    )


def compare_precisions(checkpoint: Checkpoint, device: str) -> list[Measurement]:
    """Speed of the speech LM in each precision that runs here, and how far its distributions are from float32's."""
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
    yield Measurement(f"{name}_speed", 1 / per_token, "tokens/s", f"{_COMPARED_TOKENS} steps, the first left out.")
    yield Measurement(
        f"{name}_agreement",
        100 * quality.top_agreement,
        "%",
        f"Steps of {quality.num_tokens} at which its likeliest token is float32's, with the same history.",
    )
    yield Measurement(
        f"{name}_divergence",
        quality.divergence_nats,
        "nats",
        "Mean Kullback-Leibler divergence of its distribution of the next token from float32's.",
    )


def _work(
    speech_lm: SpeechLM, flow: FlowDecoder, vocoder: Vocoder, num_speech_tokens: int
) -> dict[str, Callable[[], object]]:
    """A small task of each stage, by its name."""
    request = speech_lm_request(num_speech_tokens, 8)
    steps = random_tokens(8, num_speech_tokens)
    prompt_tokens = good_prompt_tokens(2.0)
    state = flow.prepare_prompt(flow_prompt(prompt_tokens, num_speech_tokens))
    tokens = random_tokens(10, num_speech_tokens)
    mel = torch.from_numpy(random_mel(50))
    return {
        "speech_lm": lambda: time_speech_lm(speech_lm, request, steps),
        "flow": lambda: list(stream_flow(flow, state, prompt_tokens, tokens)),
        "vocoder": lambda: vocoder.synthesize_whole(mel, vocoder.noise(0)),
    }


def _halves(count: int) -> Iterator[int]:
    while count:
        yield count
        count //= 2
