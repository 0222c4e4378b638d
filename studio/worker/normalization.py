"""Preview of the normalised text. It runs in the worker because number words load slowly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from studio.errors import ModelNotFound
from studio.model.generations import detect_generation
from studio.text.changes import TextChange, find_changes
from studio.text.chinese_reading import annotated
from studio.text.cleaning import clean
from studio.text.language import language_of_emoji
from studio.text.pinyin import HAN
from studio.text.respellings import RESPELLINGS_FILE, fold_to_ascii
from studio.text.segmentation import Pause, Sentence, prepare_text
from studio.text.tokenizer import COSYVOICE3_TEXT

# Accurate enough to split sentences at the same places as the model's tokenizer.
_LETTERS_PER_TOKEN = 4
_TOKENS_PER_SYLLABLE = 2


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """A sentence as written and as spoken."""

    written: str
    spoken: str
    language: str
    changes: tuple[TextChange, ...]
    pause_after_seconds: float = 0.0


def spoken_sentences(text: str, model_folder: Path, *, normalize: bool, language: str = "") -> list[SpokenSentence]:
    """Return the sentences of ``text`` as the model in ``model_folder`` speaks them, with the pauses after them.

    A folder without a model, as of another computer, has the tags of Fun-CosyVoice3. Raise the errors of ``prepare_text``.
    """
    try:
        form = detect_generation(model_folder)[0].text
    except ModelNotFound:
        form = COSYVOICE3_TEXT
    items = prepare_text(text, form=form, tokenizer=_tokenizer(model_folder), normalize=normalize, language=language)
    found: list[SpokenSentence] = []
    for item in items:
        if isinstance(item, Pause):
            if found:
                found[-1] = replace(found[-1], pause_after_seconds=found[-1].pause_after_seconds + item.seconds)
        else:
            written, spoken = item.written.strip(), item.spoken.strip()
            cleaned = clean(written, form.tags, emoji_language=language_of_emoji(language, text))
            steps = (*cleaned.steps, *item.steps)
            found.append(
                SpokenSentence(written, spoken, item.language.value, tuple(find_changes(written, spoken, steps)))
            )
    return found


def normalized_text(text: str, model_folder: Path, *, language: str = "") -> str:
    """Return ``text`` as the model in ``model_folder`` reads it, with pauses as written.

    For a model that reads pinyin, Chinese characters with several readings are followed by theirs.

    Raise the errors of ``prepare_text`` and ``detect_generation``.
    """
    generation, _ = detect_generation(model_folder)
    tokenizer = _tokenizer(model_folder)
    items = prepare_text(text, form=generation.text, tokenizer=tokenizer, language=language)
    words = "".join(item.spoken if isinstance(item, Sentence) else item.written for item in items).strip()
    return annotated(words) if tokenizer.reads_pinyin else words


class _AnyTag(dict[str, int]):
    def __missing__(self, tag: str) -> int:
        return 0


class ApproximateTokenizer:
    """Estimates the number of tokens by the number of letters, without loading a vocabulary."""

    def __init__(self, *, has_respellings: bool = False) -> None:
        self.reads_pinyin = has_respellings
        self.special_ids: dict[str, int] = _AnyTag()

    def encode(self, text: str, *, allow_special: bool) -> tuple[int, ...]:  # noqa: ARG002 - the signature of TextTokenizer
        return tuple(range(len(text) // _LETTERS_PER_TOKEN + 1))

    def encode_speech(self, words: str) -> tuple[int, ...]:
        if self.reads_pinyin:
            words = HAN.sub(lambda found: found[0] * _TOKENS_PER_SYLLABLE * _LETTERS_PER_TOKEN, words)
        return self.encode(words, allow_special=False)

    def folded(self, words: str) -> str:
        return fold_to_ascii(words) if self.reads_pinyin else words


def _tokenizer(model_folder: Path) -> ApproximateTokenizer:
    return ApproximateTokenizer(has_respellings=any(model_folder.glob(f"*/{RESPELLINGS_FILE}")))
