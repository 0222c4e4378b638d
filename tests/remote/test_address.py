"""Addresses as people write them, and tokens in files that only the user can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.errors import UnusableSetting
from studio.remote.address import normalized_url, read_token, write_token


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("192.168.1.20", "http://192.168.1.20:8807"),
        (" studio:9000/ ", "http://studio:9000"),
        ("http://127.0.0.1:8807/v1", "http://127.0.0.1:8807"),
        ("https://voices.example.org", "https://voices.example.org"),
        ("[::1]:88", "http://[::1]:88"),
    ],
)
def test_addresses_are_normalized(written: str, url: str) -> None:
    assert normalized_url(written) == url


@pytest.mark.parametrize(
    "written",
    ["", "ftp://host", "http://", "host:port", "http://host/path", "http://user:secret@host", "a b", "host:99999"],
)
def test_other_texts_are_refused(written: str) -> None:
    with pytest.raises(UnusableSetting):
        normalized_url(written)


def test_a_token_is_private_and_can_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "token"
    assert read_token(path) is None
    path.parent.mkdir()
    path.write_text("old")
    path.chmod(0o644)
    with pytest.raises(UnusableSetting, match="Other users"):
        read_token(path)
    write_token(path, "new-token")
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_token(path) == "new-token"
    write_token(path, "")
    assert not path.exists()


def test_a_token_that_would_break_the_request_is_refused(tmp_path: Path) -> None:
    write_token(tmp_path / "token", "two\nlines")
    with pytest.raises(UnusableSetting, match="characters"):
        read_token(tmp_path / "token")
