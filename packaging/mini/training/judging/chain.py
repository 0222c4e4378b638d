"""The evaluated model, run as in the app: by the program's synthesizer, with streaming."""

from __future__ import annotations

import wave
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from studio.errors import NoSpeechMade
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import FlowPrompt, SpeechTokenRequest
from studio.pipeline.control import RequestControl
from studio.pipeline.enrolment import build_prompt
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions, SynthesisReport, SynthesisRequest, VoiceReference
from studio.pipeline.sentences import sentence_seed
from studio.pipeline.synthesizer import Synthesizer
from studio.text.segmentation import Sentence, prepare_text
from training.corpus.utterance import SAMPLE_RATE, FloatArray, IntArray
from training.judging.originals import Clip


@dataclass(frozen=True, slots=True)
class Wanted:
    """A sentence to synthesize. ``preset`` is the id of a style; ``is_zero_shot`` selects the mode."""

    text: str
    clip: Clip
    preset: str | None = None
    is_zero_shot: bool = True
    seed: int = 0
    first_hop_tokens: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    samples: FloatArray = field(repr=False)
    first_audio_seconds: float
    real_time_factor: float

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


class Chain(Protocol):
    """Interface of a model for the measures."""

    def say(self, wanted: Wanted) -> Said: ...

    def first_hop_tokens(self, clip: Clip) -> int: ...

    def tokens(self, text: str, preset: str | None, seed: int = 0) -> IntArray:
        """Return the tokens of the language model, without prompt speech."""
        ...

    def tokens_heard(self, clip: Clip) -> IntArray:
        """Return the tokens of the clip from the speech tokenizer of the model."""
        ...

    def decode(self, tokens: IntArray, clip: Clip) -> FloatArray:
        """Return the audio of given tokens in the voice of the clip, from flow and vocoder."""
        ...

    def copy(self, mel: FloatArray, *, frames_per_piece: int | None = None) -> FloatArray:
        """Return the audio of a mel (frames, 80) from the vocoder, whole or streamed."""
        ...

    def mel(self, tokens: IntArray, clip: Clip, *, tokens_per_piece: int | None = None) -> FloatArray:
        """Return the mel (2 x tokens, 80) of given tokens in the voice of the clip, whole or in pieces."""
        ...


