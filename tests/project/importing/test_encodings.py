"""Encodings of texts: what a file does not declare is a guess, which is shown and can be overridden."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.errors import UnreadableScript
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.splitting import SplitMode


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Good evening, my friend.".encode(encoding))
    imported = read_file(path).script(ImportOptions())
    assert [line.text for line in imported.lines] == ["Good evening, my friend."]
    assert not imported.notices


@pytest.mark.parametrize(
    ("encoding", "text", "name"),
    [
        ("cp1251", "— Доброе утро, как дела?", "Windows-1251"),
        ("koi8-r", "Доброе утро, как дела?", "KOI8-R"),
        ("cp866", "Доброе утро, как дела? Я пришёл домой.", "CP866"),
        ("mac_cyrillic", "Доброе утро, как дела? Я пришёл домой.", "MAC-CYRILLIC"),
        ("iso8859_5", "Доброе утро, как дела? Я пришёл домой.", "ISO8859-5"),
        ("iso8859_2", "Są tu żółwie i łódź, więc płyńmy.", "ISO8859-2"),
        ("cp932", "「①番、ﾃｽﾄの髙橋です。」", "Shift-JIS"),
        ("shift_jis", "「おはよう、元気ですか。」", "Shift-JIS"),
        ("euc_jp", "「おはよう、元気ですか。」", "EUC-JP"),
        ("big5", "早安，他今天來了。她說：「請坐。」", "BIG5"),
        ("gb18030", "早安，他今天来了。她说：“请坐。”", "GB18030"),
        ("euc_kr", "좋은 아침입니다, 잘 지내세요?", "EUC-KR"),
        ("gb18030", "他买了T恤。", "GB18030"),
        ("cp1252", "L’été, où ? El niño, ‘yes’, Köln – schön.", "Windows-1252"),
        ("cp1252", "Un niño.", "Windows-1252"),
        ("cp1252", "Schöne Grüße aus Köln.", "Windows-1252"),
        ("cp1250", "Dzień dobry, cześć, żółw i łódź.", "Windows-1250"),
        ("cp1253", "Καλημέρα, τι κάνεις σήμερα;", "Windows-1253"),
        ("iso8859_7", "Άνεμοι και Άνθρωποι.", "ISO8859-7"),
    ],
)
def test_a_guess_is_right_and_shown_with_a_preview(tmp_path: Path, encoding: str, text: str, name: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(f"Hello.\n\n{text}".encode(encoding))
    imported = read_file(path).script(ImportOptions(SplitMode.PARAGRAPH))
    assert [line.text for line in imported.lines] == ["Hello.", text]
    (notice,) = imported.notices
    assert f"{name}, for example “{text[:40]}”" in str(notice) or f"{name} (“{text[:40]}”), but may be" in str(notice)


def test_escape_sequences_tell_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("「おはよう。」".encode("iso2022_jp"))
    assert read_file(path).text == "「おはよう。」"


def test_a_file_of_utf_8_with_a_damaged_character_is_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Schöne Grüße, größte Übung.".encode() + b" \xc3 Ende. " + "Weiß.".encode())
    file = read_file(path)
    assert file.text == "Schöne Grüße, größte Übung. \ufffd Ende. Weiß."
    assert "contains characters that are not UTF-8" in str(file.notices[0])


def test_a_declared_encoding_may_be_used_with_its_extension(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("①髙橋".encode("cp932"))
    assert read_file(path, "shift_jis").text == "①髙橋"


def test_a_guess_can_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Καλά.".encode("cp1253"))
    chosen = read_file(path, "cp1253").script(ImportOptions())
    assert [line.text for line in chosen.lines] == ["Καλά."]
    assert not chosen.notices


def test_the_doubt_names_other_encodings_with_their_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Hello.\nUn niño.".encode("cp1252"))
    file = read_file(path)
    assert "Windows-1252 (“Un niño.”), but may be Windows-1250 (“Un nińo.”)" in str(file.notices[0])
    assert next(iter(file.encodings)) == "Windows-1252"
    assert file.encodings["KOI8-R"] == "Un niЯo."
    for encoding, preview in file.encodings.items():
        assert preview in read_file(path, encoding).text


def test_a_wrong_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(UnreadableScript):
        read_file(path, "utf-8")
