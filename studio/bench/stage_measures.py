"""Measurements of single stages."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence

import torch

from studio.bench.inputs import BenchSize, ForcedTokens, random_mel, random_prompt, random_tokens
from studio.bench.measurements import Measurement
from studio.model.generations import Generation
from studio.model.stages import FlowDecoder, FlowPromptState, SpeechLM, SpeechTokenRequest, Vocoder
from studio.pipeline.pacing import ChunkSchedule

_TEXT_TOKENS, _PROMPT_TEXT_TOKENS, _PROMPT_SPEECH_TOKENS = 30, 20, 75
_ORDINARY_TEXT_TOKENS = 200  # below the special tokens of any vocabulary


def measure_speech_lm(
    speech_lm: SpeechLM, num_speech_tokens: int, generation: Generation, extent: BenchSize
) -> list[Measurement]:
    """Measure the prefill, with a new and with a known voice, and the following steps."""
    count = extent.num_speech_tokens
    tokens = random_tokens(count, num_speech_tokens)
    request = speech_lm_request(num_speech_tokens, count)
    # Warm up with the request of another voice.
    time_speech_lm(speech_lm, speech_lm_request(num_speech_tokens, 3, seed=1), tokens)
    new_voice, per_token = time_speech_lm(speech_lm, request, tokens)
    known_voice, _ = time_speech_lm(speech_lm, speech_lm_request(num_speech_tokens, 3), tokens)
    prefix = f"{_PROMPT_TEXT_TOKENS} + {_TEXT_TOKENS} text and {_PROMPT_SPEECH_TOKENS} speech tokens"
    return [
        Measurement(
            "speech_lm.prefill_new_voice", new_voice, "s", f"From the request to the first token, after {prefix}."
        ),
        Measurement(
            "speech_lm.prefill_known_voice",
            known_voice,
            "s",
            f"The same for a voice whose {_PROMPT_TEXT_TOKENS} prompt text tokens are cached.",
        ),
        Measurement(
            "speech_lm.tokens_per_second",
            1 / per_token,
            "tokens/s",
            f"{count} predetermined tokens, including sampling, without the first.",
        ),
        Measurement(
            "speech_lm.real_time_factor",
            generation.token_rate * per_token,
            "s/s",
            f"Seconds of the language model per second of speech ({generation.token_rate} tokens), without prefill.",
        ),
    ]


def speech_lm_request(num_speech_tokens: int, count: int, *, seed: int = 0) -> SpeechTokenRequest:
    """Return a request for exactly ``count`` tokens; ``seed`` determines the voice."""
    return SpeechTokenRequest(
        text_tokens=random_tokens(_TEXT_TOKENS, _ORDINARY_TEXT_TOKENS, seed=seed),
        prompt_text_tokens=random_tokens(_PROMPT_TEXT_TOKENS, _ORDINARY_TEXT_TOKENS, seed=seed),
        prompt_speech_tokens=random_tokens(_PROMPT_SPEECH_TOKENS, num_speech_tokens, seed=seed),
        min_tokens=count,
        max_tokens=count,
    )


def time_speech_lm(speech_lm: SpeechLM, request: SpeechTokenRequest, tokens: Sequence[int]) -> tuple[float, float]:
    """Return the seconds to the first token, and the seconds per following token."""
    sampler = ForcedTokens(tokens, speech_lm.sampling)
    marks = [time.perf_counter()]
    for _ in speech_lm.generate(request, sampler):
        marks.append(time.perf_counter())  # noqa: PERF401 - a clock is read at each step
    return marks[1] - marks[0], (marks[-1] - marks[1]) / (len(marks) - 2)


def measure_flow(
    flow: FlowDecoder, num_speech_tokens: int, generation: Generation, extent: BenchSize
) -> list[Measurement]:
    """Measure the prompt states, the first chunk after each, and a whole stream."""
    figures: list[Measurement] = []
    for seconds in extent.prompt_seconds:
        prompt_tokens = good_prompt_tokens(generation.tokens_of_seconds(seconds), flow.chunk_tokens)
        state, prepare_seconds = _prepare(flow, prompt_tokens, num_speech_tokens)
        hop = ChunkSchedule.of(flow, prompt_tokens).end_tokens
        first = statistics.median(_first_chunk(flow, state, hop) for _ in range(extent.num_repeats))
        name = f"{seconds:.0f}_s_prompt"
        figures += [
            Measurement(
                f"flow.prepare_{name}",
                prepare_seconds,
                "s",
                f"Once per voice: the state of all layers and steps after a prompt of {prompt_tokens} tokens.",
            ),
            Measurement(f"flow.state_of_{name}", state.num_bytes / 2**20, "MiB", "Memory of that state."),
            Measurement(
                f"flow.first_chunk_{name}",
                first,
                "s",
                f"The first {hop} tokens after that prompt, with its state ready; median of {extent.num_repeats}.",
            ),
        ]
    tokens = random_tokens(generation.tokens_of_seconds(extent.speech_seconds), num_speech_tokens)
    cost = sum(seconds for seconds, _ in stream_flow(flow, state, prompt_tokens, tokens))
    figures.append(
        Measurement(
            "flow.per_audio_second",
            cost / extent.speech_seconds,
            "s/s",
            f"All chunks of {extent.speech_seconds:.0f} s of streamed speech "
            f"after the prompt of {prompt_tokens} tokens, per second of speech.",
        )
    )
    return figures


def good_prompt_tokens(num_tokens: int, chunk_tokens: int) -> int:
    """Return a prompt length near ``num_tokens``, trimmed like an enrolled clip: its first hop is 10 tokens."""
    return num_tokens // chunk_tokens * chunk_tokens - 10


def stream_flow(
    flow: FlowDecoder, state: FlowPromptState, prompt_tokens: int, tokens: Sequence[int]
) -> Iterator[tuple[float, torch.Tensor]]:
    """Yield the seconds and the mel of each chunk of the usual schedule, with all ``tokens`` available."""
    stream = flow.open_stream(state)
    try:
        for start, end in _cuts(flow, prompt_tokens, tokens):
            lookahead = () if end == len(tokens) else tokens[end : end + flow.lookahead_tokens]
            started = time.perf_counter()
            mel = stream.decode(tokens[start:end], lookahead)
            yield time.perf_counter() - started, mel
    finally:
        stream.close()


def _cuts(flow: FlowDecoder, prompt_tokens: int, tokens: Sequence[int]) -> list[tuple[int, int]]:
    schedule = ChunkSchedule.of(flow, prompt_tokens)
    return list(schedule.remaining_chunks(0, len(tokens), flow.lookahead_tokens))


def measure_vocoder(vocoder: Vocoder, extent: BenchSize) -> list[Measurement]:
    """Measure chunks of one second, over the longest speech of the benchmark."""
    seconds = max(2.0, *extent.cost_seconds)
    frames_per_second = vocoder.sample_rate // vocoder.samples_per_frame
    mel = torch.from_numpy(random_mel(round(seconds) * frames_per_second))
    stream = vocoder.open_stream(vocoder.noise(0))
    pieces = [mel[:, start : start + frames_per_second] for start in range(0, mel.shape[1], frames_per_second)]
    costs = []
    for index, piece in enumerate(pieces):
        started = time.perf_counter()
        stream.synthesize(piece, is_last=index == len(pieces) - 1)
        costs.append(time.perf_counter() - started)
    # The first call warms up and returns less audio because of its look-ahead; the last one returns the rest.
    inner = costs[1:-1] or costs
    middle = max(1, len(inner) // 3)
    return [
        Measurement(
            "vocoder.per_audio_second", statistics.median(costs), "s/s", "Median of streamed chunks of one second."
        ),
        Measurement(
            "vocoder.late_over_early",
            statistics.median(inner[-middle:]) / statistics.median(inner[:middle]),
            "",
            f"Cost of a chunk near the end of {seconds:.0f} s over one near the start; 1 if past audio costs nothing.",
        ),
    ]


def measure_lengths(
    flow: FlowDecoder, vocoder: Vocoder, num_speech_tokens: int, generation: Generation, extent: BenchSize
) -> Iterator[list[Measurement]]:
    """Measure flow and vocoder per second of speech for several lengths; yield one list per length."""
    prompt_tokens = good_prompt_tokens(generation.tokens_of_seconds(extent.prompt_seconds[0]), flow.chunk_tokens)
    state, _ = _prepare(flow, prompt_tokens, num_speech_tokens)
    for seconds in extent.cost_seconds:
        tokens = random_tokens(generation.tokens_of_seconds(seconds), num_speech_tokens)
        voice = vocoder.open_stream(vocoder.noise(0))
        num_samples, num_chunks = 0, len(_cuts(flow, prompt_tokens, tokens))
        started = time.perf_counter()
        for number, (_, mel) in enumerate(stream_flow(flow, state, prompt_tokens, tokens), start=1):
            num_samples += len(voice.synthesize(mel, is_last=number == num_chunks))
        cost = time.perf_counter() - started
        yield [
            Measurement(
                f"length.{seconds:.0f}_s",
                cost * vocoder.sample_rate / num_samples,
                "s/s",
                f"Flow and vocoder of one streamed line of {seconds:.0f} s with given tokens, per second of audio; "
                f"after a prompt of {prompt_tokens} tokens.",
            )
        ]


def _prepare(flow: FlowDecoder, prompt_tokens: int, num_speech_tokens: int) -> tuple[FlowPromptState, float]:
    prompt = random_prompt(prompt_tokens, num_speech_tokens, num_frames=flow.frames_of_tokens(prompt_tokens))
    started = time.perf_counter()
    return flow.prepare_prompt(prompt), time.perf_counter() - started


def _first_chunk(flow: FlowDecoder, state: FlowPromptState, hop: int) -> float:
    tokens = random_tokens(hop + flow.lookahead_tokens, 16)
    stream = flow.open_stream(state)
    started = time.perf_counter()
    stream.decode(tokens[:hop], tokens[hop:])
    seconds = time.perf_counter() - started
    stream.close()
    return seconds
