"""The text tokenizer of the bundled voice: ``CosyVoice-BlankEN/`` with a small byte-level vocabulary.

Decision: words are spelled phonetically (``respellings``), with about 1000 merges of two or three sounds each. Reason:
a small network can learn to read phones, but not English spelling. Fewer merges would prevent fast speech, because the
program generates at least one speech token per text token. Special tokens follow in official order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from studio.text.letter_sounds import LETTER_SOUNDS_FILE
from studio.text.pinyin import HAN
from studio.text.respellings import RESPELLINGS_FILE, Respellings
from studio.text.tokenizer import COSYVOICE3_TEXT, WORD_PATTERN, TextTokenizer

NUM_MERGES = 1000
# Longer tokens would be whole words, which are too rare in the corpus.
_MAX_PIECE_BYTES = 5
# The preamble precedes every text, so it should be short. Instructions are frequent as well.
_WEIGHT_OF_PREAMBLE, _INSTRUCTION_WEIGHT = 2000, 20
_BASE_SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_FILES = ("vocab.json", "merges.txt", "tokenizer_config.json", RESPELLINGS_FILE)


def write_text_vocabulary(
    folder: Path, texts: Iterable[str], instructions: Iterable[str] = (), num_merges: int = NUM_MERGES
) -> None:
    """Write ``vocab.json``, ``merges.txt`` and ``tokenizer_config.json``, learned from ``texts`` and ``instructions``.

    ``folder`` must contain the respellings, from which the tokens are built.
    """
    respellings = Respellings.read(folder / RESPELLINGS_FILE)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=len(alphabet) + num_merges,
        min_frequency=2,
        show_progress=False,
        initial_alphabet=alphabet,
        max_token_length=_MAX_PIECE_BYTES,
    )
    tokenizer.train_from_iterator(_as_met(list(texts), list(instructions), respellings), trainer)
    tokenizer.model.save(str(folder))
    num_entries = tokenizer.get_vocab_size(with_added_tokens=False)
    (folder / "tokenizer_config.json").write_text(json.dumps(_settings(num_entries), indent=1), "utf-8")


def _as_met(texts: list[str], instructions: list[str], respellings: Respellings) -> Iterator[str]:
    # Chinese characters are special tokens, for their syllables.
    yield from (respellings.respelled(part) for text in texts for part in HAN.split(text) if part)
    yield from instructions * _INSTRUCTION_WEIGHT
    yield from [COSYVOICE3_TEXT.preamble] * _WEIGHT_OF_PREAMBLE


def open_text_vocabulary(folder: Path) -> TextTokenizer:
    """Open the tokenizer as the program does. Raise ``MissingModelFile`` and ``DamagedModelFile``."""
    return TextTokenizer.from_folder(folder, COSYVOICE3_TEXT)


def has_text_vocabulary(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _FILES)


def copy_text_vocabulary(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        (target / name).write_bytes((source / name).read_bytes())
    if (source / LETTER_SOUNDS_FILE).is_file():
        (target / LETTER_SOUNDS_FILE).write_bytes((source / LETTER_SOUNDS_FILE).read_bytes())


def num_base_text_tokens(folder: Path) -> int:
    """Return the number of entries below the first special token."""
    return len(json.loads((folder / "vocab.json").read_text("utf-8")))


def _settings(num_entries: int) -> dict[str, object]:
    plain = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    return {
        "add_prefix_space": False,
        "added_tokens_decoder": {
            str(num_entries + index): {"content": content, **plain}
            for index, content in enumerate(_BASE_SPECIAL_TOKENS)
        },
        "additional_special_tokens": list(_BASE_SPECIAL_TOKENS[1:]),
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": _BASE_SPECIAL_TOKENS[0],
        "errors": "replace",
        "model_max_length": 32_768,
        "pad_token": _BASE_SPECIAL_TOKENS[0],
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }
