"""A recording looked through: which part, under which name, with which words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from studio.app.voices.clip_suggestion import propose_from, suggest_clip
from studio.audio.waveform import Waveform
from studio.errors import LowSampleRate, SilentClip, UnreadableClip
from studio.voices.best_segment import PromptWindow
from studio.voices.grades import Grade


def test_a_file_lends_its_name_and_the_words_beside_it(make_sound: Callable[..., Path]) -> None:
    path = make_sound("-anna.take.1.wav")
    assert propose_from(path, "Voice").name == "anna.take.1"
    assert propose_from(path, "Voice").transcript == ""
    path.with_suffix(".txt").write_text(" What she said.\n", "utf-8")
    assert propose_from(path, "Voice").transcript == "What she said."
    path.with_suffix(".txt").write_bytes(b"\xff\xfe\x00")
    assert propose_from(path, "Voice").transcript == ""


def test_the_clip_is_what_the_doctor_judges(recording: Waveform) -> None:
    suggestion = suggest_clip(recording, "Anna")
    assert suggestion.clip().seconds == pytest.approx(8.3, abs=0.1)
    judgement = suggestion.judge(PromptWindow(0.0, recording.seconds))
    assert judgement.clip_report.quality is Grade.GOOD
    assert judgement.kept_seconds == pytest.approx(8.3, abs=0.1), "without the silence around it"


def test_a_low_sample_rate_is_left_for_the_doctor_to_explain(recording: Waveform) -> None:
    suggestion = suggest_clip(Waveform(recording.samples, 8_000), "Anna")
    assert isinstance(suggestion.judge(suggestion.window).clip_report.refusal, LowSampleRate)


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SilentClip):
        suggest_clip(Waveform(np.zeros(50_000, np.float32), 24_000), "Anna")
    with pytest.raises(UnreadableClip):
        propose_from(tmp_path / "missing.wav", "Voice")
