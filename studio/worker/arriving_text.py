"""Text that arrives in pieces: a request for each of its parts, whose audio and reports are joined.

Decision: each part is a request of its own. Reason: a text that pauses then occupies neither the worker nor a slot of a
service, and every kind of worker speaks it alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from dataclasses import replace

from studio.pipeline.request import SynthesisReport, SynthesisRequest, joined_report
from studio.text.segmentation import IncrementalText, TextPart
from studio.worker import protocol
from studio.worker.protocol import Event
from studio.worker.request_events import request_events
from studio.worker.request_handle import Callbacks, RequestHandle

_ANY_ID = 0


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


async def text_parts(pieces: AsyncIterable[str]) -> AsyncIterator[TextPart]:
    """Yield the parts of a text as they are complete. Raise ``NothingToSpeak``."""
    text = IncrementalText()
    async for piece in pieces:
        for part in text.feed(piece):
            yield part
    for part in text.finish():
        yield part


async def speech_events(
    request: SynthesisRequest,
    pieces: AsyncIterable[str],
    begin: Callable[[SynthesisRequest, Callbacks], RequestHandle],
) -> AsyncGenerator[Event, None]:
    """Yield the events of a request whose text arrives in ``pieces``. ``begin`` starts the request of a part."""
    speech = ContinuedSpeech(request)
    async for part in text_parts(pieces):
        async with contextlib.aclosing(_part_events(speech.request_for(part), begin)) as events:
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


def _part_events(
    request: SynthesisRequest, begin: Callable[[SynthesisRequest, Callbacks], RequestHandle]
) -> AsyncGenerator[Event, None]:
    return request_events(lambda hooks: begin(request, hooks))
