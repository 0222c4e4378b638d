"""Voice enrolment: checks a clip, aligns its length, and computes prompt features.

The first hop after a prompt of P tokens is ``-P mod 25`` tokens, so removing a little *trailing silence* can
reduce the time to first audio by up to half a second. Speech is never cut, and silence is never added, because
the language model would continue it.

The flow's prompt may begin up to 0.56 s after the clip, at a quiet place. After some lengths, among them exactly three
seconds, the flow would otherwise compute two blocks for the first chunk instead of one; and a first chunk that is too
short ends before the second one is ready, so playback would have to wait. The language model still receives all of the
prompt, so neither the transcript nor the generated tokens change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import UnreadableClip, VoiceOfAnotherModel
from studio.model.config import PromptMelConfig
from studio.model.generations import GENERATIONS, Generation
from studio.model.stages import SpeakerEncoder, SpeechTokenizer
from studio.pipeline.pacing import first_chunk_blocks, first_hops
from studio.pipeline.request import VoicePrompt, VoiceReference
from studio.storage.disk import require_regular_file
from studio.voices.clip_check import MAX_SECONDS, check_prompt_clip, trailing_silence_seconds
from studio.voices.features import kaldi_fbank, prompt_mel, whisper_log_mel

_TOKENIZER_RATE = 16_000
# A first chunk of 0.3 to 0.5 s is ready soon, and on a GPU it is long enough to play while the next one is computed.
GPU_FIRST_HOPS_TOKENS = range(8, 13)
# Two cores compute the second chunk of the bundled model in 0.3 to 0.5 s, and up to 0.3 s of leading silence is not played.
CPU_FIRST_HOPS_TOKENS = range(14, 19)
_LATEST_FLOW_START_TOKENS = 14
_MIN_FLOW_TOKENS = 40  # shorter prompts keep their start, because they contain little of the voice
# Mel spectrograms are logarithms from -12 to 6, embeddings reach 10.
_MAX_FEATURE = 1_000.0
# Increase when the features of a clip change.
FEATURE_VERSION = 3

FEATURE_FILE_SUFFIX = ".safetensors"


@dataclass(frozen=True, slots=True)
class Frontend:
    """Networks and settings that compute prompt features."""

    speech_tokenizer: SpeechTokenizer
    speaker_encoder: SpeakerEncoder
    mel: PromptMelConfig
    generation: Generation
    chunk_tokens: int  # spacing of the flow's chunk grid
    lookahead_tokens: int  # of the flow
    first_hops_tokens: range = GPU_FIRST_HOPS_TOKENS  # with which gapless playback starts earliest


def build_prompt(voice: VoiceReference, frontend: Frontend, key: str, *, keep_length: bool = False) -> VoicePrompt:
    """Compute the prompt of a clip. If ``keep_length`` is True, keep all trailing silence and all of the flow's prompt.

    Raise ``UnreadableClip``, ``ClipTooShort``, ``ClipTooLong``, ``SilentClip``, ``BrokenClip``,
    ``LowSampleRate``.
    """
    if voice.clip.suffix == FEATURE_FILE_SUFFIX:
        _require_own_features(voice, frontend.generation)
        features = read_features(voice.clip, frontend.generation)
        if not features.num_tokens and not frontend.generation.speaks_without_clip:
            features = replace(features, warnings=(*features.warnings, _without_clip(frontend.generation)))
        flow_start = 0 if keep_length else flow_start_tokens(features, frontend)
        return replace(features, key=key, name=voice.name, transcript=voice.transcript, flow_start_tokens=flow_start)
    # Up to twice the limit is read, so that the error for a clip that is a little too long contains its length.
    waveform = read_audio(voice.clip, longest_seconds=2 * MAX_SECONDS)
    verdict = check_prompt_clip(waveform)
    if not keep_length and frontend.generation.trims_prompts:
        waveform = _align_length(waveform, frontend)
    features = compute_features(waveform, frontend)
    flow_start = 0 if keep_length else flow_start_tokens(features, frontend)
    return replace(
        features,
        key=key,
        name=voice.name,
        transcript=voice.transcript,
        warnings=verdict.warnings,
        flow_start_tokens=flow_start,
    )


def compute_features(waveform: Waveform, frontend: Frontend) -> VoicePrompt:
    """Compute tokens, mel and embedding of ``waveform``, with matching lengths if the model needs them (specification C5)."""
    at_16k = waveform.resampled(_TOKENIZER_RATE)
    tokens = frontend.speech_tokenizer.tokenize(whisper_log_mel(at_16k))
    mel = prompt_mel(waveform.resampled(frontend.mel.sample_rate), frontend.mel)
    if frontend.generation.trims_prompts:
        num_tokens = min(frontend.generation.tokens_of_frames(len(mel)), len(tokens))
        tokens, mel = tokens[:num_tokens], mel[: frontend.generation.frames_of_tokens(num_tokens)]
    return VoicePrompt(
        key="",
        name="",
        transcript=None,
        clip_seconds=waveform.seconds,
        speech_tokens=tuple(tokens),
        mel=np.ascontiguousarray(mel),
        embedding=frontend.speaker_encoder.embed(kaldi_fbank(at_16k)),
    )


def source_tokens(waveform: Waveform, speech_tokenizer: SpeechTokenizer) -> tuple[int, ...]:
    """Return the speech tokens of a recording of at most 30 s, for voice conversion."""
    return tuple(speech_tokenizer.tokenize(whisper_log_mel(waveform.resampled(_TOKENIZER_RATE))))


def aligned_prompt_length(num_tokens: int, droppable_tokens: int, chunk_tokens: int) -> int:
    """Return the prompt length with the best first hop.

    As few tokens as possible are dropped, and at most ``droppable_tokens``. It does not depend on the device, so that the
    language model generates the same tokens for a seed.
    """
    for dropped in range(droppable_tokens + 1):
        if -(num_tokens - dropped) % chunk_tokens in GPU_FIRST_HOPS_TOKENS:
            return num_tokens - dropped
    return num_tokens


def flow_start_tokens(prompt: VoicePrompt, frontend: Frontend) -> int:
    """Return where the flow's prompt begins, so that gapless playback starts as early as possible.

    Of the starts after which the first chunk takes one block, the result is the one whose first hop is in or nearest to
    ``first_hops_tokens``; if there are several, the quietest one. It is 0 if that is equally good.
    """
    if not frontend.generation.trims_prompts:  # without a chunk grid
        return 0
    best = frontend.first_hops_tokens
    loudness = prompt.mel.mean(axis=1)
    frames_per_token = frontend.generation.frames_of_tokens(1)

    def distance(start: int) -> int:
        hop, _ = first_hops(prompt.num_tokens - start, frontend.chunk_tokens)
        return max(best[0] - hop, hop - best[-1], 0)

    def loudness_around(start: int) -> float:
        frame = frames_per_token * start
        return float(loudness[frame - 1 : frame + 1].mean()) if start else -math.inf

    starts = [
        start
        for start in range(_LATEST_FLOW_START_TOKENS + 1)
        if (start == 0 or prompt.num_tokens - start >= _MIN_FLOW_TOKENS)
        and first_chunk_blocks(prompt.num_tokens - start, frontend.chunk_tokens, frontend.lookahead_tokens) == 1
    ]
    return min(starts, key=lambda start: (distance(start), loudness_around(start)), default=0)


def _align_length(waveform: Waveform, frontend: Frontend) -> Waveform:
    generation = frontend.generation
    num_tokens = generation.tokens_of_seconds(waveform.seconds)
    droppable = generation.tokens_of_seconds(trailing_silence_seconds(waveform))
    kept = aligned_prompt_length(num_tokens, droppable, frontend.chunk_tokens)
    if kept == num_tokens:
        return waveform
    num_samples = kept * waveform.sample_rate // generation.token_rate
    return Waveform(waveform.samples[:num_samples], waveform.sample_rate)


def read_features(path: Path, generation: Generation) -> VoicePrompt:
    """Read a file of :func:`feature_arrays`, which may contain only an embedding. Raise ``UnreadableClip``."""
    try:
        require_regular_file(path)
        arrays = safetensors.numpy.load_file(path)
        tokens, mel, embedding = arrays["speech_tokens"], arrays["mel"], arrays["embedding"]
        num_tokens = len(tokens)
        flow_start = int(arrays["flow_start_tokens"][0]) if "flow_start_tokens" in arrays else 0
        has_frames = (
            len(mel) == generation.frames_of_tokens(num_tokens)
            if generation.trims_prompts
            else (len(mel) > 0) == (num_tokens > 0)
        )
        fits = mel.ndim == 2 and mel.shape[1] == 80 and has_frames and embedding.shape == (192,)
        fits = fits and 0 <= flow_start <= min(num_tokens, _LATEST_FLOW_START_TOKENS)
        if "clip_seconds" in arrays:
            seconds = float(arrays["clip_seconds"][0])
        else:  # written by an earlier version
            seconds = generation.seconds_of_tokens(num_tokens)
        is_valid = (
            fits
            and tokens.ndim == 1
            and tokens.dtype.kind in "iu"
            and bool((tokens == tokens.astype(np.int32)).all())  # as they are stored
            and num_tokens <= generation.tokens_of_seconds(MAX_SECONDS)
            and 0 <= seconds <= 2 * MAX_SECONDS
            and _is_in_range(mel)
            and _is_in_range(embedding)
        )
        warnings = tuple(arrays["warnings"].tobytes().decode("utf-8").splitlines()) if "warnings" in arrays else ()
    except (OSError, ValueError, KeyError, IndexError, TypeError, safetensors.SafetensorError) as error:
        raise _unreadable(path) from error
    if not is_valid:
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
        flow_start_tokens=flow_start,
    )


def _is_in_range(features: np.ndarray) -> bool:
    """Return whether all numbers are ones that a front end can compute, and not NaN."""
    return features.dtype.kind == "f" and bool((np.abs(features) <= _MAX_FEATURE).all())


def _require_own_features(voice: VoiceReference, generation: Generation) -> None:
    """Raise ``VoiceOfAnotherModel`` for features that the front end of another generation computed."""
    try:
        require_regular_file(voice.clip)
        with safetensors.safe_open(voice.clip, framework="np") as file:
            own = (file.metadata() or {}).get("generation", generation.name)
    except (OSError, safetensors.SafetensorError) as error:
        raise _unreadable(voice.clip) from error
    if own != generation.name:
        titles = {known.name: known.title for known in GENERATIONS}
        raise VoiceOfAnotherModel(
            "{name} has no recording and works only with {own} models; the loaded model is a {generation} model.",
            remedy="Choose another voice, or load a {own} model.",
            name=voice.name or voice.clip.name,
            own=titles.get(own, own),
            generation=generation.title,
        )


def _without_clip(generation: Generation) -> str:
    return (
        f"{generation.title} was not trained with voices that have no recording: the voice may change from sentence to "
        "sentence. Prefer a voice with a recording."
    )


def _unreadable(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} contains no readable voice features.",
        remedy="Create the voice again from its recording.",
        file=path.name,
    )


def feature_arrays(prompt: VoicePrompt) -> dict[str, np.ndarray]:
    """Return the features as arrays for a safetensors file, as read by :func:`read_features`."""
    return {
        "speech_tokens": np.asarray(prompt.speech_tokens, dtype=np.int32),
        "mel": prompt.mel,
        "embedding": prompt.embedding,
        "clip_seconds": np.asarray([prompt.clip_seconds], dtype=np.float64),
        "flow_start_tokens": np.asarray([prompt.flow_start_tokens], dtype=np.int32),
        "warnings": np.frombuffer("\n".join(prompt.warnings).encode("utf-8"), dtype=np.uint8),
    }
