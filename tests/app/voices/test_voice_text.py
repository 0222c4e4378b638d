"""Texts of the clip report: translation, names, icons and colours."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from error_sentences import sentences_in
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem

from studio import paths
from studio.app.theme.colors import LIGHT
from studio.app.translation import use_language
from studio.app.voices.voice_items import fill_voice_box
from studio.app.voices.voice_text import ASPECT_NAMES, DESCRIPTIONS, GRADE_ICONS, GRADE_NAMES, finding_text, grade_color
from studio.app.widgets.wide_list_box import WideListBox
from studio.audio.waveform import Waveform
from studio.voices.clip_report import VERDICTS, Aspect, ClipIssue, assess_clip
from studio.voices.voice import Grade, Voice


def low_rate_findings() -> tuple[ClipIssue, ...]:
    samples = np.random.default_rng(0).normal(0, 0.1, 20_000).astype(np.float32)
    return assess_clip(Waveform(samples, 8_000)).findings


@pytest.mark.slow
def test_every_sentence_of_the_report_can_be_translated() -> None:
    sentences = {text for verdict in VERDICTS.values() for text in (verdict.sentence, verdict.advice) if text}
    templates, _ = sentences_in(paths.resources().parent / "studio")
    assert sentences <= set(templates)


def test_every_grade_and_aspect_has_a_name_and_an_icon() -> None:
    assert set(GRADE_NAMES) == set(GRADE_ICONS) == set(Grade)
    assert len(set(GRADE_ICONS.values())) == len(Grade)
    assert all((paths.resources() / "icons" / f"{name}.svg").is_file() for name in GRADE_ICONS.values())
    assert set(ASPECT_NAMES) == {aspect.value for aspect in Aspect}
    assert len({grade_color(grade, LIGHT) for grade in Grade}) == len(Grade)


def test_english_is_the_default(qapp: QApplication) -> None:
    for finding in low_rate_findings():
        assert finding_text(finding) == f"{finding.sentence} {finding.advice}".strip()


def test_chinese_sentences_are_joined_without_a_space(qapp: QApplication) -> None:
    use_language(qapp, QLocale("zh_CN"))
    try:
        texts = [finding_text(finding) for finding in low_rate_findings() if finding.advice]
    finally:
        use_language(qapp, QLocale("en_US"))
    assert texts
    assert not any("。 " in text for text in texts)
    assert all(text.count("。") >= 2 for text in texts)


def test_every_bundled_voice_has_a_translated_description() -> None:
    files = [json.loads(path.read_text("utf-8")) for path in (paths.resources() / "voices").glob("*.json")]
    assert {file["description"] for file in files} <= set(DESCRIPTIONS)


def test_a_list_of_voices_begins_with_those_of_the_interface_and_describes_them(qapp: QApplication) -> None:
    """A Chinese user found bare names, and had to try them all."""
    english = Voice("Ada", Path("ada.wav"), "One.", 3.0, language="en", description=DESCRIPTIONS[0])
    chinese = Voice("Lan", Path("lan.wav"), "一。", 3.0, language="zh", notes="旁白")
    box = WideListBox()
    use_language(qapp, QLocale("zh_CN"))
    try:
        fill_voice_box(box, [english, chinese], None)
        assert [box.itemText(row) for row in range(2)] == ["Lan", "Ada"]
        box.showPopup()
        box.hidePopup()
        shown = []
        for row in range(2):
            option = QStyleOptionViewItem()
            box.itemDelegate().initStyleOption(option, box.model().index(row, 0))
            shown.append(option.text)
    finally:
        use_language(qapp, QLocale("en_US"))
    assert shown == ["Lan · 中文 · 旁白", "Ada · 英语 · 明亮的女声，美式英语。"]
    fill_voice_box(box, [english, chinese], None)
    assert box.itemText(0) == "Ada"
