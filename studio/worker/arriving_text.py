"""Text that arrives in pieces: a request for each of its parts, whose audio and reports are joined.

Decision: each part is a request of its own. Reason: a text that pauses then occupies neither the worker nor a slot of a
service, and every kind of worker speaks it alike.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from dataclasses import replace
from functools import partial

from studio.pipeline.request import SynthesisReport, SynthesisRequest, joined_report
from studio.text.arriving import ArrivingText
from studio.text.segmentation import IncrementalText, TextPart
from studio.worker import protocol
from studio.worker.protocol import Event
from studio.worker.request_events import request_events
from studio.worker.request_handle import Callbacks, RequestHandle

_ANY_ID = 0
# Starts the request of a part, with its sentence if that is still being written.
Begin = Callable[[SynthesisRequest, ArrivingText | None, Callbacks], RequestHandle]


class ContinuedSpeech:
    """The requests that speak the parts of one text, in order. ``request`` has their options."""

    def __init__(self, request: SynthesisRequest) -> None:
        self._request = request
        self.report: SynthesisReport | None = None  # of all parts that were added

    def request_for(self, part: TextPart) -> SynthesisRequest:
        """Return the request of the next part."""
        before = self.report
        return replace(
            self._request,
            text=part.text,
            language=self._request.language or part.language,
            trims_leading_silence=self._request.trims_leading_silence and before is None,
            first_index=0 if before is None else before.num_items,
        )

    def rest_of_text(self) -> SynthesisRequest:
        """Return the request of the sentences that are missing, if ``request`` has the whole text."""
        if self.report is None:
            return self._request
        return replace(self._request, num_skipped=self.report.num_items, trims_leading_silence=False)

    def add(self, report: SynthesisReport) -> None:
        """Add the report of the request that was returned last."""
        self.report = report if self.report is None else joined_report(self.report, report)


async def text_parts(pieces: AsyncIterable[str], *, interleaves: bool = False) -> AsyncGenerator[TextPart, None]:
    """Yield the parts of a text as they are complete, or have begun. Raise ``NothingToSpeak``."""
    text = IncrementalText(interleaves=interleaves)
    parts: asyncio.Queue[TextPart | None] = asyncio.Queue()

    async def read() -> None:
        try:
            async for piece in pieces:
                _put_all(parts, text.feed(piece))
            _put_all(parts, text.finish())
        finally:
            parts.put_nowait(None)

    reading = asyncio.create_task(read())  # a part that has begun goes on while it is spoken
    try:
        while (part := await parts.get()) is not None:
            yield part
        await reading
    finally:
        reading.cancel()


def _put_all(queue: asyncio.Queue[TextPart | None], parts: Iterable[TextPart]) -> None:
    for part in parts:
        queue.put_nowait(part)


async def speech_events(
    request: SynthesisRequest, parts: AsyncIterable[TextPart], begin: Begin
) -> AsyncGenerator[Event, None]:
    """Yield the events of a request whose text arrives in ``parts``. ``begin`` starts the request of a part."""
    speech = ContinuedSpeech(request)
    async for part in parts:
        started = request_events(partial(begin, speech.request_for(part), part.arriving))
        async with contextlib.aclosing(started) as events:
            async for event in events:
                match event:
                    case protocol.Finished(report=report):
                        speech.add(report)
                    case protocol.Cancelled():
                        yield event
                        return
                    case protocol.PlaybackStartEstimate() if speech.report is not None:
                        pass  # it does not know the audio before it
                    case _:
                        yield event
    assert speech.report is not None
    yield protocol.Finished(_ANY_ID, speech.report)
