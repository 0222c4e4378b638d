"""Names of styles and their categories."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QApplication, QComboBox

from studio.app.script.delegates import CUSTOM_INSTRUCTION, fill_style_box, show_style
from studio.app.script.style_list import StyleList
from studio.app.translation import use_language
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
    row = box.findText("Dialect: Sichuanese (needs Fun-CosyVoice3-0.5B-2512)")
    entries = box.model()
    assert isinstance(entries, QStandardItemModel)
    assert row > box.findData(CUSTOM_INSTRUCTION)
    assert not entries.item(row).isEnabled()
    assert entries.item(box.findData(styles.styles[0].family)).isEnabled()
    families = [style.family for style in styles.styles + styles.other_styles]
    assert len(families) == len(set(families))
    show_style(box, styles, LineStyle(preset="dialect.sichuan"))
    assert box.currentIndex() == row


def test_a_style_is_not_called_unsupported_before_a_model_is_known(qapp: QApplication) -> None:
    box, styles = QComboBox(), StyleList()
    fill_style_box(box, styles)
    show_style(box, styles, LineStyle(preset="emotion.happy"))
    assert box.currentText() == "happy"
