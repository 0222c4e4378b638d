"""Spoken consent: a recording in which the speaker consents, compared with the voice and with the sentence.

The encoder is that of studio-mini, so that the limit is known and records of different computers can be compared. It
finds many recordings of other people, but not all (``packaging/measurements/speakers.md``): a record is evidence and
not an access control.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from studio import paths
from studio.audio.files import read_audio
from studio.errors import SyntheticClip
from studio.provenance.mark import MarkState, find_mark
from studio.take_checks.recognizers.choice import OFF
from studio.take_checks.records import Transcript
from studio.take_checks.requests import CheckRequest, TranscriptRequest
from studio.take_checks.service import TakeCheckService
from studio.voices.clip_check import MAX_SECONDS, check_prompt_clip
from studio.voices.voice import SpokenConsent, SpokenWords

# Of recordings of one speaker, 88 % are more similar, and of recordings of two speakers 32 %.
MIN_SIMILARITY = 0.7
_MODEL = "studio-mini"
_SENTENCES = {
    "en": "My name is {name}. I agree that this voice is used to make synthetic speech.",
    "zh": "我是{name}，我同意用我的声音制作合成语音。",
}


def consent_sentence(name: str, language: str) -> str:
    """Return what a speaker called ``name`` should say, in ``language`` or in English."""
    return _SENTENCES.get(language, _SENTENCES["en"]).format(name=name)


def compare_spoken_consent(
    clip: Path, voice_clip: Path | None, sentence: str, checks: TakeCheckService
) -> SpokenConsent:
    """Compare the recording ``clip`` with the clip of the voice, if there is one, and with ``sentence``.

    Raise ``SyntheticClip`` if it contains the mark of this program, and the errors of ``read_audio`` and
    ``check_prompt_clip``.
    """
    recording = read_audio(clip, longest_seconds=2 * MAX_SECONDS)
    check_prompt_clip(recording)
    if find_mark(clip).state is MarkState.FOUND:
        raise SyntheticClip(
            "{file} contains the mark of synthetic speech.", remedy="Record the speaker.", file=clip.name
        )
    samples, rate = recording.samples, recording.sample_rate
    similarity = None
    if voice_clip is not None:
        folder = paths.resources() / "models" / _MODEL
        request = CheckRequest(samples, rate, "", prompt_clip=voice_clip, model_folder=folder, recognizer=OFF)
        similarity = checks.submit(request).result().similarity
    transcript = checks.transcribe(TranscriptRequest(samples, rate, sentence)).result()
    return SpokenConsent(
        hashlib.sha256(clip.read_bytes()).hexdigest(),
        sentence,
        None if similarity is None else round(similarity, 3),
        _words(sentence, transcript),
    )


def _words(sentence: str, transcript: Transcript) -> SpokenWords:
    if transcript.error_code:
        return SpokenWords.UNKNOWN
    return SpokenWords.OTHER if transcript.is_other_text(sentence) else SpokenWords.SAID
