"""Training state on disk: written beside and then renamed, read without running anything that is in it."""

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
    """Whoever reads ``path`` meanwhile, or pulls the plug, finds the old checkpoint or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        torch.save(dict(content), beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read_checkpoint(path: Path, device: str = "cpu") -> dict[str, Any]:
    """Raises ``TrainingFailed`` for a file that is no checkpoint."""
    try:
        content: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except (EOFError, RuntimeError, pickle.UnpicklingError) as error:
        raise TrainingFailed(f"{path} is no checkpoint, or a damaged one. Delete it to begin anew.") from error
    return content


def load_weights(path: Path, network: str) -> Tensors:
    """The best weights of one network of a stage: the averaged ones where they are kept. For exporters and judges.

    Raises ``TrainingFailed`` where there is no checkpoint, or none of that network.
    """
    if not path.is_file():
        raise TrainingFailed(f"{path} does not exist yet. Train {path.stem} first.")
    content = read_checkpoint(path)
    weights = content["averages"].get(network) or content["networks"].get(network)
    if weights is None:
        raise TrainingFailed(f"{path} holds no network {network}; it holds {', '.join(content['networks'])}.")
    return dict(weights)


def load_facts(path: Path) -> dict[str, Fact]:
    """The sizes and other facts the trainer noted about its networks, for whoever builds them again."""
    if not path.is_file():
        raise TrainingFailed(f"{path} does not exist yet. Train {path.stem} first.")
    return dict(read_checkpoint(path)["facts"])
