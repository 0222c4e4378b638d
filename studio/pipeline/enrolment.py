"""From a clip to a prepared prompt: checked, cut to a good length, turned into features.

Prompt length: a voice's first hop is ``-P mod 25`` tokens, so dropping a little *trailing silence*
brings the first sound forward by up to half a second. Speech is never cut, silence never added
(the language model would go on being silent).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import UnreadableClip
from studio.model.config import PromptMelConfig
from studio.model.generations import Generation
from studio.model.stages import SpeakerEncoder, SpeechTokenizer
from studio.pipeline.request import VoiceReference
from studio.storage.disk import require_regular_file
from studio.voices.clip_check import LONGEST_SECONDS, check_prompt_clip, trailing_silence_seconds
from studio.voices.features import kaldi_fbank, prompt_mel, whisper_log_mel
from studio.voices.prompt import VoicePrompt

_TOKENIZER_RATE = 16_000
# The first chunk then holds 0.3 to 0.5 s: short to wait for, long enough to play while the next is made.
_BEST_FIRST_HOPS_TOKENS = range(8, 13)
# Bump when features of the same clip would come out differently.
_FEATURE_VERSION = 1

FEATURE_FILE_SUFFIX = ".safetensors"


@dataclass(frozen=True, slots=True)
class Frontend:
    """The networks and settings that turn sound into a prompt."""

    speech_tokenizer: SpeechTokenizer
    speaker_encoder: SpeakerEncoder
    mel: PromptMelConfig
    generation: Generation
    chunk_tokens: int  # the grid of the flow


def prompt_key(voice: VoiceReference, front_end_key: str) -> str:
    """Names what a prompt's features and flow state are made from: the clip's bytes and the model's front end.

    Not the transcript: it reaches only the language model, so mending it costs no new state.
    """
    digest = hashlib.sha256(f"{_FEATURE_VERSION}\0{front_end_key}\0".encode())
    try:
        require_regular_file(voice.clip)
        with voice.clip.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise UnreadableClip(
            "{file} cannot be opened.",
            remedy="Check the path and that the file may be read.",
            file=voice.clip.name or voice.clip,
        ) from error
    return digest.hexdigest()


def build_prompt(voice: VoiceReference, frontend: Frontend, key: str, *, keep_length: bool = False) -> VoicePrompt:
    """The prompt of a clip. ``keep_length`` takes the clip as it is, trailing silence and all.

    Raises ``UnreadableClip``, ``ClipTooShort``, ``ClipTooLong``, ``SilentClip``, ``BrokenClip``,
    ``LowSampleRate``.
    """
    if voice.clip.suffix == FEATURE_FILE_SUFFIX:
        features = read_features(voice.clip, frontend.generation)
        return replace(features, key=key, name=voice.name, transcript=voice.transcript)
    # Twice the limit: whoever comes with a little too much hears how much it is.
    waveform = read_audio(voice.clip, longest_seconds=2 * LONGEST_SECONDS)
    verdict = check_prompt_clip(waveform)
    if not keep_length:
        waveform = _cut_to_good_length(waveform, frontend)
    features = compute_features(waveform, frontend)
    return replace(features, key=key, name=voice.name, transcript=voice.transcript, warnings=verdict.warnings)


def compute_features(waveform: Waveform, frontend: Frontend) -> VoicePrompt:
    """Tokens, mel and embedding of ``waveform``, tokens and mel trimmed to 1 : 2 (specification C5)."""
    at_16k = waveform.resampled(_TOKENIZER_RATE)
    tokens = frontend.speech_tokenizer.tokenize(whisper_log_mel(at_16k))
    mel = prompt_mel(waveform.resampled(frontend.mel.sample_rate), frontend.mel)
    num_tokens = min(frontend.generation.tokens_of_frames(len(mel)), len(tokens))
    return VoicePrompt(
        key="",
        name="",
        transcript=None,
        clip_seconds=waveform.seconds,
        speech_tokens=tuple(tokens[:num_tokens]),
        mel=np.ascontiguousarray(mel[: frontend.generation.frames_of_tokens(num_tokens)]),
        embedding=frontend.speaker_encoder.embed(kaldi_fbank(at_16k)),
    )


def source_tokens(waveform: Waveform, speech_tokenizer: SpeechTokenizer) -> tuple[int, ...]:
    """The speech tokens of a recording of at most 30 s, for voice conversion."""
    return tuple(speech_tokenizer.tokenize(whisper_log_mel(waveform.resampled(_TOKENIZER_RATE))))


def aligned_prompt_length(num_tokens: int, droppable_tokens: int, chunk_tokens: int) -> int:
    """How many tokens of a prompt to keep, dropping at most ``droppable_tokens`` and as few as possible."""
    for dropped in range(droppable_tokens + 1):
        if -(num_tokens - dropped) % chunk_tokens in _BEST_FIRST_HOPS_TOKENS:
            return num_tokens - dropped
    return num_tokens


def _cut_to_good_length(waveform: Waveform, frontend: Frontend) -> Waveform:
    generation = frontend.generation
    num_tokens = generation.tokens_of_seconds(waveform.seconds)
    droppable = generation.tokens_of_seconds(trailing_silence_seconds(waveform))
    kept = aligned_prompt_length(num_tokens, droppable, frontend.chunk_tokens)
    if kept == num_tokens:
        return waveform
    num_samples = kept * waveform.sample_rate // generation.token_rate
    return Waveform(waveform.samples[:num_samples], waveform.sample_rate)


def read_features(path: Path, generation: Generation) -> VoicePrompt:
    """Prompt features from a file that holds :func:`feature_arrays`. Raises ``UnreadableClip``."""
    try:
        require_regular_file(path)
        arrays = safetensors.numpy.load_file(path)
        tokens, mel, embedding = arrays["speech_tokens"], arrays["mel"], arrays["embedding"]
        num_tokens = len(tokens)
        mel_shape = (generation.frames_of_tokens(num_tokens), 80)
        fits = num_tokens > 0 and mel.shape == mel_shape and embedding.shape == (192,)
        is_sound = fits and bool(np.isfinite(mel).all() and np.isfinite(embedding).all())
        if "clip_seconds" in arrays:
            seconds = float(arrays["clip_seconds"][0])
        else:  # written by an earlier version
            seconds = generation.seconds_of_tokens(num_tokens)
        warnings = tuple(arrays["warnings"].tobytes().decode("utf-8").splitlines()) if "warnings" in arrays else ()
    except (OSError, ValueError, KeyError, IndexError, TypeError, safetensors.SafetensorError) as error:
        raise _unreadable(path) from error
    if not is_sound:
        raise _unreadable(path)
    return VoicePrompt(
        key="",
        name="",
        transcript=None,
        clip_seconds=seconds,
        speech_tokens=tuple(int(token) for token in tokens),
        mel=mel.astype(np.float32),
        embedding=embedding.astype(np.float32),
        warnings=warnings,
    )


def _unreadable(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} holds no voice features that we can read.",
        remedy="Make the voice again from its recording.",
        file=path.name,
    )


def feature_arrays(prompt: VoicePrompt) -> dict[str, np.ndarray]:
    """What :func:`read_features` reads, for a safetensors file."""
    return {
        "speech_tokens": np.asarray(prompt.speech_tokens, dtype=np.int32),
        "mel": prompt.mel,
        "embedding": prompt.embedding,
        "clip_seconds": np.asarray([prompt.clip_seconds], dtype=np.float64),
        "warnings": np.frombuffer("\n".join(prompt.warnings).encode("utf-8"), dtype=np.uint8),
    }
