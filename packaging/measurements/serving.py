"""Measure what `timbre serve` adds to the local command, and how it survives the loss of its worker.

    python3 packaging/measure.py serving [--model FOLDER] [--rounds 30] [--kills 20] [--json FILE]
    python3 packaging/measure.py serving --remote --rounds 20       # only as another computer

Direct requests to the worker, as `timbre say` makes them, alternate with requests over HTTP to a service with the same
worker; clients run in a process of their own. Then the worker is killed in the middle of a line, repeatedly. With
``--remote``, the client is a `RemoteWorker`, as in a window that uses another computer. The model is studio-mini
unless another one is named.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from studio.bench.inputs import SENTENCE
from studio.catalog.built_in_speakers import open_voice_library
from studio.paths import resources
from studio.pipeline.request import NetworkFigures, SynthesisRequest, VoiceReference
from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker
from studio.serve.running import Address, run_service
from studio.serve.service import ServiceOptions, SpeechService
from studio.worker import protocol
from studio.worker.client import WorkerClient
from studio.worker.protocol import Event

_VOICE = "Ada"
# Two seconds of speech.
_TEXT = "The harbour was quiet in the early morning."
_BYTES_PER_SAMPLE = 2
_CLIENT_SECONDS = 300
_WORDS_PER_SECOND = 20
_FIRST_WORDS = 10


class TimedClient(WorkerClient):
    """Records when each chunk arrives from the worker, and its number of samples."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.arrivals: list[tuple[float, int]] = []

    def _receive(self, loop: asyncio.AbstractEventLoop, event: Event) -> None:
        if isinstance(event, protocol.AudioReady):
            self.arrivals.append((time.perf_counter(), len(event.chunk.samples)))
        super()._receive(loop, event)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, default=resources() / "models" / "studio-mini", metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=30, help="number of requests of each kind (default 30)")
    parser.add_argument("--kills", type=int, default=20, help="number of killed workers (default 20)")
    parser.add_argument("--remote", action="store_true", help="only measure the service as another computer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="timbre-serving-") as folder:
        os.environ["TIMBRE_CACHE"] = os.environ["TIMBRE_DATA"] = folder
        result = asyncio.run(_measure(parsed.model, parsed.rounds, None if parsed.remote else parsed.kills))
    result["load_average"] = [round(each, 1) for each in os.getloadavg()]
    print(json.dumps(result, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


async def _measure(folder: Path, num_rounds: int, num_kills: int | None) -> dict[str, object]:
    """Measure all but the other computer, or only that if ``num_kills`` is None."""
    with _client_process(_speak_remotely if num_kills is None else _request_speech) as http_client:
        async with TimedClient(folder) as client:
            service = SpeechService(client, ServiceOptions(folder, _VOICE), open_voice_library)
            ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            serving = asyncio.create_task(run_service(service, Address(port=0), on_ready=ready.set_result))
            try:
                await asyncio.wait((ready, serving), return_when=asyncio.FIRST_COMPLETED)
                if serving.done():
                    serving.result()
                measuring = _Measuring(client, service, http_client, int(ready.result().rpartition(":")[2]))
                if num_kills is None:
                    return await measuring.remote(num_rounds)
                overhead = await measuring.overhead(num_rounds)
                return overhead | await measuring.arriving_text(num_rounds) | await measuring.kills(num_kills)
            finally:
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)


class _Measuring:
    def __init__(self, client: TimedClient, service: SpeechService, http_client: Connection, port: int) -> None:
        self._client = client
        self._service = service
        self._http_client = http_client
        self._port = port

    async def overhead(self, num_rounds: int) -> dict[str, object]:
        """Compare the time to the first audio, and the time of each chunk between worker and client."""
        direct: list[float] = []
        served: list[float] = []
        chunks: list[float] = []
        for number in range(num_rounds + 1):
            seconds = await self._direct()
            self._client.arrivals.clear()
            answer = await self._served()
            if number == 0:  # the first request prepares the voice and warms up
                continue
            direct.append(seconds)
            served.append(answer[0][0] - answer[1])
            chunks += _delays(self._client.arrivals, answer[0], answer[2])
        return {
            "rounds": num_rounds,
            "first_audio_direct_seconds": statistics.median(direct),
            "first_byte_served_seconds": statistics.median(served),
            "added_seconds": statistics.median(served) - statistics.median(direct),
            "chunks": len(chunks),
            "chunk_seconds_median": statistics.median(chunks),
            "chunk_seconds_95": statistics.quantiles(chunks, n=20)[-1],
        }

    async def remote(self, num_rounds: int) -> dict[str, object]:
        """Compare the time to the first sound here and for a client of the service, alternately."""
        direct: list[float] = []
        remote: list[RemoteSpeech] = []
        expected: bytes | None = None
        num_different = 0
        for number in range(num_rounds + 1):
            seconds = await self._direct()
            self._http_client.send((self._port, self._request()))
            answer: RemoteSpeech = await asyncio.to_thread(self._http_client.recv)
            expected = expected or answer.audio
            num_different += answer.audio != expected
            if number == 0:  # the first request prepares the voice and sends it
                continue
            direct.append(seconds)
            remote.append(answer)
        first = statistics.median(each.first_seconds for each in remote)
        return {
            "rounds": num_rounds,
            "first_sound_here_seconds": statistics.median(direct),
            "first_sound_remote_seconds": first,
            "added_seconds": first - statistics.median(direct),
            "added_seconds_of_pairs": statistics.median(
                there.first_seconds - here for there, here in zip(remote, direct, strict=True)
            ),
            "network_seconds": statistics.median(each.network.latency_seconds for each in remote),
            "network_delay_seconds": max(each.network.delay_seconds for each in remote),
            "different_takes": num_different,
        }

    async def arriving_text(self, num_rounds: int) -> dict[str, object]:
        """Measure the time from the tenth word to the first sound, of text that arrives word by word."""
        seconds = []
        for _ in range(num_rounds):
            sent: list[float] = []
            request = replace(self._request(), text="")
            async with self._client.synthesize(request, pieces=_words(sent)) as handle:
                await anext(handle)
                seconds.append(time.perf_counter() - sent[_FIRST_WORDS - 1])
        return {"first_sound_after_tenth_word_seconds": statistics.median(seconds)}

    async def kills(self, num_kills: int) -> dict[str, object]:
        """Kill the worker in mid-line; report lines that differ from an uninterrupted one, and the next request's time."""
        if not num_kills:
            return {}
        whole = await self._served()
        length = whole[0][-1] - whole[1]
        num_lost, again, following = 0, [], []
        for number in range(num_kills):
            asking = asyncio.create_task(self._served())
            await asyncio.sleep((0.2 + 0.6 * number / num_kills) * length)
            connection = self._client._connection
            assert connection is not None
            connection.kill()
            killed = time.perf_counter()
            answer = await asking
            again.append(answer[0][-1] - killed)
            num_lost += answer[3] != whole[3]
            started = time.perf_counter()
            answer = await self._served()
            following.append(answer[0][0] - started)
            num_lost += answer[3] != whole[3]
        return {
            "kills": num_kills,
            "lost_lines": num_lost,
            "line_complete_after_kill_seconds": {"median": statistics.median(again), "longest": max(again)},
            "next_first_byte_seconds": {"median": statistics.median(following), "longest": max(following)},
        }

    async def _direct(self) -> float:
        """Return the time to the first chunk of a request without HTTP."""
        started = time.perf_counter()
        first = 0.0
        async with self._client.synthesize(self._request()) as handle:
            async for _ in handle:
                first = first or time.perf_counter() - started
        return first

    def _request(self) -> SynthesisRequest:
        voice = self._service.library.get(_VOICE)
        reference = VoiceReference(voice.clip, voice.transcript, voice.name)
        return SynthesisRequest(_TEXT, reference, trims_leading_silence=True)

    async def _served(self) -> tuple[list[float], float, list[int], bytes]:
        """Return the arrivals of a served request, its start, the number of bytes at each arrival, and the audio."""
        self._http_client.send(self._port)
        answer: tuple[list[float], float, list[int], bytes] = await asyncio.to_thread(self._http_client.recv)
        return answer


async def _words(sent: list[float]) -> AsyncIterator[str]:
    """Yield the words of ``SENTENCE`` at the speed of a language model, and append the time of each to ``sent``."""
    for word in SENTENCE.split():
        yield f"{word} "
        sent.append(time.perf_counter())
        await asyncio.sleep(1 / _WORDS_PER_SECOND)


def _delays(worker: Sequence[tuple[float, int]], arrivals: Sequence[float], ends: Sequence[int]) -> Iterator[float]:
    """Yield the time of each chunk from its arrival from the worker until the client has all of it."""
    end = 0
    for sent, num_samples in worker:
        end += _BYTES_PER_SAMPLE * num_samples
        yield next(arrival for arrival, position in zip(arrivals, ends, strict=True) if position >= end) - sent


@contextmanager
def _client_process(work: Callable[[Connection], None]) -> Iterator[Connection]:
    """Run a client in a process; it shares the clock of this process."""
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=work, args=(far,), daemon=True)
    process.start()
    far.close()  # if the client fails, the connection ends
    try:
        yield near
    finally:
        process.kill()
        process.join()


@dataclass(frozen=True)
class RemoteSpeech:
    """One take through another computer: the time to its first chunk, its samples and the network's share."""

    first_seconds: float
    audio: bytes
    network: NetworkFigures


def _speak_remotely(orders: Connection) -> None:
    """Speak each request that is received with a port, as the command line does with ``--server``."""
    asyncio.run(_answer_remotely(orders))


async def _answer_remotely(orders: Connection) -> None:
    port, request = await asyncio.to_thread(orders.recv)
    server = ServerAddress(f"http://127.0.0.1:{port}")
    async with WorkerClient(Path(), start_worker=lambda: RemoteWorker(server)) as client:
        await client.load()
        while True:
            started = time.perf_counter()
            first, audio = 0.0, bytearray()
            async with client.synthesize(request) as handle:
                async for chunk in handle:
                    first = first or time.perf_counter() - started
                    audio += chunk.samples.tobytes()
                report = await handle.finished()
            assert report is not None
            assert report.network is not None
            orders.send(RemoteSpeech(first, bytes(audio), report.network))
            port, request = await asyncio.to_thread(orders.recv)


def _request_speech(orders: Connection) -> None:
    """Make a request for each port that is received."""
    body = json.dumps({"input": _TEXT, "voice": _VOICE, "response_format": "pcm"})
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", orders.recv(), timeout=_CLIENT_SECONDS)
        started = time.perf_counter()
        connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        audio = bytearray()
        arrivals, ends = [], []
        while block := answer.read1():
            audio += block
            arrivals.append(time.perf_counter())
            ends.append(len(audio))
        connection.close()
        orders.send((arrivals, started, ends, bytes(audio)))
