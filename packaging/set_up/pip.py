"""Runs the environment's pip, reports its progress, and explains its failures."""

from __future__ import annotations

import queue
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from set_up.failure import SetUpFailed
from set_up.progress import Progress

_SILENCE_SECONDS = 20.0
_LARGE_MEGABYTES = 20.0
_NO_NETWORK = re.compile(
    r"name resolution|Name or service not known|NewConnectionError|ConnectTimeout|ProxyError|Max retries|getaddrinfo"
)


class Pip:
    def __init__(self, python: Path, log: Path, progress: Progress, held_open: tuple[int, ...] = ()) -> None:
        """``held_open``: descriptors that pip inherits, so that the lock outlives this process while pip runs."""
        # -I: neither the current folder nor PYTHONPATH may hide a module from pip.
        self._command = [str(python), "-I", "-m", "pip", "--no-input", "--disable-pip-version-check"]
        self._log = log
        self._progress = progress
        self._held_open = held_open

    def install(self, *what: str) -> None:
        self._run("install", "--prefer-binary", "--progress-bar", "off", *what)

    def remove(self, *packages: str) -> None:
        """Uninstall ``packages``; missing ones are ignored."""
        self._run("uninstall", "--yes", *packages)

    def _run(self, *arguments: str) -> None:
        process = subprocess.Popen(
            [*self._command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            pass_fds=self._held_open,
        )
        assert process.stdout is not None
        with process, self._log.open("a", encoding="utf-8") as log:
            log.write(f"\n$ pip {' '.join(arguments)}\n")
            lines = []
            for line in self._read(process.stdout):
                log.write(line)
                lines.append(line)
        if process.returncode != 0:
            raise self._failure(lines)

    def _read(self, output: IO[str]) -> Iterator[str]:
        """Yield the lines of pip, and report progress during silent minutes, as in large downloads."""
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

        def pump() -> None:
            with suppress(ValueError):  # closed because the set-up was interrupted
                for line in output:
                    lines.put(line)
            lines.put(None)

        threading.Thread(target=pump, daemon=True).start()
        start_seconds = time.monotonic()
        activity = "working"
        while True:
            try:
                line = lines.get(timeout=_SILENCE_SECONDS)
            except queue.Empty:
                self._progress.note(f"  … {activity}, {time.monotonic() - start_seconds:.0f} s so far")
                continue
            if line is None:
                return
            if step := described_step(line):
                self._progress.note(f"  {step}")
                activity = f"still {step}"
            yield line

    def _failure(self, lines: list[str]) -> SetUpFailed:
        text = "".join(lines)
        if "No space left" in text:
            return SetUpFailed("The disk is full.", remedy="Free disk space and start again.")
        if _NO_NETWORK.search(text):
            return SetUpFailed(
                "The package index cannot be reached.",
                remedy="Check the network connection (or pip's proxy and index settings) and start again.",
            )
        errors = [line.strip() for line in lines if line.startswith("ERROR")] or [line.strip() for line in lines[-3:]]
        return SetUpFailed(
            "A required package could not be installed: " + " ".join(errors[-3:]),
            remedy=f"For details, see {self._log}.",
        )


def described_step(line: str) -> str | None:
    """Return a description of the step that a line of pip announces, or None for all other lines."""
    if found := re.match(r"\s*Downloading \S*?([^/\s]+?)-(\d[^-\s]*)-\S+ \(([\d.]+) (MB|GB)\)", line):
        name, version, size, unit = found.groups()
        if unit == "GB" or float(size) >= _LARGE_MEGABYTES:
            return f"downloading {name} {version} ({size} {unit})"
    if line.startswith("Installing collected packages:"):
        count = line.count(",") + 1
        return f"unpacking {count} {'package' if count == 1 else 'packages'}"
    if found := re.match(r"\s*Building wheel for (\S+)", line):
        return f"building {found[1]}"
    return None
