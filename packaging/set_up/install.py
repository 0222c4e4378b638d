"""Installs the program and its packages into the environment of a checkout."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from set_up.environment import Environment, Stamp
from set_up.failure import SetUpFailed
from set_up.libraries import AptGet, provide_libraries, provide_test_programs, require_venv
from set_up.machine import Machine, require_supported
from set_up.onnx_build import FOR_PROCESSORS, onnx_build, with_build
from set_up.pip import Pip
from set_up.progress import Progress
from set_up.torch_build import TorchSource, limitation, torch_sources

FOLDER_VARIABLE = "TIMBRE_ENVIRONMENT"


def find_environment(checkout: Path) -> Environment:
    """Return ``.venv/`` of the checkout, or the folder set by ``TIMBRE_ENVIRONMENT``."""
    return Environment(Path(os.environ.get(FOLDER_VARIABLE) or checkout / ".venv").absolute())


def wanted_stamp(checkout: Path, environment: Environment, machine: Machine, extras: frozenset[str]) -> Stamp:
    """Return what the current checkout needs on this machine. Fast: called at every start."""
    project = _project(checkout)
    # Only the parts that affect the installation: a changed lint rule must not cause a set-up.
    relevant = {"build-system": project.get("build-system"), "project": project["project"]}
    build = onnx_build(machine)
    runtime = "" if build == FOR_PROCESSORS else f"; {build}"
    driver = "none" if machine.driver is None else f"nvidia {machine.driver.major or 'of unknown version'}"
    if machine.driver is not None and machine.driver.is_before_turing:
        driver += " of GPUs before Turing"
    return Stamp(
        # Programs in an environment contain its absolute path, so a moved checkout needs a new one.
        foundation=f"{checkout} in {environment.folder}; Python {machine.python}; {machine.system} "
        f"{machine.architecture}; driver {driver}; {_torch_requirement(checkout)}{runtime}",
        requirements=hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest(),
        extras=extras,
    )


class Installer:
    """Performs a set-up. Tests replace the creation of environments, pip and apt-get."""

    def __init__(
        self,
        checkout: Path,
        machine: Machine,
        progress: Progress,
        *,
        make_venv: Callable[[Path], None] | None = None,
        make_pip: Callable[[Path, Path, Progress, tuple[int, ...]], Pip] = Pip,
        apt_get: AptGet | None = None,
    ) -> None:
        self._checkout = checkout
        self._machine = machine
        self._progress = progress
        self._make_venv = make_venv or _make_venv
        self._make_pip = make_pip
        self._apt_get = apt_get or AptGet(progress)

    def provide(self, environment: Environment, wanted: Stamp) -> None:
        """Set up what is missing. If nothing is, return at once and print nothing."""
        if _is_ready(environment, wanted):
            return
        with environment.sole_set_up(on_wait=self._note_waiting) as lock:
            if _is_ready(environment, wanted):  # set up by the process that held the lock
                return
            found = environment.stamp
            extras = wanted.extras if found is None else wanted.extras | found.extras
            self._set_up(environment, Stamp(wanted.foundation, wanted.requirements, extras), lock)

    def _set_up(self, environment: Environment, wanted: Stamp, lock: int) -> None:
        require_supported(self._machine)
        is_new = self._needs_new(environment, wanted)
        if is_new:
            require_venv(self._machine, self._apt_get)
        self._progress.note(f"Setting up Timbre Studio in {environment.folder} (only once)")
        if (limit := limitation(self._machine)) is not None:
            self._progress.note(limit)
        environment.begin()
        if is_new:
            environment.clear()
            with self._progress.stage(f"Creating an environment for Python {self._machine.python}"):
                self._make_venv(environment.folder)
        # On Windows a lock denies access to the file itself, so pip inherits it on other systems only.
        held_open = () if os.name == "nt" else (lock,)
        pip = self._make_pip(environment.python, environment.log, self._progress, held_open)
        if not environment.has("torch"):
            self._install_torch(pip, environment.folder)
        with self._progress.stage("Installing Timbre Studio and its packages"):
            self._install_program(environment, pip, sorted(wanted.extras))
        provide_libraries(self._machine, self._apt_get, self._progress)
        if "dev" in wanted.extras:
            provide_test_programs(self._machine, self._apt_get)
        environment.finish(wanted)
        self._progress.note("Timbre Studio is ready.")

    def _install_program(self, environment: Environment, pip: Pip, extras: list[str]) -> None:
        build = onnx_build(self._machine)
        if build != FOR_PROCESSORS:
            if environment.has(FOR_PROCESSORS):  # uninstalling one build breaks the other
                pip.remove(FOR_PROCESSORS, build)
            try:
                pip.install(*with_build(_requirements(self._checkout, extras), build))
            except SetUpFailed as failure:
                self._progress.note(f"  {build} is not available ({failure.message}); using {FOR_PROCESSORS}")
            else:
                pip.install("--no-deps", "--editable", str(self._checkout))
                return
        pip.install("--editable", f"{self._checkout}[{','.join(extras)}]")

    def _needs_new(self, environment: Environment, wanted: Stamp) -> bool:
        if environment.was_interrupted:
            self._progress.note("The last set-up was interrupted; starting over.")
            return True
        found = environment.stamp
        if found is not None:
            return found.foundation != wanted.foundation
        # An environment created by hand is kept if its Python version matches.
        return environment.python_version != self._machine.python

    def _install_torch(self, pip: Pip, folder: Path) -> None:
        requirement = _torch_requirement(self._checkout)
        sources = torch_sources(self._machine)
        for source, is_last in zip(sources, [*[False] * (len(sources) - 1), True], strict=True):
            _require_disk_space(folder, source)
            try:
                with self._progress.stage(f"Installing torch, {source.build}"):
                    pip.install(*_from(source), requirement)
            except SetUpFailed as failure:
                if is_last:
                    raise
                self._progress.note(f"  failed ({failure.message}); trying the next source")
            else:
                return

    def _note_waiting(self) -> None:
        self._progress.note("Waiting for another process that is setting up Timbre Studio …")


def _is_ready(environment: Environment, wanted: Stamp) -> bool:
    found = environment.stamp
    return found is not None and found.serves(wanted) and not environment.was_interrupted


def _from(source: TorchSource) -> list[str]:
    if source.index_url is None:
        return []
    # Without dependencies, which are installed with the other packages; an unreachable index fails after one page.
    return ["--no-deps", "--index-url", source.index_url, "--retries", "1", "--timeout", "15"]


def _require_disk_space(folder: Path, source: TorchSource) -> None:
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < source.needed_bytes:
        raise SetUpFailed(
            f"{source.build.capitalize()} of torch needs {source.needed_bytes / 1e9:.1f} GB in "
            f"{folder}, where {free_bytes / 1e9:.1f} GB are free.",
            remedy=f"Free disk space, or set {FOLDER_VARIABLE} to a folder on another disk, and start again.",
        )


def _torch_requirement(checkout: Path) -> str:
    """The requirement as declared by the project."""
    return next(line for line in _requirements(checkout, []) if re.match(r"torch\b", line))


def _requirements(checkout: Path, extras: list[str]) -> list[str]:
    """The requirements that pip would read from the project."""
    project = _project(checkout)["project"]
    return [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]


def _project(checkout: Path) -> dict[str, Any]:
    with (checkout / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)


def _make_venv(folder: Path) -> None:
    # If the running Python belongs to this environment, it is about to be replaced: use its base Python.
    python = getattr(sys, "_base_executable", sys.executable)
    command = [python, "-I", "-m", "venv", str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if made.returncode != 0:
        raise SetUpFailed(
            f"The Python environment could not be created: {(made.stderr or made.stdout).strip()}",
            remedy="Python's module venv failed. On Debian and Ubuntu, install the package python3-venv.",
        )
