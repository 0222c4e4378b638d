"""Built-in speakers of the installed models: voices without a clip (SPECIFICATION.md, B6).

CosyVoice-300M-SFT and -Instruct contain speakers that were part of their training. Each becomes a voice whose clip is a
small file of features in the cache folder, so it is chosen, cast, copied and exported like any other voice. Speakers of
several models with the same name and embedding are one voice.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from studio import paths
from studio.catalog.installed import installed_models
from studio.errors import StudioError
from studio.settings import LISTS_BUILT_IN_SPEAKERS
from studio.settings_store import Settings
from studio.storage.atomic_file import atomic_write
from studio.voices.library import VoiceLibrary
from studio.voices.voice import Voice, name_key, suggest_name

if TYPE_CHECKING:
    from studio.voices.speaker_file import Embedding

_log = logging.getLogger(__name__)
_SPEAKER_FILE = "spk2info.pt"
# How the released models name their speakers: language, then sex.
_LANGUAGES = {
    "中文": "zh", "日语": "ja", "粤语": "yue", "英文": "en", "韩语": "ko", "chinese": "zh", "japanese": "ja",
    "cantonese": "yue", "english": "en", "korean": "ko",
}  # fmt: skip


def open_voice_library() -> VoiceLibrary:
    """Return the user's library with the built-in speakers of the installed models."""
    return VoiceLibrary(speakers=installed_speakers, lists_speakers=lambda: Settings()[LISTS_BUILT_IN_SPEAKERS])


def installed_speakers() -> list[Voice]:
    """Return the speakers of all installed models. Damaged files are only logged."""
    voices: dict[str, Voice] = {}
    for folder in installed_models().values():
        for voice in list_speakers(folder):
            known = voices.get(name_key(voice.name))
            if known is None:
                voices[name_key(voice.name)] = voice
            elif (known.clip, known.generation) == (voice.clip, voice.generation):  # in several models
                voices[name_key(voice.name)] = replace(known, models=(*known.models, *voice.models))
            else:
                name = suggest_name(f"{voice.name} ({folder.name})", folder.name)
                voices[name_key(name)] = replace(voice, name=name)
    return list(voices.values())


def list_speakers(folder: Path) -> list[Voice]:
    """Return the speakers of a model folder, in the order of its file."""
    path = folder / _SPEAKER_FILE
    try:
        status = path.stat()
    except OSError:
        return []
    return list(_read(path, status.st_mtime_ns, status.st_size))


def are_mixable(voices: Sequence[Voice]) -> bool:
    """Whether ``voices`` are at least two that ``mixed_speaker`` can mix: speakers of one generation without a recording."""
    generations = {voice.generation for voice in voices}
    has_recording = any(voice.clip_seconds for voice in voices)
    return len(voices) > 1 and len(generations) == 1 and None not in generations and not has_recording


def mixed_speaker(name: str, speakers: Sequence[Voice]) -> Voice:
    """Return a voice halfway between mixable ``speakers``. Raise ``CannotWrite`` and ``DiskFull``."""
    mixed = _directions(speakers).mean(axis=0)
    generation = speakers[0].generation
    assert generation is not None
    languages = {speaker.language for speaker in speakers}
    language = languages.pop() if len(languages) == 1 else None
    clip = _written(mixed, generation)
    return replace(speakers[0], name=name, bundled_name=name, clip=clip, sha256=clip.stem, language=language)


def similarities(voice: Voice, speakers: Sequence[Voice]) -> list[float]:
    """Return the cosine similarity of the embedding of ``voice`` to those of ``speakers``. None has a recording."""
    return [float(each) for each in _directions(speakers) @ _directions([voice])[0]]


def _directions(voices: Sequence[Voice]) -> Embedding:
    """Return the embeddings of ``voices`` (voices, 192) with length 1: both networks use only their direction."""
    from safetensors.numpy import load_file  # noqa: PLC0415

    embeddings = np.stack([load_file(voice.clip)["embedding"] for voice in voices])
    return np.asarray(embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True), np.float32)


@lru_cache(maxsize=64)
def _read(path: Path, _changed: int, _size: int) -> tuple[Voice, ...]:
    from studio.model.generations import detect_generation  # noqa: PLC0415 - not needed if no model has speakers
    from studio.voices.speaker_file import read_speakers  # noqa: PLC0415

    try:
        generation, _ = detect_generation(path.parent)
        return tuple(
            _voice(name, embedding, generation.name, path.parent.name)
            for name, embedding in read_speakers(path).items()
        )
    except StudioError as error:
        _log.warning("the speakers of %s are not listed: %s", path.parent.name, error)
        return ()


def _voice(name: str, embedding: Embedding, generation: str, model: str) -> Voice:
    name, clip = suggest_name(name, model), _written(embedding, generation)
    return Voice(
        name=name,
        bundled_name=name,
        clip=clip,
        sha256=clip.stem,
        transcript=None,
        clip_seconds=0.0,
        generation=generation,
        is_built_in=True,
        language=next((code for word, code in _LANGUAGES.items() if word in name.casefold()), None),
        models=(model,),
    )


def _written(embedding: Embedding, generation: str) -> Path:
    """Write the feature file of an embedding unless it exists. Return its path.

    Raise ``CannotWrite`` and ``DiskFull``.
    """
    from safetensors.numpy import save  # noqa: PLC0415

    content = save(
        {
            "speech_tokens": np.zeros(0, np.int32),
            "mel": np.zeros((0, 80), np.float32),
            "embedding": embedding,
            "clip_seconds": np.zeros(1, np.float64),
        },
        metadata={"generation": generation},
    )
    path = paths.cache_folder() / "speakers" / f"{hashlib.sha256(content).hexdigest()}.safetensors"
    if not path.is_file():
        atomic_write(path, content)
    return path
