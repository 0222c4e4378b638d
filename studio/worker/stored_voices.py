"""Converts the voices of an official ``spk2info.pt`` (SPECIFICATION.md, B8) to files of prompt features.

Such a voice has no recording, only the features that the front end of one model computed, or only a speaker embedding.
It works only with models of that generation. The file is a pickle, which is read without executing code in it.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save

from studio.errors import BadVoiceFile
from studio.messages import Message, message
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.weights import LOAD_ERRORS, is_ordinary
from studio.pipeline.enrolment import feature_arrays
from studio.pipeline.request import VoicePrompt, speaker_prompt
from studio.storage.atomic_file import atomic_write
from studio.storage.disk import require_regular_file
from studio.worker.protocol import StoredVoice

_END_OF_PROMPT = "<|endofprompt|>"
_MEL_BINS = 80
_EMBEDDING_SIZE = 192
_MAX_VALUES = 1 << 24  # an hour of mel spectrogram


def convert_spk2info(
    path: Path, model_folder: Path, destination: Path
) -> tuple[tuple[StoredVoice, ...], tuple[Message, ...]]:
    """Write each voice of ``path`` into ``destination``. Return the voices, and a sentence for each unusable one.

    ``model_folder`` contains the model that the voices belong to, whose tokenizer decodes their transcripts.
    Raise ``BadVoiceFile``, ``CannotWrite``, and the errors of ``open_checkpoint``.
    """
    entries = _read_entries(path)
    checkpoint = open_checkpoint(model_folder)
    voices: list[StoredVoice] = []
    refused: list[Message] = []
    for name, entry in entries.items():
        try:
            prompt = _prompt(name, entry, checkpoint)
        except (BadVoiceFile, UnicodeError) as error:
            refused.append(_reason(name, error))
            continue
        voices.append(
            StoredVoice(
                name=name,
                features=_write(prompt, destination, checkpoint.generation.name),
                transcript=prompt.transcript,
                generation=checkpoint.generation.name,
                clip_seconds=prompt.clip_seconds,
            )
        )
    return tuple(voices), tuple(refused)


def _reason(name: str, error: BadVoiceFile | UnicodeError) -> Message:
    if isinstance(error, BadVoiceFile):
        return error.message
    return message("The transcript of the stored voice {name} is damaged.", name=name)


def _read_entries(path: Path) -> Mapping[str, Mapping[str, torch.Tensor]]:
    try:
        require_regular_file(path)
        entries = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise BadVoiceFile("There is no file {path}.", remedy="Check its name and folder.", path=path) from error
    except pickle.UnpicklingError as error:
        raise BadVoiceFile(
            "{file} is not a plain file of voices: it is damaged, or runs code when opened.",
            remedy="Do not use it.",
            file=path.name,
        ) from error
    except LOAD_ERRORS as error:
        raise BadVoiceFile(
            "{file} cannot be read: it is truncated or damaged.", remedy="Copy it again.", file=path.name
        ) from error
    is_voices = isinstance(entries, dict) and all(
        isinstance(name, str) and isinstance(entry, dict) for name, entry in entries.items()
    )
    if not is_voices or not entries:
        raise BadVoiceFile(
            "{file} contains no voices.", remedy="Choose the spk2info.pt of a model folder.", file=path.name
        )
    return entries  # type: ignore[no-any-return]  # checked above


def _prompt(name: str, entry: Mapping[str, torch.Tensor], checkpoint: Checkpoint) -> VoicePrompt:
    if "flow_prompt_speech_token" not in entry:
        return _speaker(name, entry)
    tokens = _array(name, entry, "flow_prompt_speech_token").astype(np.int64)
    mel = _array(name, entry, "prompt_speech_feat")
    embedding = _array(name, entry, "flow_embedding").astype(np.float32)
    num_speech_tokens = checkpoint.speech_lm.layout.num_speech_tokens
    fits = tokens.ndim == 1 and mel.ndim == 2 and mel.shape[1] == _MEL_BINS and embedding.shape == (_EMBEDDING_SIZE,)
    generation = checkpoint.generation
    num_tokens, num_frames = (len(tokens), len(mel)) if fits else (0, 0)
    if generation.trims_prompts:
        num_tokens = min(num_tokens, generation.tokens_of_frames(num_frames))
        num_frames = generation.frames_of_tokens(num_tokens)
    is_plausible = (
        min(num_tokens, num_frames) > 0
        and 0 <= int(tokens.min()) <= int(tokens.max()) < num_speech_tokens
        and bool(np.isfinite(mel).all() and np.isfinite(embedding).all())
    )
    if not is_plausible:
        raise BadVoiceFile(
            "The stored voice {name} is damaged.", remedy="Create the voice from a recording.", name=name
        )
    return VoicePrompt(
        key="",
        name=name,
        transcript=_transcript(entry, checkpoint),
        clip_seconds=generation.seconds_of_tokens(num_tokens),
        speech_tokens=tuple(int(token) for token in tokens[:num_tokens]),
        mel=np.ascontiguousarray(mel[:num_frames], dtype=np.float32),
        embedding=embedding,
    )


def _speaker(name: str, entry: Mapping[str, torch.Tensor]) -> VoicePrompt:
    """Return a speaker without a clip."""
    embedding = _array(name, entry, "embedding").astype(np.float32)
    if embedding.shape != (_EMBEDDING_SIZE,) or not np.isfinite(embedding).all():
        raise BadVoiceFile(
            "The stored voice {name} is damaged.", remedy="Create the voice from a recording.", name=name
        )
    return speaker_prompt(name, embedding)


def _array(name: str, entry: Mapping[str, torch.Tensor], key: str) -> np.ndarray:
    """Return the tensor of ``key`` without its leading dimension of size 1."""
    tensor = entry.get(key)
    if not isinstance(tensor, torch.Tensor) or tensor.ndim < 2 or len(tensor) != 1 or not _is_usable(tensor):
        raise BadVoiceFile(
            "The stored voice {name} lacks {key}.", remedy="Create the voice from a recording.", name=name, key=key
        )
    array: np.ndarray = tensor[0].numpy(force=True)
    return array


def _is_usable(tensor: torch.Tensor) -> bool:
    return is_ordinary(tensor) and not tensor.is_complex() and 0 < tensor.numel() <= _MAX_VALUES


def _transcript(entry: Mapping[str, torch.Tensor], checkpoint: Checkpoint) -> str | None:
    """Return the transcript of the original recording, decoded from its text tokens without the prefix of the model."""
    tensor = entry.get("prompt_text")
    if not isinstance(tensor, torch.Tensor) or not _is_usable(tensor) or tensor.is_floating_point():
        return None
    tokenizer = checkpoint.load_text_tokenizer()
    tokens = [int(token) for token in tensor.flatten()]
    end_of_prompt = tokenizer.special_ids.get(_END_OF_PROMPT)
    if end_of_prompt in tokens:
        tokens = tokens[tokens.index(end_of_prompt) + 1 :]
    return tokenizer.decode([token for token in tokens if 0 <= token < tokenizer.num_tokens]).strip() or None


def _write(prompt: VoicePrompt, destination: Path, generation: str) -> Path:
    path = destination / f"{secrets.token_hex(8)}.safetensors"
    atomic_write(path, save(feature_arrays(prompt), metadata={"generation": generation}))
    return path
