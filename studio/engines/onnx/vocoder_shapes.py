"""Description of the vocoder's graph, stored as JSON beside it. No torch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from studio.errors import DamagedModelFile
from studio.storage.json_input import parse_json


@dataclass(frozen=True, slots=True)
class TailPort:
    """The tail of one layer: input ``name`` (1, channels, columns), output ``new_name``.

    At the start of an utterance it is ``first_columns`` zeros, which may be fewer.
    """

    name: str
    channels: int
    first_columns: int
    columns: int

    @property
    def new_name(self) -> str:
        return f"new_{self.name}"


@dataclass(frozen=True, slots=True)
class VocoderShapes:
    """Sizes of the vocoder's graph.

    Besides the tails, its inputs are ``mel`` (1, bins, frames) and ``spectrum`` (1, size + 2, columns), and its output
    is ``made``, shaped like ``spectrum``. ``key``: hash of the graph and its weights.
    """

    columns_per_frame: int
    tails: tuple[TailPort, ...]
    key: str

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> VocoderShapes:
        """Raises ``DamagedModelFile``."""
        try:
            fields = parse_json(text)
            return cls(**(fields | {"tails": tuple(TailPort(**port) for port in fields["tails"])}))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedModelFile(
                "The description of a built engine cannot be read.", remedy="Build the engine again."
            ) from error
