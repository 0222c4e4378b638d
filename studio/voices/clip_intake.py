"""Whether a file may become a voice: a sound file fit for a prompt, or a file of prompt features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
import soundfile

from studio.audio.files import read_audio
from studio.errors import UnreadableClip
from studio.storage.disk import require_regular_file
from studio.voices.clip_check import LONGEST_SECONDS, check_prompt_clip
from studio.voices.clip_report import assess_clip
from studio.voices.grades import Grade

FEATURES_SUFFIX = ".safetensors"
_TOKENS_PER_SECOND = 25
# Longer clips are refused anyway; check_prompt_clip tells the length of those that are not much too long.
_LONGEST_READ_SECONDS = 2 * LONGEST_SECONDS


@dataclass(frozen=True, slots=True)
class UsableClip:
    """``quality`` is None for a file of features, in which nobody can hear anything."""

    seconds: float
    warnings: tuple[str, ...] = ()
    quality: Grade | None = None


def validate_clip(path: Path) -> UsableClip:
    """Raises ``UnreadableClip`` and whatever else is wrong with the sound."""
    if path.suffix.lower() == FEATURES_SUFFIX:
        return UsableClip(_features_seconds(path))
    waveform = read_audio(path, longest_seconds=_LONGEST_READ_SECONDS)
    warnings = check_prompt_clip(waveform).warnings
    return UsableClip(waveform.seconds, warnings, assess_clip(waveform).quality)


def clip_seconds(path: Path) -> float:
    """How long a sound file says it is, without decoding it; 0 if it cannot be read."""
    try:
        require_regular_file(path)
        return float(soundfile.info(path).duration)
    except (OSError, soundfile.LibsndfileError):
        return 0.0


def _features_seconds(path: Path) -> float:
    """The seconds of speech behind a file of prompt features (specification B6, C5)."""
    try:
        require_regular_file(path)
        arrays = safetensors.numpy.load(path.read_bytes())
        tokens, mel, embedding = arrays["speech_tokens"], arrays["mel"], arrays["embedding"]
    except (OSError, KeyError, ValueError, TypeError, safetensors.SafetensorError) as error:
        raise _no_features(path) from error
    num_tokens = tokens.size
    are_features = (
        tokens.ndim == 1
        and num_tokens > 0
        and np.issubdtype(tokens.dtype, np.integer)
        and mel.shape == (2 * num_tokens, 80)
        and embedding.shape == (192,)
        and bool(np.isfinite(mel).all() and np.isfinite(embedding).all())
    )
    if not are_features:
        raise _no_features(path)
    return num_tokens / _TOKENS_PER_SECOND


def _no_features(path: Path) -> UnreadableClip:
    return UnreadableClip("{file} holds no voice features.", remedy="Make the voice from a recording.", file=path.name)
