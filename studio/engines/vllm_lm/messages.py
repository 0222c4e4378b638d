"""Messages between the program and the vLLM process. No torch, no vLLM: both processes import this."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.model.config import Precision, SamplingOptions


@dataclass(frozen=True, slots=True)
class Serve:
    """The first command.

    ``folder``: as filled by ``model_files``; a string, since Python versions pickle ``Path`` differently.
    ``max_positions`` per line, prompt and speech together; ``max_lines`` at once; ``kv_cache_bytes`` for all of them.
    ``memory_share``: share of the GPU's total memory that must be free.
    Ids from ``num_speech_tokens`` to ``num_rows`` - 1 end a line.
    """

    folder: str
    precision: Precision
    is_on_gpu: bool
    max_positions: int
    max_lines: int
    kv_cache_bytes: int
    memory_share: float
    num_speech_tokens: int
    num_rows: int


@dataclass(frozen=True, slots=True)
class Generate:
    """Start a line. ``embeddings`` (tokens, hidden) float32: everything before the first generated token.

    ``points`` (max_tokens,) float64: the random number of each token; None: the process sends ``SampleRequest``.
    """

    line: int
    embeddings: npt.NDArray[np.float32] = field(repr=False)
    min_tokens: int
    max_tokens: int
    sampling: SamplingOptions
    points: npt.NDArray[np.float64] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The answer to ``SampleRequest``, for which the process waits."""

    line: int
    token: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop generating the line."""

    line: int


Command = Serve | Generate | SampleResult | Stop


@dataclass(frozen=True, slots=True)
class Ready:
    """vLLM is loaded. ``num_positions``: capacity of the KV cache, all lines together."""

    version: str
    num_positions: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """The next tokens of the line, without the id that ends it."""

    line: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """Request the next token. ``scores`` (rows,) float32, unnormalised."""

    line: int
    scores: npt.NDArray[np.float32] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """The line is complete. ``num_cached``: prompt positions reused from other lines."""

    line: int
    num_cached: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """vLLM rejected the line; others continue."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class EngineExited:
    """The last event, if the process can still send it. ``is_memory``: memory ran out."""

    reason: str
    is_memory: bool = False


Event = Ready | Tokens | SampleRequest | Ended | Rejected | EngineExited
