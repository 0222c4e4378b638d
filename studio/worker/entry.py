"""The worker process: imports torch while the client prepares its first command, and serves the client."""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from studio.system.garbage import without_collections
from studio.system.piped_process import function_named
from studio.worker.torch_import import import_torch

if TYPE_CHECKING:
    from studio.worker.model_host import ModelHost

_ABANDONED_GRACE_SECONDS = 3.0


def serve(connection: Connection, engine: str) -> None:
    """Serve until the client disconnects. ``engine`` names the function that opens a model, as ``module:function``."""
    threading.Thread(target=_preload, args=(engine,), name="preload", daemon=True).start()
    from studio.worker.server import Server  # noqa: PLC0415 - while torch is imported on the other thread

    def open_model(*arguments: object) -> ModelHost:
        """Import the engine, so that the client learns of a failed import, and call it."""
        model: ModelHost = function_named(engine)(*arguments)
        return model

    Server(connection, open_model, when_abandoned=_end_soon).serve()


def _preload(engine: str) -> None:
    """Import the module of ``engine``. An error is reported when a model is loaded.

    Garbage collection would take a fifth of the time.
    """
    with without_collections(), contextlib.suppress(Exception):
        import_torch()
        importlib.import_module(engine.split(":", maxsplit=1)[0])


def _end_soon() -> None:
    """End this process shortly after the program has ended, even while a request runs."""
    timer = threading.Timer(_ABANDONED_GRACE_SECONDS, os._exit, args=(1,))
    timer.daemon = True
    timer.start()
