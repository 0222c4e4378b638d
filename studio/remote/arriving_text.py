"""Text of a request that arrives in pieces, from a keyboard, another program or another computer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from studio.errors import BadRequest
from studio.text.split import IncrementalSplitter, Layout
from studio.text.tags import COSYVOICE3_TAGS

_T = TypeVar("_T")


class ArrivingText:
    """Can be read while it arrives, and again from its start if its request is repeated. Used on one event loop.

    A text without an end would keep its place in the engine, so a service limits ``max_pause_seconds``.
    """

    def __init__(self, *, max_characters: int | None = None, max_pause_seconds: float | None = None) -> None:
        self._max_characters = max_characters
        self._max_pause_seconds = max_pause_seconds
        self._pieces: list[str] = []
        self._num_characters = 0
        self.is_over = False
        self._changed = asyncio.Event()

    def __str__(self) -> str:
        """Return what has arrived."""
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Append ``piece``. Raise ``BadRequest`` if the text is longer than ``max_characters``."""
        self._num_characters += len(piece)
        if self._max_characters is not None and self._num_characters > self._max_characters:
            raise BadRequest(
                "The text is longer than {number} characters.", remedy="Split it.", number=self._max_characters
            )
        self._pieces.append(piece)
        self._changed.set()

    def end(self) -> None:
        self.is_over = True
        self._changed.set()

    async def batches(self) -> AsyncIterator[list[str]]:
        """Yield all pieces that have arrived, and then those that arrive together, until the end.

        Raise ``BadRequest`` if no piece arrives for ``max_pause_seconds``.
        """
        position = 0
        while True:
            if batch := self._pieces[position:]:
                position += len(batch)
                yield batch
            elif self.is_over:
                return
            else:
                self._changed.clear()
                try:
                    async with asyncio.timeout(self._max_pause_seconds):
                        await self._changed.wait()
                except TimeoutError:
                    raise BadRequest("No text arrived in time.", remedy="Send it again, without pauses.") from None

    async def pieces(self) -> AsyncIterator[str]:
        """Yield each piece as it arrives, until the end."""
        async for batch in self.batches():
            for piece in batch:
                yield piece

    async def sentences(self) -> AsyncIterator[str]:
        """Yield each sentence as soon as it is complete. Joined, they are the text. Each has something to speak."""
        splitter = IncrementalSplitter(COSYVOICE3_TAGS)
        text = ""
        async for piece in self.pieces():
            for part in splitter.feed(piece):
                text += part
                if _is_speakable(text):
                    yield text
                    text = ""
        text += "".join(splitter.finish())
        if _is_speakable(text):
            yield text


async def run_beside(main: Coroutine[Any, Any, _T], side: Coroutine[Any, Any, None]) -> _T:
    """Return the result of ``main``, beside which ``side`` runs. An error of either ends both."""
    tasks = asyncio.create_task(main), asyncio.create_task(side)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[1].done():
            tasks[1].result()
        return await tasks[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_speakable(text: str) -> bool:
    return Layout.of(text, COSYVOICE3_TAGS).is_speakable(0, len(text))
