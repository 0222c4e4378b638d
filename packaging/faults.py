"""Faults that the quick tests cannot wait for: kills, full disks, two programs on the same files, clocks, load.

    python3 packaging/faults.py --work FOLDER [--short] [--minutes N] [FAULT ...]

FAULT is one or more of the names that ``--help`` prints; by default all. Each fault is caused 40 times, or 3 times with
``--short``, at random moments. After each, nothing may be lost but the line that was being spoken; at the end, the files
must equal those of an undisturbed export. The load on the service lasts ``--minutes``. A full disk needs Linux, and the
right to mount a file system in a namespace; the clock needs the program ``faketime``; the sound device needs
``pulseaudio``. Ten minutes of playback in the
window are a test: ``TIMBRE_LONG_PLAY_SECONDS=600 pytest tests/app/playback/test_long_play.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx2
import numpy as np
import psutil
import soundfile
from websockets.asyncio.client import connect

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
_WINDOW_SECONDS = 15.0  # until the window has spoken, saved and exported
# A full disk is an error with this exit status, or no error at all where the file is only a cache or a log.
_DISK_FULL = "disk-full"
_NO_MOUNT = 99
_NOTHING = "4k"
_UNEXPECTED = ("internal-error", "Traceback")
# Grows a file system that was too small, and runs the command again. Of 4 kB, nothing is left for the command.
_ON_SMALL_DISK = """
mount -t tmpfs -o size="$1" tmpfs "$2" || exit 99; folder=$2
if [ "$1" = 4k ]; then echo > "$folder/ballast"; fi; shift 2
"$@"; status=$?; echo "first: $status"
rm -f "$folder/ballast"; mount -o remount,size=1g "$folder"
if [ $status != 0 ]; then "$@"; status=$?; fi
cp -r "$folder" "$COPY"; exit $status
"""
_ON_DISK = 'mount -t tmpfs -o size="$1" tmpfs "$2" || exit 99; shift 2; exec "$@"'
_CHANGE_SETTING = """
import sys
from studio import settings
from studio.errors import StudioError
from studio.settings_store import Settings
try:
    Settings().change({getattr(settings, sys.argv[1]): sys.argv[2]})
except StudioError as error:
    sys.exit(f"{error} ({error.code})")
