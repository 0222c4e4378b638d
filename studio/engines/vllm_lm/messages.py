"""What the program and the process that runs vLLM say to each other. No torch, no vLLM: both ends read this first."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.model.config import Precision, SamplingOptions


@dataclass(frozen=True, slots=True)
class Serve:
    """The first thing that is said. ``folder`` as ``model_files`` filled it; no ``Path``: each Python packs its own.

    ``max_positions`` of one line, prompt and speech together; ``max_lines`` at once; ``kv_cache_bytes`` for all of them.
    ``memory_share``: of the whole memory of a card at least so much has to be free.
    Ids from ``num_speech_tokens`` up to ``num_rows`` end a line.
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
    """``embeddings`` (tokens, hidden) float32: all that comes before the first speech token.

    ``points`` (max_tokens,) float64: the random number of each token; None: each token is asked for (``SampleRequest``).
    """

    line: int
    embeddings: npt.NDArray[np.float32] = field(repr=False)
    min_tokens: int
    max_tokens: int
    sampling: SamplingOptions
    points: npt.NDArray[np.float64] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The answer to ``SampleRequest``. Nothing else happens there until it comes."""

    line: int
    token: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Nobody wants the rest of the line."""

    line: int


Command = Serve | Generate | SampleResult | Stop


@dataclass(frozen=True, slots=True)
class Ready:
    """``num_positions``: of all lines together there is room for so many."""

    version: str
    num_positions: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """The next tokens of the line; never an id that ends it."""

    line: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """Which token comes next? ``scores`` (rows,) float32, unnormalised."""

    line: int
    scores: npt.NDArray[np.float32] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """The line is complete; ``num_cached``: so many positions of its prompt had been computed for another line."""

    line: int
    num_cached: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """vLLM does not take the line; the others go on."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class EngineExited:
    """The last thing that is said, where there is time for it. ``is_memory``: for want of memory."""

    reason: str
    is_memory: bool = False


Event = Ready | Tokens | SampleRequest | Ended | Rejected | EngineExited
