"""Measure what a cluster on Ray Serve adds to a line, how it survives losses, and how it uses its replicas.

    python3 packaging/measure.py cluster [PART ...] [--rounds 30] [--kills 20] [--json FILE]

Needs the extra ``cluster`` and RAY_AUTH_MODE=token. The head node and the other nodes run on this computer. The parts
``chunks``, ``replicas``, ``nodes``, ``voices``, ``throughput`` and ``export`` use a model that sleeps instead of computing
(``sleeping_model.py``), so that the number of cores does not limit them; ``first-byte`` uses studio-mini.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import psutil
import ray
import soundfile
from ray import serve
from ray.cluster_utils import Cluster

from measurements import sleeping_model
from studio.catalog.built_in_speakers import open_voice_library
from studio.cluster.application import build_application
from studio.cluster.node import RAY_ENVIRONMENT
from studio.cluster.options import ClusterOptions
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker
from studio.voices.library import VoiceLibrary
from studio.worker.client import WorkerClient
from studio.worker.process import ENGINE

_PACKAGING = Path(__file__).resolve().parents[1]
_HOST, _PORT = "127.0.0.1", 8817
_TEXT = "The harbour was quiet in the early morning."  # two seconds of speech
_WORDS = " ".join(["word"] * 20)  # two seconds of the sleeping model
_SLEEPING = "measurements.sleeping_model:open_sleeping"
_TIMEOUT_SECONDS = 120
_NUM_VOICES = 6
_VOICE_ROUNDS = 10
_PREPARE_SECONDS = 6.0
_NUM_LINES = 24
_PARTS = ("first-byte", "chunks", "replicas", "nodes", "voices", "throughput", "export")


@dataclass(frozen=True)
class Answer:
    """One answer: seconds from the request to its first and last byte, delays of its chunks, and its audio."""

    first_byte: float
    whole: float
    delays: tuple[float, ...]
    audio: bytes


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(_PARTS)}")
    parser.add_argument("--rounds", type=int, default=30, help="number of requests (default 30)")
    parser.add_argument("--kills", type=int, default=20, help="number of losses of each kind (default 20)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    result: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="timbre-cluster-") as folder, _nodes(Path(folder)) as cluster:
        measuring = _Measuring(cluster, Path(folder))
        parts: dict[str, Callable[[], object]] = {
            "first-byte": lambda: measuring.first_byte(parsed.rounds),
            "chunks": lambda: measuring.chunks(parsed.rounds),
            "replicas": lambda: measuring.losses(parsed.kills, measuring.kill_replica),
            "nodes": lambda: measuring.losses(parsed.kills, measuring.kill_node),
            "voices": measuring.voices,
            "throughput": measuring.throughput,
            "export": measuring.export,
        }
        for name in parsed.parts or _PARTS:
            before = os.getloadavg()[0]
            result[name] = {"load_average_before": round(before, 1), "result": parts[name]()}
            print(json.dumps({name: result[name]}, indent=1), flush=True)
            if parsed.json:
                parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


@contextmanager
def _nodes(folder: Path) -> Iterator[Any]:
    """Start a head node without cores for workers, and two nodes of two cores."""
    # Ray's processes import the program and the sleeping model too.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(_PACKAGING.parent), str(_PACKAGING), os.environ.get("PYTHONPATH", "")]
    )
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.update(RAY_ENVIRONMENT)
    for name in ("DATA", "CACHE", "CONFIG", "LOGS"):
        os.environ[f"TIMBRE_{name}"] = str(folder / name.lower())
    os.environ[sleeping_model.BUSY_VARIABLE] = str(folder / "busy")
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}, shutdown_at_exit=False
    )
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=2)
        ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
        serve.start(proxy_location="HeadOnly", http_options={"host": _HOST, "port": _PORT})
        yield cluster
        serve.shutdown()
    finally:
        ray.shutdown()
        cluster.shutdown()


class _Measuring:
    def __init__(self, cluster: Any, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder

    def first_byte(self, num_rounds: int) -> object:
        """Compare the time to the first byte with the time to the first audio of the local command, alternately."""
        self._deploy(ENGINE, cores=2)
        direct, served = asyncio.run(_first_audio(num_rounds))
        return {
            "rounds": num_rounds,
            "direct_seconds": statistics.median(direct),
            "cluster_seconds": statistics.median(served),
            "added_seconds": statistics.median(served) - statistics.median(direct),
        }

    def chunks(self, num_rounds: int) -> object:
        """Measure the time of each chunk from the worker to the client, and of the first byte."""
        self._deploy(_SLEEPING)
        _speak(_PORT, _WORDS)
        answers = [_speak(_PORT, _WORDS) for _ in range(num_rounds)]
        delays = [delay for answer in answers for delay in answer.delays]
        return {
            "chunks": len(delays),
            "chunk_seconds_median": statistics.median(delays),
            "chunk_seconds_95": statistics.quantiles(delays, n=20)[-1],
            "first_byte_added_seconds": statistics.median(
                answer.first_byte - sleeping_model.CHUNK_SECONDS for answer in answers
            ),
        }

    def losses(self, num_kills: int, kill: Callable[[], None]) -> object:
        """Call ``kill`` in mid-line, and request another line at once.

        Count the lines that differ from an uninterrupted one, and time the first byte of the other line.
        """
        self._deploy(_SLEEPING, replicas=2, cores=2)  # one on each node
        whole = _without_times(_speak(_PORT, _WORDS).audio)
        num_lost, completed, following = 0, [], []
        with ThreadPoolExecutor(2) as pool:
            for number in range(num_kills):
                self._wait_for_replicas(2)
                (self._folder / "busy").unlink(missing_ok=True)
                asking = pool.submit(_speak, _PORT, _WORDS)
                while not (self._folder / "busy").exists():
                    time.sleep(0.01)
                time.sleep((0.1 + 0.8 * number / num_kills) * 2.0)
                kill()
                killed = time.monotonic()
                next_line = pool.submit(_speak, _PORT, _WORDS)
                num_lost += _is_lost(asking.result, whole)
                completed.append(time.monotonic() - killed)
                if _is_lost(next_line.result, whole):
                    num_lost += 1
                else:
                    following.append(next_line.result().first_byte)
        return {
            "kills": num_kills,
            "lost_lines": num_lost,
            "line_complete_after_kill_seconds": _summary(completed),
            "next_line_first_byte_seconds": _summary(following),
        }

    def kill_replica(self) -> None:
        """Kill the process of the replica that runs the line, and not the node."""
        os.kill(int((self._folder / "busy").read_text("utf-8")), signal.SIGKILL)

    def kill_node(self) -> None:
        """Kill all processes of the node that runs the line."""
        raylet = psutil.Process(psutil.Process(int((self._folder / "busy").read_text("utf-8"))).ppid())
        for node in self._cluster.worker_nodes:
            if any(info.process.pid == raylet.pid for info in node.all_processes["raylet"]):
                # `remove_node` does not end the replicas, which would notice the loss of their node a little later.
                for process in (raylet, *raylet.children(recursive=True)):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        process.kill()
                self._cluster.remove_node(node, allow_graceful=False)
                break
        else:
            raise LookupError("the node of the replica was not found")

    def voices(self) -> object:
        """Count the lines whose voice was in memory where they ran, of rounds over all voices.

        The voices are in the library, or clients add them before their first lines.
        """
        clips = [self._clip(number) for number in range(_NUM_VOICES)]
        result = {}
        for kind, is_added, num_clients in (
            ("one_after_another", False, 1),
            ("three_at_once", False, 3),
            ("added_one_after_another", True, 1),
            ("added_three_at_once", True, 3),
        ):
            names = [f"{kind} {number}" for number in range(_NUM_VOICES)]
            if not is_added:
                for name, clip in zip(names, clips, strict=True):
                    VoiceLibrary().add(clip, name)
            self._deploy(_SLEEPING, replicas=3)
            if is_added:
                for name, clip in zip(names, clips, strict=True):
                    _add_voice(name, clip)
                time.sleep(_PREPARE_SECONDS)
            with ThreadPoolExecutor(num_clients) as pool:
                for _ in range(_VOICE_ROUNDS):
                    list(pool.map(lambda name: _speak(_PORT, _WORDS[:24], name), names))
            hits, misses = _voice_cache()
            result[kind] = {"lines": hits + misses, "cold": misses, "warm_share": hits / (hits + misses)}
        return result

    def _clip(self, number: int) -> Path:
        """Return a clip of a voice."""
        clip = self._folder / f"voice {number}.wav"
        seconds = np.arange(4 * 24_000) / 24_000
        speech = 0.3 * np.sin(2 * np.pi * (150 + 20 * number) * seconds) * (1 + np.sin(8 * seconds)) / 2
        noise = np.random.default_rng(number).standard_normal(len(speech))
        soundfile.write(clip, speech + 0.001 * noise, 24_000)
        return clip

    def throughput(self) -> object:
        """Compare the time of a batch with one replica and with two."""
        seconds = {}
        for num_replicas in (1, 2):
            self._deploy(_SLEEPING, replicas=num_replicas)
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda _: _speak(_PORT, "one"), range(4)))
                started = time.monotonic()
                list(pool.map(lambda _: _speak(_PORT, _WORDS), range(_NUM_LINES)))
                seconds[num_replicas] = time.monotonic() - started
        return {
            "lines": _NUM_LINES,
            "one_replica_seconds": seconds[1],
            "two_replicas_seconds": seconds[2],
            "gain": seconds[1] / seconds[2],
        }

    def export(self) -> object:
        """Speak lines as an export with another computer does, while a node is killed, and compare them."""
        self._deploy(_SLEEPING, replicas=2, cores=2)
        whole, whole_seconds = asyncio.run(_lines())
        self._wait_for_replicas(2)
        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(self._kill_node_later)
            lines, seconds = asyncio.run(_lines())
            killing.result()
        return {
            "lines": len(whole),
            "seconds": whole_seconds,
            "seconds_with_a_lost_node": seconds,
            "lost_lines": sum(line != other for line, other in zip(lines, whole, strict=True)),
        }

    def _kill_node_later(self) -> None:
        time.sleep(5.0)
        self.kill_node()

    def _deploy(self, engine: str, *, replicas: int = 1, cores: float = 1) -> None:
        options = ClusterOptions(host=_HOST, fewest_replicas=replicas, most_replicas=replicas, cores=cores, queue=64)
        self._restore_nodes()
        serve.delete("timbre")
        serve.run(build_application(options, engine), name="timbre", route_prefix="/")
        _wait_until_ready(_PORT)

    def _restore_nodes(self) -> None:
        while len(self._cluster.worker_nodes) < 2:
            self._cluster.add_node(num_cpus=2)

    def _wait_for_replicas(self, number: int) -> None:
        """Restore the nodes, and wait until ``number`` replicas run."""
        self._restore_nodes()
        while True:
            states = serve.status().applications["timbre"].deployments["worker"].replica_states
            if {str(getattr(key, "value", key)): count for key, count in states.items()} == {"RUNNING": number}:
                return
            time.sleep(0.1)


def _speak(port: int, text: str, voice: str = "") -> Answer:
    body = json.dumps({"input": text, "voice": voice, "response_format": "pcm", "seed": 7})
    connection = http.client.HTTPConnection(_HOST, port, timeout=_TIMEOUT_SECONDS)
    started = time.monotonic()
    connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    audio = bytearray()
    first = 0.0
    delays = []
    chunk_bytes = 2 * sleeping_model.CHUNK_SAMPLES
    while block := response.read1():
        now = time.monotonic()
        first = first or now - started
        num_chunks = len(audio) // chunk_bytes
        audio += block
        for index in range(num_chunks, len(audio) // chunk_bytes):
            samples = np.frombuffer(audio[index * chunk_bytes :][: 2 * sleeping_model.TIME_SAMPLES], np.int16)
            delays.append(now - sleeping_model.time_of(samples))
    connection.close()
    if response.status != http.client.OK:
        raise ValueError(f"{response.status}: {audio.decode()}")
    return Answer(first, time.monotonic() - started, tuple(delays), bytes(audio))


def _reference() -> VoiceReference:
    voice = open_voice_library().voices()[0]
    return VoiceReference(voice.clip, voice.transcript, voice.name)


async def _first_audio(num_rounds: int) -> tuple[list[float], list[float]]:
    """Return the times to the first audio of a worker of this process, and to the first byte of the cluster."""
    direct, served = [], []
    reference = _reference()
    async with WorkerClient(ClusterOptions(host=_HOST).model_folder()) as client:
        for number in range(num_rounds + 2):
            await client.load()
            started = time.monotonic()
            first = 0.0
            request = SynthesisRequest(_TEXT, reference, seed=7, trims_leading_silence=True)
            async with client.synthesize(request) as handle:
                async for _ in handle:
                    first = first or time.monotonic() - started
            answer = await asyncio.to_thread(_speak, _PORT, _TEXT, reference.name)
            if number >= 2:  # the first requests prepare the voice
                direct.append(first)
                served.append(answer.first_byte)
    return direct, served


async def _lines() -> tuple[list[bytes], float]:
    """Request lines concurrently; return the answers in order, and the total time."""
    reference = _reference()
    server = ServerAddress(f"http://{_HOST}:{_PORT}")

    async def speak(number: int) -> bytes:
        async with client.synthesize(SynthesisRequest(_WORDS, reference, seed=number), in_batch=True) as handle:
            samples = np.concatenate([chunk.samples async for chunk in handle])
        return _without_times((samples * 32_768).astype(np.int16).tobytes())

    started = time.monotonic()
    async with WorkerClient(Path("remote"), start_worker=lambda: RemoteWorker(server)) as client:
        await client.load()
        return await asyncio.gather(*map(speak, range(_NUM_LINES))), time.monotonic() - started


def _is_lost(speak: Callable[[], Answer], whole: bytes) -> bool:
    try:
        return _without_times(speak().audio) != whole
    except (OSError, http.client.HTTPException, ValueError) as error:
        print(f"lost: {error!r}", flush=True)
        return True


def _without_times(audio: bytes) -> bytes:
    chunks = np.frombuffer(audio, np.int16).reshape(-1, sleeping_model.CHUNK_SAMPLES)
    return chunks[:, sleeping_model.TIME_SAMPLES :].tobytes()


def _add_voice(name: str, clip: Path) -> None:
    with clip.open("rb") as file:
        httpx2.post(
            f"http://{_HOST}:{_PORT}/v1/audio/voices",
            data={"name": name, "consent": "none needed: no person spoke"},
            files={"audio_sample": file},
            timeout=_TIMEOUT_SECONDS,
        ).raise_for_status()


def _voice_cache() -> tuple[int, int]:
    """Return the numbers of lines whose voice was and was not in memory."""
    connection = http.client.HTTPConnection(_HOST, _PORT, timeout=_TIMEOUT_SECONDS)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    counts = {"yes": 0, "no": 0}
    for hit in counts:
        prefix = f'timbre_voice_cache_total{{hit="{hit}"}} '
        counts[hit] = sum(int(float(line.split()[-1])) for line in text.splitlines() if line.startswith(prefix))
    return counts["yes"], counts["no"]


def _wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection(_HOST, port, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == http.client.OK:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    raise TimeoutError(f"port {port} is not ready")


def _summary(seconds: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(seconds), "longest": max(seconds)}
