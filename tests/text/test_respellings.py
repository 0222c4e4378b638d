"""Respelling of words with the dictionary of a model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studio import paths
from studio.errors import DamagedModelFile
from studio.text.respellings import RESPELLINGS_FILE, Respellings
from studio.text.spoken import Part, text_tokens
from studio.text.tokenizer import COSYVOICE3_TEXT, TextTokenizer

RESPELLINGS = Respellings({"hello": "HXLO", "don't": "DONT", "a": "X"})


def test_only_listed_words_are_respelled() -> None:
    assert RESPELLINGS.respelled("Hello, 你好 – don’t say HELLO! a1") == "HXLO, 你好 – DONT say HXLO! X1"


def test_unlisted_words_are_lowercased() -> None:
    assert RESPELLINGS.respelled("Hello Zorblax’s Übermut") == "HXLO zorblax's Übermut"


def test_abbreviations_are_read_by_the_names_of_their_letters() -> None:
    respellings = Respellings({"b.": "BE", "c.": "SE", "a": "X"})
    assert respellings.respelled("BBC, bbc, BXC") == "BEBESE, bbc, bxc"


def test_comments_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / RESPELLINGS_FILE
    path.write_text("# a comment\n\nhello\tHXLO\nworld\tWËLD\n", "utf-8")
    assert Respellings.read(path).of_word == {"hello": "HXLO", "world": "WËLD"}


def test_few_words_are_found_as_in_the_parsed_list() -> None:
    path = paths.resources() / "models" / "studio-mini" / "CosyVoice-BlankEN" / RESPELLINGS_FILE
    searched, parsed = Respellings.read(path), Respellings(dict(Respellings.read(path).of_word))
    text = "The harbour's zzyzx was QUIET that morning, a tab and 'tis; " * 3 + " ".join(list(parsed.of_word)[::2000])
    assert searched.respelled(text[:60]) == parsed.respelled(text[:60])
    assert searched.respelled(text) == parsed.respelled(text)


@pytest.mark.parametrize(
    "content", [b"a\tA\na\tB\n", b"a\tA\r\na\tB\r\n", b"\n\n\na\tB", b"#a\tA\n\na\tB C\n#", b"a\tB\tC"]
)
def test_a_word_is_found_in_lists_of_any_form(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / RESPELLINGS_FILE
    path.write_bytes(content)
    found = Respellings.read(path)
    assert found.spelled("a") == dict(Respellings.read(path).of_word)["a"] != "a"
    assert found.spelled("#a") == "#a"


def test_a_damaged_line_among_many_is_reported(tmp_path: Path) -> None:
    path = tmp_path / RESPELLINGS_FILE
    lines = [f"w{number}\tW" for number in range(200)]
    path.write_text("\n".join([*lines, "broken", "two\ttabs\there"]), "utf-8")
    with pytest.raises(DamagedModelFile, match="respellings"):
        Respellings.read(path).respelled(" ".join("abcdefghijklmnopqrstuvwxyzabcdef"))


@pytest.mark.parametrize("content", [b"hello HXLO\n", b"hello\t \n", b"\tHXLO\n", b"hello\t\xff\n"])
def test_damaged_list_is_reported(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / RESPELLINGS_FILE
    path.write_bytes(content)
    with pytest.raises(DamagedModelFile, match="respellings"):
        Respellings.read(path)


@pytest.mark.reference
def test_respellings_of_a_folder_apply_to_speech_only(reference: Path, tmp_path: Path) -> None:
    folder = tmp_path / "CosyVoice-BlankEN"
    shutil.copytree(reference / "cosyvoice3" / "checkpoint" / "CosyVoice-BlankEN", folder)
    plain = TextTokenizer.from_folder(folder, COSYVOICE3_TEXT)
    (folder / RESPELLINGS_FILE).write_text("hello\tHXLO\n", "utf-8")
    spelled = TextTokenizer.from_folder(folder, COSYVOICE3_TEXT)
    assert plain.encode_speech("Hello.") == plain.encode("Hello.", allow_special=False)
    assert spelled.encode_speech("Hello.") == plain.encode("HXLO.", allow_special=False)
    assert spelled.encode("Hello.", allow_special=False) == plain.encode("Hello.", allow_special=False)
    assert COSYVOICE3_TEXT.instruct("Hello.", spelled) == COSYVOICE3_TEXT.instruct("Hello.", plain)
    spoken = (Part("Hello "), Part("[HH]", is_tag=True), Part(" hello"))
    expected = plain.encode("HXLO ", allow_special=False)
    expected += (plain.special_ids["[HH]"], *plain.encode(" HXLO", allow_special=False))
    assert text_tokens(spoken, spelled) == expected


def test_each_position_of_a_respelled_text_has_its_origin() -> None:
    text = "Hello, a hut"
    respelled, origins = RESPELLINGS.respelled_with_origins(text)
    assert respelled == RESPELLINGS.respelled(text) == "HXLO, X hut"
    assert len(origins) == len(respelled) + 1
    assert [text[origins[start] : origins[end]] for start, end in ((0, 4), (4, 6), (6, 7), (8, 11))] == [
        "Hello",
        ", ",
        "a",
        "hut",
    ]
