"""Faults that the quick tests cannot wait for: kills, full disks, and two exports into one folder.

    python3 packaging/faults.py --work FOLDER [--short] [FAULT ...]

FAULT is one or more of ``kill-say``, ``kill-export``, ``kill-worker``, ``full-disk`` and ``two-exports``; by default all.
Each fault is caused 40 times, or 3 times with ``--short``, at random moments. After each, nothing may be lost but the line
that was being spoken; at the end, the files must equal those of an undisturbed export. A full disk needs Linux, and the
right to mount a file system in a namespace.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import psutil
import soundfile

_CHECKOUT = Path(__file__).resolve().parents[1]
_TIMBRE = (sys.executable, "-m", "studio.start")
_LINES = (
    "The last train had left.",
    "We walked home.",
    "The river was high.",
    "It rained.",
    "Nobody spoke.",
    "At home we slept.",
)
_EXACT = ("--voice", "Ada", "--precision", "float32", "--flow-precision", "float32", "--threads", "1")
_FOLDERS = ("DATA", "CONFIG", "CACHE", "LOGS")
_NUM_FAULTS, _NUM_SHORT = 40, 3
_TIMEOUT_SECONDS = 1_800
# A full disk is an error with this exit status, or no error at all where the file is only a cache or a log.
_DISK_FULL = "disk-full"
_UNEXPECTED = ("internal-error", "Traceback")
# Grows a file system that is too small, and runs the command again.
_ON_SMALL_DISK = """
mount -t tmpfs -o size="$1" tmpfs "$2" || exit 99; folder=$2; shift 2
"$@"; echo "first: $?"
mount -o remount,size=1g "$folder"
"$@"; status=$?; cp -r "$folder" "$COPY"; exit $status
"""


class FaultTrials:
    """Causes faults in a folder of its own, and compares the files with undisturbed ones."""

    def __init__(self, work: Path, num_faults: int) -> None:
        self.work, self.num_faults = work, num_faults
        self.script = work / "script.txt"
        self.script.write_text("\n\n".join(_LINES), "utf-8")
        self.random = random.Random(0)  # noqa: S311 - no secrets
        self.environment = {**os.environ, "PYTHONPATH": str(_CHECKOUT), "OMP_NUM_THREADS": "1"}
        self.environment |= {f"TIMBRE_{name}": str(work / "program" / name.lower()) for name in _FOLDERS}
        started = time.monotonic()
        self.run(self.export_to("undisturbed"))
        self.seconds = time.monotonic() - started

    def export_to(self, folder: str) -> list[str]:
        return [*_TIMBRE, "export", str(self.script), "--out", str(self.work / folder), "--split", "paragraph", *_EXACT]

    def start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, env=self.environment, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def run(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run ``command`` to its end, which must be without an unexpected error. Its status must be 0."""
        ran = self.run_any(command, environment)
        assert ran.returncode == 0, ran.stderr
        return ran

    def run_any(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            command,
            env={**self.environment, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
        assert not any(each in ran.stderr for each in _UNEXPECTED), ran.stderr
        return ran

    def require_undisturbed(self, folder: Path) -> None:
        """Check that ``folder`` contains the samples of the undisturbed export, and nothing else."""
        wanted = {path.name: soundfile.read(path)[0] for path in sorted((self.work / "undisturbed").glob("*.wav"))}
        names = sorted(path.name for path in folder.iterdir())
        assert names == list(wanted), f"{names} instead of {list(wanted)}"
        for name, samples in wanted.items():
            assert np.array_equal(soundfile.read(folder / name)[0], samples), f"{name} differs"

    def kill_say(self) -> None:
        """A killed `timbre say` leaves a whole file or none."""
        path = self.work / "said.wav"
        command = [*_TIMBRE, "say", " ".join(_LINES), "-o", str(path), *_EXACT]
        self.run(command)
        whole = soundfile.read(path)[0]
        for _ in range(self.num_faults):
            path.unlink(missing_ok=True)
            with self.start(command) as program:
                time.sleep(self.random.uniform(0.3, self.seconds))
                _kill_group(program)
            assert not path.exists() or np.array_equal(soundfile.read(path)[0], whole), "a part of a file"

    def kill_export(self) -> None:
        """A killed export keeps its files, and is resumed."""
        self._disturb("killed", _kill_group)

    def kill_worker(self) -> None:
        """An export whose worker is killed keeps its files, and is resumed if it has ended."""
        self._disturb("worker-killed", _kill_children)

    def _disturb(self, folder: str, disturb: Callable[[subprocess.Popen[str]], None]) -> None:
        target, finished = self.work / folder, set[str]()
        for _ in range(self.num_faults):
            with self.start(self.export_to(folder)) as program:
                time.sleep(self.random.uniform(0.3, self.seconds))
                disturb(program)
                _, errors = program.communicate(timeout=_TIMEOUT_SECONDS)
            assert not any(each in errors for each in _UNEXPECTED), errors
            present = {path.name for path in target.glob("*.wav")}
            assert finished <= present, f"lost: {finished - present}"
            finished = present
            if len(finished) == len(_LINES):  # begin again
                shutil.rmtree(target)
                finished = set()
        self.run(self.export_to(folder))
        self.require_undisturbed(target)

    def full_disk(self) -> None:
        """A disk that is full, of the files or of one of the program's folders, is a sentence; then the export resumes."""
        places = {"out": self.work / "full"} | {name: self.work / "program" / name.lower() for name in _FOLDERS}
        for name, folder in places.items():
            folder.mkdir(parents=True, exist_ok=True)
            for size in ("64k", "512k") if self.num_faults > _NUM_SHORT else ("512k",):
                copy = self.work / "copy"
                shutil.rmtree(copy, ignore_errors=True)
                target = str(folder.relative_to(self.work)) if name == "out" else "full-program"
                shutil.rmtree(self.work / "full-program", ignore_errors=True)
                small = ["unshare", "--map-root-user", "--mount", "sh", "-c", _ON_SMALL_DISK, "sh", size, str(folder)]
                ran = self.run_any([*small, *self.export_to(target)], {"COPY": str(copy)})
                assert ran.returncode != 99, f"a file system cannot be mounted here: {ran.stderr}"
                assert ran.returncode == 0, ran.stderr
                assert "first: 0" in ran.stdout or _DISK_FULL in ran.stderr, (
                    f"{name}, {size}: {ran.stdout} {ran.stderr}"
                )
                self.require_undisturbed(copy if name == "out" else self.work / "full-program")

    def two_exports(self) -> None:
        """Of two exports into one folder, one is refused, and the files are whole."""
        for _ in range(self.num_faults):
            shutil.rmtree(self.work / "both", ignore_errors=True)
            with self.start(self.export_to("both")) as first:
                time.sleep(self.random.uniform(0.0, 1.0))
                second = self.run_any(self.export_to("both"))
                _, errors = first.communicate(timeout=_TIMEOUT_SECONDS)
            refused = [each for each in (errors, second.stderr) if "folder-busy" in each]
            assert len(refused) <= 1, "both were refused"
            self.require_undisturbed(self.work / "both")


def _kill_group(program: subprocess.Popen[str]) -> None:
    """Kill the program and its processes, as the system does when memory is short."""
    children = _children(program)
    program.kill()
    for process in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _kill_children(program: subprocess.Popen[str]) -> None:
    for process in _children(program):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _children(program: subprocess.Popen[str]) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):
        found = psutil.Process(program.pid).children(recursive=True)
    return found


FAULTS: dict[str, Callable[[FaultTrials], None]] = {
    "kill-say": FaultTrials.kill_say,
    "kill-export": FaultTrials.kill_export,
    "kill-worker": FaultTrials.kill_worker,
    "full-disk": FaultTrials.full_disk,
    "two-exports": FaultTrials.two_exports,
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"one or more of {', '.join(FAULTS)}")
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument(
        "--short", action="store_true", help=f"{_NUM_SHORT} faults of each kind instead of {_NUM_FAULTS}"
    )
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.faults if name not in FAULTS]:
        parser.error(f"unknown fault {unknown[0]}")
    options.work.mkdir(parents=True, exist_ok=True)
    trials = FaultTrials(options.work.resolve(), _NUM_SHORT if options.short else _NUM_FAULTS)
    failed = 0
    for name in options.faults or FAULTS:
        started = time.monotonic()
        try:
            FAULTS[name](trials)
        except AssertionError as error:
            failed += 1
            print(f"{name}: FAILED: {error}", flush=True)
        else:
            print(f"{name}: held, {time.monotonic() - started:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
