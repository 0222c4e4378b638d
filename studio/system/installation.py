"""The way the program was installed, and hints for repairing it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from studio import paths
from studio.messages import Message, wording

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
        return wording("installer")
    return wording("pip or uv") if _is_package() else wording("source checkout")


def repair_hint() -> Message:
    """Return the hint for a missing file or library of the program."""
    if _is_frozen():
        return wording("Install the program again.")
    if _is_package():
        return wording("Install it again: pip install --force-reinstall, or uv tool install --reinstall.")
    return wording("Run the set-up again: python3 packaging/run.py.")


def how_to_use_card() -> Message:
    """Return the hint for a PyTorch that does not use the GPU."""
    if _is_frozen():
        return wording(
            "Installers contain PyTorch for CPUs; packaging/run.py in the source installs the build for GPUs."
        )
    if _is_package():
        return wording("Install the GPU build of PyTorch: https://pytorch.org/get-started/locally/.")
    return wording("Run the set-up again (python3 packaging/run.py): it installs the GPU build of PyTorch.")


def how_to_read_media() -> Message:
    """Return the hint for adding support for m4a, mp4 and webm."""
    if sys.platform == "win32":
        program = wording("Install ffmpeg (winget install ffmpeg) and start this program again.")
    elif sys.platform == "darwin":
        program = wording("Install ffmpeg: brew install ffmpeg (https://brew.sh).")
    else:
        command = next((command for tool, command in _FFMPEG_OF_LINUX.items() if shutil.which(tool)), "")
        program = wording("Install ffmpeg: {command}.", command=command) if command else wording("Install ffmpeg.")
    if _is_frozen():
        return program
    return wording('{program} Alternatively: pip install "timbre-studio[media]".', program=program)


def how_to_serve() -> Message:
    """Return how to add the libraries of the speech service."""
    if _is_frozen():
        return wording("Install the program again.")
    if _is_package():
        return wording('Install them: pip install "timbre-studio[serve]".')
    return wording("Run the set-up again: python3 packaging/run.py.")


def how_to_cluster() -> Message:
    """Return how to add the libraries of a cluster."""
    if _is_frozen():
        return wording("Installers do not contain Ray. Install the program with pip, or run it from its source.")
    if _is_package():
        return wording('Install them: pip install "timbre-studio[cluster]".')
    return wording('Install them: .venv/bin/pip install --editable ".[cluster]".')


def how_to_reach_triton() -> Message:
    """Return how to add the client of Triton."""
    if _is_frozen():
        return wording("Installers do not contain it. Install the program with pip, or run it from its source.")
    if _is_package():
        return wording('Install them: pip install "timbre-studio[triton]".')
    return wording('Install them: .venv/bin/pip install --editable ".[triton]".')


def how_to_show_window() -> Message:
    """Return the hint for a Qt that cannot be loaded."""
    if _is_frozen():
        return wording(
            "Install the libraries listed in README.txt beside the program; `timbre --help` works without them."
        )
    return wording("Run packaging/run.py once, which lists what is missing; `timbre --help` works without it.")


def _is_package() -> bool:
    """Return whether pip or uv installed the program. The resources are then inside the package, not beside it."""
    return paths.resources().parent == Path(paths.__file__).resolve().parent


def _is_frozen() -> bool:
    """Return whether PyInstaller built the program."""
    return bool(getattr(sys, "frozen", False))
