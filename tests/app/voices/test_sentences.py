"""Translations of the clip report."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QPalette

from studio import paths
from studio.app.voices.sentences import (
    ASPECT_NAMES,
    GRADE_ICONS,
    GRADE_WORDS,
    SENTENCES,
    advice_of,
    grade_color,
    sentence_of,
)
from studio.audio.waveform import Waveform
from studio.voices.clip_report import VERDICTS, Aspect, assess_clip
from studio.voices.voice import Grade


def test_every_sentence_of_the_report_can_be_translated() -> None:
    sentences = {text for verdict in VERDICTS.values() for text in (verdict.sentence, verdict.advice) if text}
    assert sentences == set(SENTENCES)


def test_every_grade_and_aspect_has_a_name_and_an_icon() -> None:
    assert set(GRADE_WORDS) == set(GRADE_ICONS) == set(Grade)
    assert len(set(GRADE_ICONS.values())) == len(Grade)
    assert all((paths.resources() / "icons" / f"{name}.svg").is_file() for name in GRADE_ICONS.values())
    assert set(ASPECT_NAMES) == set(Aspect)
    assert len({grade_color(grade, QPalette()) for grade in Grade}) == len(Grade)


def test_english_is_the_default() -> None:
    sound = np.random.default_rng(0).normal(0, 0.1, 20_000).astype(np.float32)
    for finding in assess_clip(Waveform(sound, 8_000)).findings:
        assert sentence_of(finding) == finding.sentence
        assert advice_of(finding) == finding.advice
