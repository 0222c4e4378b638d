"""A recording that may become a voice, looked through: what to keep of it, and how noisy it is. No Qt."""

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
# More than a voice needs; ten minutes of more would need gigabytes of memory.
_HIGHEST_RATE = 48_000
_LONGEST_WORDS = 2000


@dataclass(frozen=True, slots=True)
class ClipAssessment:
    """Of a chosen part: ``kept_seconds`` of it are left without the silence at its ends."""

    clip_report: ClipReport
    kept_seconds: float


@dataclass(frozen=True, slots=True)
class ClipSuggestion:
    """``name``: after the file, or what the person calls it; ``transcript`` where it is known already.

    ``peaks`` draw the recording.
    """

    recording: Waveform
    peaks: Peaks
    window: PromptWindow
    speech_above_noise_db: float
    name: str
    transcript: str = ""

    def clip(self, window: PromptWindow | None = None) -> Waveform:
        """What would be kept of ``window``, or of the one proposed."""
        return cut_prompt(self.recording, window or self.window)

    def judge(self, window: PromptWindow) -> ClipAssessment:
        clip = self.clip(window)
        return ClipAssessment(assess_clip(clip, speech_above_noise_db=self.speech_above_noise_db), clip.seconds)


def suggest_clip(recording: Waveform, name: str, transcript: str = "") -> ClipSuggestion:
    """Raises what is wrong with a recording as a whole; a low sample rate is left for the doctor to explain."""
    with contextlib.suppress(LowSampleRate):
        require_sound(recording)
    peaks = Peaks(recording.sample_rate, recording.samples)
    return ClipSuggestion(recording, peaks, best_segment(recording), speech_above_noise(recording), name, transcript)


def propose_from(path: Path, fallback_name: str) -> ClipSuggestion:
    """Reads a file first. Raises ``UnreadableClip``, ``ClipTooLong`` and what ``suggest_clip`` raises."""
    recording = read_audio(path, longest_seconds=_LONGEST_READ_SECONDS, highest_rate=_HIGHEST_RATE)
    transcript = _words_beside(path)
    return suggest_clip(recording, suggest_name(path.stem, fallback_name), transcript)


def _words_beside(path: Path) -> str:
    """Of a text file with the recording's name, as data sets have them; empty if there is none."""
    try:
        beside = path.with_suffix(".txt")
        require_regular_file(beside)
        text = beside.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if len(text) <= _LONGEST_WORDS else ""
