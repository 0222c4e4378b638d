"""The worker for the kind of a server."""

from __future__ import annotations

from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker


def worker_of(server: ServerAddress) -> RemoteWorker:
    """Return a worker that speaks through ``server``."""
    if server.is_triton:
        from studio.remote.triton_worker import TritonWorker  # noqa: PLC0415 - slow to import

        return TritonWorker(server)
    if server.is_other_program:
        from studio.remote.openai_worker import OpenAiWorker  # noqa: PLC0415

        return OpenAiWorker(server)
    return RemoteWorker(server)
