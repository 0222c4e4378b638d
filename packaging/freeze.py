"""Build the program as a folder that needs no Python, and packages of it.

    python3 packaging/freeze.py                     the folder: build/frozen/dist/timbre-studio
    python3 packaging/freeze.py --deb --tarball     on Linux, also a Debian package and an archive
    python3 packaging/freeze.py --environment .venv/bin/python
    python3 packaging/freeze.py --media             with PyAV, for private use

It creates an environment with the CPU build of torch, freezes it, collects the licences of its contents, starts the
result once and prints the sizes. ``--environment`` freezes the packages of another Python instead, in which the program
is installed with the extra ``freeze``.

Decision: PyAV is not included. Reason: it contains x264 and x265 under the GPL, and PyTorch contains an Intel library
with an incompatible licence; without PyAV the program reads m4a, mp4 and webm through an installed ffmpeg.
Alternative: ``--media`` builds a package that must not be distributed.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from frozen.linux_package import PackagingFailed, Release, build_deb, build_tarball, check_desktop_files, desktop_files
from set_up.environment import Environment
from set_up.failure import SetUpFailed
from set_up.install import Installer, wanted_stamp
from set_up.machine import Machine
from set_up.progress import Progress

CHECKOUT = Path(__file__).resolve().parent.parent
SPECIFICATION = CHECKOUT / "packaging" / "frozen" / "timbre.spec"
NAME = "timbre-studio"
_EXTRAS = frozenset({"app", "freeze", "provenance", "serve"})


def main(arguments: list[str]) -> int:
    chosen = _parser().parse_args(arguments)
    progress = Progress()
    work = chosen.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    try:
        extras = _EXTRAS | {"media"} if chosen.media else _EXTRAS
        python = chosen.environment or _own_environment(work, extras, progress)
        folder = freeze(python, work, progress, with_media=chosen.media)
        packages = _packages(folder, python, work, chosen, progress)
    except (PackagingFailed, SetUpFailed, LookupError) as error:
        progress.note(f"Packaging failed.\n{error}")
        return 1
    for path in (folder, *packages):
        progress.note(f"{path}: {_size_bytes(path) / 1e6:.0f} MB")
    return 0


def freeze(python: Path, work: Path, progress: Progress, *, with_media: bool) -> Path:
    """Build the folder of the program, including ``NOTICES.txt``. Raises ``PackagingFailed``."""
    icons, dist = work / "icons", work / "dist"
    _run([str(python), "-m", "frozen.drawing", str(icons)])
    with progress.stage("Freezing the program (minutes)"):
        command = [str(python), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
        command += ["--distpath", str(dist), "--workpath", str(work / "pyinstaller"), str(SPECIFICATION)]
        _run(command, TIMBRE_ICONS=str(icons), TIMBRE_MEDIA="1" if with_media else "")
    folder = dist / NAME
    with progress.stage("Collecting licences"):
        command = [str(python), "-m", "frozen.notices", str(dist / f"{NAME}.inventory.json")]
        _run([*command, str(folder / "NOTICES.txt"), *(["--media"] if with_media else [])])
    with progress.stage("Starting it once"):
        program = folder / ("timbre.exe" if os.name == "nt" else "timbre")
        _run([str(program), "--version"])
        _run([str(program), "-m", "studio.engines.installed"])
    return folder


def _own_environment(work: Path, extras: frozenset[str], progress: Progress) -> Path:
    """Create an environment with exactly what the program needs. Raises ``SetUpFailed``."""
    # The package must run on computers with any GPU or none.
    machine = dataclasses.replace(Machine.this(), driver=None)
    environment = Environment(work / "environment")
    Installer(CHECKOUT, machine, progress).provide(environment, wanted_stamp(CHECKOUT, environment, machine, extras))
    return environment.python


def _packages(folder: Path, python: Path, work: Path, chosen: argparse.Namespace, progress: Progress) -> list[Path]:
    if not (chosen.deb or chosen.tarball):
        return []
    release, icons, made = _release(folder), work / "icons", []
    with progress.stage("Checking the desktop files"):
        share = work / "share"
        shutil.rmtree(share, ignore_errors=True)
        for place, content in desktop_files(icons, release).items():
            (share / place).parent.mkdir(parents=True, exist_ok=True)
            (share / place).write_bytes(content)
        for tool in check_desktop_files(share):
            progress.note(f"  {tool} is not installed: its file was not checked.")
    if chosen.deb:
        with progress.stage("Building the Debian package"):
            pages = work / "command-line"
            _run([str(python), "-m", "frozen.manual_pages", release.version, release.date, str(pages)])
            made.append(build_deb(folder, work, work / "dist", icons, release, pages=pages))
    if chosen.tarball:
        with progress.stage("Building the archive"):
            made.append(build_tarball(folder, work / "dist", icons, release))
    return made


def _release(folder: Path) -> Release:
    """The version that the program reports, dated by the last commit, so that builds are reproducible."""
    said = subprocess.run([folder / "timbre", "--version"], capture_output=True, text=True, check=True)
    date = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not date:
        command = ["git", "-C", str(CHECKOUT), "log", "-1", "--format=%ct"]
        date = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return Release(said.stdout.split()[-1], int(date) if date.isdecimal() else int(time.time()))


def _run(command: list[str], **variables: str) -> None:
    """Run ``command`` with this folder on the Python path; its output is shown."""
    settings = os.environ | {"PYTHONPATH": str(CHECKOUT / "packaging"), "QT_QPA_PLATFORM": "offscreen"} | variables
    try:
        status = subprocess.run(command, env=settings, stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        raise PackagingFailed(f"{command[0]} does not start: {error}") from error
    if status != 0:
        raise PackagingFailed(f"{' '.join(command)} ended with status {status}.")


def _size_bytes(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="freeze.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deb", action="store_true", help="also build a Debian package (needs dpkg-deb)")
    parser.add_argument("--tarball", action="store_true", help="also build an archive for any Linux (needs xz)")
    parser.add_argument("--media", action="store_true", help="include PyAV; the result must not be distributed")
    parser.add_argument("--environment", type=Path, metavar="PYTHON", help="freeze the packages of this Python")
    parser.add_argument(
        "--work", type=Path, default=CHECKOUT / "build" / "frozen", metavar="FOLDER", help="build folder"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