"""
_PRINT_SETTINGS = """
from studio.settings import EXPORT_FOLDER, EXPORT_PATTERN
from studio.settings_store import Settings
print(Settings()[EXPORT_FOLDER], Settings()[EXPORT_PATTERN])
"""
_MAX_GROWTH_BYTES = 30_000_000
_MAX_GROWTH_HANDLES = 8
_HOSTILE_BODIES = (b"", b"{", b"[" * 10_000, b"\xff\xfe", b'{"input": 1}', b'{"input": "a", "seed": 1e999}')
_NUM_CLIENTS = 3


class FaultTrials:
    """Causes faults in a folder of its own, and compares the files with undisturbed ones."""

    def __init__(self, work: Path, num_faults: int, minutes: float = 30.0) -> None:
        self.work, self.num_faults, self.minutes = work, num_faults, minutes
        self.script = work / "script.txt"
        self.script.write_text("\n\n".join(_LINES), "utf-8")
        self.random = random.Random(0)  # noqa: S311 - no secrets
        self.environment = {**os.environ, "PYTHONPATH": str(_CHECKOUT), "OMP_NUM_THREADS": "1"}
        self.environment["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"  # the clock of days only
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
        assert ran.returncode != _NO_MOUNT, f"a file system cannot be mounted here: {ran.stderr}"
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

    def kill_window(self) -> None:
        """A window that is killed while it speaks, saves or exports has lost nothing but the line being spoken."""
        kept = set[str]()
        for _ in range(self.num_faults):
            kept = self._kill_window(kept)

    def clock(self) -> None:
        """A clock that jumps by a year, in both directions, neither damages nor loses anything."""
        if not shutil.which("faketime"):
            raise AssertionError("the program faketime is not installed")
        kept = self._kill_window(set())
        for shift in ("+1y", "-1y", "+0"):
            clock = ("faketime", "-f", shift)
            shutil.rmtree(self.work / "clock", ignore_errors=True)
            with self.start(self.export_to("clock")) as program:
                time.sleep(self.seconds / 2)
                _kill_group(program)
            self.run([*clock, *self.export_to("clock")])
            self.require_undisturbed(self.work / "clock")
            kept = self._kill_window(kept, clock)

    def _kill_window(self, kept: set[str], clock: Sequence[str] = ()) -> set[str]:
        """Kill a window at a random moment. Return the lines that have takes; those of ``kept`` must still be there."""
        folder = self.work / "window"
        folder.mkdir(exist_ok=True)
        with subprocess.Popen(
            [*clock, sys.executable, str(Path(__file__).with_name("faults_window.py")), str(folder)],
            env={**self.environment, "QT_QPA_PLATFORM": "offscreen"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as window:
            threading.Timer(self.random.uniform(1.0, _WINDOW_SECONDS), _kill_group, [window]).start()
            output, errors = window.communicate(timeout=_TIMEOUT_SECONDS)
        assert window.returncode < 0, f"ended by itself: {errors}"
        assert not any(each in errors for each in _UNEXPECTED), errors
        for word, *ids in map(str.split, output.splitlines()):
            assert word != "found" or kept <= set(ids), f"takes are lost: {kept - set(ids)}"
            if word in ("lines", "spoken"):
                kept = set(ids) if word == "spoken" else set()
        for path in folder.glob("exported/**/*.wav"):
            assert len(soundfile.read(path)[0]), f"{path} is empty"
        return kept

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
        """A full disk gives its error wherever the program writes. With space, the same command succeeds."""
        self._fill_during_exports()
        for size in (_NOTHING, "64k", "160k"):
            self._fill_during_change("DATA", size, self._add_voice("Full"), [*_TIMBRE, "voices", "list"], "Full")
        change = [sys.executable, "-c", _CHANGE_SETTING, "EXPORT_FOLDER", "full"]
        self._fill_during_change("CONFIG", _NOTHING, change, [sys.executable, "-c", _PRINT_SETTINGS], "full")
        self._fill_under_window()

    def _fill_during_exports(self) -> None:
        """Fill the disk of the files or of one of the program's folders, then resume the export."""
        places = {"out": self.work / "full"} | {name: self.work / "program" / name.lower() for name in _FOLDERS}
        for name, folder in places.items():
            folder.mkdir(parents=True, exist_ok=True)
            for size in ("64k", "512k") if self.num_faults > _NUM_SHORT else ("512k",):
                copy = self.work / "copy"
                shutil.rmtree(copy, ignore_errors=True)
                target = str(folder.relative_to(self.work)) if name == "out" else "full-program"
                shutil.rmtree(self.work / "full-program", ignore_errors=True)
                self._run_on_small_disk(size, folder, self.export_to(target))
                self.require_undisturbed(copy if name == "out" else self.work / "full-program")

    def _fill_during_change(
        self, name: str, size: str, change: Sequence[str], read: Sequence[str], wanted: str
    ) -> None:
        """Run ``change`` on a full disk, and again with space. Then ``read`` must print ``wanted``."""
        copy = self.work / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        self._run_on_small_disk(size, self.work / "program" / name.lower(), change)
        found = self.run(read, {f"TIMBRE_{name}": str(copy)}).stdout
        assert wanted in found, f"{name}, {size}: {found}"

    def _run_on_small_disk(self, size: str, folder: Path, command: Sequence[str]) -> None:
        """Run ``command`` with a small disk as ``folder``, and again with a larger one. Copy the folder to ``copy``."""
        ran = self.run_any([*_mounting(_ON_SMALL_DISK, size, folder), *command], {"COPY": str(self.work / "copy")})
        assert ran.returncode == 0, ran.stderr
        may_succeed = size != _NOTHING
        is_good = (may_succeed and "first: 0" in ran.stdout) or _DISK_FULL in ran.stderr
        assert is_good, f"{folder}, {size}: {ran.stdout} {ran.stderr}"

    def _fill_under_window(self) -> None:
        """Fill the disk of a window that speaks, saves and exports."""
        folder = self.work / "window-disk"
        folder.mkdir(exist_ok=True)
        for _ in range(self.num_faults):
            self._run_window(
                "full-disk", folder, {"TIMBRE_DATA": str(folder / "data")}, _mounting(_ON_DISK, "100m", folder)
            )

    def device(self) -> None:
        """Playback continues when the sound device returns, and ends when it does not."""
        if not shutil.which("pulseaudio"):
            raise AssertionError("the program pulseaudio is not installed")
        for number in range(self.num_faults):
            with tempfile.TemporaryDirectory() as short:  # the path of a socket must be short
                environment = {"HOME": short, "XDG_RUNTIME_DIR": short, "PULSE_RUNTIME_PATH": short}
                modules = (f"module-native-protocol-unix auth-anonymous=1 socket={short}/native", "module-null-sink")
                options = ["-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes"]
                command = ["pulseaudio", *options, *(part for module in modules for part in ("-L", module))]
                with subprocess.Popen(command, env=self.environment | environment, stderr=subprocess.DEVNULL) as server:
                    while not (Path(short) / "native").exists():
                        assert server.poll() is None, "pulseaudio does not start"
                        time.sleep(0.1)
                    try:
                        folder = self.work / f"device{number}"
                        folder.mkdir()
                        environment |= {"PULSE_SERVER": f"unix:{short}/native"}
                        self._run_window("device", folder, environment)
                    finally:
                        server.terminate()

    def _run_window(self, fault: str, folder: Path, environment: Mapping[str, str], prefix: Sequence[str] = ()) -> None:
        command = [*prefix, sys.executable, str(Path(__file__).with_name("faults_window.py")), str(folder), fault]
        self.run(command, {"QT_QPA_PLATFORM": "offscreen", **environment})

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

    def two_programs(self) -> None:
        """Voices that two programs add, and settings that both change at once, are all kept."""
        for number in range(self.num_faults):
            names = [f"{program}{number}" for program in ("First", "Second")]
            commands = [self._add_voice(name) for name in names]
            commands += [
                [sys.executable, "-c", _CHANGE_SETTING, *values]
                for values in (("EXPORT_FOLDER", names[0]), ("EXPORT_PATTERN", "{index}" + names[1]))
            ]
            programs = [self.start(command) for command in commands]
            for program in programs:
                _, errors = program.communicate(timeout=_TIMEOUT_SECONDS)
                assert program.returncode == 0, errors
            listed = self.run([*_TIMBRE, "voices", "list"]).stdout
            assert all(name in listed for name in names), f"{names} are not both in: {listed}"
            assert self.run([sys.executable, "-c", _PRINT_SETTINGS]).stdout.split() == [names[0], "{index}" + names[1]]

    def _add_voice(self, name: str) -> list[str]:
        clip = self.work / "clip.flac"
        if not clip.exists():
            self.run([*_TIMBRE, "say", " ".join(_LINES), "-o", str(clip), *_EXACT])
        return [*_TIMBRE, "voices", "add", name, str(clip), "--transcript", " ".join(_LINES)]

    def load(self) -> None:
        """Streams stay whole and the service stays small under streams, uploads, hostile bodies and worker kills."""
        log = (self.work / "service.log").open("w+")
        command = [*_TIMBRE, "serve", "--port", "0", *_EXACT]
        with (
            log,
            subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True, text=True
            ) as program,
        ):
            try:
                while not (found := re.search(r"http://[\d.]+:\d+", (self.work / "service.log").read_text())):
                    assert program.poll() is None, (self.work / "service.log").read_text()
                    time.sleep(0.2)
                asyncio.run(_Load(found[0], psutil.Process(program.pid), self.random).run(60 * self.minutes))
            finally:
                _kill_group(program)
        text = (self.work / "service.log").read_text()
        assert not any(each in text for each in _UNEXPECTED), f"see {self.work / 'service.log'}"


class _Load:
    """Clients of a service at ``url``, which compare what they hear with what was said when the service was idle."""

    def __init__(self, url: str, process: psutil.Process, source: random.Random) -> None:
        self._url, self._process, self._random = url, process, source
        self._whole: dict[str, bytes] = {}
        self._counts = dict.fromkeys(("streams", "sockets", "disconnects", "uploads", "hostile", "kills"), 0)

    async def run(self, seconds: float) -> None:
        async with httpx2.AsyncClient(base_url=self._url, timeout=_TIMEOUT_SECONDS) as self._client:
            for text in _LINES:
                self._whole[text] = await self._speech(text)
            ends = time.monotonic() + seconds
            warm = time.monotonic() + seconds / 3
            before: tuple[int, int, int] | None = None
            clients = [asyncio.create_task(self._work_until(ends)) for _ in range(_NUM_CLIENTS)]
            while time.monotonic() < ends and not any(client.done() for client in clients):
                await asyncio.sleep(1.0)
                if before is None and time.monotonic() > warm:
                    before = self._size()
            await asyncio.gather(*clients)
            after = self._size()
        print(f"load: {json.dumps(self._counts)}; memory, handles, threads: {before} to {after}", flush=True)
        assert before is not None
        assert after[0] - before[0] < _MAX_GROWTH_BYTES, "the memory grows"
        assert max(after[1] - before[1], after[2] - before[2]) <= _MAX_GROWTH_HANDLES, "handles or threads grow"

    async def _work_until(self, ends: float) -> None:
        actions = {
            "streams": self._stream, "sockets": self._talk, "disconnects": self._leave, "uploads": self._upload,
            "hostile": self._send_nonsense, "kills": self._kill_worker,
        }  # fmt: skip
        while time.monotonic() < ends:
            (name,) = self._random.choices(list(actions), weights=(8, 4, 2, 2, 6, 1))
            await actions[name](self._random.choice(_LINES))
            self._counts[name] += 1

    async def _speech(self, text: str) -> bytes:
        answer = await self._client.post("/v1/audio/speech", json={"input": text, "response_format": "pcm"})
        assert answer.status_code == 200, answer.text
        return answer.content

    async def _stream(self, text: str) -> None:
        heard = await self._speech(text)
        assert heard == self._whole[text], f"a damaged stream: {len(heard)} of {len(self._whole[text])} bytes"

    async def _talk(self, text: str) -> None:
        heard = b""
        async with connect(f"ws{self._url[4:]}/v1/audio/speech/stream") as socket:
            for message in ({"type": "start"}, {"type": "text", "text": text}, {"type": "end"}):
                await socket.send(json.dumps(message))
            async for part in socket:
                heard += part if isinstance(part, bytes) else b""
        assert heard == self._whole[text], f"a damaged WebSocket: {len(heard)} of {len(self._whole[text])} bytes"

    async def _leave(self, text: str) -> None:
        body = {"input": text, "response_format": "pcm"}
        async with self._client.stream("POST", "/v1/audio/speech", json=body) as answer:
            async for _ in answer.aiter_raw():
                return

    async def _upload(self, _text: str) -> None:
        """A recording that is no recording is refused."""
        answer = await self._client.post(
            "/v1/audio/voices",
            data={"name": "Noise", "consent": "a test"},
            files={"audio_sample": ("a.wav", os.urandom(200_000))},
        )
        assert 400 <= answer.status_code < 500, answer.text

    async def _send_nonsense(self, _text: str) -> None:
        body = self._random.choice(_HOSTILE_BODIES)
        answer = await self._client.post("/v1/audio/speech", content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, answer.text

    async def _kill_worker(self, _text: str) -> None:
        for process in self._process.children():
            process.kill()

    def _size(self) -> tuple[int, int, int]:
        """Return the bytes, handles and threads of the service, without its worker."""
        handles = self._process.num_fds() if hasattr(self._process, "num_fds") else self._process.num_handles()
        return self._process.memory_info().rss, handles, self._process.num_threads()


def _mounting(script: str, size: str, folder: Path) -> list[str]:
    """Return the start of a command that runs with a file system of ``size`` as ``folder``."""
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", size, str(folder)]


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
    "kill-window": FaultTrials.kill_window,
    "full-disk": FaultTrials.full_disk,
    "device": FaultTrials.device,
    "two-exports": FaultTrials.two_exports,
    "two-programs": FaultTrials.two_programs,
    "load": FaultTrials.load,
    "clock": FaultTrials.clock,
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"one or more of {', '.join(FAULTS)}")
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument(
        "--short", action="store_true", help=f"{_NUM_SHORT} faults of each kind instead of {_NUM_FAULTS}"
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="duration of the load (default 30)")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.faults if name not in FAULTS]:
        parser.error(f"unknown fault {unknown[0]}")
    options.work.mkdir(parents=True, exist_ok=True)
    trials = FaultTrials(options.work.resolve(), _NUM_SHORT if options.short else _NUM_FAULTS, options.minutes)
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
