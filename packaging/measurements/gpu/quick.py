"""A first look at a GPU in four minutes: does each part run, is it right, and how fast is it?

The weights are random, in released size, and created in memory. Each part yields its results as it goes, so that a part
that crashes or runs out of time keeps what it measured.
"""

from __future__ import annotations

import gc
import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from measurements.gpu.json_process import Entry
from measurements.gpu.material import smooth_mel
from studio.engines.cuda_graph.captured_graph import CapturedGraph
from studio.engines.cuda_graph.flow import GraphedFlowDecoder
from studio.engines.cuda_graph.speech_lm import GraphSpeechLM
from studio.engines.cuda_graph.vocoder import GraphedVocoder
from studio.model.config import FlowConfig, Precision, SpeechLMConfig, VocoderConfig
from studio.model.cpu_products import quantize_int8_per_channel
from studio.model.cuda_kernel import load_compiler
from studio.model.flow import FlowOptions
from studio.model.flow.decoder import CachedFlowDecoder
from studio.model.flow.network import build_network
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.speech_lm.cuda_int8 import CudaInt8Linear
from studio.model.speech_lm.loading import build_speech_lm
from studio.model.speech_lm.network import SpeechLMNetwork
from studio.model.stages import FlowPrompt, SpeechLM, SpeechTokenRequest
from studio.model.torch_device import cuda_streams
from studio.model.vocoder.network import CausalHiFT
from studio.model.vocoder.vocoder import CausalVocoder

_HALF_TYPES = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}


@dataclass(frozen=True)
class Sizes:
    """Numbers of tokens, lines and frames: large on a GPU, small in tests on a CPU."""

    prompt_tokens: tuple[int, ...] = (240, 250)
    line_tokens: int = 150
    num_lines: int = 16
    chunk_frames: tuple[int, ...] = (20, 50, 100, 200)
    capture_seconds: float = 4.0


SMALL = Sizes(prompt_tokens=(30,), line_tokens=12, num_lines=2, chunk_frames=(20,), capture_seconds=0.3)


