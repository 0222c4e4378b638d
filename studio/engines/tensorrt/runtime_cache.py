"""Cache of the kernels that TensorRT for RTX compiles for a GPU when a plan first runs.

Its plans contain no machine code: kernels are compiled as sizes occur, which takes seconds. The library rejects a cache
of another GPU, driver or version. Plain TensorRT has no such cache.
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
# After these numbers of runs, the common kernels, and then the rarer ones, have been compiled.
_WRITTEN_AFTER_RUNS = (32, 512)
_MOST_KEPT = 40


def cache_path(plan: bytes) -> Path:
    """Return the file for ``plan``. It is outside the built engine, whose files must not change."""
    return paths.cache_folder() / "engines" / "compiled" / f"{hashlib.sha256(plan).hexdigest()[:24]}.bin"


class RuntimeCache:
    """The cache of one plan. ``config`` is for creating its contexts."""

    def __init__(self, config: Any, path: Path) -> None:
        self.config = config
        self._path = path
        self._num_runs = 0
        self._cache = config.create_runtime_cache()
        with contextlib.suppress(OSError):
            if not self._cache.deserialize(path.read_bytes()):
                _log.info("%s does not match and is compiled again", path.name)
        config.set_runtime_cache(self._cache)

    def count_run(self) -> None:
        """Count a run, and write the cache after certain numbers of runs, since the last run is not known."""
        self._num_runs += 1
        if self._num_runs in _WRITTEN_AFTER_RUNS:
            self._write()

    def _write(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(self._path, bytes(self._cache.serialize()))
            kept = sorted(self._path.parent.glob("*.bin"), key=lambda path: path.stat().st_mtime, reverse=True)
            for excess in kept[_MOST_KEPT:]:
                excess.unlink(missing_ok=True)
        except (OSError, StudioError) as error:  # only makes the next start faster
            _log.warning("the runtime cache cannot be written: %s", error)


def open_runtime_cache(library: Library, engine: Any, strategy: Any, path: Path) -> RuntimeCache | None:
    """Return the cache, or None if the library does not support it. ``strategy``: how contexts allocate memory."""
    if not (library.is_rtx and hasattr(engine, "create_runtime_config")):
        return None
    config = engine.create_runtime_config()
    config.set_execution_context_allocation_strategy(strategy)
    return RuntimeCache(config, path)
