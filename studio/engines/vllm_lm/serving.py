"""Server side of the vLLM process: runs the engine step by step and exchanges messages between steps."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import queue
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NoReturn, Protocol

import torch

from studio.engines.library_errors import is_out_of_memory
from studio.engines.vllm_lm.batch_sampler import PLAN, BatchDraw, DrawPlan, make_processor
from studio.engines.vllm_lm.messages import (
    Command,
    Ended,
    EngineExited,
    Event,
    Generate,
    Ready,
    Rejected,
    SampleRequest,
    SampleResult,
    Serve,
    Stop,
    Tokens,
)
from studio.engines.vllm_lm.network import register
from studio.model.options import SamplingOptions

_log = logging.getLogger(__name__)
_WARM_UP_LINE = "warm-up"
_WARM_UP_TOKENS = 4
# Parts of vLLM's own messages about memory.
_MEMORY_PHRASES = ("memory", "kv cache")


class MessageQueue:
    """The connection to the program, read on a separate thread so that the sender never waits for a step."""

    def __init__(self, connection: Connection, when_abandoned: Callable[[], object]) -> None:
        self._connection = connection
        self._when_abandoned = when_abandoned
        self.commands: queue.SimpleQueue[Generate | Stop] = queue.SimpleQueue()
        self._choices: queue.SimpleQueue[SampleResult] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def send(self, event: Event) -> None:
        self._connection.send(event)

    def ask(self, line: int, scores: torch.Tensor) -> int:
        """Request the token from the program and wait for it."""
        self.send(SampleRequest(line, scores.float().cpu().numpy().copy()))
        return self._choices.get().token

    def _read(self) -> None:
        try:
            while True:
                command: Command = self._connection.recv()
                match command:
                    case SampleResult():
                        self._choices.put(command)
                    case Generate() | Stop():
                        self.commands.put(command)
        except (EOFError, OSError):
            pass
        finally:  # even if a message cannot be read: an unreachable engine must not keep running
            self._when_abandoned()


class Engine(Protocol):
    """The part of ``vllm.v1.engine.llm_engine.LLMEngine`` in use."""

    def add_request(self, request_id: str, prompt: Any, params: Any) -> Any: ...

    def abort_request(self, request_ids: list[str]) -> None: ...

    def step(self) -> list[Any]: ...


class RequestRouter:
    """Passes commands to the engine before each step and its tokens back after each."""

    def __init__(self, messages: MessageQueue, engine: Engine, first_end: int, make_params: Callable[..., Any]) -> None:
        self._messages = messages
        self._engine = engine
        self._first_end = first_end
        self._make_params = make_params
        self._lines: set[int] = set()

    def run(self, batch: BatchDraw) -> NoReturn:
        """Run until the process ends.

        Raises ``ArithmeticError`` if scores are not finite, and the errors of the engine.
        """
        while True:
            self._take_up()
            outputs = self._engine.step()
            if batch.has_overflowed():
                raise ArithmeticError("it produces values that are not finite")
            for output in outputs:
                self._send_tokens(output)

    def _take_up(self) -> None:
        """Execute all waiting commands; wait for one if there is no line."""
        while True:
            try:
                command = self._messages.commands.get(block=not self._lines)
            except queue.Empty:
                return
            match command:
                case Generate():
                    self._begin(command)
                case Stop(line):
                    if line in self._lines:
                        self._lines.discard(line)
                        self._engine.abort_request([str(line)])

    def _begin(self, command: Generate) -> None:
        plan = DrawPlan(command.line, command.min_tokens, command.sampling, command.points)
        try:
            self._engine.add_request(
                str(command.line),
                {"prompt_embeds": torch.from_numpy(command.embeddings)},
                self._make_params(plan, command.max_tokens),
            )
        except ValueError as error:
            _log.exception("line %d was rejected", command.line)
            self._messages.send(Rejected(command.line, str(error)))
        else:
            self._lines.add(command.line)

    def _send_tokens(self, output: Any) -> None:
        line = int(output.request_id)
        if line not in self._lines:
            return  # stopped during the step
        tokens = tuple(token for part in output.outputs for token in part.token_ids if token < self._first_end)
        if tokens:
            self._messages.send(Tokens(line, tokens))
        if output.finished:
            self._lines.discard(line)
            self._messages.send(Ended(line, output.num_cached_tokens or 0))


def serve(connection: Connection) -> None:
    """Open vLLM with the options of the first message, and serve until the program closes the connection."""
    serve_options = connection.recv()
    assert isinstance(serve_options, Serve)
    messages = MessageQueue(connection, _end_at_once)
    try:
        batch = BatchDraw(serve_options.num_speech_tokens, messages.ask)
        engine = open_engine(serve_options, batch)
        make_params = params_maker(serve_options)
        _warm_up(engine, make_params)
        batch.has_overflowed()
        messages.send(Ready(str(importlib.import_module("vllm").__version__), _num_positions(engine)))
        RequestRouter(messages, engine, serve_options.num_speech_tokens, make_params).run(batch)
    except Exception as error:  # noqa: BLE001 - process boundary: any exception of vLLM becomes the reason
        _log.exception("vLLM ended")
        words = str(error).casefold()
        is_memory = is_out_of_memory(error) or any(part in words for part in _MEMORY_PHRASES)
        first_line = (str(error).strip().splitlines() or [""])[0]
        with contextlib.suppress(OSError):
            messages.send(EngineExited(first_line or type(error).__name__, is_memory=is_memory))


def open_engine(serve_options: Serve, batch: BatchDraw) -> Any:
    """Return vLLM's engine in this process. Errors of vLLM are passed on."""
    register()
    arguments: Any = importlib.import_module("vllm.engine.arg_utils")
    engines: Any = importlib.import_module("vllm.v1.engine.llm_engine")
    return engines.LLMEngine.from_engine_args(
        arguments.EngineArgs(
            model=serve_options.folder,
            skip_tokenizer_init=True,
            generation_config="vllm",
            load_format="safetensors",
            dtype=serve_options.precision.value,
            seed=0,
            max_model_len=serve_options.max_positions,
            max_num_seqs=serve_options.max_lines,
            # A prompt is processed in one pass, so that every sampled row is a generating line.
            enable_chunked_prefill=False,
            max_num_batched_tokens=serve_options.max_positions,
            # Sampling a token requires the previous token.
            async_scheduling=False,
            kv_cache_memory_bytes=serve_options.kv_cache_bytes,
            # Because the cache size is exact, this value only decides whether vLLM starts.
            gpu_memory_utilization=serve_options.memory_share,
            enable_prompt_embeds=True,
            enable_prefix_caching=True,
            logits_processors=[make_processor(batch)],
            disable_log_stats=True,
            # Compilation is worthwhile on GPUs only.
            enforce_eager=not serve_options.is_on_gpu,
        )
    )


