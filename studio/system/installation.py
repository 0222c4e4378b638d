"""How the program came onto this computer, which decides what a person does when a part of it is missing."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from studio import paths
from studio.wording import Message, wording

# By the tools of the Linuxes that install programs.
_FFMPEG_OF_LINUX = {
    "apt-get": "sudo apt-get install ffmpeg",
    "dnf": "sudo dnf install ffmpeg-free",
    "pacman": "sudo pacman -S ffmpeg",
    "zypper": "sudo zypper install ffmpeg",
}


def origin_text() -> Message:
    """What this program is, in a report."""
    if _is_frozen():
        return wording("installed as a program")
    return wording("installed by pip or uv") if _is_package() else wording("run from its source")


def repair_hint() -> Message:
    """Where a file or a library of the program is gone."""
    if _is_frozen():
        return wording("Install the program again.")
    if _is_package():
        return wording("Install it again: pip install --force-reinstall, or uv tool install --reinstall.")
    return wording("Run the set-up again: python3 packaging/run.py.")


def how_to_use_card() -> Message:
    """Where the program speaks with the processor although there is a graphics card."""
    if _is_frozen():
        return wording(
            "Installers bring PyTorch for the processor; packaging/run.py in the source takes the build for the card."
        )
    if _is_package():
        return wording("Install the build of PyTorch for the card: https://pytorch.org/get-started/locally/.")
    return wording("Run the set-up again (python3 packaging/run.py): it takes the build of PyTorch for the card.")


def how_to_read_media() -> Message:
    """m4a, mp4 and webm, where nothing here reads them."""
    if sys.platform == "win32":
        program = wording("Install ffmpeg (winget install ffmpeg) and start this program again.")
    elif sys.platform == "darwin":
        program = wording("Install ffmpeg: brew install ffmpeg (https://brew.sh).")
    else:
        command = next((words for tool, words in _FFMPEG_OF_LINUX.items() if shutil.which(tool)), "")
        program = wording("Install ffmpeg: {command}.", command=command) if command else wording("Install ffmpeg.")
    if _is_frozen():
        return program
    return wording('{program} pip install "timbre-studio[media]" does as well.', program=program)


def how_to_show_window() -> Message:
    """Where Qt cannot be loaded."""
    if _is_frozen():
        return wording("Install the libraries that README.txt beside the program names; `timbre --help` works without.")
    return wording("Start with packaging/run.py once, which says what is missing; `timbre --help` works without.")


def _is_package() -> bool:
    """Of pip or uv, which put the resources inside; a checkout has them beside."""
    return paths.resources().parent == Path(paths.__file__).resolve().parent


def _is_frozen() -> bool:
    """PyInstaller leaves this mark."""
    return bool(getattr(sys, "frozen", False))
