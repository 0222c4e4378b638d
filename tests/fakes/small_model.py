"""A model folder with the right files and no weights."""

from __future__ import annotations

import hashlib
from pathlib import Path

import noise_models
import numpy as np

from studio.catalog.known import Ability, KnownModel, ModelFile, SourceKind

NAME = "Small-CosyVoice3"
REPOSITORY = "FunAudioLLM/Small-CosyVoice3"
COMMIT = "c0ffee" + 34 * "0"


def small_files() -> dict[str, bytes]:
    """Return file contents by path. Two files are large enough to be interrupted."""
    draw = np.random.default_rng(7)
    yaml = (noise_models.V3 / "cosyvoice3.yaml").read_bytes()
    sizes = {
        "CosyVoice-BlankEN/config.json": 600, "CosyVoice-BlankEN/vocab.json": 3000,
        "CosyVoice-BlankEN/merges.txt": 2000, "CosyVoice-BlankEN/tokenizer_config.json": 1200,
        "campplus.onnx": 12_000, "speech_tokenizer_v3.onnx": 15_000,
        "hift.pt": 20_000, "flow.pt": 150_000, "llm.pt": 300_000, "llm.rl.pt": 250_000,
    }  # fmt: skip
    return {"cosyvoice3.yaml": yaml} | {path: draw.bytes(size) for path, size in sizes.items()}


def small_model(files: dict[str, bytes], *, pinned: str | None = COMMIT, name: str = NAME) -> KnownModel:
    """Return a catalogue entry. Checksums are published for large files only."""
    described = tuple(
        ModelFile(
            path,
            len(content),
            hashlib.sha256(content).hexdigest() if len(content) > 10_000 else None,
            "rl" if path == "llm.rl.pt" else None,
        )
        for path, content in files.items()
    )
    return KnownModel(
        name=name,
        rank=0,
        generation="cosyvoice3",
        licence="Apache-2.0",
        languages=("zh", "en"),
        num_dialects=18,
        abilities=frozenset({Ability.CLONE, Ability.STREAM}),
        repositories={SourceKind.HUGGING_FACE: REPOSITORY, SourceKind.MODEL_SCOPE: REPOSITORY},
        revisions={SourceKind.HUGGING_FACE: pinned} if pinned else {},
        files=described,
    )


def write_folder(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder
