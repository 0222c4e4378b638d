"""Speech of text that arrives in pieces, as one request for each group of complete sentences.

Decision: this computer finds the ends of sentences, and what has arrived while one group is spoken is the next group.
Reason: it works with every kind of server, over one-way requests that can be repeated. Alternative: a connection in both
directions, whose text would be lost with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from studio.pipeline.request import NetworkFigures, SynthesisReport, SynthesisRequest
from studio.text.layout import Layout
from studio.text.split import IncrementalSplitter
from studio.text.tags import COSYVOICE3_TAGS
from studio.worker import protocol
from studio.worker.protocol import Event

_END = None


class ArrivingText:
    """Text of one request. ``add`` and ``end`` are called while ``speak`` runs."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._splitter = IncrementalSplitter(COSYVOICE3_TAGS)
        self._is_over = False

    def add(self, text: str) -> None:
        self._pieces.put_nowait(text)

    def end(self) -> None:
        self._pieces.put_nowait(_END)

    async def speak(
        self, command: protocol.Synthesize, answer: Callable[[protocol.Synthesize], Awaitable[Event]]
    ) -> Event:
        """Return the last event: ``answer`` speaks each group. Raise its errors."""
        began = time.perf_counter()
        reports: list[tuple[float, SynthesisReport]] = []
        while not self._is_over:
            text = await self._next_group()
            if reports and not _is_speakable(text):  # the end
                break
            waited = time.perf_counter() - began
            event = await answer(
                replace(command, request=_part(command.request, text, len(reports)), text_arrives=False)
            )
            if not isinstance(event, protocol.Finished):
                return event
            reports.append((waited, event.report))
        return protocol.Finished(command.request_id, _joined(reports, time.perf_counter() - began))

    async def _next_group(self) -> str:
        """Return the sentences that are complete, at least one unless the text is over."""
        text = ""
        while not self._is_over and (not _is_speakable(text) or not self._pieces.empty()):
            piece = await self._pieces.get()
            self._is_over = piece is _END
            text += "".join(self._splitter.finish() if piece is None else self._splitter.feed(piece))
        return text


def _is_speakable(text: str) -> bool:
    return Layout.of(text, COSYVOICE3_TAGS).is_speakable(0, len(text))


def _part(request: SynthesisRequest, text: str, index: int) -> SynthesisRequest:
    """Return the request for a group. Only the first one begins the speech; each has a seed of its own."""
    if index == 0:
        return replace(request, text=text)
    seed = (request.seed * 1_000_003 + index) % (1 << 63)
    return replace(request, text=text, seed=seed, trims_leading_silence=False)


def _joined(parts: Sequence[tuple[float, SynthesisReport]], total_seconds: float) -> SynthesisReport:
    """Return the report of the whole. Each part has its start, in seconds since the beginning."""
    waited, first = parts[0]
    reports = [report for _, report in parts]
    stages: dict[str, float] = {}
    evidence, audio_seconds = [], 0.0
    for report in reports:
        for stage, seconds in report.stages.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
        for each in report.evidence:
            start, end = each.from_seconds + audio_seconds, each.to_seconds + audio_seconds
            evidence.append(replace(each, from_seconds=start, to_seconds=end))
        audio_seconds += report.audio_seconds
    return replace(
        reports[-1],
        first_audio_seconds=waited + first.first_audio_seconds,
        audio_seconds=audio_seconds,
        total_seconds=total_seconds,
        num_speech_tokens=sum(report.num_speech_tokens for report in reports),
        stages=stages,
        spoken_text=tuple(text for report in reports for text in report.spoken_text),
        warnings=first.warnings,
        odd_lengths=tuple(odd for report in reports for odd in report.odd_lengths),
        evidence=tuple(evidence),
        voice_was_cached=first.voice_was_cached,
        queue_seconds=first.queue_seconds,
        network_seconds=first.network_seconds,
        network=_joined_network(reports, audio_seconds),
    )


def _joined_network(reports: Sequence[SynthesisReport], audio_seconds: float) -> NetworkFigures | None:
    figures = [(report.network, report.audio_seconds) for report in reports if report.network is not None]
    if len(figures) < len(reports):
        return None
    return replace(
        figures[0][0],
        real_time_factor=sum(network.real_time_factor * seconds for network, seconds in figures) / audio_seconds,
        delay_seconds=max(network.delay_seconds for network, _ in figures),
    )
