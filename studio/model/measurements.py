"""Comparisons of a network with the exact one: their results, and the records of them in the cache folder. No torch.

A comparison is made once for everything on which it depends, its *facts*. A record is a JSON file that contains the
facts and the result, and whose name contains their hash::

    engines/measured/<key>.json          precisions and solvers, compared in the worker
    engines/built/<key>/manifest.json    engines, compared in trials (``studio/engines/manifest.py``)

The folder of a model may contain records of its own, which spare the first start their comparisons (``INCLUDED_FILE``).

Decision: two folders. Reason: one rename installs the files of an engine together with its record, which a size limit
evicts together; and without the record of a trial, loading a model does not import the libraries of engines.
Alternative: one folder of records, which could name files that were evicted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import studio
from studio import paths
from studio.errors import CannotWrite, DiskFull
from studio.messages import Message
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_log = logging.getLogger(__name__)
# The file of records in the folder of a model.
INCLUDED_FILE = "comparisons.json"
_MACHINE_FACTS = frozenset({"torch", "onnxruntime", "instructions", "weights"})
# Metadata of a field whose key in JSON differs from its name.
JSON_KEY = "json_key"
# Bump when the meaning of a field changes.
_VERSION = 2

Array = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Verification:
    """The comparison of a network with plain float32 on the same inputs.

    Attributes:
        relative_error: RMS of the difference divided by the RMS of the reference.
        max_error: Largest difference, in units of the output.
        mel_distance_db: Mean mel-cepstral distortion of the test sentence, for stages whose output is audible.
        agreement: Share of equal tokens, for stages that choose tokens.
        divergence_nats, worst_divergence_nats: Kullback-Leibler divergence of the next token's distribution, mean and of
            the worst step, for the language model.
        rejection: Reason why the network is rejected, or None.
    """

    is_finite: bool
    relative_error: float
    max_error: float
    num_values: int
    mel_distance_db: float | None = None
    agreement: float | None = None
    divergence_nats: float | None = None
    worst_divergence_nats: float | None = None
    rejection: Message | None = field(default=None, metadata={JSON_KEY: "complaint"})


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per second of audio. If there is memory for both, network and reference are measured alternately, so that
    other load affects them equally.

    ``first_seconds`` is the time until the first result of a line.
    """

    seconds_per_audio_second: float
    reference_seconds_per_audio_second: float
    first_seconds: float
    num_rounds: int

    @property
    def speedup(self) -> float:
        return self.reference_seconds_per_audio_second / self.seconds_per_audio_second


@dataclass(frozen=True, slots=True)
class Record:
    """The result of a comparison.

    Attributes:
        facts: Everything on which the result depends.
        made_at: ISO 8601, UTC.
        timing: None if the network was rejected, or if its speed is known without a measurement.
    """

    key: str
    facts: Mapping[str, str]
    made_at: str
    program_version: str
    verification: Verification
    timing: Timing | None = None

    def write(self, path: Path) -> None:
        """Raises ``DiskFull`` and ``CannotWrite``."""
        write_json(path, self)


def compare(wanted: Array, found: Array) -> Verification:
    """Return the error of ``found`` against ``wanted``; infinite if shapes differ or values are not finite."""
    if wanted.shape != found.shape or not np.isfinite(found).all():
        return Verification(bool(np.isfinite(found).all()), np.inf, np.inf, found.size)
    difference = found.astype(np.float64) - wanted.astype(np.float64)
    norm = float(np.linalg.norm(wanted.astype(np.float64)))
    error = float(np.linalg.norm(difference))
    return Verification(
        is_finite=True,
        relative_error=error / norm if norm else (0.0 if error == 0.0 else np.inf),
        max_error=float(np.abs(difference).max(initial=0.0)),
        num_values=found.size,
    )


