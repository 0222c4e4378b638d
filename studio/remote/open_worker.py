"""The worker for the kind of a server."""

from __future__ import annotations

from studio.remote.address import ServerAddress
from studio.remote.openai_worker import OpenAiWorker
from studio.remote.remote_worker import RemoteWorker
from studio.remote.server_worker import ServerWorker
from studio.remote.triton_worker import TritonWorker


def open_worker(server: ServerAddress) -> ServerWorker:
    """Return a worker that speaks through ``server``."""
    if server.is_triton:
        return TritonWorker(server)
    return OpenAiWorker(server) if server.is_other_program else RemoteWorker(server)