def params_maker(serve_options: Serve) -> Callable[[DrawPlan, int], Any]:
    """Return a function that makes a line's sampling parameters: greedy over the one unmasked token, and stop ids."""
    vllm: Any = importlib.import_module("vllm")
    delta = importlib.import_module("vllm.sampling_params").RequestOutputKind.DELTA
    ends = list(range(serve_options.num_speech_tokens, serve_options.num_rows))

    def make(plan: DrawPlan, max_tokens: int) -> Any:
        return vllm.SamplingParams(
            temperature=0.0,
            max_tokens=max_tokens,
            stop_token_ids=ends,
            detokenize=False,
            output_kind=delta,
            extra_args={PLAN: plan},
        )

    return make


def _warm_up(engine: Any, make_params: Callable[[DrawPlan, int], Any]) -> None:
    """Run a dummy line, so that libraries select kernels and allocate memory before the first real line."""
    hidden = engine.model_config.get_hidden_size()
    points = torch.zeros(_WARM_UP_TOKENS, dtype=torch.float64).numpy()
    plan = DrawPlan(-1, _WARM_UP_TOKENS, SamplingOptions(), points)
    engine.add_request(_WARM_UP_LINE, {"prompt_embeds": torch.zeros(8, hidden)}, make_params(plan, _WARM_UP_TOKENS))
    while engine.has_unfinished_requests():
        engine.step()


def _num_positions(engine: Any) -> int:
    cache = engine.vllm_config.cache_config
    return int((cache.num_gpu_blocks or 0) * cache.block_size)


def _end_at_once() -> None:
    """End this process and all of vLLM's child processes, which are in its group."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