def record_key(facts: Mapping[str, str]) -> str:
    """Return the name of a record: the stage, the candidate's name and a hash of all facts."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return f"{facts['stage']}-{facts['name']}-{digest[:20]}"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Records:
    """The records of comparisons that were made in the worker, and those that the ``model_folder`` contains.

    The latter lack the facts of a machine, because distances hardly depend on it, and no weights are compared twice.
    """

    def __init__(self, folder: Path | None = None, model_folder: Path | None = None) -> None:
        self._folder = folder or paths.cache_folder() / "engines" / "measured"
        self._included = [] if model_folder is None else read_included(model_folder)

    def read(self, facts: Mapping[str, str]) -> Record | None:
        """Return the record of a comparison with these facts; None if there is none or if it is damaged."""
        found = _read(self._path(facts))
        if found is not None and dict(found.facts) == dict(facts):
            return found
        portable = portable_facts(facts)
        return next((record for record in self._included if dict(record.facts) == portable), None)

    def add(self, facts: Mapping[str, str], verification: Verification, timing: Timing | None = None) -> Record:
        """Return the record of a result, and store it if it is finite.

        Without a stored record, the comparison is repeated at the next start.
        """
        record = Record(record_key(facts), facts, now(), studio.__version__, verification, timing)
        try:
            if verification.is_finite:
                record.write(self._path(facts))
        except (DiskFull, CannotWrite) as error:
            _log.warning("cannot store the comparison: %s", error)
        return record

    def all(self) -> list[Record]:
        found = (_read(path) for path in sorted(self._folder.glob("*.json")))
        return [record for record in found if record is not None]

    def _path(self, facts: Mapping[str, str]) -> Path:
        return self._folder / f"{record_key(facts)}.json"


def portable_facts(facts: Mapping[str, str]) -> dict[str, str]:
    """Return ``facts`` without those of a machine and its libraries."""
    return {name: fact for name, fact in facts.items() if name not in _MACHINE_FACTS}


def read_included(model_folder: Path) -> list[Record]:
    """Return the records in ``INCLUDED_FILE`` of a model; none if there is no such file or if it is damaged."""
    found = []
    with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
        found = [Record(**record_fields(values)) for values in read_values(model_folder / INCLUDED_FILE)["records"]]
    return found


def _read(path: Path) -> Record | None:
    with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
        return Record(**record_fields(read_values(path)))
    return None


def record_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a ``Record`` from its JSON values. Raise an error of a wrong type or missing key."""
    verification = values["verification"]
    rejection = verification["complaint"]
    optional = {
        name: None if verification.get(name) is None else float(verification[name])
        for name in ("mel_distance_db", "agreement", "divergence_nats", "worst_divergence_nats")
    }
    return {
        "key": str(values["key"]),
        "facts": {str(name): str(value) for name, value in values["facts"].items()},
        "made_at": str(values["made_at"]),
        "program_version": str(values["program_version"]),
        "verification": Verification(
            is_finite=bool(verification["is_finite"]),
            relative_error=_number(verification["relative_error"]),
            max_error=_number(verification["max_error"]),
            num_values=int(verification["num_values"]),
            rejection=None if rejection is None else read_message(rejection),
            **optional,
        ),
        "timing": None if values["timing"] is None else Timing(**values["timing"]),
    }


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)


def read_message(values: dict[str, Any]) -> Message:
    facts = {
        str(name): read_message(fact) if isinstance(fact, dict) else fact
        for name, fact in values["facts"].items()
        if isinstance(fact, str | int | float | dict)
    }
    return Message(str(values["template"]), facts)


def read_values(path: Path) -> dict[str, Any]:
    """Return the content of ``path``, empty if it is unreadable or from another version."""
    try:
        values = read_json(path)
    except (OSError, ValueError):
        return {}
    if not isinstance(values, dict) or values.get("version") not in (1, _VERSION):
        return {}
    return _from_version_1(values) if values["version"] == 1 else values


def _from_version_1(values: dict[str, Any]) -> dict[str, Any]:
    """Double the distortion, which was computed with half the usual scale. Drop a rejection because of it."""
    verification = values.get("verification")
    if not isinstance(verification, dict) or not isinstance(verification.get("mel_distance_db"), int | float):
        return values
    distance = "distance" in ((verification.get("complaint") or {}).get("facts") or {})
    return (
        {}
        if distance
        else values | {"verification": verification | {"mel_distance_db": 2 * verification["mel_distance_db"]}}
    )


def write_json(path: Path, value: object) -> None:
    """Write a dataclass. Raises ``DiskFull`` and ``CannotWrite``."""
    values = {"version": _VERSION, **_as_json(value)}
    atomic_write(path, json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True).encode())


def _as_json(value: object) -> Any:
    """Convert dataclasses, enums and their contents to JSON values; numbers that are not finite become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            part.metadata.get(JSON_KEY, part.name): _as_json(getattr(value, part.name))
            for part in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(name): _as_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
