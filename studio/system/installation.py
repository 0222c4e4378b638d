"""The way the program was installed, and hints for repairing it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from studio import paths
from studio.messages import Message, message

_IN_INSTALLERS = ("app", "provenance", "serve")
# Commands by package manager.
_FFMPEG_OF_LINUX = {
    "apt-get": "sudo apt-get install ffmpeg",
    "dnf": "sudo dnf install ffmpeg-free",
    "pacman": "sudo pacman -S ffmpeg",
    "zypper": "sudo zypper install ffmpeg",
}


def origin_text() -> Message:
    """Return a name for the way the program was installed, for a report."""
    if _is_frozen():
        return message("installer")
    return message("pip or uv") if _is_package() else message("source checkout")


def repair_hint() -> Message:
    """Return the hint for a missing file or library of the program."""
    if _is_frozen():
        return message("Install the program again.")
    if _is_package():
        return message("Install it again: pip install --force-reinstall, or uv tool install --reinstall.")
    return message("Run the set-up again: python3 packaging/run.py.")


def gpu_torch_hint() -> Message:
    """Return the hint for a PyTorch that does not use the GPU."""
    if _is_frozen():
        return message(
            "Installers contain PyTorch for CPUs; packaging/run.py in the source installs the build for GPUs."
        )
    if _is_package():
        return message("Install the GPU build of PyTorch: https://pytorch.org/get-started/locally/.")
    return message("Run the set-up again (python3 packaging/run.py): it installs the GPU build of PyTorch.")


def media_hint() -> Message:
    """Return the hint for adding support for m4a, mp4 and webm."""
    if sys.platform == "win32":
        program = message("Install ffmpeg (winget install ffmpeg) and start this program again.")
    elif sys.platform == "darwin":
        program = message("Install ffmpeg: brew install ffmpeg (https://brew.sh).")
    else:
        command = next((command for tool, command in _FFMPEG_OF_LINUX.items() if shutil.which(tool)), "")
        program = message("Install ffmpeg: {command}.", command=command) if command else message("Install ffmpeg.")
    if _is_frozen():
        return program
    return message("{program} Alternatively: {command}.", program=program, command=_install_command("media"))


def how_to_add(extra: str) -> Message:
    """Return the hint for missing libraries of an extra of pyproject.toml."""
    if _is_frozen():
        if extra in _IN_INSTALLERS:
            return repair_hint()
        return message("Installers do not contain them. Run the program from its source.")
    if _is_package():
        return message("Install them, in the folder of the source: {command}.", command=_install_command(extra))
    return message("Install them: {command}.", command=_install_command(extra))


def _install_command(extra: str) -> str:
    """Return the command that adds an extra to this Python. An installed package does not know the source's folder."""
    source = ["."] if _is_package() else ["--editable", str(paths.resources().parent)]
    return shlex.join([sys.executable, "-m", "pip", "install", *source[:-1], f"{source[-1]}[{extra}]"])


def how_to_show_window(error: ImportError) -> Message:
    """Return the hint for a window that cannot be imported: without Qt, or without system libraries that Qt needs."""
    if _is_frozen():
        return message(
            "Install the libraries listed in README.txt beside the program; `timbre --help` works without them."
        )
    if isinstance(error, ModuleNotFoundError):
        return how_to_add("app")
    return message("Run packaging/run.py once, which lists what is missing; `timbre --help` works without it.")


def _is_package() -> bool:
    """Return whether pip or uv installed the program. The resources are then inside the package, not beside it."""
    return paths.resources().parent == Path(paths.__file__).resolve().parent


def _is_frozen() -> bool:
    """Return whether PyInstaller built the program."""
    return bool(getattr(sys, "frozen", False))
