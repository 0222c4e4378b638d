"""Published file layout of SenseVoice. Does not import ONNX Runtime: the list of models needs it."""

from __future__ import annotations

from pathlib import Path

LAYOUT = "sense-voice"  # as ``generation`` in the list of models
LANGUAGES = ("zh", "en", "ja", "ko", "yue")
TOKENS_FILE = "tokens.txt"
# Alternatives, the preferred first.
NETWORK_FILES = ("model.int8.onnx", "model.onnx")
FILES = frozenset({TOKENS_FILE, *NETWORK_FILES})


def find_network(folder: Path) -> Path | None:
    """Return the preferred network in ``folder``, or None if it contains no recogniser."""
    return next((folder / name for name in NETWORK_FILES if (folder / name).is_file()), None)
