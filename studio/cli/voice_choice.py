"""``--voice``: an audio file or a voice of the library."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from studio.errors import UnreadableClip, VoiceNotFound, VoiceOfAnotherModel
from studio.messages import wording
from studio.model.generations import detect_generation
from studio.pipeline.request import VoiceReference
from studio.voices.library import Voice, VoiceLibrary


def add_voice_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--voice",
        metavar="CLIP|NAME",
        help="a recording of the voice of 3 to 10 seconds, or the name of a voice added with `timbre voices add`",
    )
    parser.add_argument("--transcript", metavar="TEXT", help="the words of the recording, for a closer likeness")


def voice_reference(
    choice: str | None, transcript: str | None, library: VoiceLibrary, model_folder: Path
) -> VoiceReference:
    """Return the voice of ``--voice``, or the default voice.

    Raises ``VoiceNotFound``, ``UnreadableClip``, ``VoiceOfAnotherModel``.
    """
    if choice is None:
        voice = _default_voice(library)
    elif os.path.isfile(choice):
        return VoiceReference(Path(choice), transcript, Path(choice).stem)
    elif _looks_like_a_path(choice):
        raise UnreadableClip("There is no file {choice}.", remedy="Check its name and folder.", choice=choice)
    else:
        voice = library.get(choice)
    if voice.generation is not None:
        _require_generation(voice, model_folder)
    return VoiceReference(voice.clip, voice.transcript if transcript is None else transcript, voice.name)


def _default_voice(library: VoiceLibrary) -> Voice:
    """Return the first bundled voice, or the only voice of the library."""
    voices = library.voices()
    if voices and (voices[0].is_built_in or len(voices) == 1):
        return voices[0]
    known = wording(" Your voices: {names}.", names=", ".join(voice.name for voice in voices)) if voices else ""
    raise VoiceNotFound(
        "No voice is given.{known}",
        remedy="Give a recording or the name of a voice with --voice.",
        known=known,
    )


def _looks_like_a_path(choice: str) -> bool:
    return "/" in choice or "\\" in choice or Path(choice).suffix != ""


def _require_generation(voice: Voice, model_folder: Path) -> None:
    generation, _ = detect_generation(model_folder)
    if generation.name != voice.generation:
        raise VoiceOfAnotherModel(
            "{name} has no recording, only features stored by a {own} model; {model} is a {generation} model.",
            remedy="Choose a {own} model with --model, or create the voice from a recording.",
            name=voice.name,
            own=voice.generation,
            model=model_folder.name,
            generation=generation.name,
        )
