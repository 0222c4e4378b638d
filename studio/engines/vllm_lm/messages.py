"""Messages between the program and the vLLM process. No torch, no vLLM: both processes import this."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.model.config import Precision
from studio.model.options import SamplingOptions


@dataclass(frozen=True, slots=True)
class Serve:
    """The first command, with the options of vLLM. Ids from ``num_speech_tokens`` to ``num_rows`` - 1 end a line.

    Attributes:
        folder: The folder that ``model_files`` filled; a string, since Python versions pickle ``Path`` differently.
        max_positions: Largest number of positions of a line, prompt and speech together.
        max_lines: Largest number of concurrent lines.
        kv_cache_bytes: Size of the KV cache of all lines together.
        memory_share: Share of the GPU's total memory that must be free.
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
    """Start a line. ``embeddings`` (tokens, hidden) float32 precede the first generated token.

    ``points`` (max_tokens,) float64 are the random numbers of the tokens. If None, the process sends ``SampleRequest``.
    """

    line: int
    embeddings: npt.NDArray[np.float32] = field(repr=False)
    min_tokens: int
    max_tokens: int
    sampling: SamplingOptions
    points: npt.NDArray[np.float64] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The answer to a ``SampleRequest``, which the process waits for."""

    line: int
    token: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop generating the line."""

    line: int


Command = Serve | Generate | SampleResult | Stop


@dataclass(frozen=True, slots=True)
class Ready:
    """vLLM is loaded. ``num_positions`` is the capacity of the KV cache for all lines together."""

    version: str
    num_positions: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """The next tokens of the line, without the id that ends it."""

    line: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """Request the next token. ``scores`` (rows,) are float32 and unnormalised."""

    line: int
    scores: npt.NDArray[np.float32] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """The line is complete. ``num_cached`` is the number of prompt positions reused from other lines."""

    line: int
    num_cached: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """vLLM rejected the line; others continue."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class EngineExited:
    """The last event, if the process can still send it. ``is_memory`` is set if memory ran out."""

    reason: str
    is_memory: bool = False


Event = Ready | Tokens | SampleRequest | Ended | Rejected | EngineExited
