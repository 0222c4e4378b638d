"""System libraries that no Python package contains: which are missing, and how to install them."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from set_up.failure import SetUpFailed
from set_up.machine import Machine
from set_up.progress import Progress


@dataclass(frozen=True)
class Library:
    soname: str
    purpose: str
    package_of: dict[str, str]  # package manager -> package


def _of_window(soname: str, debian: str, fedora: str, arch: str) -> Library:
    packages = {"apt-get": debian, "dnf": fedora, "pacman": arch, "zypper": debian}
    return Library(soname, "showing the window", packages)


# Wheels for macOS and Windows contain their own copies.
LINUX_LIBRARIES = (
    Library(
        "libportaudio.so.2",
        "playing and recording sound",
        {"apt-get": "libportaudio2", "dnf": "portaudio", "pacman": "portaudio", "zypper": "libportaudio2"},
    ),
    _of_window("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd"),
    _of_window("libEGL.so.1", "libegl1", "libglvnd-egl", "libglvnd"),
    _of_window("libglib-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    _of_window("libdbus-1.so.3", "libdbus-1-3", "dbus-libs", "dbus"),
    _of_window("libfontconfig.so.1", "libfontconfig1", "fontconfig", "fontconfig"),
    _of_window("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    _of_window("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
    _of_window("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    _of_window("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    _of_window("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    _of_window("libxcb-shape.so.0", "libxcb-shape0", "libxcb", "libxcb"),
)
# Debian packages by program: to trace system calls, and to run the window on a virtual screen.
TEST_PROGRAMS = {"strace": "strace", "Xvfb": "xvfb", "openbox": "openbox", "xdotool": "xdotool"}
INSTALL_COMMANDS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
}


def missing_libraries(machine: Machine, loads: Callable[[str], bool] | None = None) -> list[Library]:
    if machine.system != "Linux":
        return []
    loads = loads or _loads
    return [library for library in LINUX_LIBRARIES if not loads(library.soname)]


def how_to_install(*libraries: Library, has_program: Callable[[str], bool] | None = None) -> str:
    """Return the command that installs ``libraries`` on this system, or their names."""
    has_program = has_program or _has_program
    for manager, command in INSTALL_COMMANDS.items():
        if has_program(manager):
            packages = dict.fromkeys(library.package_of[manager] for library in libraries)
            return f"sudo {command} {' '.join(packages)}"
    names = ", ".join(library.soname for library in libraries)
    return f"install the packages that contain {names}"


class AptGet:
    """Installs Debian and Ubuntu packages; updates the package lists once."""

    def __init__(self, progress: Progress, run: Callable[[list[str]], bool] | None = None) -> None:
        self._progress = progress
        self._run = run or _run_quietly
        self._lists_are_fresh = False

    def install(self, *packages: str) -> bool:
        """Return whether the installation succeeded."""
        with self._progress.stage(f"Installing {', '.join(packages)}"):
            if not self._lists_are_fresh:
                self._run(["apt-get", "update"])
                self._lists_are_fresh = True
            return self._run(["apt-get", "install", "-y", "--no-install-recommends", *packages])


def provide_libraries(machine: Machine, apt_get: AptGet, progress: Progress) -> None:
    """Install missing libraries if permitted, otherwise print how. The command line works without them."""
    if machine.is_root and machine.is_debian:
        packages = [library.package_of["apt-get"] for library in missing_libraries(machine)]
        if packages:
            apt_get.install(*packages)
    by_purpose: dict[str, list[Library]] = {}
    for library in missing_libraries(machine):
        by_purpose.setdefault(library.purpose, []).append(library)
    for purpose, libraries in by_purpose.items():
        names = ", ".join(library.soname for library in libraries)
        progress.note(
            f"Missing: {names}, needed for {purpose}. Everything else works.\n"
            f"  To install: {how_to_install(*libraries)}"
        )


def provide_test_programs(machine: Machine, apt_get: AptGet, has_program: Callable[[str], bool] | None = None) -> None:
    """Install the programs that some tests need, if permitted. Those tests are skipped without them."""
    has_program = has_program or _has_program
    if machine.system == "Linux" and machine.is_root and machine.is_debian:
        packages = [package for program, package in TEST_PROGRAMS.items() if not has_program(program)]
        if packages:
            apt_get.install(*packages)


def require_venv(machine: Machine, apt_get: AptGet, is_there: Callable[[], bool] | None = None) -> None:
    """Install or require ensurepip, which Debian and Ubuntu package separately."""
    is_there = is_there or (lambda: importlib.util.find_spec("ensurepip") is not None)
    if is_there():
        return
    package = f"python{machine.python}-venv"
    if machine.is_root and machine.is_debian and apt_get.install(package):
        return
    raise SetUpFailed(
        "This Python cannot create environments: its module ensurepip is missing.",
        remedy=f"On Debian and Ubuntu: sudo apt-get install {package}. Then start again.",
    )


def _loads(soname: str) -> bool:
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def _has_program(name: str) -> bool:
    return shutil.which(name) is not None


def _run_quietly(command: list[str]) -> bool:
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=settings, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0
