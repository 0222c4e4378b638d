"""Clip suggestions: segment, name and transcript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from studio.app.voices.new_voices import suggest_clip, suggest_from_file
from studio.audio.waveform import Waveform
from studio.errors import LowSampleRate, SilentClip, UnreadableClip
from studio.voices.best_segment import PromptWindow
from studio.voices.voice import Grade


def test_name_and_transcript_come_from_the_file(make_recording: Callable[..., Path]) -> None:
    path = make_recording("-anna.take.1.wav")
    assert suggest_from_file(path, "Voice").name == "anna.take.1"
    assert suggest_from_file(path, "Voice").transcript == ""
    path.with_suffix(".txt").write_text(" What she said.\n", "utf-8")
    assert suggest_from_file(path, "Voice").transcript == "What she said."
    path.with_suffix(".txt").write_bytes(b"\xff\xfe\x00")
    assert suggest_from_file(path, "Voice").transcript == ""


def test_a_selection_is_assessed_after_trimming(recording: Waveform) -> None:
    suggestion = suggest_clip(recording, "Anna")
    assert suggestion.clip().seconds == pytest.approx(8.3, abs=0.1)
    assessment = suggestion.assess(PromptWindow(0.0, recording.seconds))
    assert assessment.clip_report.quality is Grade.GOOD
    assert assessment.clip.seconds == pytest.approx(8.3, abs=0.1), "silence at both ends is trimmed"


def test_a_low_sample_rate_is_reported_in_the_assessment(recording: Waveform) -> None:
    suggestion = suggest_clip(Waveform(recording.samples, 8_000), "Anna")
    assert isinstance(suggestion.assess(suggestion.window).clip_report.refusal, LowSampleRate)


def test_silent_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SilentClip):
        suggest_clip(Waveform(np.zeros(50_000, np.float32), 24_000), "Anna")
    with pytest.raises(UnreadableClip):
        suggest_from_file(tmp_path / "missing.wav", "Voice")
