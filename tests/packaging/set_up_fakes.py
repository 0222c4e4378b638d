"""A fake project, pip and machine for set-up tests: no downloads, no installation."""

from __future__ import annotations

from pathlib import Path

from set_up.environment import Environment
from set_up.failure import SetUpFailed
from set_up.machine import Machine, NvidiaDriver
from set_up.progress import Progress


class FakePip:
    """Remembers what it was asked to install; ``fails_on`` makes calls that mention a word fail."""

    def __init__(self, environment: Environment, fails_on: str = "") -> None:
        self.calls: list[str] = []
        self._environment = environment
        self._fails_on = fails_on

    def install(self, *arguments: str) -> None:
        call = " ".join(arguments)
        self.calls.append(call)
        if self._fails_on and self._fails_on in call:
            raise SetUpFailed("The package index cannot be reached.", remedy="Connect.")
        if arguments[-1].startswith("torch"):
            self.put("torch")

    def remove(self, *packages: str) -> None:
        self.calls.append(f"without {' '.join(packages)}")

    def put(self, package: str) -> None:
        site_packages = self._environment.folder / "lib" / "python3.11" / "site-packages"
        (site_packages / f"{package}-2.13.0.dist-info").mkdir(parents=True, exist_ok=True)


class QuietProgress(Progress):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def note(self, text: str) -> None:
        self.told.append(text)


def machine(system: str = "Linux", driver: NvidiaDriver | None = None, *, is_root: bool = False) -> Machine:
    """A Debian computer, unless another system is named."""
    return Machine(
        system=system, architecture="x86_64", python="3.11", is_root=is_root, is_debian=system == "Linux", driver=driver
    )


def write_project(folder: Path, *, requirement: str = "torch>=2.6,<2.14", line_length: int = 120) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(
        f"""
        [project]
        name = "x"
        dependencies = ["torchless>=1", "onnxruntime>=1.20", "onnx>=1.17", "{requirement}"]
        [project.optional-dependencies]
        media = ["av>=13"]
        gpu = ["tensorrt-rtx-cu13-libs>=1.5; sys_platform == 'linux'"]
        [tool.ruff]
        line-length = {line_length}
        """
    )
