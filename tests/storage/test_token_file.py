"""Tokens in files that only their owner can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.errors import UnusableSetting
from studio.storage.token_file import read_token, write_token


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


@pytest.mark.parametrize("token", ["two\nlines", "two words", "schlüssel"])
def test_a_token_that_would_break_the_request_is_refused(tmp_path: Path, token: str) -> None:
    write_token(tmp_path / "token", token)
    with pytest.raises(UnusableSetting, match="characters"):
        read_token(tmp_path / "token")
