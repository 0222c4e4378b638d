"""A voice of the best four seconds of a longer clip, for processors on which new voices take long.

The time to prepare a voice and its memory are proportional to the length of the clip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import UnusableSetting
from studio.take_checks.recognizers.choice import OFF
from studio.take_checks.requests import CheckRequest, TranscriptRequest
from studio.voices.best_segment import best_segment, cut_prompt
from studio.voices.library import Voice, VoiceLibrary, details_of

if TYPE_CHECKING:
    from studio.take_checks.service import TakeCheckService

SHORT_SECONDS = 4.0
# A shorter clip gains little.
_MIN_SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class ShorterVoice:
    """The new voice.

    Attributes:
        similarity: Cosine similarity of the speaker embeddings of both clips, or None if it could not be computed.
        share: Share of the time and memory that the longer voice takes.
    """

    voice: Voice
    similarity: float | None
    share: float


def can_be_shorter(voice: Voice) -> bool:
    return voice.generation is None and not voice.is_built_in and voice.clip_seconds >= _MIN_SECONDS


def add_shorter_voice(
    library: VoiceLibrary, voice: Voice, checks: TakeCheckService, model_folder: Path
) -> ShorterVoice:
    """Add a copy of ``voice`` with the best part of its clip. A recogniser proposes the transcript of this part.

    ``model_folder`` contains the speaker encoder. Raise ``UnusableSetting`` for a clip that is short already, and the
    errors of ``VoiceLibrary.add_sound``.
    """
    if not can_be_shorter(voice):
        raise UnusableSetting(
            "{name} cannot be shortened.",
            remedy="Choose a voice with a recording of at least {seconds:g} seconds.",
            name=voice.name,
            seconds=_MIN_SECONDS,
        )
    recording = read_audio(voice.clip)
    clip = cut_prompt(recording, best_segment(recording, SHORT_SECONDS))
    similarity = checks.submit(_comparison(clip, voice.clip, model_folder)).result().similarity
    transcript = None
    if voice.transcript:
        request = TranscriptRequest(clip.samples, clip.sample_rate, language=voice.language or "")
        transcript = checks.transcribe(request).result().text or None
    name = library.unique_name(f"{voice.name} {clip.seconds:.0f} s")
    details = replace(details_of(voice), name=name, transcript=transcript)
    added = library.add_sound(clip, details).voice
    return ShorterVoice(added, similarity, clip.seconds / recording.seconds)


def _comparison(clip: Waveform, longer: Path, model_folder: Path) -> CheckRequest:
    return CheckRequest(
        clip.samples, clip.sample_rate, text="", prompt_clip=longer, model_folder=model_folder, recognizer=OFF
    )
