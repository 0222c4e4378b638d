"""Pronunciations and dictionaries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.errors import BadPronunciation, CannotWrite, UnreadableText
from studio.model.generations import COSYVOICE2, COSYVOICE3, GENERATIONS
from studio.project.dictionary import (
    DictionaryEntry,
    PronunciationDictionary,
    lines_using,
    load_global_dictionary,
    save_global_dictionary,
)
from studio.project.lines import Line
from studio.project.phones import phone_tokens
from studio.project.requests import GENERATIONS_WITH_PHONES, request_text
from studio.text.tags import PHONES, MarkKind, find_marks
from studio.text.tokenizer import COSYVOICE3_TEXT


def dictionary(*entries: DictionaryEntry) -> PronunciationDictionary:
    return PronunciationDictionary(entries)


@pytest.mark.parametrize(
    ("typed", "tokens"),
    [
        ("chong2 qing4", "[ch][óng][q][ìng]"),
        ("chóng qìng", "[ch][óng][q][ìng]"),
        ("chong2qing4", "[ch][óng][q][ìng]"),
        ("Chóng-Qìng", "[ch][óng][q][ìng]"),
        ("ji3", "[j][ǐ]"),
        ("nü3", "[n][ǚ]"),
        ("nv3", "[n][ǚ]"),
        ("nu:3", "[n][ǚ]"),
        ("lve4", "[l][vè]"),
        ("lüè", "[l][vè]"),
        ("ju2", "[j][ú]"),
        ("jü2", "[j][ú]"),
        ("xue2", "[x][ué]"),
        ("yuan2", "[y][uán]"),
        ("yin2", "[y][ín]"),
        ("wo3", "[w][ǒ]"),
        ("you3", "[y][ǒu]"),
        ("liu2", "[l][iú]"),
        ("gui4", "[g][uì]"),
        ("er4", "[èr]"),
        ("ai4", "[ài]"),
        ("de5", "[d][e]"),
        ("de0", "[d][e]"),
        ("ma", "[m][a]"),
        ("shuang1", "[sh][uāng]"),
        ("W AY1 N D", "[W][AY1][N][D]"),
        ("[W][AY1] [N][D]", "[W][AY1][N][D]"),
        (" T ", None),
        ("a5", None),
        ("wind", None),
        ("xyz1", None),
        ("nüe3", None),
        ("ch2", None),
        ("3", None),
        ("", None),
        ("[zz]", None),
        ("ma1ma0 hello!", None),
        ("má2", None),
        ("x" * 500, None),
    ],
)
def test_pronunciations_are_converted_to_tokens_of_the_model(typed: str, tokens: str | None) -> None:
    if tokens is None:
        with pytest.raises(BadPronunciation) as caught:
            phone_tokens(typed)
        assert str(caught.value.remedy)
    else:
        assert phone_tokens(typed) == tokens


def test_every_syllable_with_a_token_can_be_typed_with_a_number() -> None:
    """This covers each final among the tokens of the model, after a compatible initial."""
    assert phone_tokens("zhuan3 lü4 xiong1 gua4 ang2") == "[zh][uǎn][l][ǜ][x][iōng][g][uà][áng]"


@pytest.mark.slow
@given(st.text(max_size=30))
def test_any_input_is_parsed_or_an_error(typed: str) -> None:
    try:
        tokens = phone_tokens(typed)
    except BadPronunciation:
        return
    marks = find_marks(tokens, COSYVOICE3_TEXT.tags)
    assert "".join(mark.token for mark in marks) == tokens
    assert all(mark.kind is MarkKind.PHONE and mark.token in PHONES for mark in marks)


def test_phones_are_preferred_to_the_alias_if_supported() -> None:
    words = dictionary(DictionaryEntry("重庆", alias="虫庆", pronunciation="chong2 qing4"))
    line = Line(id="a", text=" 我在重庆。 ")
    assert request_text(line, words, COSYVOICE3.name) == "我在[ch][óng][q][ìng]。"
    assert request_text(line, words, COSYVOICE2.name) == "我在虫庆。"
    only_phones = dictionary(DictionaryEntry("重庆", pronunciation="chong2 qing4"))
    assert request_text(line, only_phones, COSYVOICE2.name) == "我在重庆。"


def test_generations_with_phones_match_their_text_forms() -> None:
    for generation in GENERATIONS:
        assert (generation.name in GENERATIONS_WITH_PHONES) == bool(generation.text.tags.phones)


@pytest.mark.parametrize(
    ("written", "text", "spoken"),
    [
        ("cat", "Cat, cat and CAT; category, bobcat.", "X, X and X; category, bobcat."),
        ("C++", "I write C++ and C.", "I write X and C."),
        ("New York", "New  York\nand New\nYork", "X\nand X"),
        ("Apple", "在Apple工作，Apples不算", "在X工作，Apples不算"),
        ("给予", "给予帮助，给与予", "X帮助，给与予"),
        ("strong", "a <strong>strong</strong> [strong] word", "a <strong>X</strong> [strong] word"),
        ("5G", "5G and 15G and 5GB", "X and 15G and 5GB"),
        ("naïve", "a naïve idea", "a X idea"),
        ("Straße", "Die STRASSE und die Straße", "Die X und die X"),
        ("pause", "[pause 0.5] a pause", "[pause 0.5] a X"),
        ("j", "[j][ǐ] j", "[j][ǐ] X"),
        (".NET", "the .NET way, ASP.NET", "the X way, ASPX"),
    ],
)
def test_only_whole_words_are_replaced(written: str, text: str, spoken: str) -> None:
    assert dictionary(DictionaryEntry(written, alias="X")).compile(text, speaks_phones=False) == spoken


def test_case_matters_only_for_case_sensitive_entries() -> None:
    words = dictionary(DictionaryEntry("US", alias="U S", is_case_sensitive=True))
    assert words.compile("US and us", speaks_phones=False) == "U S and us"


def test_the_longest_word_is_replaced_once() -> None:
    words = dictionary(
        DictionaryEntry("York", alias="Yark"),
        DictionaryEntry("New York", alias="Big York"),
        DictionaryEntry("Big", alias="Small"),
    )
    assert words.compile("New York, York", speaks_phones=False) == "Big York, Yark"
    assert [entry.written for entry in words.entries_in("York or New York or York")] == ["York", "New York"]


def test_project_entries_precede_global_ones() -> None:
    own = dictionary(DictionaryEntry("cat", alias="own"), DictionaryEntry("dog", alias="own dog"))
    project = dictionary(DictionaryEntry("Cat", alias="project"))
    assert project.over(own).compile("cat dog", speaks_phones=False) == "project own dog"


def test_entries_are_replaced_added_and_removed() -> None:
    words = dictionary(DictionaryEntry("cat", alias="a"), DictionaryEntry("dog", alias="b"))
    changed = words.with_entry(DictionaryEntry("Cat", alias="c")).with_entry(DictionaryEntry("cow", alias="d"))
    assert [(entry.written, entry.alias) for entry in changed.entries] == [("Cat", "c"), ("dog", "b"), ("cow", "d")]


def test_the_lines_that_use_a_word_are_found() -> None:
    texts = [("a", "My cat."), ("b", "My dog."), ("c", "Cats and a CAT")]
    assert lines_using(texts, DictionaryEntry("cat", alias="x")) == ("a", "c")


@pytest.mark.parametrize(
    "values",
    [
        {"written": "", "alias": "x"},
        {"written": "!!!", "alias": "x"},
        {"written": "w" * 101, "alias": "x"},
        {"written": "a [pause 1] b", "alias": "x"},
        {"written": "cat"},
        {"written": "cat", "alias": "  "},
        {"written": "cat", "alias": "<|endofprompt|>"},
        {"written": "cat", "alias": "x" * 301},
        {"written": "cat", "pronunciation": "kæt"},
    ],
)
def test_invalid_entries_are_errors(values: dict[str, str]) -> None:
    with pytest.raises(BadPronunciation) as caught:
        DictionaryEntry(**values)
    assert str(caught.value.remedy)


def test_an_entry_is_normalized() -> None:
    assert DictionaryEntry(" New   York ", alias=" x ", pronunciation=" ma1 ") == DictionaryEntry(
        "New York", "x", "ma1"
    )


@given(st.text(max_size=60))
def test_text_without_dictionary_words_is_unchanged(text: str) -> None:
    words = dictionary(DictionaryEntry("qzx", alias="y"), DictionaryEntry("龘龘", alias="y"))
    if not words.entries_in(text):
        assert words.compile(text, speaks_phones=True) == text
    assert PronunciationDictionary().compile(text, speaks_phones=True) == text


def test_the_global_dictionary_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "pronunciation.json"
    assert load_global_dictionary(path) == PronunciationDictionary()
    words = dictionary(DictionaryEntry("重庆", pronunciation="chong2 qing4"), DictionaryEntry("US", "U S", None, True))
    save_global_dictionary(words, path)
    assert load_global_dictionary(path) == words
    assert [found.name for found in path.parent.iterdir()] == ["pronunciation.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[" * 200_000,
        b"[]",
        b"{}",
        b'{"entries": [{"written": "x"}]}',
        b'{"entries": [{"wrong": 1}]}',
        b"\xff",
    ],
)
def test_a_damaged_dictionary_is_an_error_and_not_overwritten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pronunciation.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableText, match="is damaged"):
        load_global_dictionary(path)
    save_global_dictionary(dictionary(DictionaryEntry("a", alias="b")), path)
    assert (tmp_path / "pronunciation.damaged.json").read_bytes() == content
    assert len(load_global_dictionary(path).entries) == 1


def test_an_unwritable_dictionary_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite):
        save_global_dictionary(PronunciationDictionary(), tmp_path / "file" / "pronunciation.json")


def test_the_global_dictionary_is_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path))
    save_global_dictionary(dictionary(DictionaryEntry("a", alias="b")))
    assert json.loads((tmp_path / "pronunciation.json").read_text("utf-8"))["version"] == 1
    assert len(load_global_dictionary().entries) == 1
