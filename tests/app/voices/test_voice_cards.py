"""Voice cards: texts, painting, search and thumbnails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette
from PySide6.QtWidgets import QListView, QStyleOptionViewItem
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from studio.app.theme.colors import DARK, LIGHT, ThemeColors, make_palette
from studio.app.voices.preload_queue import Preparation, PreparationState
from studio.app.voices.voice_list import CardDelegate
from studio.app.voices.voice_model import CardPicture, VoiceFilter, VoiceModel, VoiceThumbnails
from studio.app.widgets.peaks import outline_of
from studio.audio.waveform import Waveform
from studio.voices.clip_report import assess_clip
from studio.voices.library import Consent, Voice, VoiceLibrary
from studio.voices.voice import Grade


def voice(name: str, **details: object) -> Voice:
    return Voice(name, Path(f"/clips/{name}.wav"), None, 4.2, **details)  # type: ignore[arg-type]


@pytest.fixture
def model(qtbot: QtBot, qtmodeltester: ModelTester) -> VoiceModel:
    model = VoiceModel()
    model.show_voices(
        [
            voice("Harbour", is_built_in=True),
            voice("Anna", language="zh", quality=Grade.GOOD, notes="by the window"),
            voice("Ben", consent=Consent("Benjamin")),
        ]
    )
    qtmodeltester.check(model)
    return model


def accessible_text(model: VoiceModel, row: int) -> str:
    return str(model.index(row).data(Qt.ItemDataRole.AccessibleTextRole))


def test_accessible_text_of_a_card(model: VoiceModel) -> None:
    assert accessible_text(model, 1) == "Anna, Chinese, 4.2 seconds, Quality: Good"
    model.set_preparation("Anna", Preparation(PreparationState.RUNNING, 0.42))
    assert accessible_text(model, 1).endswith("Preparing, 42%")
    model.set_preparation("Anna", Preparation(PreparationState.READY, 1.0))
    assert accessible_text(model, 1).endswith("Ready")
    assert "Bundled voice" in model.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert "Consent: Benjamin" in model.index(2).data(Qt.ItemDataRole.ToolTipRole)


def test_the_first_nine_have_numbers(model: VoiceModel) -> None:
    model.show_voices([voice(f"v{number}") for number in range(12)])
    assert [model.card(row).number for row in (0, 8, 9)] == [1, 9, None]


def picture(level: float = 0.1) -> CardPicture:
    """The thumbnail of four seconds of noise; at a low level its grade is poor."""
    samples = np.random.default_rng(0).normal(0, level, 96_000).astype(np.float32)
    return CardPicture(outline_of(samples, 90), assess_clip(Waveform(samples, 24_000)))


def test_thumbnails_and_states_survive_a_new_list(model: VoiceModel) -> None:
    poor = picture(level=0.002)
    model.set_picture("/clips/Ben.wav", poor)
    model.set_picture("/clips/Anna.wav", poor)
    model.set_preparation("Ben", Preparation(PreparationState.READY, 1.0))
    model.show_voices(model.voices)
    assert model.card(2).picture is poor
    assert model.card(2).quality is Grade.POOR
    assert model.card(1).quality is Grade.GOOD, "the grade in the library takes precedence"
    assert model.card(2).preparation.state is PreparationState.READY


def test_the_tool_tip_explains_a_poor_grade(model: VoiceModel) -> None:
    model.set_picture("/clips/Ben.wav", picture(level=0.002))
    tip = model.index(2).data(Qt.ItemDataRole.ToolTipRole)
    assert "The level is very low, so noise becomes part of the voice. Record again" in tip
    assert "The level is good" not in tip


@pytest.mark.parametrize(
    ("text", "found"), [("", 3), ("AN", 1), ("chinese", 1), ("window anna", 1), ("benjamin", 1), ("anna ben", 0)]
)
def test_search(model: VoiceModel, text: str, found: int) -> None:
    filtered = VoiceFilter()
    filtered.setSourceModel(model)
    filtered.search(text)
    assert filtered.rowCount() == found


def test_all_voices_can_be_renamed(model: VoiceModel) -> None:
    editable = [bool(model.index(row).flags() & Qt.ItemFlag.ItemIsEditable) for row in range(3)]
    assert editable == [True, True, True]
    assert not model.flags(QModelIndex()) & Qt.ItemFlag.ItemIsEditable


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_each_preparation_state_is_painted_differently(model: VoiceModel, qtbot: QtBot, colors: ThemeColors) -> None:
    view = QListView()
    qtbot.addWidget(view)
    view.setPalette(make_palette(colors))
    model.set_picture("/clips/Anna.wav", picture())
    delegate = CardDelegate(view)
    images = set()
    for state in PreparationState:
        model.set_preparation("Anna", Preparation(state, 0.5))
        option = QStyleOptionViewItem()
        option.initFrom(view)
        option.widget = view  # type: ignore[attr-defined]
        size = delegate.sizeHint(option, model.index(1))
        option.rect = QRect(0, 0, 300, size.height())  # type: ignore[attr-defined]
        image = QImage(300, size.height(), QImage.Format.Format_RGB32)
        image.fill(QColor(colors.surface))
        painter = QPainter(image)
        delegate.paint(painter, option, model.index(1))
        painter.end()
        images.add(bytes(image.constBits()))
        assert image.pixelColor(299, 2) in (QColor(colors.surface), view.palette().color(QPalette.ColorRole.Base))
    assert len(images) == len(PreparationState), "every state has its own picture"


def test_thumbnails_are_drawn_in_the_background(library: VoiceLibrary, clip: Path, qtbot: QtBot) -> None:
    thumbnails = VoiceThumbnails()
    added = library.add(clip, "Anna").voice
    with qtbot.waitSignal(thumbnails.ready) as ready:
        thumbnails.request([added, voice("gone"), voice("stored", generation="cosyvoice2")])
    path, found = ready.args
    assert path == str(added.clip)
    assert isinstance(found, CardPicture)
    assert found.outline.loudest > 0.01
    with qtbot.assertNotEmitted(thumbnails.ready, wait=100):
        thumbnails.request([added])
