"""Which files make a model folder complete, and which may come along."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from studio.errors import MissingModelFile
from studio.model.detection import detect_generation

_TEXT_FOLDER = "CosyVoice-BlankEN"
_NEEDED = ("llm.pt", "flow.pt", "hift.pt", "campplus.onnx")
_NEEDED_TEXT = tuple(
    f"{_TEXT_FOLDER}/{name}" for name in ("config.json", "vocab.json", "merges.txt", "tokenizer_config.json")
)
# Of a folder or an archive from elsewhere nothing else is taken over.
_WELCOME = (
    "cosyvoice*.yaml", "llm.pt", "llm.*.pt", "flow.pt", "hift.pt", "campplus.onnx", "speech_tokenizer_v?.onnx",
    "flow.decoder.estimator.fp32.onnx", "spk2info.pt", "styles.json", "random.json", "*.md", "LICENSE*", "NOTICE*",
    f"{_TEXT_FOLDER}/*.json", f"{_TEXT_FOLDER}/*.txt",
)  # fmt: skip


def is_allowed_file(path: str) -> bool:
    """``path`` within the model, with slashes."""
    return any(fnmatchcase(path, pattern) and path.count("/") == pattern.count("/") for pattern in _WELCOME)


def require_complete(folder: Path) -> str:
    """The name of its generation. Raises ``MissingModelFile``, and what ``detect_generation`` raises."""
    generation, _ = detect_generation(folder)
    needed = (*_NEEDED, generation.speech_tokenizer_file, *_NEEDED_TEXT)
    missing = [path for path in needed if not (folder / path).is_file()]
    if missing:
        raise MissingModelFile(
            "{folder} is not a whole model: {missing} is missing.",
            remedy="Install the model again, or import it from where it is whole.",
            folder=folder.name,
            missing=", ".join(missing),
        )
    return generation.name
