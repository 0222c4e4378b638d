"""The interface of a graph to a runtime, and the descriptions of graphs, stored as JSON beside them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import torch

from studio.errors import DamagedModelFile
from studio.storage.json_input import parse_json


class Graph(Protocol):
    """A graph that is ready to run; thread-safe."""

    @property
    def device(self) -> torch.device: ...

    @property
    def engine(self) -> str:
        """Display name: library, version and device."""
        ...

    def run(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> None:
        """Compute into ``outputs``, which the caller allocates; outputs that are not listed are discarded.

        All tensors are contiguous, on ``device``, and match the types of their ports. Work queued later on the device's
        current stream can use the results. Raises ``OutOfMemory``.
        """
        ...


@dataclass(frozen=True)
class GraphDescription(ABC):
    """Base of the descriptions. ``key`` is a hash of the graphs and their weights."""

    FILE_NAME: ClassVar[str]

    key: str

    def write(self, folder: Path) -> None:
        (folder / self.FILE_NAME).write_text(json.dumps(asdict(self), indent=1), "utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Raises ``DamagedModelFile``."""
        try:
            text = (folder / cls.FILE_NAME).read_text("utf-8")
        except OSError as error:
            raise DamagedModelFile(
                "{file} of a built engine cannot be read: {reason}.",
                remedy="Build the engine again.",
                file=cls.FILE_NAME,
                reason=error,
            ) from error
        try:
            return cls._from_json(parse_json(text))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedModelFile(
                "The description of a built engine cannot be read.", remedy="Build the engine again."
            ) from error

    @classmethod
    @abstractmethod
    def _from_json(cls, fields: dict[str, Any]) -> Self: ...


@dataclass(frozen=True, slots=True)
class CachePort:
    """A cache of a flow graph: input ``name``, output ``new_name``.

    Attributes:
        clock: The unit of its frames: "tokens", or "frames" of mel.
        shape: The shape of one frame if the cache grows, otherwise of the whole cache.
        is_growing: Whether each call appends frames; otherwise a call replaces the cache.
    """

    name: str
    clock: str
    shape: tuple[int, ...]
    is_growing: bool

    @property
    def new_name(self) -> str:
        return f"new_{self.name}"


def clocks(ports: Iterable[CachePort]) -> tuple[str, ...]:
    """Return the clocks of growing caches; each has its own bias input (``bias_name``)."""
    return tuple(dict.fromkeys(port.clock for port in ports if port.is_growing))


def bias_name(clock: str) -> str:
    return f"{clock}.bias"


@dataclass(frozen=True)
class FlowShapes(GraphDescription):
    """The sizes of a flow and the caches of its two graphs.

    The encoder's inputs besides its caches are ``tokens`` (tokens + look-ahead,), ``is_there`` of the same shape, which
    is 0 beyond the end, and ``embedding``; its outputs are ``mean`` (frames, mel_bins) and ``speaker`` (mel_bins,).
    The step's inputs are ``x``, ``mean`` and ``prompt_mel`` (frames, mel_bins), ``speaker`` and ``step`` (1,); its
    output ``following`` is the next ``x``. If ``turn_rates`` is not empty, the input ``turns`` (2, frames, rates) is
    the cosine and sine of frame times rate. ``<clock>.bias`` (own, cached + own) is added to attention scores.

    ``cache_type`` is torch's name of the type of the step's keys and values; all other tensors are float32.
    """

    FILE_NAME = "flow.json"

    mel_bins: int
    frames_per_token: int
    chunk_tokens: int
    lookahead_tokens: int
    embedding_size: int
    num_steps: int
    turn_rates: tuple[float, ...]
    encoder_caches: tuple[CachePort, ...]
    step_caches: tuple[CachePort, ...]
    cache_type: str

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> FlowShapes:
        for name in ("encoder_caches", "step_caches"):
            fields[name] = tuple(CachePort(**(port | {"shape": tuple(port["shape"])})) for port in fields[name])
        return cls(**(fields | {"turn_rates": tuple(fields["turn_rates"])}))


@dataclass(frozen=True, slots=True)
class TailPort:
    """The last columns of one vocoder layer: input ``name`` (1, channels, columns), output ``new_name``.

    At the start of an utterance it is ``first_columns`` zeros, which may be fewer.
    """

    name: str
    channels: int
    first_columns: int
    columns: int

    @property
    def new_name(self) -> str:
        return f"new_{self.name}"


@dataclass(frozen=True)
class VocoderShapes(GraphDescription):
    """The sizes of the graph of a vocoder's decoder.

    Its inputs besides the tails are ``mel`` (1, bins, frames) and ``spectrum`` (1, size + 2, columns). Its output
    ``made`` is the spectrum of the waveform, of the same shape as ``spectrum``.
    """

    FILE_NAME = "vocoder.json"

    columns_per_frame: int
    tails: tuple[TailPort, ...]

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> VocoderShapes:
        return cls(**(fields | {"tails": tuple(TailPort(**port) for port in fields["tails"])}))
