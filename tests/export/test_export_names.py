"""File names are valid and distinct on every system."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import PurePosixPath
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from speech_fakes import items_of

from studio.errors import UnusableSetting
from studio.export.names import NamePattern, UniqueNamer, sanitize_filename, sanitize_path
from studio.export.presets import PRESETS
from studio.export.project_lines import item_of_line
from studio.project.lines import Line, LineOrigin
from studio.settings import EXPORT_PATTERN

ITEM = replace(items_of(["The harbour was quiet that morning, and nobody spoke."])[0], style="emotion.happy")


def stem(pattern: str, **changes: object) -> str:
    names = {"emotion.happy": "Happy", "dialect.sichuan": "四川话 / Sichuan"}
    item = replace(ITEM, **changes)
    return str(NamePattern(pattern).stem(item, num_items=12, project="Book: one", style_names=names))


def test_fields_are_filled_in() -> None:
    assert stem("{index} {voice} {text}") == "001 Anna The harbour was quiet that morning, and"
    assert stem("{index:5}_{style}_{project}") == "00001_Happy_Book one"
    assert stem("{text:11}") == "The harbour"
    assert stem("{text:13}") == "The harbour"
    assert stem("plain") == "plain"


def test_names_contain_spoken_text_and_end_with_a_word() -> None:
    assert stem("{text}", text="Ten more minutes, [pause 0.5] and [laughter] we are.") == "Ten more minutes, and we are"
    assert stem("{text}", text="Hello there, /") == "Hello there"
    assert stem("{index} {text}", text="[breath]") == "001"


def test_soft_hyphens_do_not_divide_words() -> None:
    assert (
        stem("{character}/{text}", character="An\u00adna", text="Won\u00adder\u00adfully\u200b made.")
        == "Anna/Wonderfully made"
    )


def test_text_without_spaces_is_cut_between_characters() -> None:
    assert stem("{text:4}", text="今天天气很好。") == "今天天气"
    assert stem("{text:2}", text="👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧") == "👩‍👩‍👧👩‍👩‍👧".replace("\u200d", " ")


def test_numbers_have_enough_digits_for_the_script() -> None:
    pattern = NamePattern("{index}")
    assert str(pattern.stem(replace(ITEM, index=7), num_items=20_000)) == "00007"


def test_a_slash_creates_folders_in_the_pattern_but_not_in_a_text() -> None:
    assert stem("{voice}/{index}") == "Anna/001"
    assert stem("{voice}/{text}", voice="../../etc", text="a/b\\c") == "etc/a b c"
    assert stem("../{index}") == "untitled/001"


def test_styles_have_their_shown_names() -> None:
    assert stem("{style}/{index}", style="v3.dialect.sichuan") == "四川话 Sichuan/001"
    assert stem("{style}", style="with great joy, v2.0") == "with great joy, v2.0"
    assert stem("{style}", style="emotion.deeply_moved") == "deeply moved"
    assert stem("{index}{style}", style="") == "001"


def test_characters_ids_and_imported_columns_are_fields() -> None:
    line = replace(ITEM, index=7, character="Mira", columns={"ID": "d0001", "Quest Name": "The Well", "Voice": "x"})
    pattern = NamePattern("{character}/{id} {quest name} {voice}", line.columns)
    assert str(pattern.stem(line, num_items=12)) == "Mira/d0001 The Well Anna"
    assert stem("{id} {character}") == "001"
    with pytest.raises(UnusableSetting, match=r"unknown field {qest name}.*Did you mean {Quest Name}"):
        NamePattern("{qest name}", line.columns)


def test_the_id_of_a_row_is_a_field_whatever_its_column_is_called() -> None:
    line = Line(
        "a",
        text="Hold the gate.",
        character="Mara",
        origin=LineOrigin(key="MARA_GATE_01"),
        columns={"Key": "MARA_GATE_01"},
    )
    (game,) = (preset for preset in PRESETS if preset.name == "game")
    pattern = NamePattern(str(game.values[EXPORT_PATTERN]), line.columns)
    assert pattern.stem(item_of_line(line, 7, "key"), num_items=9).as_posix() == "Mara/MARA_GATE_01"
    assert pattern.stem(item_of_line(replace(line, origin=None), 7, "key"), num_items=9).as_posix() == "Mara/007"


def test_file_names_keep_their_folders() -> None:
    assert str(sanitize_path("vo/mira/d0001")) == "vo/mira/d0001"
    assert str(sanitize_path("..\\vo/./con/what?")) == "vo/_con/what"
    assert str(sanitize_path("/etc/passwd")) == "etc/passwd"
    assert str(sanitize_path("..")) == "untitled"


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("CON", "_CON"),
        ("com1.old", "_com1.old"),
        ("LPT³", "_LPT³"),
        ("console", "console"),
        ("what?", "what"),
        ('a<b>c:d"e/f\\g|h?i*j', "a b c d e f g h i j"),
        ("ends with a point. ", "ends with a point"),
        ("...", "untitled"),
        ("", "untitled"),
        ("line\nbreak\ttab", "line break tab"),
        ("\u202egpj.exe", "gpj.exe"),
        ("e\u0301", "\u00e9"),
        ("half \ud83d of it", "half of it"),
    ],
)
def test_names_are_sanitized(wanted: str, name: str) -> None:
    assert sanitize_filename(wanted) == name


@pytest.mark.slow
@given(st.text(max_size=400))
def test_any_text_gives_a_valid_name(text: str) -> None:
    name = sanitize_filename(text)
    assert name
    assert len(name.encode("utf-8")) <= 201
    assert name == name.strip(" .")
    assert not set(name) & set('<>:"/\\|?*\0\n')
    assert sanitize_filename(name) == name


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("", "The name pattern is empty"),
        ("{", "an unmatched brace"),
        ("{voic}", "Did you mean {voice}?"),
        ("{}", "unknown field {}"),
        ("{text:many}", "field {text:many} is invalid"),
        ("{index.__class__}", "unknown field {index.__class__}"),
        ("a/b/c/d/e", "too many folders"),
    ],
)
def test_invalid_patterns_are_rejected(pattern: str, sentence: str) -> None:
    with pytest.raises(UnusableSetting) as caught:
        NamePattern(pattern)
    assert sentence in str(caught.value)


def test_file_names_are_unique() -> None:
    names = UniqueNamer()
    assert names.unique(PurePosixPath("Hello"), [".wav"]).name == "Hello"
    assert names.unique(PurePosixPath("hello"), [".wav"]).name == "hello-2"
    assert names.unique(PurePosixPath("HELLO"), [".wav"]).name == "HELLO-3"
    assert names.unique(PurePosixPath("hello"), [".flac"]).name == "hello"
    assert names.unique(PurePosixPath("hello-2"), [".wav"]).name == "hello-2-2"
    assert names.unique(PurePosixPath("ﬁn"), [".wav"]) != names.unique(PurePosixPath("FIN"), [".wav"])
    assert str(names.unique(PurePosixPath("a/hello"), [".wav"])) == "a/hello"


def test_the_number_of_names_tried_is_linear_in_the_number_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def fold(form: str, text: str) -> str:
        tried.append(text)
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]

    monkeypatch.setattr("studio.export.names.unicodedata", SimpleNamespace(normalize=fold))
    names = UniqueNamer()
    found = [names.unique(PurePosixPath("same"), [".wav"]).name for _ in range(300)]
    assert found == ["same", *(f"same-{number}" for number in range(2, 301))]
    assert len(tried) <= 2 * 300 + 1


def test_folders_without_a_name_are_named_after_the_voice() -> None:
    pattern = NamePattern("{character}/{index}")
    with_character, without = items_of(["One", "Two"])
    with_character = replace(with_character, character="Mira")
    assert [str(pattern.stem(item, num_items=2)) for item in (with_character, without)] == ["Mira/001", "Anna/002"]
