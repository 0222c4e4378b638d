"""Texts of model tasks and abilities."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from studio.app.models.model_text import ability_text, progress_text
from studio.app.translation import use_language
from studio.catalog.known import KnownModel, known_models
from studio.catalog.network import unreachable
from studio.catalog.progress import Phase, Progress
from studio.paths import resources


def test_a_waiting_download_states_the_reason_and_the_delay(qapp: QApplication) -> None:
    use_language(qapp, QLocale("en_US"))
    waiting = Progress(Phase.WAITING, wait_seconds=15.7, error=unreachable("hf-mirror.com", None))
    assert progress_text(waiting) == "hf-mirror.com closed the connection. Retrying in 16 s."
    assert progress_text(Progress(Phase.WAITING, wait_seconds=2.0)) == "retrying in 2 s"


@pytest.mark.parametrize("known", known_models().values(), ids=lambda known: known.name)
def test_abilities_begin_with_a_capital_letter_and_continue_in_lower_case(
    qapp: QApplication, known: KnownModel
) -> None:
    use_language(qapp, QLocale("en_US"))
    first, *others = ability_text(known).split("\n")[1].split(", ")
    assert first[0].isupper()
    assert all(words[0].islower() for words in others)


def test_abilities_include_the_number_of_preset_styles(qapp: QApplication) -> None:
    """The card of the included model did not mention its styles."""
    use_language(qapp, QLocale("en_US"))
    models = known_models()
    own = json.loads((resources() / "models" / "studio-mini" / "styles.json").read_text("utf-8"))["presets"]
    assert ability_text(models["studio-mini"]).split("\n")[1].endswith(f" · {len(own)} preset styles")
    assert "preset styles" in ability_text(models["CosyVoice2-0.5B"])
    assert "preset styles" not in ability_text(models["CosyVoice-300M"]), (
        "only the Instruct model has those of the list"
    )
    assert "preset styles" not in ability_text(models["SenseVoiceSmall"])
