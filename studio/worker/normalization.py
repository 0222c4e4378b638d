"""What a model will be told to say, for whoever is still writing it: done here, for the rules take a while to load."""

from __future__ import annotations

from pathlib import Path

from studio.model.detection import detect_generation
from studio.text.segmentation import Sentence, prepare_text

# How many letters a token has, about: enough to split sentences as the model's tokenizer would.
_LETTERS_A_TOKEN = 4


def normalized_text(text: str, model_folder: Path) -> str:
    """``text`` as the model of ``model_folder`` reads it; pauses stay as they are written.

    Raises what ``prepare_text`` and ``detect_generation`` raise.
    """
    generation, _ = detect_generation(model_folder)
    items = prepare_text(text, form=generation.text, tokenizer=_ApproximateTokenizer())
    return "".join(item.spoken if isinstance(item, Sentence) else item.written for item in items).strip()


class _AnyTag(dict[str, int]):
    def __missing__(self, tag: str) -> int:
        return 0


class _ApproximateTokenizer:
    """Counts letters: nobody need load a hundred thousand tokens to show a text."""

    def __init__(self) -> None:
        self.special_ids: dict[str, int] = _AnyTag()

    def encode(self, text: str, *, allow_special: bool) -> tuple[int, ...]:  # noqa: ARG002 - as the real one
        return tuple(range(len(text) // _LETTERS_A_TOKEN + 1))

    def encode_speech(self, words: str) -> tuple[int, ...]:
        return self.encode(words, allow_special=False)