class QuickCheck:
    """The parts, on ``device``, with networks of the given sizes. ``vocoder`` belongs to CosyVoice3."""

    def __init__(
        self, speech_lm: SpeechLMConfig, flow: FlowConfig, vocoder: VocoderConfig, device: torch.device, sizes: Sizes
    ) -> None:
        self._speech_lm = speech_lm
        self._flow = flow
        self._vocoder = vocoder
        self._device = device
        self._is_gpu = device.type == "cuda"
        self._sizes = sizes

    def part(self, name: str) -> Iterator[Entry]:
        """Run a part of ``plan.QUICK_PARTS`` with all memory free."""
        gc.collect()
        if self._is_gpu:
            torch.cuda.empty_cache()
        parts: dict[str, Callable[[], Iterator[Entry]]] = {
            "machine": self._machine,
            "captured_graphs": self._captured_graphs,
            "int8": self._int8,
            "speech_lm": self._language_model,
            "flow": self._flow_decoder,
            "vocoder": self._vocoder_chunks,
            "profile": self._profile,
        }
        return parts[name]()

    def _machine(self) -> Iterator[Entry]:
        """Kernel compiler, memory bandwidth, and the cost of launching a kernel with and without a graph."""
        found: Entry = {"compiler": load_compiler() is not None}
        if self._is_gpu and shutil.which("nvidia-smi"):
            query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem", "--format=csv,noheader"]
            answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
            found["nvidia_smi"] = answer.stdout.strip()
        source = torch.ones(1 << (30 if self._is_gpu else 20), dtype=torch.uint8, device=self._device)
        target = torch.empty_like(source)
        seconds = self._median_seconds(target.copy_, source)
        found["copied_gigabytes_per_second"] = round(2 * source.numel() / seconds / 1e9)
        small = torch.zeros(64, device=self._device)

        def thousand_kernels() -> None:
            for _ in range(1000):
                small.add_(1.0)

        graph = CapturedGraph(self._device)
        found["launch_microseconds"] = round(1e3 * self._median_seconds(thousand_kernels), 2)
        found["graph_microseconds"] = round(1e3 * self._median_seconds(graph.run, thousand_kernels), 2)
        yield found

    def _captured_graphs(self) -> Iterator[Entry]:
        """Graphs restore their state, and capture nothing of the work of other threads."""
        state, result = torch.zeros(4, device=self._device), torch.zeros(4, device=self._device)
        errors: list[str] = []
        is_over = threading.Event()

        def compute() -> None:
            state.add_(1.0)
            result.copy_(2 * state)

        threads = [threading.Thread(target=self._keep_busy, args=(is_over, errors)) for _ in range(3)]
        for thread in threads:
            thread.start()
        num_graphs, end = 0, time.monotonic() + self._sizes.capture_seconds
        try:
            while time.monotonic() < end and not errors:
                state.zero_()
                graph = CapturedGraph(self._device, (state,))
                graph.run(compute)
                graph.run(compute)
                if state.tolist() != [2.0] * 4 or result.tolist() != [4.0] * 4:
                    errors.append(f"state {state.tolist()}, result {result.tolist()}")
                num_graphs += 1
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        yield {"num_graphs": num_graphs, "num_threads": len(threads), "errors": errors[:5]}

    def _keep_busy(self, is_over: threading.Event, errors: list[str]) -> None:
        """Multiply matrices and allocate memory until ``is_over``."""
        stream = cuda_streams(self._device).of_this_thread() if self._is_gpu else None
        try:
            with torch.inference_mode(), torch.cuda.stream(stream):
                weight = torch.randn(512, 512, device=self._device)
                while not is_over.is_set():
                    product = torch.randn(300, 512, device=self._device) @ weight
                    torch.empty(int(torch.randint(1, 1 << 22, ())), device=self._device)
                    if not bool(product.isfinite().all()):
                        errors.append("a product is not finite")
        except Exception as error:  # noqa: BLE001 - an entry of the result
            errors.append(repr(error)[:300])

    def _int8(self) -> Iterator[Entry]:
        """The 8-bit kernel on each matrix of a layer: relative error, time, and share of the memory's bandwidth."""
        config = self._speech_lm.backbone
        hidden, mixed = config.hidden_size, (config.num_heads + 2 * config.num_kv_heads) * config.head_size
        shapes = {
            "query_key_value": (mixed, hidden),
            "gate_up": (2 * config.intermediate_size, hidden),
            "down": (hidden, config.intermediate_size),
        }
        found: Entry = {}
        for name, (height, width) in shapes.items():
            levels, scales = quantize_int8_per_channel(torch.randn(height, width))
            exact = (levels.double() * scales.double()[:, None]).to(self._device)
            # More copies than the second-level cache holds.
            num_copies = min(64, max(1, (256 << 20) // levels.numel())) if self._is_gpu else 1
            linears = [CudaInt8Linear(levels, scales, None, self._device) for _ in range(num_copies)]
            entry: Entry = {"relative_error": 0.0}
            for num_rows in (1, 3, 8, 31):
                rows = torch.randn(num_rows, width, device=self._device)
                entry["relative_error"] = max(
                    entry["relative_error"], _relative_error(linears[0](rows), rows.double() @ exact.T)
                )
            row = torch.randn(1, width, device=self._device)
            graph = CapturedGraph(self._device)
            seconds = self._median_seconds(graph.run, partial(_apply, linears, row)) / num_copies
            entry["microseconds"] = round(1e6 * seconds, 2)
            entry["gigabytes_per_second"] = round(levels.numel() / seconds / 1e9)
            found[name] = entry
        yield found

    def _language_model(self) -> Iterator[Entry]:
        """Each precision, plain and in a graph: error of the logits, first token, each token, and several lines."""
        torch.manual_seed(3)
        with torch.device(self._device):
            network = SpeechLMNetwork(self._speech_lm).requires_grad_(False)
        request = self._line()
        names = ("float32", "bfloat16", "int8", "float16") if self._is_gpu else ("float32",)
        found: Entry = {}
        reference: torch.Tensor | None = None
        for precision in map(Precision, names):
            entry = found[precision.value] = {}
            plain = build_speech_lm(network, precision, str(self._device))
            for kind, engine in (("plain", plain), ("graph", GraphSpeechLM(plain))):
                logits = self._forced_logits(engine, request)
                reference = logits if reference is None else reference
                entry[f"{kind}_error"] = _relative_error(logits, reference)
                self._generate(engine, request, seed=0)  # captures graphs
                marks = self._generate(engine, request, seed=0)
                entry[f"{kind}_first_token_ms"] = round(1e3 * marks[0], 2)
                entry[f"{kind}_ms_per_token"] = round(1e3 * (marks[-1] - marks[0]) / (len(marks) - 1), 3)
                yield found
            plain_tokens, graph_tokens = (
                list(engine.generate(request, RepetitionAwareSampler(engine.sampling, 0)))
                for engine in (plain, GraphSpeechLM(plain))
            )
            entry["same_tokens"] = sum(a == b for a, b in zip(plain_tokens, graph_tokens, strict=False)) / len(
                plain_tokens
            )
            engine = GraphSpeechLM(plain)
            for _ in range(2):  # the first captures graphs
                started = time.perf_counter()
                with ThreadPoolExecutor(self._sizes.num_lines) as pool:
                    lines = list(pool.map(partial(self._generate, engine, request), range(self._sizes.num_lines)))
                seconds = time.perf_counter() - started
            entry["num_lines"] = len(lines)
            entry["tokens_per_second"] = round(sum(map(len, lines)) / seconds)
            yield found

    def _forced_logits(self, engine: SpeechLM, request: SpeechTokenRequest) -> torch.Tensor:
        """Return the centred logits (tokens, ids) of a line whose tokens are given."""
        tokens = np.random.default_rng(1).integers(0, self._num_speech_tokens, request.max_tokens).tolist()
        sampler = _GivenTokens(tokens)
        list(engine.generate(request, sampler))
        logits = torch.stack(sampler.logits)
        return logits - logits.mean(dim=1, keepdim=True)

    @staticmethod
    def _generate(engine: SpeechLM, request: SpeechTokenRequest, seed: int) -> list[float]:
        """Return the seconds from the request to each token."""
        started = time.perf_counter()
        sampler = RepetitionAwareSampler(engine.sampling, seed)
        return [time.perf_counter() - started for _ in engine.generate(request, sampler)]

    @property
    def _num_speech_tokens(self) -> int:
        return self._speech_lm.layout.num_speech_tokens

    def _line(self) -> SpeechTokenRequest:
        random = np.random.default_rng(5)
        num_words = min(self._speech_lm.backbone.vocabulary_size, 600)
        count = self._sizes.line_tokens
        return SpeechTokenRequest(
            text_tokens=tuple(random.integers(10, num_words, 40).tolist()),
            prompt_text_tokens=tuple(random.integers(10, num_words, 60).tolist()),
            prompt_speech_tokens=tuple(
                random.integers(0, self._num_speech_tokens, self._sizes.prompt_tokens[0]).tolist()
            ),
            min_tokens=count,
            max_tokens=count,
        )

    def _flow_decoder(self) -> Iterator[Entry]:
        """Plain and in a graph: error, voice, first chunk, and each block after it."""
        kinds: list[tuple[type[CachedFlowDecoder], Precision]] = [
            (CachedFlowDecoder, Precision.FLOAT32),
            (GraphedFlowDecoder, Precision.FLOAT32),
        ]
        if self._is_gpu:
            kinds[1:1] = [(GraphedFlowDecoder, Precision.FLOAT16), (GraphedFlowDecoder, Precision.BFLOAT16)]
        found: Entry = {}
        reference: torch.Tensor | None = None
        for kind, precision in kinds:
            entry = found[f"{'plain' if kind is CachedFlowDecoder else 'graph'} {precision.value}"] = {}
            decoder = self._open_flow(kind, precision)
            for num_prompt_tokens in self._sizes.prompt_tokens:
                title = f"prompt_{num_prompt_tokens}"
                seconds, state = self._timed(decoder.prepare_prompt, self._prompt(num_prompt_tokens))
                first = -num_prompt_tokens % self._flow.grid_tokens or self._flow.grid_tokens
                entry[title] = {
                    "voice_ms": round(1e3 * seconds, 1),
                    "first_chunk_cold_ms": round(1e3 * self._timed(self._mel, decoder, state, first, 0)[0], 1),
                    "first_chunk_ms": round(1e3 * self._median_seconds(self._mel, decoder, state, first, 0), 2),
                }
                seconds = self._median_seconds(self._mel, decoder, state, first, 6, rounds=3, warm_ups=1)
                entry[title]["block_ms"] = round((1e3 * seconds - entry[title]["first_chunk_ms"]) / 6, 2)
                if num_prompt_tokens == self._sizes.prompt_tokens[0]:
                    mel = self._mel(decoder, state, first, 6).cpu()
                    reference = mel if reference is None else reference
                    entry["relative_error"] = _relative_error(mel, reference)
                yield found

    def _open_flow(self, kind: type[CachedFlowDecoder], precision: Precision) -> CachedFlowDecoder:
        torch.manual_seed(4)
        with torch.device(self._device):
            network = build_network(self._flow).requires_grad_(False)
        options = FlowOptions(cache_dtype=_HALF_TYPES.get(precision))
        return kind(network, self._flow, precision=precision, options=options, after_layer=lambda: None)

    def _prompt(self, num_tokens: int) -> FlowPrompt:
        random = np.random.default_rng(7)
        tokens = tuple(random.integers(0, self._flow.num_speech_tokens, num_tokens).tolist())
        embedding = random.standard_normal(self._flow.speaker_embedding_size).astype(np.float32)
        return FlowPrompt(tokens, smooth_mel(2 * num_tokens, seed=7)[:, : self._flow.mel_bins], embedding)

    def _mel(self, decoder: CachedFlowDecoder, state: Any, first: int, num_blocks: int) -> torch.Tensor:
        """Return the mel of a chunk of ``first`` tokens and of ``num_blocks`` more."""
        grid, ahead = self._flow.grid_tokens, self._flow.lookahead_tokens
        ends = [first, *(first + grid * (block + 1) for block in range(num_blocks))]
        tokens = np.random.default_rng(9).integers(0, self._flow.num_speech_tokens, ends[-1] + ahead).tolist()
        stream = decoder.open_stream(state)
        parts = [
            stream.decode(tokens[start:end], tokens[end : end + ahead]).float()
            for start, end in zip([0, *ends[:-1]], ends, strict=True)
        ]
        stream.close()
        return torch.cat(parts, dim=1)

    def _vocoder_chunks(self) -> Iterator[Entry]:
        """Chunks, plain and in a graph, including new sizes, such as the last chunk of a sentence."""
        torch.manual_seed(5)
        with torch.device(self._device):
            network = CausalHiFT(self._vocoder).requires_grad_(False)
        network.f0_predictor.double()
        network.precompute()
        mel = torch.randn(self._vocoder.mel_bins, 400, device=self._device) - 5
        found: Entry = {}
        for kind in (CausalVocoder, GraphedVocoder):
            vocoder = kind(network)

            def chunk(num_frames: int, vocoder: CausalVocoder = vocoder) -> torch.Tensor:
                stream = vocoder.open_stream(vocoder.noise(0))
                return stream.synthesize(mel[:, :num_frames], is_last=True).cpu()

            entry = found[kind.__name__] = {"cold_ms": round(1e3 * self._timed(chunk, 50)[0], 1)}
            for num_frames in self._sizes.chunk_frames:
                seconds = self._median_seconds(chunk, num_frames, rounds=3)
                entry[f"ms_{num_frames}_frames"] = round(1e3 * seconds, 2)
            entry["new_size_ms"] = [round(1e3 * self._timed(chunk, count)[0], 1) for count in (23, 37, 61)]
            yield found

    def _profile(self) -> Iterator[Entry]:
        """The kernels of one block of the flow and of one token, by their share of the time."""
        precision = Precision.FLOAT16 if self._is_gpu else Precision.FLOAT32
        decoder = self._open_flow(GraphedFlowDecoder, precision)
        num_tokens = self._sizes.prompt_tokens[0]
        state = decoder.prepare_prompt(self._prompt(num_tokens))
        first = -num_tokens % self._flow.grid_tokens or self._flow.grid_tokens
        found: Entry = {"flow_chunk": self._kernels(partial(self._mel, decoder, state, first, 0))}
        yield found
        torch.manual_seed(3)
        with torch.device(self._device):
            network = SpeechLMNetwork(self._speech_lm).requires_grad_(False)
        engine = GraphSpeechLM(
            build_speech_lm(network, Precision.INT8 if self._is_gpu else precision, str(self._device))
        )
        found["line_of_speech_tokens"] = self._kernels(lambda: self._generate(engine, self._line(), 0))
        yield found

    def _kernels(self, work: Callable[[], object]) -> Entry:
        for _ in range(3):  # captures graphs
            work()
        self._synchronize()
        with profile(activities=[ProfilerActivity.CUDA if self._is_gpu else ProfilerActivity.CPU]) as seen:
            work()
            self._synchronize()
        rows = [
            (event.self_device_time_total if self._is_gpu else event.self_cpu_time_total, event.count, event.key[:90])
            for event in seen.key_averages()
        ]
        rows.sort(reverse=True)
        return {
            "num_kernels": sum(count for _, count, _ in rows),
            "busy_ms": round(sum(microseconds for microseconds, _, _ in rows) / 1e3, 2),
            "longest": [f"{microseconds / 1e3:.2f} ms {count} x {name}" for microseconds, count, name in rows[:14]],
        }

    def _timed(self, work: Callable[..., Any], *arguments: object) -> tuple[float, Any]:
        self._synchronize()
        started = time.perf_counter()
        result = work(*arguments)
        self._synchronize()
        return time.perf_counter() - started, result

    def _median_seconds(
        self, work: Callable[..., object], *arguments: object, rounds: int = 5, warm_ups: int = 2
    ) -> float:
        for _ in range(warm_ups):
            work(*arguments)
        return statistics.median(self._timed(work, *arguments)[0] for _ in range(rounds))

    def _synchronize(self) -> None:
        if self._is_gpu:
            torch.cuda.synchronize(self._device)


class _GivenTokens:
    """Samples the given tokens and keeps the logits."""

    num_second_draws = 0

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = tokens
        self.logits: list[torch.Tensor] = []

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        del forbid
        self.logits.append(logits.detach().to("cpu", torch.float32, copy=True))
        return self._tokens[len(history)]


def _apply(linears: Sequence[CudaInt8Linear], rows: torch.Tensor) -> None:
    for linear in linears:
        linear(rows)


def _relative_error(values: torch.Tensor, reference: torch.Tensor) -> float:
    difference = values.double() - reference.double()
    return float(difference.norm() / reference.double().norm())
