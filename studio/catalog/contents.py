"""Required and allowed files of a model folder."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from studio.errors import MissingModelFile
from studio.model.detection import detect_generation

_TEXT_FOLDER = "CosyVoice-BlankEN"
_REQUIRED = ("llm.pt", "flow.pt", "hift.pt", "campplus.onnx")
_REQUIRED_TEXT = tuple(
    f"{_TEXT_FOLDER}/{name}" for name in ("config.json", "vocab.json", "merges.txt", "tokenizer_config.json")
)
# Patterns of the files that an import copies; other files are ignored.
_ALLOWED = (
    "cosyvoice*.yaml", "llm.pt", "llm.*.pt", "flow.pt", "hift.pt", "campplus.onnx", "speech_tokenizer_v?.onnx",
    "flow.decoder.estimator.fp32.onnx", "spk2info.pt", "styles.json", "random.json", "*.md", "LICENSE*", "NOTICE*",
    f"{_TEXT_FOLDER}/*.json", f"{_TEXT_FOLDER}/*.txt",
)  # fmt: skip


def is_allowed_file(path: str) -> bool:
    """Return whether ``path``, relative to the model with slashes, may be part of a model."""
    return any(fnmatchcase(path, pattern) and path.count("/") == pattern.count("/") for pattern in _ALLOWED)


def require_complete(folder: Path) -> str:
    """Return the name of the model's generation. Raise ``MissingModelFile``, and as ``detect_generation`` does."""
    generation, _ = detect_generation(folder)
    required = (*_REQUIRED, generation.speech_tokenizer_file, *_REQUIRED_TEXT)
    missing = [path for path in required if not (folder / path).is_file()]
    if missing:
        raise MissingModelFile(
            "The model in {folder} is incomplete: {missing} is missing.",
            remedy="Install the model again, or import a complete copy.",
            folder=folder.name,
            missing=", ".join(missing),
        )
    return generation.name
