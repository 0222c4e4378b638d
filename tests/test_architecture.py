"""The architecture document names files and classes that exist, and the path from key to ear is short."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from types import FrameType
from typing import cast

import pytest
from float32_model import open_in_float32
from thread_worker import ThreadWorker

from studio import paths
from studio.catalog.installed import DEFAULT_MODEL
from studio.pipeline.request import EngineOptions, SynthesisRequest, VoiceReference
from studio.worker import protocol
from studio.worker.server import Server

ROOT = Path(__file__).resolve().parent.parent
PROGRAM, WORKER = str(ROOT / "studio"), str(ROOT / "studio" / "worker")
TEXT = (ROOT / "studio" / "ARCHITECTURE.md").read_text("utf-8")


# From a key to the first sound of a line. Lower them when the path becomes shorter.
MAX_FILES = 55
MAX_DEPTH = 18
# Threads of the worker that the line does not wait for.
OTHER_THREADS = {"cache-writer", "engines", "huge-pages"}


def test_every_file_it_names_exists() -> None:
    named = set(re.findall(r"`((?:studio|packaging|resources|tests)/[\w./]*)`", TEXT))
    assert len(named) > 30
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_names_are_defined_in_the_files_beside_them() -> None:
    """``Name`` (``file``), and ``Name`` in or of ``file``."""
    pairs = re.findall(r"`(\w+)(?:\.\w+)?`\s+(?:\(|in\s+|of\s+)`([\w/]+\.py)`", TEXT)
    assert len(pairs) > 20
    defined = r"^(?:class |def |async def )?{}\b"
    for name, path in pairs:
        assert re.search(defined.format(name), (ROOT / path).read_text("utf-8"), re.MULTILINE), (name, path)


@pytest.mark.slow
def test_every_class_it_names_exists() -> None:
    source = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "studio").rglob("*.py")))
    named = set(re.findall(r"`([A-Z][a-z]\w+)`", TEXT))
    assert len(named) > 20
    assert {name for name in named if not re.search(rf"^class {name}\b", source, re.MULTILINE)} == set()


class CallProfile:
    """Files of the program that threads run while ``is_on``, and the most frames on one stack above the worker's own.

    It ends with the first chunk, when the worker sends it: the next one may begin before the client has it.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.files: set[str] = set()
        self.depth = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if not self.is_on or event != "call" or not frame.f_code.co_filename.startswith(PROGRAM):
            return
        if threading.current_thread().name in OTHER_THREADS:
            return
        if frame.f_code is Server._send.__code__ and isinstance(frame.f_locals["event"], protocol.AudioReady):
            self.is_on = False
        self.files.add(Path(frame.f_code.co_filename).relative_to(ROOT).as_posix())
        depth, caller = 0, cast("FrameType | None", frame)
        while caller is not None and not caller.f_code.co_filename.startswith(WORKER):
            depth += caller.f_code.co_filename.startswith(PROGRAM)
            caller = caller.f_back
        self.depth = max(self.depth, depth)


def profile_first_chunk() -> CallProfile:
    """Speak a short line with the bundled model and a prepared voice, and profile the worker until its first chunk."""
    profile = CallProfile()
    threading.setprofile(profile)
    worker = ThreadWorker(open_in_float32)  # type: ignore[arg-type]
    try:
        worker.start()
        worker.send(protocol.Load(1, paths.resources() / "models" / DEFAULT_MODEL, EngineOptions()))
        assert isinstance(receive_until(worker, protocol.Ready), protocol.Ready)
        voice = VoiceReference(paths.resources() / "voices" / "Ada.wav", "The morning train was quiet.", "Ada")
        for number in (2, 3):  # the first one prepares the voice
            profile.is_on = number == 3
            worker.send(protocol.Synthesize(number, SynthesisRequest("Good evening.", voice)))
            receive_until(worker, protocol.AudioReady)
            profile.is_on = False
            receive_until(worker, protocol.Finished)
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
        worker.kill()
        worker.wait_exit()
        worker._thread.join(60.0)
    return profile


def receive_until(worker: ThreadWorker, kind: type[protocol.Event]) -> protocol.Event:
    while True:
        event = worker.receive()
        assert not isinstance(event, protocol.Failed), event
        if isinstance(event, kind):
            return event


@pytest.mark.slow
def test_the_path_from_key_to_ear_is_short() -> None:
    """The window's half as the document names it, and the worker's half as it runs."""
    sections = [TEXT.partition(f"## The path of a {part}")[2].partition("\n## ")[0] for part in ("line", "chunk")]
    named = set(re.findall(r"`(studio/(?:app|audio|project|system|voices|worker)/[\w/]+\.py)`", "".join(sections)))
    profile = profile_first_chunk()
    files = named | profile.files
    assert 20 < len(profile.files) < len(files) <= MAX_FILES, sorted(files)
    assert 10 < profile.depth <= MAX_DEPTH
