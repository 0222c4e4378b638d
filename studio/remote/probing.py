"""Test of the connection to another computer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass

import httpx2

from studio.errors import StudioError, UnknownService
from studio.pipeline.request import EngineDescription
from studio.remote import openai_wire, wire
from studio.remote.address import ServerAddress, descriptions_folder
from studio.remote.connection import Connection, incompatible_server
from studio.remote.model_description import keep_description
from studio.remote.triton_worker import TritonConnection

_HEALTH_PATH = "/healthz"
_NUM_ROUND_TRIPS = 5


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A server that can be used. ``round_trip_seconds`` is the shortest time of an answer."""

    address: ServerAddress
    description: EngineDescription
    round_trip_seconds: float


@dataclass(frozen=True, slots=True)
class OtherServer:
    """A server of another program, and what can be chosen there. ``voices`` belong to a server that has its own."""

    models: tuple[str, ...]
    voices: tuple[str, ...] = ()


def probe(address: ServerAddress, token: str | None) -> ServerFacts:
    """Connect with ``token`` and return the facts about the server. Blocks. Raise ``StudioError``."""
    return asyncio.run(_probe(address, token))


def probe_other(address: ServerAddress, token: str | None) -> OtherServer:
    """Connect to Triton or to a server with OpenAI's speech API. Blocks. Raise ``StudioError``."""
    return asyncio.run(_probe_triton(address, token) if address.is_triton else _probe_other(address, token))


def probe_any(address: ServerAddress, token: str | None) -> ServerFacts | OtherServer:
    """Connect to a server of any kind. Blocks. Raise ``StudioError``."""
    if not address.is_triton:
        with contextlib.suppress(UnknownService):
            return probe(address, token)
    return probe_other(address, token)


async def _probe_triton(address: ServerAddress, token: str | None) -> OtherServer:
    async with TritonConnection(address, token) as connection:
        return OtherServer(await connection.models())


async def _probe_other(address: ServerAddress, token: str | None) -> OtherServer:
    async with Connection(address, token) as connection:
        try:
            models = await connection.json("GET", openai_wire.MODELS_PATH)
            try:
                voices = await connection.json("GET", openai_wire.VOICES_PATH)
            except StudioError:  # not part of OpenAI's API
                voices = None
        except httpx2.TransportError as error:
            raise connection.unreachable(error) from error
    if not isinstance(models, dict) or not isinstance(models.get("data"), list):
        raise connection.unknown_answer()
    return OtherServer(
        openai_wire.read_names(models["data"]),
        openai_wire.read_names(voices.get("voices") if isinstance(voices, dict) else voices),
    )


async def _probe(address: ServerAddress, token: str | None) -> ServerFacts:
    async with Connection(address, token) as connection:
        try:
            answer = await connection.json("GET", wire.ENGINE_PATH)
            description = await asyncio.to_thread(keep_description, answer, descriptions_folder(address.url))
            round_trips = []
            for _ in range(_NUM_ROUND_TRIPS):
                began = time.perf_counter()
                await connection.json("GET", _HEALTH_PATH)
                round_trips.append(time.perf_counter() - began)
        except httpx2.TransportError as error:
            raise connection.unreachable(error) from error
        except ValueError as error:
            raise incompatible_server(address.host, error) from error
    return ServerFacts(address, description, min(round_trips))
