"""The manual in the window: topics, search, links, and names that the window really uses."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtTest import QTest
from window_bench import Bench

from studio import paths
from studio.app.actions import SPECS
from studio.app.manual_dialog import ManualDialog
from studio.app.translation import use_language
from studio.manual import TOPICS, Topic, read_topics

KEYS = (
    {key.replace("Return", "Enter") for spec in SPECS for key in spec.keys}
    | {f"Ctrl+{number}" for number in range(1, 10)}
    | {str(digit) for digit in range(10)}
    | {"Enter", "Shift+F8", "N"}  # Shift+F8 and digits in the list of quotations, N in the picture of consistency
)


def interface_texts() -> dict[str, set[str]]:
    """Return the English texts of the window, and their Chinese translations, without the marks of menu letters."""
    source = (paths.resources() / "translations" / "studio_zh_CN.ts").read_text("utf-8")
    english = re.findall(r"<source>(.*?)</source>", source, re.DOTALL)
    chinese = re.findall(r"<(?:translation|numerusform)>(.*?)</", source, re.DOTALL)
    return {
        "en": {unescape(text).replace("&", "") for text in english},
        "zh_CN": {re.sub(r"\(&\w\)|&", "", unescape(text)) for text in chinese},
    }


TEXTS = interface_texts()


@pytest.fixture
def dialog(bench: Bench, qapp: Any) -> ManualDialog:
    return ManualDialog()


@pytest.mark.parametrize(
    ("topic", "language"),
    [
        pytest.param(topic, language, id=f"{topic.name}-{language}")
        for language in ("en", "zh_CN")
        for topic in read_topics(language)
        if language == "en" or topic.path.parent.name == language
    ],
)
def test_bold_words_are_keys_or_texts_of_the_window(topic: Topic, language: str, qapp: Any) -> None:
    text = re.sub(r"^```.*?^```", "", topic.text, flags=re.MULTILINE | re.DOTALL)
    names = [name for bold in re.findall(r"\*\*(.+?)\*\*", text, re.DOTALL) for name in bold.split(" › ")]
    unknown = [
        name for name in (" ".join(name.split()) for name in names)
        if name not in KEYS and name not in TEXTS[language] and not name.endswith((".", "。"))
    ]  # fmt: skip
    assert unknown == []


@pytest.mark.parametrize("language", ["en_US", "zh_CN"])
def test_pages_show_no_markdown_marks(language: str, qapp: Any) -> None:
    """In Markdown, a mark between punctuation and a letter is text: ``**Cut…**shortens`` is not bold."""
    for topic in read_topics(language):
        document = QTextDocument()
        document.setMarkdown(topic.text)
        words = document.toPlainText()
        assert "**" not in words, topic.name
        assert "](" not in words, topic.name


def test_f1_opens_the_page_about_the_window(bench: Bench) -> None:
    window = bench.open_window()
    bench.trigger("help.guide")
    dialog = window.findChild(ManualDialog)
    assert dialog.list.count() == len(TOPICS)
    assert dialog.list.currentItem().text() == "The window"
    assert "Playback starts" in dialog.page.toPlainText()
    dialog.close()


def test_the_manual_is_in_the_language_of_the_window(bench: Bench, qapp: Any) -> None:
    use_language(qapp, QLocale("zh_CN"))
    try:
        dialog = ManualDialog()
    finally:
        use_language(qapp, QLocale("en_US"))
    assert "窗口" in dialog.list.currentItem().text()
    assert dialog.page.toPlainText().startswith(dialog.list.currentItem().text())


def test_search_hides_topics_and_marks_the_word(dialog: ManualDialog) -> None:
    dialog.search.setText("ACX cover")
    shown = [dialog.list.item(row).text() for row in range(dialog.list.count()) if not dialog.list.item(row).isHidden()]
    assert "Audiobooks" in shown
    assert "Clusters" not in shown
    assert dialog.list.currentItem().text() in shown
    assert dialog.page.textCursor().selectedText().casefold() == "acx"
    dialog.search.clear()
    assert not any(dialog.list.item(row).isHidden() for row in range(dialog.list.count()))


def test_a_link_to_another_page_selects_its_topic(dialog: ManualDialog) -> None:
    dialog.show()
    link = dialog.page.document().find("Scripts and exports")
    assert link.charFormat().anchorHref() == "scripts.md"
    dialog.page.setTextCursor(link)
    dialog.page.ensureCursorVisible()
    middle = dialog.page.cursorRect(link).center() - QPoint(20, 0)
    QTest.mouseClick(dialog.page.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert dialog.list.currentItem().text() == "Scripts and exports"
    assert dialog.page.toPlainText().startswith("Scripts and exports")


def test_pictures_fit_the_page(dialog: ManualDialog) -> None:
    dialog.show()
    assert "![" in dialog._topics[dialog.list.currentRow()].text
    assert 300 < dialog.page.document().size().width() <= dialog.page.viewport().width()
