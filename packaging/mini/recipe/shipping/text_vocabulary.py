"""The text tokenizer of the bundled voice: ``CosyVoice-BlankEN/`` with a small byte-level vocabulary of its own.

Decided: some four hundred merges, two letters and a bit a token. Because a small network learns to read from
spellings, not from a list of words; and not fewer, because the program makes no speech shorter than two speech
tokens a text token (specification E2): fast speech must still be allowed. Special tokens follow in official order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from studio.text.prompt_form import COSYVOICE3_TEXT
from studio.text.tokenizer import WORD_PATTERN, TextTokenizer

NUM_MERGES = 400
# Longer pieces would be whole words, which a voice meets too seldom to learn.
_LONGEST_PIECE_CHARACTERS = 6
_BASE_SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_FILES = ("vocab.json", "merges.txt", "tokenizer_config.json")


def write_text_vocabulary(folder: Path, texts: Iterable[str], num_merges: int = NUM_MERGES) -> None:
    """``vocab.json``, ``merges.txt`` and ``tokenizer_config.json``, learned from ``texts`` as the model will see them."""
    folder.mkdir(parents=True, exist_ok=True)
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
        max_token_length=_LONGEST_PIECE_CHARACTERS,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.model.save(str(folder))
    num_entries = tokenizer.get_vocab_size(with_added_tokens=False)
    (folder / "tokenizer_config.json").write_text(json.dumps(_settings(num_entries), indent=1), "utf-8")


def open_text_vocabulary(folder: Path) -> TextTokenizer:
    """The tokenizer as the program opens it. Raises ``MissingModelFile``, ``DamagedModelFile``."""
    return TextTokenizer.from_folder(folder, COSYVOICE3_TEXT)


def has_text_vocabulary(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _FILES)


def copy_text_vocabulary(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        (target / name).write_bytes((source / name).read_bytes())


def num_base_text_tokens(folder: Path) -> int:
    """Entries below the first special token."""
    return len(json.loads((folder / "vocab.json").read_text("utf-8")))


def num_text_rows(tokenizer: TextTokenizer) -> int:
    """Rows of the text table: one for every id the tokenizer can give."""
    return tokenizer.num_tokens


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
