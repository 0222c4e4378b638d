"""Tokenizers of the reference folders."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from studio.text.tokenizer import COSYVOICE2_TEXT, COSYVOICE3_TEXT, PromptForm, TextTokenizer

FORMS = {"cosyvoice2": COSYVOICE2_TEXT, "cosyvoice3": COSYVOICE3_TEXT}


@cache
def _tokenizer(reference: Path, family: str) -> TextTokenizer:
    return TextTokenizer.from_folder(reference / family / "checkpoint" / "CosyVoice-BlankEN", FORMS[family])


@cache
def _golden(reference: Path, family: str) -> dict[str, Any]:
    return json.loads((reference / family / "golden" / "frontend.json").read_text("utf-8"))


@pytest.fixture
def form(family: str) -> PromptForm:
    return FORMS[family]


@pytest.fixture
def tokenizer(reference: Path, family: str) -> TextTokenizer:
    return _tokenizer(reference, family)


@pytest.fixture
def golden(reference: Path, family: str) -> dict[str, Any]:
    return _golden(reference, family)


@pytest.fixture(scope="session")
def form3() -> PromptForm:
    return COSYVOICE3_TEXT


@pytest.fixture(scope="session")
def whisper_tokenizer() -> TextTokenizer:
    """The tokenizer of CosyVoice-300M."""
    return TextTokenizer.whisper()


@pytest.fixture(scope="session")
def tokenizer2(reference: Path) -> TextTokenizer:
    return _tokenizer(reference, "cosyvoice2")


@pytest.fixture(scope="session")
def tokenizer3(reference: Path) -> TextTokenizer:
    return _tokenizer(reference, "cosyvoice3")
