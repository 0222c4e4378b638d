"""Creation of voices: suggestion of a clip in a recording, and import of many files or of stored voices. No widgets."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from studio.app.background import run_in_thread
from studio.app.voices.voice_text import guess_language
from studio.app.widgets.peaks import Peaks
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import CannotWrite, LowSampleRate, ModelNotFound, StudioError
from studio.messages import Message, message
from studio.model.generations import detect_generation
from studio.storage.disk import require_regular_file
from studio.voices.best_segment import PromptWindow, best_segment, cut_prompt
from studio.voices.clip_check import require_sound
from studio.voices.clip_report import ClipReport, assess_clip, speech_above_noise
from studio.voices.library import Voice, VoiceDetails, VoiceLibrary
from studio.voices.voice import suggest_name
from studio.worker.client import WorkerClient
from studio.worker.process import Worker

_MAX_READ_SECONDS = 600.0
# A higher rate does not improve a voice, and ten minutes of audio at a higher rate would take gigabytes of memory.
_MAX_RATE = 48_000
_MAX_TRANSCRIPT = 2000


@dataclass(frozen=True, slots=True)
class ClipAssessment:
    """Assessment of a selected part of a recording."""

    clip_report: ClipReport
    clip: Waveform  # without silence at both ends


@dataclass(frozen=True, slots=True)
class ClipSuggestion:
    """A recording with the suggested segment, name and transcript of a voice."""

    recording: Waveform
    peaks: Peaks  # peaks of the recording, to draw it
    window: PromptWindow  # the suggested segment
    speech_above_noise_db: float
    name: str
    transcript: str = ""  # empty if unknown

    def clip(self, window: PromptWindow | None = None) -> Waveform:
        """Return the trimmed clip of ``window``, by default of the suggested segment."""
        return cut_prompt(self.recording, window or self.window)

    def assess(self, window: PromptWindow) -> ClipAssessment:
        clip = self.clip(window)
        return ClipAssessment(assess_clip(clip, speech_above_noise_db=self.speech_above_noise_db), clip)


def suggest_clip(recording: Waveform, name: str, transcript: str = "") -> ClipSuggestion:
    """Suggest a clip of ``recording``.

    Raises ``BrokenClip``, ``ClipTooShort`` and ``SilentClip``. The clip report refuses a low sample rate later.
    """
    with contextlib.suppress(LowSampleRate):
        require_sound(recording)
    peaks = Peaks(recording.sample_rate, recording.samples)
    return ClipSuggestion(recording, peaks, best_segment(recording), speech_above_noise(recording), name, transcript)


def suggest_from_file(path: Path, fallback_name: str) -> ClipSuggestion:
    """Suggest a clip of an audio file.

    Raises ``UnreadableClip``, ``ClipTooLong``, and the errors of ``suggest_clip``.
    """
    recording = read_audio(path, longest_seconds=_MAX_READ_SECONDS, highest_rate=_MAX_RATE)
    transcript = _read_transcript(path)
    return suggest_clip(recording, suggest_name(path.stem, fallback_name), transcript)


def _read_transcript(path: Path) -> str:
    """Return the text of the ``.txt`` file with the same stem, as in data sets, or "" if there is no such file."""
    try:
        text_file = path.with_suffix(".txt")
        require_regular_file(text_file)
        text = text_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if len(text) <= _MAX_TRANSCRIPT else ""


@dataclass(frozen=True, slots=True)
class CreatedVoices:
    """Result of an import: the new voices, and a message for each file that failed."""

    voices: list[Voice] = field(default_factory=list)
    refused: list[Message] = field(default_factory=list)


def create_from_files(
    library: VoiceLibrary, paths: list[Path], fallback_name: str, begin: Callable[[int, int], object]
) -> CreatedVoices:
    """Create a voice from the suggested clip of each file. ``begin`` receives the number of the file and the total."""
    created = CreatedVoices()
    for number, path in enumerate(paths, start=1):
        begin(number, len(paths))
        try:
            suggestion = suggest_from_file(path, fallback_name)
            name = library.unique_name(suggestion.name)
            language = guess_language(suggestion.transcript) or None
            details = VoiceDetails(name, suggestion.transcript or None, language=language)
            created.voices.append(library.add_sound(suggestion.clip(), details).voice)
        except StudioError as error:
            created.refused.append(message("{file}: {reason}", file=path.name, reason=error))
    return created


async def import_spk2info(
    path: Path, library: VoiceLibrary, *, start_worker: Callable[[], Worker], model_folder: Path | None
) -> CreatedVoices:
    """Import the voices in an official ``spk2info.pt``. The worker reads the file, because this requires torch.

    Stored features fit only the model that computed them: the model in the file's folder if there is one, otherwise the
    model in ``model_folder``. Raises ``ModelNotFound`` if both are missing, and the worker's errors.
    """
    folder = _model_of(path, model_folder)
    created = CreatedVoices()
    try:
        destination = tempfile.TemporaryDirectory(prefix="timbre-import-")
    except OSError as error:
        raise CannotWrite(
            "Temporary files cannot be written ({reason}).", remedy="Free some space and try again.", reason=error
        ) from error
    with destination as place:
        async with WorkerClient(folder, start_worker=start_worker) as client:
            written = await client.import_stored_voices(path, Path(place))
        created.refused.extend(written.refused)
        for stored in written.voices:
            try:
                name = await run_in_thread(library.unique_name, suggest_name(stored.name, path.stem))
                addition = await run_in_thread(
                    library.add, stored.features, name, stored.transcript, generation=stored.generation
                )
            except StudioError as error:
                created.refused.append(error.message)
            else:
                created.voices.append(addition.voice)
    return created


def _model_of(path: Path, fallback: Path | None) -> Path:
    """Return the folder of ``path`` if it contains a model, else ``fallback``."""
    try:
        detect_generation(path.parent)
    except StudioError as error:
        if fallback is None:
            raise ModelNotFound(
                "{file} is not in a model folder, and no model is selected.",
                remedy="Select the model it was stored with, then import it again.",
                file=path.name,
            ) from error
        return fallback
    return path.parent
