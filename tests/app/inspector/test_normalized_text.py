"""Hints about scripts that the model does not support."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from window_bench import Bench

from studio.app.inspector import normalized_text
from studio.app.inspector.normalized_text import is_script_supported, mark_changes, unsupported_script_hint
from studio.app.translation import use_language
from studio.catalog.known import known_models

ENGLISH, MANY = frozenset({"en"}), frozenset({"zh", "en", "ja", "ko"})


@pytest.mark.parametrize(
    ("languages", "text", "is_read"),
    [
        (ENGLISH, "Ten naïve cafés, 😀 and a [breath].", True),
        (ENGLISH, "今天天气很好。", False),
        (ENGLISH, "He said 你好 to me.", False),
        (ENGLISH, "[j][ǐ] <strong>well</strong>", True),
        (MANY, "今天 is ソウル 서울.", True),
        (MANY, "Привет.", False),
        (MANY, "مرحبا", False),
        (ENGLISH, "", True),
    ],
)
def test_supported_scripts(languages: frozenset[str], text: str, is_read: bool) -> None:
    assert is_script_supported(languages, text) is is_read


def test_the_bundled_model_shows_a_hint() -> None:
    assert unsupported_script_hint("studio-mini", "Good morning.") == ""
    assert "studio-mini supports English only" in unsupported_script_hint("studio-mini", "今天天气很好。")
    assert unsupported_script_hint("CosyVoice2-0.5B", "今天天气很好。") == ""
    assert unsupported_script_hint("a model of my own", "今天天气很好。") == ""


def test_other_models_are_suggested_only_if_they_support_the_script() -> None:
    assert "Other models" in unsupported_script_hint("studio-mini", "Привет.")
    for model in ("studio-mini", "Fun-CosyVoice3-0.5B-2512"):
        assert unsupported_script_hint(model, "مرحبا").endswith("becomes unintelligible.")


def test_changed_words_are_marked() -> None:
    assert mark_changes("I paid $5 & left <b>", "I paid five dollars and left.") == (
        "I paid <u>five dollars and</u> left."
    )
    assert mark_changes("A & B", "A & B") == "A &amp; B"
    assert mark_changes("好的5个", "好的五个。") == "好的<u>五</u>个。"


@pytest.mark.slow
def test_the_inspector_shows_the_hint(bench: Bench, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    window = bench.open_window()
    shown = window.inspector._hint
    bench.until(lambda: bench.session.is_ready)
    engine = bench.session.bridge.engine.description
    assert engine is not None
    known = {engine.model_name: known_models()["studio-mini"]}
    monkeypatch.setattr("studio.catalog.known.known_models", lambda: known)
    assert normalized_text.unsupported_script_hint(engine.model_name, "今天")
    window.script.set_field("text", "今天天气很好。", "Edit")
    bench.until(lambda: not shown.isHidden())
    assert "English only" in shown.text()
    try:
        use_language(qapp, QLocale("zh_CN"))
        assert "英语" in normalized_text.unsupported_script_hint(engine.model_name, "今天")
    finally:
        use_language(qapp, QLocale("en_US"))
    window.script.set_field("text", "Good morning.", "Edit")
    bench.until(shown.isHidden)


def test_a_closing_window_requests_no_text(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    window = bench.open_window()
    requested: list[str] = []
    monkeypatch.setattr(window.normalized_text, "_normalize", lambda: requested.append("text"))
    window.release()
    window._show_line()
    bench.live(0.4)
    assert not requested
