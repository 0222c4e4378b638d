"""Names of styles and their categories."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QApplication, QComboBox

from studio.app.script.delegates import CUSTOM_INSTRUCTION, fill_style_box, show_style
from studio.app.script.style_list import StyleList
from studio.app.theme.colors import LIGHT
from studio.app.theme.style_sheet import style_sheet
from studio.app.translation import use_language
from studio.app.widgets.wide_list_box import WideListBox
from studio.catalog.machine import Gpu, MachineFacts
from studio.model import generations
from studio.paths import resources
from studio.project.lines import LineStyle

SHIPPED = (*resources().glob("styles/*.json"), *resources().glob("models/*/styles.json"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parent.name + "-" + file.stem)
def test_every_shipped_style_category_has_a_name(qapp: Any, file: Any) -> None:
    styles = StyleList()
    families = [preset["family"] for preset in json.loads(file.read_text("utf-8"))["presets"]]
    assert families
    assert [family for family in families if styles.category_name(family.partition(".")[0]) == "Other"] == []


def test_a_style_that_the_model_does_not_support_keeps_its_name(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the Chinese window would show its English id."""
    presets = {
        file.stem: {preset["family"]: preset["label_zh"] for preset in json.loads(file.read_text("utf-8"))["presets"]}
        for file in SHIPPED
        if file.parent.name == "styles"
    }
    loaded, other = next(
        (loaded, other) for loaded in presets for other in presets if presets[other].keys() - presets[loaded].keys()
    )
    family = sorted(presets[other].keys() - presets[loaded].keys())[0]
    monkeypatch.setattr(generations, "detect_generation", lambda folder: (SimpleNamespace(name=loaded), None))
    use_language(qapp, QLocale("zh_CN"))
    try:
        styles = StyleList()
        styles.use_model(tmp_path)
        box = QComboBox()
        fill_style_box(box, styles)
        show_style(box, styles, LineStyle(preset=family))
    finally:
        use_language(qapp, QLocale("en_US"))
    assert not styles.supports(LineStyle(preset=family))
    assert presets[other][family] in box.currentText()
    assert "需要" in box.currentText()


def test_styles_of_other_models_are_listed_and_cannot_be_chosen(qapp: QApplication) -> None:
    """Dialects were invisible before a download of 3 GB."""
    styles = StyleList()
    styles.use_model(resources() / "models" / "studio-mini")
    box = QComboBox()
    fill_style_box(box, styles)
    row = box.findText("Dialect: Sichuanese (needs CosyVoice2-0.5B)")
    entries = box.model()
    assert isinstance(entries, QStandardItemModel)
    assert row > box.findData(CUSTOM_INSTRUCTION)
    assert not entries.item(row).isEnabled()
    assert entries.item(box.findData(styles.styles[0].family)).isEnabled()
    families = [style.family for style in styles.styles + styles.other_styles]
    assert len(families) == len(set(families))
    show_style(box, styles, LineStyle(preset="dialect.sichuan"))
    assert box.currentIndex() == row


def test_styles_and_instructions_name_the_recommended_model(qapp: QApplication) -> None:
    """The window recommended CosyVoice2 in a notice, and CosyVoice3 for a dialect that both models have."""
    styles, changes = StyleList(), []
    styles.use_model(resources() / "models" / "studio-mini")
    styles.changed.connect(lambda: changes.append(1))

    def needed() -> tuple[str, str, str]:
        models = {style.family: style.model for style in styles.other_styles}
        return styles.instructable_model, models["dialect.sichuan"], models["dialect.dongbei"]

    newest, smallest = "Fun-CosyVoice3-0.5B-2512", "CosyVoice2-0.5B"
    assert needed() == (smallest, smallest, newest), "only the newest model has the last one"
    plain = MachineFacts("A processor", 2, 8 << 30, 5 << 30, 100 << 30, None)
    styles.use_machine(plain)
    assert not changes
    styles.use_machine(replace(plain, gpu=Gpu("A card", 24 << 30, "550", 20 << 30)))
    assert needed() == (newest, newest, newest)
    assert len(changes) == 1


def test_a_chinese_list_has_chinese_dialects_before_english_accents(qapp: QApplication) -> None:
    use_language(qapp, QLocale("zh_CN"))
    try:
        styles = StyleList()
        styles.use_model(resources() / "models" / "studio-mini")
        box = QComboBox()
        fill_style_box(box, styles)
    finally:
        use_language(qapp, QLocale("en_US"))
    dialect = box.findText("方言：四川话（需要 CosyVoice2-0.5B）")
    accent = box.findText("口音：苏格兰口音")
    assert box.findData("speed.fast") < dialect < accent < box.findData("emotion.happy")
    entries = box.model()
    assert isinstance(entries, QStandardItemModel)
    assert (entries.item(dialect).isEnabled(), entries.item(accent).isEnabled()) == (False, True)
    assert len(styles.listed) == len(styles.styles) + len(styles.other_styles)


def test_a_style_is_not_called_unsupported_before_a_model_is_known(qapp: QApplication) -> None:
    box, styles = QComboBox(), StyleList()
    fill_style_box(box, styles)
    show_style(box, styles, LineStyle(preset="emotion.happy"))
    assert box.currentText() == "happy"


def test_only_a_model_that_follows_instructions_supports_other_words(qapp: QApplication, tmp_path: Path) -> None:
    """The window said that studio-mini, which was trained with a few instructions, follows any."""
    own, trained = LineStyle(instruct="请用四川话表达"), LineStyle(instruct="Please whisper.")
    styles = StyleList()
    assert styles.supports(own)
    mini = resources() / "models" / "studio-mini"
    styles.use_model(mini)
    assert not styles.supports(own)
    assert styles.supports(trained)
    unknown = tmp_path / "my-model"
    shutil.copytree(mini, unknown)
    styles.use_model(unknown)
    assert styles.supports(own)


def test_the_list_of_styles_is_as_wide_as_its_entries(qapp: QApplication) -> None:
    """Entries were shown as “Dialect: Sh…-0.5B-2512)”."""
    box, styles = WideListBox(), StyleList()
    styles.use_model(resources() / "models" / "studio-mini")
    fill_style_box(box, styles)
    box.setStyleSheet(style_sheet(LIGHT, is_dark=False))  # without it, Qt widens the list
    box.setFixedWidth(100)
    box.show()
    box.showPopup()
    qapp.processEvents()
    shown = box.view().viewport().width()
    box.hidePopup()
    widest = max(box.fontMetrics().horizontalAdvance(box.itemText(row)) for row in range(box.count()))
    assert shown >= widest
