"""Weights in the form in which they are used, kept in the cache folder, so that a model is converted only once.

The files are mapped: their pages are shared between processes, and can be dropped and read again. Writing
one deletes those whose source has changed or is missing, and those that it replaces.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import safetensors
import torch
from safetensors.torch import save_file

from studio import paths
from studio.storage.atomic_file import atomic_path
from studio.storage.lru import delete_least_used, mark_used

_log = logging.getLogger(__name__)
# Beyond this number, the least recently used files are deleted. A model has up to five.
_MAX_FILES = 16
_CHECKSUM = "checksum"
# Names in the metadata: path of the source file, its size and time, and the kind of conversion.
_SOURCE, _VERSION, _KIND = "source", "version", "kind"
_ENDING = ".safetensors"

Tensors = Mapping[str, torch.Tensor]


def converted_weights(source: Path, kind: str, form: str, convert: Callable[[], Tensors]) -> Tensors:
    """Return the tensors that ``convert`` makes from the file ``source``, by name, from the cache if they are there.

    ``form`` identifies the conversion and everything else on which its result depends. For each ``kind``, only one
    form of a source is kept.
    """
    path = converted_path(source, kind, form)
    found = _read(path)
    if found is None:
        tensors = convert()
        if not _write(path, tensors, _facts(source, kind)):
            return tensors
        del tensors
        found = _read(path)
    return convert() if found is None else found


def has_converted_weights(source: Path, kind: str, form: str) -> bool:
    return converted_path(source, kind, form).is_file()


def discard_converted_weights(source: Path, kind: str, form: str) -> None:
    """Delete the file, if there is one."""
    with contextlib.suppress(OSError):  # still mapped, on Windows
        converted_path(source, kind, form).unlink(missing_ok=True)


def converted_path(source: Path, kind: str, form: str) -> Path:
    """Return the path of the converted file. Its pages may be released once a library has copied the weights."""
    digest = hashlib.sha256(repr((_facts(source, kind), form)).encode()).hexdigest()
    return paths.cache_folder() / "weights" / (digest + _ENDING)


def _facts(source: Path, kind: str) -> dict[str, str]:
    return {_SOURCE: str(source.resolve()), _VERSION: _version(source), _KIND: kind}


def _version(source: Path) -> str:
    status = source.stat()
    return f"{status.st_size} {status.st_mtime_ns}"


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
    mark_used(path)
    return tensors


def _write(path: Path, tensors: Tensors, facts: Mapping[str, str]) -> bool:
    """Write ``tensors``, and return whether that succeeded. Without the file, they are converted at each start."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files = set(path.parent.glob(f"*{_ENDING}"))
        stale = {file for file in files if file == path or _is_stale(file, facts)}
        delete_least_used(stale, max_entries=0)
        delete_least_used(files - stale, max_entries=_MAX_FILES - 1)
        with atomic_path(path, syncs=False) as part:  # the checksum detects damage
            save_file(dict(tensors), part, {**facts, _CHECKSUM: _checksum(tensors)})
    except (OSError, safetensors.SafetensorError) as error:
        _log.warning("cannot store converted weights: %s", error)
        return False
    return True


def _is_stale(file: Path, new: Mapping[str, str]) -> bool:
    """Return whether ``file`` cannot be used any more: its source has changed, or ``new`` replaces it."""
    try:
        with safetensors.safe_open(file, framework="pt") as opened:
            facts: dict[str, str] = opened.metadata()
        is_replaced = facts[_SOURCE] == new[_SOURCE] and facts[_KIND] == new[_KIND]
        return is_replaced or _version(Path(facts[_SOURCE])) != facts[_VERSION]
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, safetensors.SafetensorError):
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
