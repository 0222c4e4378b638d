"""Training state on disk, written atomically and read without executing code in it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from training.trainers.options import TrainingFailed

Fact = int | float | str | bool
Tensors = dict[str, torch.Tensor]


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``path`` atomically: readers find the old or the new checkpoint, even after a power failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        torch.save(dict(content), beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read_checkpoint(path: Path, device: str = "cpu") -> dict[str, Any]:
    """Raise ``TrainingFailed`` for a file that is not a checkpoint."""
    try:
        content: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except (EOFError, RuntimeError, pickle.UnpicklingError) as error:
        raise TrainingFailed(f"{path} is not a checkpoint, or is damaged. Delete it to start from scratch.") from error
    return content


def load_weights(path: Path, network: str) -> Tensors:
    """Return the best weights of a network, which are the averaged ones if there are any. For export and evaluation.

    Raise ``TrainingFailed`` if there is no checkpoint, or if it lacks that network.
    """
    if not path.is_file():
        raise TrainingFailed(f"{path} does not exist yet. Train {path.stem} first.")
    content = read_checkpoint(path)
    weights = content["averages"].get(network) or content["networks"].get(network)
    if weights is None:
        raise TrainingFailed(f"{path} contains no network {network}; it contains {', '.join(content['networks'])}.")
    return dict(weights)


def load_facts(path: Path) -> dict[str, Fact]:
    """Return the sizes and other facts that the trainer stored, for creating its networks again."""
    if not path.is_file():
        raise TrainingFailed(f"{path} does not exist yet. Train {path.stem} first.")
    return dict(read_checkpoint(path)["facts"])
