"""Validation of a file as the clip of a voice: it must contain audio for a prompt, or stored prompt features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
import soundfile

from studio.audio.files import read_audio
from studio.errors import UnreadableClip
from studio.storage.disk import require_regular_file
from studio.voices.clip_check import MAX_SECONDS, check_prompt_clip
from studio.voices.clip_report import assess_clip
from studio.voices.voice import Grade

FEATURES_SUFFIX = ".safetensors"
# The token rate of files from early versions, which have no ``clip_seconds``.
_EARLY_TOKENS_PER_SECOND = 25
# Longer clips are rejected before they are decoded. For clips that are slightly too long, the error of
# check_prompt_clip states the length.
_MAX_READ_SECONDS = 2 * MAX_SECONDS


@dataclass(frozen=True, slots=True)
class UsableClip:
    """Result of a successful validation. ``quality`` is None for stored features, which cannot be assessed."""

    seconds: float
    warnings: tuple[str, ...] = ()
    quality: Grade | None = None


def validate_clip(path: Path) -> UsableClip:
    """Validate ``path``. Raises ``UnreadableClip``, and the errors of ``check_prompt_clip``."""
    if path.suffix.lower() == FEATURES_SUFFIX:
        return UsableClip(_features_seconds(path))
    waveform = read_audio(path, longest_seconds=_MAX_READ_SECONDS)
    warnings = check_prompt_clip(waveform).warnings
    return UsableClip(waveform.seconds, warnings, assess_clip(waveform).quality)


def clip_seconds(path: Path) -> float:
    """Return the length in the header of an audio file, without decoding it, or 0 if it cannot be read."""
    try:
        require_regular_file(path)
        return float(soundfile.info(path).duration)
    except (OSError, soundfile.LibsndfileError):
        return 0.0


def _features_seconds(path: Path) -> float:
    """Return the length of the clip whose prompt features a file contains (SPECIFICATION.md, B6 and C5)."""
    try:
        require_regular_file(path)
        arrays = safetensors.numpy.load(path.read_bytes())
        tokens, mel, embedding = arrays["speech_tokens"], arrays["mel"], arrays["embedding"]
        seconds = (
            float(arrays["clip_seconds"][0]) if "clip_seconds" in arrays else len(tokens) / _EARLY_TOKENS_PER_SECOND
        )
    except (OSError, KeyError, IndexError, ValueError, TypeError, safetensors.SafetensorError) as error:
        raise _no_features(path) from error
    num_tokens = tokens.size
    are_features = (
        tokens.ndim == 1
        and np.issubdtype(tokens.dtype, np.integer)
        and mel.ndim == 2
        # Longer than the tokens by a factor that depends on the model. A speaker without a clip has neither.
        and (len(mel) > num_tokens > 0 or len(mel) == num_tokens == 0)
        and mel.shape[1] == 80
        and embedding.shape == (192,)
        and (0 < seconds < math.inf or seconds == num_tokens == 0)
        and bool(np.isfinite(mel).all() and np.isfinite(embedding).all())
    )
    if not are_features:
        raise _no_features(path)
    return seconds


def _no_features(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} contains no voice features.", remedy="Create the voice from a recording.", file=path.name
    )
