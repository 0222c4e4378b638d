"""Description of the flow's graphs, stored as JSON beside them. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from studio.errors import DamagedModelFile
from studio.storage.json_input import parse_json


@dataclass(frozen=True, slots=True)
class CachePort:
    """A cache of a graph: input ``name``, output ``new_name``. ``clock``: the unit of its frames, tokens or mel frames.

    ``shape`` is that of one frame for a growing cache, else of the whole cache.
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


@dataclass(frozen=True, slots=True)
class FlowShapes:
    """The sizes of a flow and the caches of its two graphs.

    Ports besides the caches. Encoder: ``tokens`` (tokens + look-ahead,), ``is_there`` of the same shape, 0 beyond the
    end, ``embedding``; returns ``mean`` (frames, mel_bins) and ``speaker`` (mel_bins,). Step: ``x``, ``mean``,
    ``prompt_mel`` (frames, mel_bins), ``speaker``, ``step`` (1,); returns ``following``, the next ``x``. If
    ``turn_rates`` is not empty, ``turns`` (2, frames, rates): cosine and sine of frame times rate. ``<clock>.bias``
    (own, cached + own) is added to scores.

    ``cache_type``: torch's name of the type of the step's keys and values; all else is float32. ``key``: hash of the
    graphs and their weights.
    """

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
    key: str

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> FlowShapes:
        """Raises ``DamagedModelFile``."""
        try:
            fields = parse_json(text)
            for name in ("encoder_caches", "step_caches"):
                ports = (CachePort(**(port | {"shape": tuple(port["shape"])})) for port in fields[name])
                fields[name] = tuple(ports)
            return cls(**(fields | {"turn_rates": tuple(fields["turn_rates"])}))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedModelFile(
                "The description of a built engine cannot be read.", remedy="Build the engine again."
            ) from error
