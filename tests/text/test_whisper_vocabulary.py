"""The tokenizer of CosyVoice-300M equals Whisper's."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from pathlib import Path

import pytest

from studio import paths
from studio.errors import DamagedModelFile, MissingModelFile
from studio.text import whisper_vocabulary
from studio.text.segmentation import Sentence, prepare_text
from studio.text.tokenizer import COSYVOICE1_TEXT, TextTokenizer


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return TextTokenizer.whisper()


@pytest.mark.reference
def test_every_golden_text_has_the_official_ids(tokenizer: TextTokenizer, reference: Path) -> None:
    path = reference / "cosyvoice1" / "golden" / "frontend.json"
    if not path.is_file():
        pytest.skip("the reference folder has no cosyvoice1")
    for entry in json.loads(path.read_text("utf-8"))["text_tokens"]:
        assert list(tokenizer.encode(entry["text"], allow_special=True)) == entry["ids"], entry["text"]


def test_special_tokens_have_the_documented_ids(tokenizer: TextTokenizer) -> None:
    """Specification B3."""
    expected = {
        "<|endoftext|>": 50257, "<|startoftranscript|>": 50258, "<|en|>": 50259, "<|zh|>": 50260, "<|ko|>": 50264,
        "<|ja|>": 50266, "<|jp|>": 50266, "<|yue|>": 50358, "<|translate|>": 50359, "<|notimestamps|>": 50364,
        "<|0.00|>": 50365, "<|30.00|>": 51865,
    }  # fmt: skip
    assert tokenizer.special_ids.items() >= expected.items()
    assert tokenizer.num_tokens == whisper_vocabulary.NUM_WHISPER_TOKENS == 51_866


def test_tokens_are_those_of_merging_bytes_by_rank(tokenizer: TextTokenizer) -> None:
    """The merges of the tokenizer against the definition: the pair of the lowest rank is merged, the first one first."""
    ranks = whisper_vocabulary._read_ranks()
    draw = random.Random(0)
    alphabet = "aaabbcdeghilmnorstuy'éßčд一二三的是あいうえかきく한국어مرحبا\u0301\u200d🙂"
    words = ["".join(draw.choices(alphabet, k=draw.randint(1, 12))) for _ in range(400)]
    for word in (word for word in words if word.isalpha()):
        assert list(tokenizer.encode(word, allow_special=False)) == merged_by_rank(word.encode(), ranks), word


def merged_by_rank(word: bytes, ranks: dict[bytes, int]) -> list[int]:
    parts = [word[index : index + 1] for index in range(len(word))]
    while True:
        pairs = [ranks.get(first + second) for first, second in itertools.pairwise(parts)]
        known = [rank for rank in pairs if rank is not None]
        if not known:
            return [ranks[part] for part in parts]
        at = pairs.index(min(known))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def test_tags_are_encoded_together_with_the_words_around_them(tokenizer: TextTokenizer) -> None:
    text = "他展现了非凡的<strong>勇气</strong>。"
    (sentence,) = prepare_text(text, form=COSYVOICE1_TEXT, tokenizer=tokenizer)
    assert isinstance(sentence, Sentence)
    assert sentence.text_tokens == tokenizer.encode(text, allow_special=False)


def test_an_instruction_ends_with_the_letters_of_the_mark(tokenizer: TextTokenizer) -> None:
    instruction = "A fiery leader.<|endofprompt|>"
    wanted = tokenizer.encode(instruction, allow_special=False)
    assert COSYVOICE1_TEXT.instruct("A fiery leader.", tokenizer) == wanted
    assert COSYVOICE1_TEXT.instruct(instruction, tokenizer) == wanted
    assert max(wanted) < 50_257


@pytest.mark.parametrize("tag", ["<|ja|>", "<|jp|>"])
def test_a_language_tag_becomes_its_id(tokenizer: TextTokenizer, tag: str) -> None:
    (sentence,) = prepare_text(f"{tag}こんにちは。", form=COSYVOICE1_TEXT, tokenizer=tokenizer)
    assert isinstance(sentence, Sentence)
    assert sentence.text_tokens[0] == 50266


@pytest.mark.parametrize(("damage", "error"), [("missing", MissingModelFile), ("changed", DamagedModelFile)])
def test_a_damaged_vocabulary_is_a_sentence(
    damage: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = paths.resources() / "tokenizers" / whisper_vocabulary.VOCABULARY_FILE
    (tmp_path / "tokenizers").mkdir()
    if damage == "changed":
        shutil.copy(source, tmp_path / "tokenizers")
        with (tmp_path / "tokenizers" / source.name).open("ab") as file:
            file.write(b"YQ== 60000\n")
    monkeypatch.setattr(paths, "resources", lambda: tmp_path)
    monkeypatch.setattr(whisper_vocabulary, "read_vocabulary", whisper_vocabulary.read_vocabulary.__wrapped__)
    with pytest.raises(error, match="Reinstall the program"):
        TextTokenizer.whisper()
