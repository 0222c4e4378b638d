"""What TensorRT for RTX compiles for a card when a plan first runs there, kept for the next start.

Its plans hold no machine code: kernels are made as sizes occur, which takes seconds. The library itself refuses a
cache of another card, driver or version. Plain TensorRT has nothing of the kind.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from pathlib import Path
from typing import Any

from studio import paths
from studio.engines.tensorrt.library import Library
from studio.errors import StudioError
from studio.storage.atomic_file import atomic_write

_log = logging.getLogger(__name__)
# After so many runs what is needed all the time has been made, and then what is needed now and then.
_WRITTEN_AFTER_RUNS = (32, 512)
_MOST_KEPT = 40


def cache_path(plan: bytes) -> Path:
    """Where that of ``plan`` is kept: beside what was built, not in it, as it goes on changing."""
    return paths.cache_folder() / "engines" / "compiled" / f"{hashlib.sha256(plan).hexdigest()[:24]}.bin"


class RuntimeCache:
    """Of one plan. ``config`` is what its contexts are created with."""

    def __init__(self, config: Any, path: Path) -> None:
        self.config = config
        self._path = path
        self._num_runs = 0
        self._cache = config.create_runtime_cache()
        with contextlib.suppress(OSError):
            if not self._cache.deserialize(path.read_bytes()):
                _log.info("%s was compiled for something else, and is made anew", path.name)
        config.set_runtime_cache(self._cache)

    def count_run(self) -> None:
        """Written now and then: nobody knows which run is the last."""
        self._num_runs += 1
        if self._num_runs in _WRITTEN_AFTER_RUNS:
            self._write()

    def _write(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(self._path, bytes(self._cache.serialize()))
            kept = sorted(self._path.parent.glob("*.bin"), key=lambda path: path.stat().st_mtime, reverse=True)
            for forgotten in kept[_MOST_KEPT:]:
                forgotten.unlink(missing_ok=True)
        except (OSError, StudioError) as error:  # it only makes the next start faster
            _log.warning("what was compiled for a plan cannot be kept: %s", error)


def open_runtime_cache(library: Library, engine: Any, strategy: Any, path: Path) -> RuntimeCache | None:
    """None where the library has none; ``strategy`` is how contexts take their memory."""
    if not (library.is_rtx and hasattr(engine, "create_runtime_config")):
        return None
    config = engine.create_runtime_config()
    config.set_execution_context_allocation_strategy(strategy)
    return RuntimeCache(config, path)
