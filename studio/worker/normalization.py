"""Preview of the normalised text. It runs in the worker because the grammars load slowly."""

from __future__ import annotations

from pathlib import Path

from studio.model.generations import detect_generation
from studio.text.segmentation import Sentence, prepare_text

# Accurate enough to split sentences at the same places as the model's tokenizer.
_LETTERS_PER_TOKEN = 4


def normalized_text(text: str, model_folder: Path) -> str:
    """Return ``text`` as the model in ``model_folder`` reads it, with pauses as written.

    Raise the errors of ``prepare_text`` and ``detect_generation``.
    """
    generation, _ = detect_generation(model_folder)
    items = prepare_text(text, form=generation.text, tokenizer=ApproximateTokenizer())
    return "".join(item.spoken if isinstance(item, Sentence) else item.written for item in items).strip()


class _AnyTag(dict[str, int]):
    def __missing__(self, tag: str) -> int:
        return 0


class ApproximateTokenizer:
    """Estimates the number of tokens by the number of letters, without loading a vocabulary."""

    def __init__(self) -> None:
        self.special_ids: dict[str, int] = _AnyTag()

    def encode(self, text: str, *, allow_special: bool) -> tuple[int, ...]:  # noqa: ARG002 - the signature of TextTokenizer
        return tuple(range(len(text) // _LETTERS_PER_TOKEN + 1))

    def encode_speech(self, words: str) -> tuple[int, ...]:
        return self.encode(words, allow_special=False)