class Program:
    """A model folder, opened by ``studio.pipeline``. All results are stored in the folder ``sounds``, for listening."""

    def __init__(self, folder: Path, *, sounds: Path | None = None, num_threads: int | None = None) -> None:
        """Raise ``StudioError`` for a folder without a model."""
        self.synthesizer: Synthesizer = load_synthesizer(folder, EngineOptions(num_threads=num_threads))
        self._sounds = sounds
        self._said: dict[tuple[object, ...], Said] = {}

    def say(self, wanted: Wanted) -> Said:
        """Synthesize each request once. If the model generates no speech, return a short silence."""
        key = (
            wanted.text,
            wanted.clip.speaker,
            wanted.preset,
            wanted.is_zero_shot,
            wanted.seed,
            wanted.first_hop_tokens,
        )
        if key not in self._said:
            self._said[key] = self._speak(wanted)
            self._keep(wanted, self._said[key])
        return self._said[key]

    def first_hop_tokens(self, clip: Clip) -> int:
        return self.synthesizer.prepare_voice(
            _voice(clip, is_zero_shot=True), control=RequestControl()
        ).first_hop_tokens

    def tokens(self, text: str, preset: str | None, seed: int = 0) -> IntArray:
        stages, form = self.synthesizer.stages, self.synthesizer.checkpoint.generation.text
        tokenizer = stages.text_tokenizer
        prompt = (
            form.instruct(stages.styles.preset(preset).instruction, tokenizer)
            if preset
            else form.cross_lingual(tokenizer)
        )
        spoken: list[int] = []
        for index, item in enumerate(prepare_text(text, form=form, tokenizer=tokenizer)):
            if isinstance(item, Sentence):
                request = SpeechTokenRequest(text_tokens=item.text_tokens, prompt_text_tokens=prompt)
                sampler = RepetitionAwareSampler(stages.speech_lm.sampling, sentence_seed(seed, index))
                spoken += stages.speech_lm.generate(request, sampler)
        return np.array(spoken, np.int32)

    def tokens_heard(self, clip: Clip) -> IntArray:
        return np.array(self.flow_prompt(clip).speech_tokens, np.int32)

    def flow_prompt(self, clip: Clip) -> FlowPrompt:
        prompt = build_prompt(_voice(clip, is_zero_shot=True), self.synthesizer.stages.frontend(), "", keep_length=True)
        return FlowPrompt(prompt.speech_tokens, prompt.mel, prompt.embedding)

    def decode(self, tokens: IntArray, clip: Clip) -> FloatArray:
        return self.copy(self.mel(tokens, clip))

    def mel(self, tokens: IntArray, clip: Clip, *, tokens_per_piece: int | None = None) -> FloatArray:
        flow = self.synthesizer.stages.flow
        prompt, spoken = self.flow_prompt(clip), tokens.tolist()
        # Pieces end on the grid from the start of the prompt, and have look-ahead. The last one may be shorter.
        first = flow.chunk_tokens - len(prompt.speech_tokens) % flow.chunk_tokens
        last = len(spoken) - flow.lookahead_tokens
        inner = range(first, last + 1, tokens_per_piece) if tokens_per_piece else ()
        stream = flow.open_stream(flow.prepare_prompt(prompt))
        pieces = [
            stream.decode(spoken[start:stop], spoken[stop : stop + flow.lookahead_tokens])
            for start, stop in pairwise((0, *inner, len(spoken)))
        ]
        stream.close()
        mel: FloatArray = torch.cat(pieces, dim=1).t().numpy(force=True)
        return mel

    def copy(self, mel: FloatArray, *, frames_per_piece: int | None = None) -> FloatArray:
        vocoder = self.synthesizer.stages.vocoder
        frames, noise = torch.from_numpy(np.ascontiguousarray(mel.T)), vocoder.noise(0)
        if frames_per_piece is None:
            whole: FloatArray = vocoder.synthesize_whole(frames, noise).numpy(force=True)
            return whole
        stream, starts = vocoder.open_stream(noise), range(0, frames.shape[1], frames_per_piece)
        pieces = [
            stream.synthesize(frames[:, start : start + frames_per_piece], is_last=start == starts[-1])
            for start in starts
        ]
        samples: FloatArray = torch.cat(pieces).numpy(force=True)
        return samples

    def _speak(self, wanted: Wanted) -> Said:
        request = SynthesisRequest(
            text=wanted.text,
            voice=_voice(wanted.clip, is_zero_shot=wanted.is_zero_shot),
            preset=wanted.preset,
            seed=wanted.seed,
            first_hop_tokens=wanted.first_hop_tokens,
        )
        chunks = self.synthesizer.stream(request, control=RequestControl())
        samples: list[FloatArray] = []
        try:
            while True:
                samples.append(next(chunks).samples)
        except StopIteration as end:
            report: SynthesisReport = end.value
        except NoSpeechMade:
            return Said(np.zeros(SAMPLE_RATE // 10, np.float32), float("inf"), float("inf"))
        return Said(np.concatenate(samples), report.first_audio_seconds, report.real_time_factor)

    def _keep(self, wanted: Wanted, said: Said) -> None:
        if self._sounds is None:
            return
        self._sounds.mkdir(parents=True, exist_ok=True)
        words = "-".join(wanted.text.lower().split()[:5]).strip(".,?")
        manner = (wanted.preset or ("" if wanted.is_zero_shot else "plain")).replace(".", "-")
        path = self._sounds / f"{'_'.join(part for part in (wanted.clip.speaker, manner, words) if part)}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(SAMPLE_RATE)
            file.writeframes(np.round(32_767.0 * np.clip(said.samples, -1, 1)).astype(np.int16).tobytes())


def _voice(clip: Clip, *, is_zero_shot: bool) -> VoiceReference:
    return VoiceReference(clip.path, transcript=clip.transcript if is_zero_shot else None, name=clip.speaker)
