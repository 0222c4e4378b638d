"""Addresses as people write them."""

from __future__ import annotations

import pytest

from studio.errors import UnusableSetting
from studio.remote.address import normalized_url


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
