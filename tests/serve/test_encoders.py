"""Encoders of the service: formats whose library is missing."""

from __future__ import annotations

import sys

import pytest

from studio.errors import BadRequest
from studio.serve.encoders import AacEncoder


def test_aac_without_its_library_names_the_library_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """ffmpeg, with which the program reads m4a, does not help here."""
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(BadRequest, match=r"\[media\]") as raised:
        AacEncoder(24_000)
    assert "ffmpeg" not in str(raised.value)
