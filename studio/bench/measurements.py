"""Results of a benchmark as JSON and as a table: measurements, decisions, and the machine."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
import sys
from dataclasses import dataclass, field

import psutil
import torch

from studio.system.processor import cpu_name


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number with its definition."""

    name: str  # ``subject.quantity``
    value: float
    unit: str  # such as ``s`` or ``tokens/s``
    definition: str

    @property
    def subject(self) -> str:
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Decision:
    """An automatic choice of the program on this machine, and the measurements behind it."""

    subject: str
    chosen: str
    because: str
    measured: tuple[Measurement, ...] = ()


@dataclass
class BenchReport:
    """All results of one run; ``machine`` and ``model`` describe what was measured."""

    model: dict[str, str] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=dict)
    figures: list[Measurement] = field(default_factory=list)
    choices: list[Decision] = field(default_factory=list)

    def __getitem__(self, name: str) -> float:
        """Return the value of the measurement ``name``. Raise ``KeyError`` if it was not measured."""
        for figure in self.figures:
            if figure.name == name:
                return figure.value
        raise KeyError(name)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=False)

    def to_table(self) -> str:
        """Return a block per subject with a line per measurement, then the decisions and the definitions."""
        lines = [f"{key}: {value}" for key, value in (self.model | self.machine).items()]
        subject = ""
        for figure in self.figures:
            if figure.subject != subject:
                subject = figure.subject
                lines += ["", _words(subject)]
            lines.append(_line(figure))
        for choice in self.choices:
            lines += ["", f"{choice.subject}: {choice.chosen}", f"  because {choice.because}"]
            lines += [_line(figure) for figure in choice.measured]
        lines += ["", "Definitions"]
        lines += [f"  {_words(figure.name)}: {figure.definition}" for figure in self.figures]
        return "\n".join(lines) + "\n"


def _words(name: str) -> str:
    return name.replace(".", ", ").replace("_", " ")


def _line(figure: Measurement) -> str:
    return f"  {_words(figure.name.partition('.')[2]):<44} {_rounded(figure.value):>10} {figure.unit}".rstrip()


def _rounded(value: float) -> str:
    """Format with three significant digits, without an exponent."""
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.5f}"


def describe_machine() -> dict[str, str]:
    """Return processor, cores, memory, versions, date and load average."""
    memory = psutil.virtual_memory().total / 2**30
    described = {
        "processor": cpu_name(),
        "cores": f"{psutil.cpu_count(logical=False) or '?'} physical, {psutil.cpu_count()} logical",
        "memory": f"{memory:.0f} GiB",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "threads": str(torch.get_num_threads()),
        "date": datetime.date.today().isoformat(),
    }
    if hasattr(os, "getloadavg"):
        described["load average before"] = f"{os.getloadavg()[0]:.1f}"
    if torch.cuda.is_available():
        described["gpu"] = torch.cuda.get_device_name()
    return described


def peak_memory_bytes() -> int:
    """Return the peak memory of this process in bytes, including mapped files."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource  # noqa: PLC0415 - not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
