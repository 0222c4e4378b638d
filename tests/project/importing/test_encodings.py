"""Encodings of texts: what a file does not declare is a guess, which is shown and can be overridden."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.errors import UnreadableScript
from studio.project.importing.script_file import ImportOptions, read_file


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Good evening, my friend.".encode(encoding))
    imported = read_file(path).script(ImportOptions())
    assert [line.text for line in imported.lines] == ["Good evening, my friend."]
    assert not imported.notices


@pytest.mark.parametrize(
    ("encoding", "text", "guess"),
    [("cp1252", "Un café.", "Windows-1252"), ("gb18030", "今天天气很好。", "GB18030"), ("cp1251", "Доброе утро.", "")],
)
def test_a_guess_is_shown_with_a_preview_and_can_be_overridden(
    tmp_path: Path, encoding: str, text: str, guess: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(f"Hello.\n\n{text}".encode(encoding))
    guessed = read_file(path).script(ImportOptions())
    (notice,) = guessed.notices
    assert guess in str(notice)
    assert f"“{guessed.lines[-1].text}”" in str(notice)
    chosen = read_file(path, encoding).script(ImportOptions())
    assert [line.text for line in chosen.lines] == ["Hello.", text]
    assert not chosen.notices


def test_a_wrong_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(UnreadableScript):
        read_file(path, "utf-8")
