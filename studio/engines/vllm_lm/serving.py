"""In the process that runs vLLM: its engine, step by step, and what is said in between."""

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

from studio.engines.memory import is_out_of_memory
from studio.engines.vllm_lm.batch_sampler import BatchDraw, DrawPlan
from studio.engines.vllm_lm.logits_processor import PLAN, make_processor
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
from studio.model.config import SamplingOptions

_log = logging.getLogger(__name__)
_WARM_UP_LINE = "warm-up"
_WARM_UP_TOKENS = 4
# How vLLM itself says that something does not fit.
_MEMORY_WORDS = ("memory", "kv cache")


class MessageQueue:
    """The connection: read by a thread of its own, so that whoever speaks to us never waits for a step to end."""

    def __init__(self, connection: Connection, when_abandoned: Callable[[], object]) -> None:
        self._connection = connection
        self._when_abandoned = when_abandoned
        self.commands: queue.SimpleQueue[Generate | Stop] = queue.SimpleQueue()
        self._choices: queue.SimpleQueue[SampleResult] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def say(self, event: Event) -> None:
        self._connection.send(event)

    def ask(self, line: int, scores: torch.Tensor) -> int:
        """The token somebody else chooses; waits for it."""
        self.say(SampleRequest(line, scores.float().cpu().numpy().copy()))
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
        finally:  # also where a message cannot be read: an engine nobody can reach must not stay
            self._when_abandoned()


class Engine(Protocol):
    """What is needed of ``vllm.v1.engine.llm_engine.LLMEngine``."""

    def add_request(self, request_id: str, prompt: Any, params: Any) -> Any: ...

    def abort_request(self, request_ids: list[str]) -> None: ...

    def step(self) -> list[Any]: ...


class RequestRouter:
    """Lines between the mailbox and the engine: taken up between two steps, heard after each."""

    def __init__(self, mailbox: MessageQueue, engine: Engine, first_end: int, make_params: Callable[..., Any]) -> None:
        self._mailbox = mailbox
        self._engine = engine
        self._first_end = first_end
        self._make_params = make_params
        self._lines: set[int] = set()

    def run(self, batch: BatchDraw) -> NoReturn:
        """Until the process ends. Raises ``ArithmeticError`` where scores are no numbers, and what the engine raises."""
        while True:
            self._take_up()
            outputs = self._engine.step()
            if batch.has_overflowed():
                raise ArithmeticError("it computes something that is not a number")
            for output in outputs:
                self._hear(output)

    def _take_up(self) -> None:
        """Waits for a command where there is nothing else to do."""
        while True:
            try:
                command = self._mailbox.commands.get(block=not self._lines)
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
            _log.exception("line %d is not taken", command.line)
            self._mailbox.say(Rejected(command.line, str(error)))
        else:
            self._lines.add(command.line)

    def _hear(self, output: Any) -> None:
        line = int(output.request_id)
        if line not in self._lines:
            return  # it was stopped while the step was under way
        tokens = tuple(token for part in output.outputs for token in part.token_ids if token < self._first_end)
        if tokens:
            self._mailbox.say(Tokens(line, tokens))
        if output.finished:
            self._lines.discard(line)
            self._mailbox.say(Ended(line, output.num_cached_tokens or 0))


def serve(connection: Connection) -> None:
    """Opens vLLM as the first message says, and speaks until whoever wanted it is gone. The process ends with it."""
    wanted = connection.recv()
    assert isinstance(wanted, Serve)
    mailbox = MessageQueue(connection, _end_at_once)
    try:
        batch = BatchDraw(wanted.num_speech_tokens, mailbox.ask)
        engine = open_engine(wanted, batch)
        make_params = params_maker(wanted)
        _warm_up(engine, make_params)
        batch.has_overflowed()
        mailbox.say(Ready(str(importlib.import_module("vllm").__version__), _num_positions(engine)))
        RequestRouter(mailbox, engine, wanted.num_speech_tokens, make_params).run(batch)
    except Exception as error:  # noqa: BLE001 - the border of the process: whatever vLLM raises is a reason
        _log.exception("vLLM ended")
        words = str(error).casefold()
        is_memory = is_out_of_memory(error) or any(part in words for part in _MEMORY_WORDS)
        first_line = (str(error).strip().splitlines() or [""])[0]
        with contextlib.suppress(OSError):
            mailbox.say(EngineExited(first_line or type(error).__name__, is_memory=is_memory))


def open_engine(wanted: Serve, batch: BatchDraw) -> Any:
    """vLLM's engine in this very process. Raises whatever vLLM raises."""
    register()
    arguments: Any = importlib.import_module("vllm.engine.arg_utils")
    engines: Any = importlib.import_module("vllm.v1.engine.llm_engine")
    return engines.LLMEngine.from_engine_args(
        arguments.EngineArgs(
            model=wanted.folder,
            skip_tokenizer_init=True,
            generation_config="vllm",
            load_format="safetensors",
            dtype=wanted.precision.value,
            seed=0,
            max_model_len=wanted.max_positions,
            max_num_seqs=wanted.max_lines,
            # A prompt is read in one pass, so that every row that is drawn for is one that speaks.
            enable_chunked_prefill=False,
            max_num_batched_tokens=wanted.max_positions,
            # The choice of a token needs the one before.
            async_scheduling=False,
            kv_cache_memory_bytes=wanted.kv_cache_bytes,
            # Beside an exact size this only decides whether vLLM starts at all.
            gpu_memory_utilization=wanted.memory_share,
            enable_prompt_embeds=True,
            enable_prefix_caching=True,
            logits_processors=[make_processor(batch)],
            disable_log_stats=True,
            # Compiling is for cards, where it is what makes vLLM fast.
            enforce_eager=not wanted.is_on_gpu,
        )
    )


def params_maker(wanted: Serve) -> Callable[[DrawPlan, int], Any]:
    """What vLLM is told of a line: to take the one token that is left, and where to stop."""
    vllm: Any = importlib.import_module("vllm")
    delta = importlib.import_module("vllm.sampling_params").RequestOutputKind.DELTA
    ends = list(range(wanted.num_speech_tokens, wanted.num_rows))

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
    """A line nobody hears: what libraries choose and allocate at their first calls is done before the first real one."""
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
    """Whoever started this is gone: the process ends, and with it whatever vLLM started, which is in its group."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
