"""Requests of lines: the style that the model does not have is left out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studio.catalog.model_styles import styles_of_model
from studio.paths import resources
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line, LineStyle
from studio.project.requests import synthesis_request

MINI = resources() / "models" / "studio-mini"
WHISPER = styles_of_model("cosyvoice3", MINI).preset("voice.whisper").instruction


@pytest.mark.parametrize(
    ("style", "spoken"),
    [
        (LineStyle(instruct="用非常开心的语气说话"), (None, None)),
        (LineStyle(instruct=WHISPER), (WHISPER, None)),
        (LineStyle(preset="voice.whisper"), (None, "voice.whisper")),
        (LineStyle(preset="emotion.very-odd"), (None, None)),
    ],
)
def test_a_style_that_the_model_does_not_follow_is_left_out(
    style: LineStyle, spoken: tuple[str | None, str | None]
) -> None:
    """An instruction that the model has not learned ruined the line."""
    request = _request(style, MINI)
    assert (request.instruct, request.preset) == spoken


def test_an_unknown_model_gets_any_instruction(tmp_path: Path) -> None:
    shutil.copytree(MINI, tmp_path / "my-model")
    assert _request(LineStyle(instruct="Slowly."), tmp_path / "my-model").instruct == "Slowly."


def _request(style: LineStyle, folder: Path) -> SynthesisRequest:
    return synthesis_request(
        Line("1", "Hello.", "Anna", style=style),
        PronunciationDictionary(()),
        voice=VoiceReference(Path("anna.wav"), "", "Anna"),
        generation="cosyvoice3",
        seed=0,
        styles=styles_of_model("cosyvoice3", folder),
    )
