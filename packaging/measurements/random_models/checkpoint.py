"""Creation of model folders in the official layout with random weights. They are as fast as trained ones.

The weights are determined by generation and seed, so that two programs or machines can use the same model. Its output
is noise.
"""

from __future__ import annotations

import errno
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import save_file

from measurements.random_models.first_settings import write_speakers
from measurements.random_models.front_end import write_speaker_encoder, write_speech_tokenizer, write_text_vocabulary
from measurements.random_models.official_settings import qwen_json, settings_yaml
from measurements.random_models.reference_sizes import CheckpointPlan, released_plan
from measurements.random_models.shape_parts import Shapes
from measurements.random_models.tensor_shapes import (
    TIED_HEAD,
    TIED_TABLE,
    flow_shapes,
    speech_lm_shapes,
    vocoder_shapes,
)
from measurements.random_models.tensors import random_tensors
from studio.errors import CannotWrite, DiskFull

_BACKBONE_PREFIX = "llm."  # prefix of the Qwen model in llm.pt
_FRONT_END_BYTES = 16 * 2**20
# Increment when the same seed gives other weights.
_RECIPE = 2


def write_random_checkpoint(
    folder: Path,
    generation: str,
    seed: int = 1,
    *,
    plan: CheckpointPlan | None = None,
    for_official: bool = False,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Fill ``folder`` with a random model of ``generation`` (``cosyvoice1``, ``cosyvoice2``, ``cosyvoice3``) in released
    size.

    ``plan`` chooses other sizes. ``for_official`` adds the half-precision text model that the official program requires
    and then overwrites. ``progress`` is called with the name of each file. Files are written atomically, and a complete
    folder of the same seed is kept. Peak memory is about the size of the largest file (2 GB). Raise ``DiskFull`` and
    ``CannotWrite``.
    """
    plan = plan or released_plan(generation)
    note = {"random": generation, "seed": seed, "recipe": _RECIPE, "plan": repr(plan), "for_official": for_official}
    note_path = folder / "random.json"
    if _reads(note_path, json.dumps(note)):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_space(folder, plan, for_official=for_official)
        note_path.unlink(missing_ok=True)
        _write_small_files(folder, plan, seed)
        _write_weights(folder, plan, seed, for_official=for_official, progress=progress or (lambda _: None))
        note_path.write_text(json.dumps(note), "utf-8")
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(folder) from error
        raise CannotWrite(
            "The random model cannot be written to {folder} ({reason}).",
            remedy="Choose another folder.",
            folder=folder,
            reason=error,
        ) from error


def num_weight_bytes(plan: CheckpointPlan) -> int:
    """Return the bytes of all tensors in float32, counting shared storage once."""
    files = speech_lm_shapes(plan.speech_lm), flow_shapes(plan.flow), vocoder_shapes(plan.vocoder)
    return 4 * sum(math.prod(shape) for shapes in files for name, shape in shapes.items() if name != TIED_HEAD)


def _write_small_files(folder: Path, plan: CheckpointPlan, seed: int) -> None:
    (folder / plan.generation.yaml_name).write_text(settings_yaml(plan), "utf-8")
    if plan.generation.text_folder is None:
        write_speakers(folder, plan, seed + 3)
    else:
        text_folder = folder / plan.generation.text_folder
        text_folder.mkdir(exist_ok=True)
        (text_folder / "config.json").write_text(qwen_json(plan), "utf-8")
        write_text_vocabulary(text_folder, plan.num_base_text_tokens)
    write_speaker_encoder(folder / "campplus.onnx", seed + 1)
    write_speech_tokenizer(
        folder / plan.generation.speech_tokenizer_file,
        seed + 2,
        plan.speech_lm.layout.num_speech_tokens,
        token_rate=plan.generation.token_rate,
    )


def _write_weights(
    folder: Path, plan: CheckpointPlan, seed: int, *, for_official: bool, progress: Callable[[str], None]
) -> None:
    speech_lm = speech_lm_shapes(plan.speech_lm)
    files: tuple[tuple[str, Shapes], ...] = (
        ("llm.pt", speech_lm),
        ("flow.pt", flow_shapes(plan.flow)),
        ("hift.pt", vocoder_shapes(plan.vocoder)),
    )
    for index, (name, shapes) in enumerate(files):
        progress(name)
        tensors = random_tensors(shapes, seed + 10 + index, plan.vocoder)
        part = folder / (name + ".part")
        torch.save(tensors, part)
        del tensors
        part.replace(folder / name)
    if for_official and plan.generation.text_folder is not None:
        progress("model.safetensors")
        backbone = {name: shape for name, shape in speech_lm.items() if _is_backbone(name)}
        halves = {
            name.removeprefix(_BACKBONE_PREFIX + "model."): tensor.bfloat16()
            for name, tensor in random_tensors(backbone, seed + 20).items()
        }
        save_file(halves, folder / plan.generation.text_folder / "model.safetensors", metadata={"format": "pt"})


def _reads(path: Path, text: str) -> bool:
    try:
        return path.read_text("utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def _is_backbone(name: str) -> bool:
    return name == TIED_TABLE or (name.startswith(_BACKBONE_PREFIX) and name != TIED_HEAD)


def _require_space(folder: Path, plan: CheckpointPlan, *, for_official: bool) -> None:
    needed = num_weight_bytes(plan) + _FRONT_END_BYTES
    if for_official:
        needed += num_weight_bytes(plan) // 2
    present = sum(path.stat().st_size for path in folder.glob("*.pt"))
    if shutil.disk_usage(folder).free + present < needed:
        raise _disk_full(folder, needed)


def _disk_full(folder: Path, needed: int | None = None) -> DiskFull:
    return DiskFull(
        "There is not enough disk space for a random model ({size:.1f} GB) in {folder}."
        if needed
        else "There is not enough disk space for a random model in {folder}.",
        remedy="Free some space, or name another folder.",
        size=(needed or 0) / 1e9,
        folder=folder,
    )
