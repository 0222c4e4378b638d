"""Measure `timbre serve` with two requests at once against the same requests one after the other.

    python3 packaging/measure.py requests-at-once [--rounds 10] [--json FILE] [-- OPTIONS of timbre serve]

Every round speaks two texts alone, then both at once, then the first one as JSON without and with word times. The medians
of the ratios of the rounds are printed:

    audio       seconds of audio in a second, at once over one after the other (goal: at least 1.6)
    first_byte  time to the first byte, at once over alone, the greater of both (goal: at most 2.2)
    words       time with word times over the time without (goal: at most 1.1)
    processor   work that two programs do at once over what they do one after the other

Two cores that share caches, or are two threads of one core, do less than twice the work of one: ``audio`` cannot exceed
``processor``. Processor times ``alone`` and ``at_once`` of the service and its workers tell the two apart: if they are equal,
no request waited for the other. Other programs distort all ratios but those of processor times.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import numpy as np
import psutil

_TEXTS = (
    "The captain folded the map. Then he looked toward the distant shore, and smiled at the sailors beside him.",
    "Nobody had seen the lighthouse since the storm. The keeper counted the boats again, and there was one too many.",
)
_ROOT = Path(__file__).resolve().parents[2]
_BYTES_PER_SECOND = 2 * 24_000
# The service compares precisions once it has been idle for ten seconds, and then starts its line process again.
_IDLE_SECONDS = 15
_TIMEOUT_SECONDS = 600
# As large as a layer of a small model.
_PRODUCT_SIZE, _NUM_PRODUCTS = 256, 4000


@dataclass(frozen=True, slots=True)
class Answer:
    first_byte: float
    seconds: float
    audio_seconds: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10, help="number of rounds (default 10)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the results in JSON")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="options of timbre serve, after --")
    parsed = parser.parse_args(arguments)
    load_before = os.getloadavg()[0]
    with _service(parsed.options) as (url, process):
        for _ in range(3):  # prepares the voice in both processes
            _at_once(url)
        _speak(url, _TEXTS[0], with_words=True)
        time.sleep(_IDLE_SECONDS)
        _at_once(url)
        rounds = [_round(url, process) for _ in range(parsed.rounds)]
    result = {name: round(statistics.median(each[name] for each in rounds), 3) for name in rounds[0]}
    result |= {"rounds": parsed.rounds, "load_before": round(load_before, 1)}
    print(json.dumps(result, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


def _round(url: str, process: psutil.Process) -> dict[str, float]:
    before = _processor_seconds(process)
    alone = [_speak(url, text) for text in _TEXTS]
    between = _processor_seconds(process)
    at_once, seconds = _at_once(url)
    after = _processor_seconds(process)
    plain, with_words = (_speak(url, _TEXTS[0], with_words=words) for words in (False, True))
    return {
        "audio": sum(each.seconds for each in alone) / seconds,
        "first_byte": max(
            together.first_byte / single.first_byte for together, single in zip(at_once, alone, strict=True)
        ),
        "words": with_words.seconds / plain.seconds,
        "processor": _ratio_of_processor(),
        "processor_seconds_alone": between - before,
        "processor_seconds_at_once": after - between,
        "first_byte_alone_seconds": alone[0].first_byte,
        "real_time_factor_alone": alone[0].seconds / alone[0].audio_seconds,
    }


def _at_once(url: str) -> tuple[list[Answer], float]:
    started = time.perf_counter()
    with ThreadPoolExecutor(len(_TEXTS)) as pool:
        answers = list(pool.map(lambda text: _speak(url, text), _TEXTS))
    return answers, time.perf_counter() - started


def _speak(url: str, text: str, *, with_words: bool | None = None) -> Answer:
    """Request speech as samples, or as JSON if ``with_words`` is not None."""
    body = {"input": text, "voice": "Ada", "seed": 5, "response_format": "pcm"}
    if with_words is not None:
        body |= {"stream_format": "json"} | ({"timestamp_granularities": ["word"]} if with_words else {})
    started = time.perf_counter()
    first, num_bytes = 0.0, 0
    with httpx2.stream("POST", f"{url}/v1/audio/speech", json=body, timeout=_TIMEOUT_SECONDS) as answer:
        answer.raise_for_status()
        for block in answer.iter_raw():
            first = first or time.perf_counter() - started
            num_bytes += len(block)
    return Answer(first, time.perf_counter() - started, num_bytes / _BYTES_PER_SECOND)


def _processor_seconds(process: psutil.Process) -> float:
    """Return the processor time of the service and its workers."""
    return sum(sum(each.cpu_times()[:2]) for each in (process, *process.children(recursive=True)))


def _ratio_of_processor() -> float:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the two processes
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_multiply, (1, 1)))  # starts both
        started = time.perf_counter()
        for _ in range(2):
            pool.submit(_multiply, _NUM_PRODUCTS).result()
        between = time.perf_counter()
        list(pool.map(_multiply, (_NUM_PRODUCTS, _NUM_PRODUCTS)))
        return (between - started) / (time.perf_counter() - between)


def _multiply(count: int) -> None:
    matrix = np.full((_PRODUCT_SIZE, _PRODUCT_SIZE), 1e-3, np.float32)
    for _ in range(count):
        matrix = matrix @ matrix


@contextmanager
def _service(options: Sequence[str]) -> Iterator[tuple[str, psutil.Process]]:
    """Run `timbre serve` with folders of its own."""
    with tempfile.TemporaryDirectory(prefix="timbre-serving-") as folder:
        folders = {f"TIMBRE_{name}": str(Path(folder, name.lower())) for name in ("DATA", "CONFIG", "CACHE", "LOGS")}
        log = Path(folder, "service.log")
        with log.open("wb") as file:
            running = subprocess.Popen(
                [sys.executable, "-m", "studio.start", "serve", "--port", "0", *options],
                env=os.environ | folders | {"PYTHONPATH": str(_ROOT)},
                stderr=file,
            )
        try:
            yield _url(running, log), psutil.Process(running.pid)
        finally:
            running.terminate()
            running.wait(_TIMEOUT_SECONDS)


def _url(running: subprocess.Popen[bytes], log: Path) -> str:
    while (found := re.search(r"(http://\S+)/v1", log.read_text("utf-8"))) is None:
        if running.poll() is not None:
            raise SystemExit(log.read_text("utf-8"))
        time.sleep(0.1)
    return found[1]
