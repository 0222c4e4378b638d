"""Reference recording: inputs and outputs of every stage for one test line under plain float32.

The voice is a clip of the program. The recording is made with the user's weights on the device of the candidates, once
for each combination of weights, device and trial size. A damaged recording is replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import cast

import numpy as np
import safetensors
import torch
from safetensors.numpy import load_file, save

from studio import paths
from studio.audio.files import read_audio
from studio.engines.candidate import PROOF_VERSION, AnyStage, EngineBackend, EngineTarget
from studio.engines.stage import Stage
from studio.engines.task import TrialSize
from studio.model.config import AnySpeechLMConfig
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import (
    FloatArray,
    FlowDecoder,
    FlowPrompt,
    FlowPromptState,
    SpeakerEncoder,
    SpeechLM,
    SpeechTokenizer,
    SpeechTokenRequest,
    TokenSampler,
    Vocoder,
)
from studio.storage.atomic_file import atomic_write
from studio.text.segmentation import Sentence, prepare_text
from studio.voices.features import kaldi_fbank, prompt_mel, whisper_log_mel

# The clip's transcript, and the line that is synthesized. A change invalidates stored recordings.
_CLIP = "Ada.wav"
_TRANSCRIPT = "The morning train was quiet, and nobody seemed to be in a hurry."
_TEXT = "The harbour was still, and the only sound was that of the water moving against the old boats along the pier."
_TOKENIZER_RATE = 16_000
_MAX_SCORES = 256
FRAMES_PER_CHUNK = 50

Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class ReferenceIO:
    """All arrays of the recording.

    Attributes:
        log_mel: Input of the speech tokenizer, (128, frames).
        fbank: Input of the speaker encoder, (frames, 80).
        clip_mel: Mel of the clip, (frames, 80).
        clip_seconds: Duration of the clip, (1,).
        speech_tokens: Tokens of the line that float32 sampled, (N,).
        scores: Scores of the first n of these tokens, (n, rows).
        mel: Mel of the line from streaming, (80, frames).
        whole_mel: Mel of the line from one call, of the same shape.
        samples: Samples of the line from streaming ``mel``.
    """

    log_mel: FloatArray = field(repr=False)
    fbank: FloatArray = field(repr=False)
    clip_tokens: Integers = field(repr=False)
    embedding: FloatArray = field(repr=False)
    clip_mel: FloatArray = field(repr=False)
    clip_seconds: FloatArray
    text_tokens: Integers = field(repr=False)
    prompt_text_tokens: Integers = field(repr=False)
    speech_tokens: Integers = field(repr=False)
    scores: FloatArray = field(repr=False)
    mel: FloatArray = field(repr=False)
    whole_mel: FloatArray = field(repr=False)
    samples: FloatArray = field(repr=False)

    def speech_request(self) -> SpeechTokenRequest:
        """Return the request that generates exactly as many tokens as were recorded."""
        return SpeechTokenRequest(
            text_tokens=as_tokens(self.text_tokens),
            prompt_text_tokens=as_tokens(self.prompt_text_tokens),
            prompt_speech_tokens=as_tokens(self.clip_tokens),
            min_tokens=len(self.speech_tokens),
            max_tokens=len(self.speech_tokens),
        )

    def flow_prompt(self) -> FlowPrompt:
        return FlowPrompt(as_tokens(self.clip_tokens), self.clip_mel, self.embedding)

    def write(self, path: Path) -> None:
        """Raises ``DiskFull`` and ``CannotWrite``."""
        atomic_write(path, save({part.name: np.ascontiguousarray(getattr(self, part.name)) for part in fields(self)}))


def reference_file_name(target: EngineTarget, trial_size: TrialSize) -> str:
    """Return the file name, which depends on everything a recording depends on."""
    facts = (target.checkpoint.weights_key(target.variant), target.device.identity, trial_size, PROOF_VERSION)
    return f"{hashlib.sha256(repr(facts).encode()).hexdigest()[:24]}.safetensors"


def read_reference(path: Path) -> ReferenceIO | None:
    """Return the recording, or None if it is missing or damaged."""
    try:
        return ReferenceIO(**load_file(path))
    except (OSError, TypeError, ValueError, safetensors.SafetensorError):
        return None


def record_reference(
    target: EngineTarget,
    references: dict[Stage, EngineBackend],
    trial_size: TrialSize,
    report: Callable[[Stage], None] = lambda _stage: None,
) -> ReferenceIO:
    """Run the reference of each stage, after passing the stage to ``report``. Raises load errors."""
    checkpoint = target.checkpoint

    def opened(stage: Stage) -> AnyStage:
        report(stage)
        return references[stage].open(None, target)

    clip = read_audio(paths.resources() / "voices" / _CLIP)
    at_16k = clip.resampled(_TOKENIZER_RATE)
    log_mel, fbank = whisper_log_mel(at_16k), kaldi_fbank(at_16k)
    clip_mel = prompt_mel(clip.resampled(checkpoint.prompt_mel.sample_rate), checkpoint.prompt_mel)
    tokenizer = cast("SpeechTokenizer", opened(Stage.SPEECH_TOKENIZER))
    clip_tokens = tokenizer.tokenize(log_mel)
    num_tokens = min(len(clip_tokens), checkpoint.generation.tokens_of_frames(len(clip_mel)))
    num_frames = checkpoint.generation.frames_of_tokens(num_tokens)
    embedder = cast("SpeakerEncoder", opened(Stage.SPEAKER_ENCODER))
    prompt = FlowPrompt(clip_tokens[:num_tokens], np.ascontiguousarray(clip_mel[:num_frames]), embedder.embed(fbank))

    text = checkpoint.load_text_tokenizer()
    form = checkpoint.generation.text
    sentences = [item for item in prepare_text(_TEXT, form=form, tokenizer=text) if isinstance(item, Sentence)]
    request = SpeechTokenRequest(
        text_tokens=sentences[0].text_tokens,
        prompt_text_tokens=form.zero_shot(_TRANSCRIPT, text),
        prompt_speech_tokens=prompt.speech_tokens,
        min_tokens=trial_size.num_tokens,
        max_tokens=trial_size.num_tokens,
    )
    speech_lm = cast("SpeechLM", opened(Stage.SPEECH_LM))
    tokens, scores = sampled_tokens(speech_lm, request)
    del speech_lm
    flow = cast("FlowDecoder", opened(Stage.FLOW))
    mel = torch.cat(list(streamed_mel(flow, flow.prepare_prompt(prompt), num_tokens, tokens)), dim=1)
    whole_mel = flow.decode_whole(prompt, tokens)
    del flow
    vocoder = cast("Vocoder", opened(Stage.VOCODER))
    samples = torch.cat(list(streamed_samples(vocoder, mel)))
    return ReferenceIO(
        log_mel=log_mel,
        fbank=fbank,
        clip_tokens=np.array(prompt.speech_tokens, np.int64),
        embedding=prompt.embedding,
        clip_mel=prompt.mel,
        clip_seconds=np.array([clip.seconds], np.float32),
        text_tokens=np.array(request.text_tokens, np.int64),
        prompt_text_tokens=np.array(request.prompt_text_tokens, np.int64),
        speech_tokens=np.array(tokens, np.int64),
        scores=scores,
        mel=mel.cpu().numpy(),
        whole_mel=whole_mel.cpu().numpy(),
        samples=samples.cpu().numpy(),
    )


class LogitsRecorder:
    """A sampler that keeps the scores it receives, and samples with ``sampler`` or replays the given tokens."""

    def __init__(self, sampler: TokenSampler | Sequence[int]) -> None:
        self._sampler = sampler
        self._kept: list[torch.Tensor] = []

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        if len(self._kept) < _MAX_SCORES:
            self._kept.append(logits.detach().to("cpu", torch.float32, copy=True))
        if isinstance(self._sampler, Sequence):
            return self._sampler[len(history)]
        return self._sampler(logits, history, forbid=forbid)

    def scores(self) -> FloatArray:
        """Return the scores (tokens, rows) of the first tokens, at most 256."""
        scores: FloatArray = torch.stack(self._kept).numpy()
        return scores


def sampled_tokens(speech_lm: SpeechLM, request: SpeechTokenRequest) -> tuple[tuple[int, ...], FloatArray]:
    """Return the tokens sampled with seed 0 and their scores."""
    recorder = LogitsRecorder(RepetitionAwareSampler(speech_lm.sampling, seed=0))
    tokens = tuple(speech_lm.generate(request, recorder))
    return tokens, recorder.scores()


def streamed_mel(
    flow: FlowDecoder, state: FlowPromptState, num_prompt_tokens: int, tokens: Sequence[int]
) -> Iterator[torch.Tensor]:
    """Yield the mel (80, frames) of each chunk of the grid."""
    stream = flow.open_stream(state)
    try:
        start = 0
        for stop in _stops(num_prompt_tokens, len(tokens), flow):
            lookahead = tokens[stop : stop + flow.lookahead_tokens] if stop < len(tokens) else ()
            yield stream.decode(tokens[start:stop], lookahead)
            start = stop
    finally:
        stream.close()


def streamed_samples(vocoder: Vocoder, mel: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the samples of each chunk of ``mel`` (80, frames), with noise from seed 0."""
    stream = vocoder.open_stream(vocoder.noise(0))
    chunks = torch.split(mel, FRAMES_PER_CHUNK, dim=1)
    for index, chunk in enumerate(chunks):
        yield stream.synthesize(chunk, is_last=index == len(chunks) - 1)


def _stops(num_prompt_tokens: int, num_tokens: int, flow: FlowDecoder) -> Iterator[int]:
    stop = flow.chunk_tokens
    if flow.streams_exactly:
        stop = -num_prompt_tokens % flow.chunk_tokens or flow.chunk_tokens
    while stop + flow.lookahead_tokens <= num_tokens:
        yield stop
        stop += flow.chunk_tokens
    yield num_tokens


def as_tokens(values: Integers) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def random_tokens(config: AnySpeechLMConfig, count: int, seed: int) -> tuple[int, ...]:
    """Return random tokens: an engine whose output stays finite for them stays so for speech."""
    random = np.random.default_rng((seed, count))
    return tuple(random.integers(0, config.layout.num_speech_tokens, count).tolist())
