"""Text that arrives: read more than once, and limited in length and in time."""

from __future__ import annotations

import asyncio

import pytest

from studio.errors import BadRequest
from studio.remote.arriving_text import ArrivingText


def test_it_is_read_while_it_arrives_and_again_from_its_start() -> None:
    async def read() -> tuple[list[str], list[str]]:
        text = ArrivingText()

        async def collect() -> list[str]:
            return [piece async for piece in text.pieces()]

        text.add("one ")
        first = asyncio.create_task(collect())
        await asyncio.sleep(0)
        text.add("two ")
        text.add("three")
        second = asyncio.create_task(collect())
        await asyncio.sleep(0)
        text.end()
        return await first, await second

    assert asyncio.run(read()) == (["one ", "two ", "three"],) * 2


def test_its_length_and_its_pauses_are_limited() -> None:
    async def read() -> None:
        text = ArrivingText(max_characters=10, max_pause_seconds=0.01)
        text.add("0123456789")
        with pytest.raises(BadRequest, match="longer than 10"):
            text.add("x")
        with pytest.raises(BadRequest, match="in time"):
            async for _ in text.pieces():
                pass

    asyncio.run(read())
