"""Weights in the form in which they are used, kept in the cache folder, so that a model is converted only once.

The files are mapped: their pages are shared between processes, and can be dropped and read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import safetensors
import torch
from safetensors.torch import save_file

from studio import paths
from studio.model.weights import release_pages
from studio.storage.atomic_file import atomic_path

_log = logging.getLogger(__name__)
# The least recently used files beyond this number are deleted.
_MOST_FILES = 6
_CHECKSUM = "checksum"
_ENDING = ".safetensors"

Tensors = Mapping[str, torch.Tensor]


def converted_weights(source: Path, form: str, convert: Callable[[], Tensors]) -> Tensors:
    """Return the tensors that ``convert`` makes from the file ``source``, by name, from the cache if they are there.

    ``form`` identifies the conversion and everything else on which its result depends.
    """
    path = _path(source, form)
    found = _read(path)
    if found is None:
        tensors = convert()
        if not _write(path, tensors):
            return tensors
        del tensors
        found = _read(path)
    return convert() if found is None else found


def has_converted_weights(source: Path, form: str) -> bool:
    return _path(source, form).is_file()


def release_converted_weights(source: Path, form: str) -> None:
    """Release the pages that have been read, after a library has copied most of the weights."""
    release_pages(_path(source, form))


def _path(source: Path, form: str) -> Path:
    status = source.stat()
    facts = (str(source.resolve()), status.st_size, status.st_mtime_ns, form)
    return paths.cache_folder() / "weights" / (hashlib.sha256(repr(facts).encode()).hexdigest() + _ENDING)


def _read(path: Path) -> Tensors | None:
    if not path.is_file():
        return None
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            expected = file.metadata()[_CHECKSUM]
        is_damaged = _checksum(tensors) != expected
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, safetensors.SafetensorError):
        is_damaged = True
    if is_damaged:
        _log.warning("%s is damaged; the weights are converted again", path.name)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # most recently used
    return tensors


def _write(path: Path, tensors: Tensors) -> bool:
    """Write ``tensors``, and return whether that succeeded. Without the file, they are converted at each start."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files = sorted(path.parent.glob(f"*{_ENDING}"), key=lambda file: file.stat().st_mtime)
        for old in files[: max(0, len(files) - _MOST_FILES + 1)]:
            with contextlib.suppress(OSError):  # still mapped, on Windows
                old.unlink()
        with atomic_path(path, syncs=False) as part:  # the checksum detects damage
            save_file(dict(tensors), part, {_CHECKSUM: _checksum(tensors)})
    except (OSError, safetensors.SafetensorError) as error:
        _log.warning("cannot store converted weights: %s", error)
        return False
    return True


def _checksum(tensors: Tensors) -> str:
    """Return a sum of all bytes, limited by the speed of the memory. It detects damage, not manipulation."""
    sums = []
    for name in sorted(tensors):
        tensor = tensors[name]
        content = tensor.contiguous().flatten().view(torch.uint8).numpy()
        words = len(content) // 8 * 8
        total = int(content[:words].view(np.uint64).sum(dtype=np.uint64)) + int(content[words:].sum(dtype=np.uint64))
        sums.append((name, str(tensor.dtype), tuple(tensor.shape), total))
    return hashlib.sha256(repr(sums).encode()).hexdigest()
