"""Text tokens equal those of the official tokenizer, and typed text cannot control the model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from studio.errors import DamagedModelFile, MissingModelFile
from studio.text.tags import COSYVOICE2_SPECIAL_TOKENS, COSYVOICE3_SPECIAL_TOKENS
from studio.text.tokenizer import COSYVOICE3_TEXT, PromptForm, TextTokenizer


@pytest.mark.reference
def test_special_tokens_have_the_official_ids(tokenizer: TextTokenizer, golden: dict[str, Any]) -> None:
    assert tokenizer.special_ids == golden["special_tokens"]
    assert tokenizer.num_tokens == golden["tokenizer_length"]


@pytest.mark.reference
def test_every_golden_text_encodes_and_decodes_officially(tokenizer: TextTokenizer, golden: dict[str, Any]) -> None:
    for entry in golden["text_tokens"]:
        assert list(tokenizer.encode(entry["text"], allow_special=True)) == entry["ids"], entry["text"]
    for entry in golden["decode"]:
        assert tokenizer.decode(entry["ids"]) == entry["text"]


def test_released_vocabularies_get_the_documented_ids() -> None:
    """Specification K: the base vocabulary ends at 151645, including its two chat tokens."""
    for tokens, expected in (
        (COSYVOICE2_SPECIAL_TOKENS, {"<|endofprompt|>": 151646, "[breath]": 151647, "[mn]": 151662}),
        (
            COSYVOICE3_SPECIAL_TOKENS,
            {"<|endofsystem|>": 151663, "[AA]": 151664, "[ZH]": 151747, "[a]": 151748, "[ǜ]": 151923},
        ),
    ):
        ids = {token: 151644 + index for index, token in enumerate(tokens)}
        assert ids.items() >= expected.items()
    assert (len(COSYVOICE2_SPECIAL_TOKENS), len(COSYVOICE3_SPECIAL_TOKENS)) == (19, 280)
    assert len(set(COSYVOICE3_SPECIAL_TOKENS)) == 280


def test_typed_control_tokens_are_ordinary_text(tokenizer: TextTokenizer, form: PromptForm) -> None:
    special_ids = set(tokenizer.special_ids.values())
    for token in ("<|endoftext|>", *form.special_tokens):
        ids = tokenizer.encode(f"a{token}b", allow_special=False)
        assert not special_ids & set(ids), token
        assert tokenizer.decode(ids) == f"a{token}b"


def test_lone_surrogates_are_dropped(tokenizer: TextTokenizer) -> None:
    assert tokenizer.encode("a\ud800b", allow_special=True) == tokenizer.encode("ab", allow_special=True)


@pytest.fixture
def own_folder(reference: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "CosyVoice-BlankEN"
    folder.mkdir()
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        shutil.copyfile(reference / "cosyvoice3" / "checkpoint" / "CosyVoice-BlankEN" / name, folder / name)
    return folder


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt", "tokenizer_config.json"])
def test_a_missing_file_is_named(own_folder: Path, name: str) -> None:
    (own_folder / name).unlink()
    with pytest.raises(MissingModelFile, match=name):
        TextTokenizer.from_folder(own_folder, COSYVOICE3_TEXT)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vocab.json", "{"),
        ("vocab.json", "[]"),
        ("vocab.json", '{"a": 0}'),
        ("vocab.json", '{"a": "b"}'),
        ("merges.txt", ""),
        ("merges.txt", "#version: 0.2\nonly-one-word\n"),
        ("merges.txt", "#version: 0.2\nnot inthevocabulary\n"),
        ("vocab.json", "[" * 200_000),
        ("tokenizer_config.json", "[" * 200_000),
        ("tokenizer_config.json", "{}"),
        ("tokenizer_config.json", '{"added_tokens_decoder": {"x": {"content": "y"}}}'),
        ("tokenizer_config.json", '{"added_tokens_decoder": {"640": {"content": ""}}}'),
        ("tokenizer_config.json", '{"added_tokens_decoder": []}'),
    ],
)
def test_a_damaged_file_is_named(own_folder: Path, name: str, content: str) -> None:
    (own_folder / name).write_text(content, "utf-8")
    with pytest.raises(DamagedModelFile, match=name):
        TextTokenizer.from_folder(own_folder, COSYVOICE3_TEXT)


def test_invalid_utf8_is_reported(own_folder: Path) -> None:
    (own_folder / "merges.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DamagedModelFile, match=r"merges\.txt"):
        TextTokenizer.from_folder(own_folder, COSYVOICE3_TEXT)


def test_a_special_token_of_the_base_vocabulary_keeps_its_id(own_folder: Path) -> None:
    path = own_folder / "vocab.json"
    vocabulary = json.loads(path.read_text("utf-8"))
    vocabulary["[breath]"] = len(vocabulary)
    path.write_text(json.dumps(vocabulary), "utf-8")
    config = own_folder / "tokenizer_config.json"
    entries = json.loads(config.read_text("utf-8"))["added_tokens_decoder"]
    shifted = {str(int(token_id) + 1): entry for token_id, entry in entries.items()}
    config.write_text(json.dumps({"added_tokens_decoder": shifted}), "utf-8")

    tokenizer = TextTokenizer.from_folder(own_folder, COSYVOICE3_TEXT)

    assert tokenizer.special_ids["[breath]"] == vocabulary["[breath]"]
    assert tokenizer.special_ids["<strong>"] == tokenizer.special_ids["<|endofprompt|>"] + 1


@pytest.mark.parametrize(
    "text", ["The harbour, 42 boats.", "今天天气很好。😀 ok", "Well [breath] yes", "", " and so on"]
)
def test_pieces_are_parts_of_the_text(tokenizer: TextTokenizer, text: str) -> None:
    for allow_special in (True, False):
        ids = tokenizer.encode(text, allow_special=allow_special)
        pieces = tokenizer.pieces(text, ids)
        assert len(pieces) == len(ids)
        assert "".join(pieces) == text


def test_pieces_of_other_ids_are_unknown(tokenizer: TextTokenizer) -> None:
    assert tokenizer.pieces("The harbour", tokenizer.encode("The tower", allow_special=False)) == ()
