"""Suggestion of a clip: the best segment of a recording and its assessment. No Qt."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from studio.app.widgets.peaks import Peaks
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import LowSampleRate
from studio.storage.disk import require_regular_file
from studio.voices.best_segment import PromptWindow, best_segment, cut_prompt
from studio.voices.clip_check import require_sound
from studio.voices.clip_report import ClipReport, assess_clip, speech_above_noise
from studio.voices.voice import suggest_name

_LONGEST_READ_SECONDS = 600.0
# Higher rates add nothing to a voice; ten minutes at a higher rate take gigabytes of memory.
_HIGHEST_RATE = 48_000
_LONGEST_TRANSCRIPT = 2000


@dataclass(frozen=True, slots=True)
class ClipAssessment:
    """Assessment of a selection. ``kept_seconds``: its length after silence at both ends is trimmed."""

    clip_report: ClipReport
    kept_seconds: float


@dataclass(frozen=True, slots=True)
class ClipSuggestion:
    """A recording with a suggested segment.

    ``name`` comes from the file or the user; ``transcript`` is empty if unknown; ``peaks`` are for drawing.
    """

    recording: Waveform
    peaks: Peaks
    window: PromptWindow
    speech_above_noise_db: float
    name: str
    transcript: str = ""

    def clip(self, window: PromptWindow | None = None) -> Waveform:
        """Return the trimmed clip of ``window``, or of the suggested one."""
        return cut_prompt(self.recording, window or self.window)

    def assess(self, window: PromptWindow) -> ClipAssessment:
        clip = self.clip(window)
        return ClipAssessment(assess_clip(clip, speech_above_noise_db=self.speech_above_noise_db), clip.seconds)


def suggest_clip(recording: Waveform, name: str, transcript: str = "") -> ClipSuggestion:
    """Suggest a clip of ``recording``.

    Raises ``BrokenClip``, ``ClipTooShort``, ``SilentClip``. A low sample rate is left to the clip report.
    """
    with contextlib.suppress(LowSampleRate):
        require_sound(recording)
    peaks = Peaks(recording.sample_rate, recording.samples)
    return ClipSuggestion(recording, peaks, best_segment(recording), speech_above_noise(recording), name, transcript)


def suggest_from_file(path: Path, fallback_name: str) -> ClipSuggestion:
    """Suggest a clip of an audio file. Raises ``UnreadableClip``, ``ClipTooLong`` and the errors of ``suggest_clip``."""
    recording = read_audio(path, longest_seconds=_LONGEST_READ_SECONDS, highest_rate=_HIGHEST_RATE)
    transcript = _read_transcript(path)
    return suggest_clip(recording, suggest_name(path.stem, fallback_name), transcript)


def _read_transcript(path: Path) -> str:
    """Return the text of the ``.txt`` file with the same stem, as in data sets; empty if there is no such file."""
    try:
        text_file = path.with_suffix(".txt")
        require_regular_file(text_file)
        text = text_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if len(text) <= _LONGEST_TRANSCRIPT else ""
