"""Measures our stages, with the measures of ``official_side``."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import torch

from measurements.gpu.material import Material, official_cuts
from studio.engines.candidate import AnyStage
from studio.engines.stage import Device, Stage
from studio.model.checkpoint import Checkpoint
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import FlowDecoder, FlowPrompt, SpeechLM, SpeechTokenRequest, Vocoder
from studio.model.torch_device import cuda_stream
from studio.pipeline.pacing import ChunkSchedule, CostModel
from studio.pipeline.prompt_cache import PreparedVoice
from studio.pipeline.request import RequestControl, VoicePrompt
from studio.pipeline.token_source import AsyncTokenSource, SyncTokenSource
from studio.pipeline.utterance import DecoderStages, StageClock, Utterance

Answer = dict[str, Any]
_END_OF_INSTRUCTION = "<|endofprompt|>"
_INSTRUCTION = f"You are a helpful assistant.{_END_OF_INSTRUCTION}"


def make_material(checkpoint: Checkpoint) -> Material:
    """Return the material for ``checkpoint``; CosyVoice3 requires the token that ends an instruction."""
    instruction: tuple[int, ...] = ()
    if checkpoint.generation.name == "cosyvoice3":
        instruction = checkpoint.load_text_tokenizer().encode(_INSTRUCTION, allow_special=True)
    return Material(checkpoint.flow.num_speech_tokens, list(instruction))


@dataclass
class OurSide:
    """Measures with the same meaning of ``seconds`` as the official side. Prepared voices are kept."""

    stages: Mapping[Stage, AnyStage]
    checkpoint: Checkpoint
    place: Device
    material: Material

    def __post_init__(self) -> None:
        self._speech_lm = cast("SpeechLM", self.stages[Stage.SPEECH_LM])
        self._flow = cast("FlowDecoder", self.stages[Stage.FLOW])
        self._vocoder = cast("Vocoder", self.stages[Stage.VOCODER])
        self._decoder = DecoderStages(self._flow, self._vocoder, CostModel(self.checkpoint.flow), self.place.torch_name)
        self._batch_decoder = self._decoder.in_batch(threading.Semaphore(self._flow.max_concurrent_lines))
        self._voice: PreparedVoice | None = None
        # A new seed for each line, because an engine may keep the states of earlier lines.
        self._seeds = itertools.count()

    def measured(self, measure: str, arguments: dict[str, int]) -> Answer:
        answer: Answer = getattr(self, measure)(**arguments)
        return answer

    def warm(self) -> Answer:
        for _ in range(2):
            list(self._spoken(25, 30))
        return {"seconds": 0.0}

    def first_audio(self, prompt: int, count: int) -> Answer:
        speech = self._spoken(prompt, count)
        seconds, _ = next(speech)
        speech.close()
        return {"seconds": seconds}

    def stream(self, prompt: int, count: int) -> Answer:
        marks = list(self._spoken(prompt, count))
        audio_seconds = sum(samples for _, samples in marks) / self._vocoder.sample_rate
        return {"seconds": marks[-1][0] / audio_seconds, "audio_seconds": audio_seconds}

    def lines(self, number: int, prompt: int, count: int) -> Answer:
        """Synthesise whole lines concurrently, one per thread. Return seconds per second of audio."""
        voice = self._prepared(prompt)

        def speak(_: int) -> int:
            with cuda_stream(self.place.torch_name):
                return len(self._utterance(voice, count, self._batch_decoder).whole().numpy(force=True))

        started = time.perf_counter()
        with ThreadPoolExecutor(number) as pool:
            samples = list(pool.map(speak, range(number)))
        seconds = time.perf_counter() - started
        return {"seconds": seconds * self._vocoder.sample_rate / sum(samples)}

    def llm_decode(self, prompt: int, count: int) -> Answer:
        voice = self._prepared(prompt)
        marks = [time.perf_counter() for _ in self._tokens(voice, count, next(self._seeds))]
        return {"seconds": (marks[-1] - marks[0]) / (len(marks) - 1)}

    def first_chunk_flow(self, prompt: int) -> Answer:
        voice, stop = self._prepared(prompt), ChunkSchedule(prompt, self._decoder.flow.chunk_tokens).end_tokens
        tokens = self.material.speech_tokens(stop + self._flow.lookahead_tokens)
        self._synchronize()
        started = time.perf_counter()
        stream = self._flow.open_stream(voice.flow_state)
        stream.decode(tokens[:stop], tokens[stop:])
        self._synchronize()
        seconds = time.perf_counter() - started
        stream.close()
        return {"seconds": seconds}

    def stream_flow(self, prompt: int, count: int) -> Answer:
        """Run the flow with the official chunk boundaries."""
        voice, tokens, seconds = self._prepared(prompt), self.material.speech_tokens(count), 0.0
        stream = self._flow.open_stream(voice.flow_state)
        for cut in official_cuts(prompt, count):
            self._synchronize()
            started = time.perf_counter()
            stream.decode(tokens[cut.start : cut.stop], () if cut.is_last else tokens[cut.stop : cut.known])
            self._synchronize()
            seconds += time.perf_counter() - started
        stream.close()
        return {"seconds": seconds}

    def _spoken(self, prompt: int, count: int) -> Generator[tuple[float, int], None, None]:
        """Yield (seconds since the request, number of samples) for each chunk."""
        voice = self._prepared(prompt)
        started = time.perf_counter()
        schedule = ChunkSchedule(prompt, self._decoder.flow.chunk_tokens)
        stream = self._utterance(voice, count, self._decoder).stream(schedule)
        for samples in stream:
            if len(samples):
                samples.numpy(force=True)
                yield time.perf_counter() - started, len(samples)

    def _utterance(self, voice: PreparedVoice, count: int, decoder: DecoderStages) -> Utterance:
        control, seed = RequestControl(), next(self._seeds)
        make_feed = SyncTokenSource if self.place.kind is DeviceKind.CPU else AsyncTokenSource  # like ``Synthesizer``
        feed = make_feed(self._tokens(voice, count, seed), control)
        return Utterance(feed, voice, decoder, self._vocoder.noise(seed), StageClock(), control)

    def _tokens(self, voice: PreparedVoice, count: int, seed: int) -> Iterator[int]:
        """Generate exactly ``count`` tokens."""
        prompt = voice.prompt.speech_tokens
        request = SpeechTokenRequest(
            text_tokens=tuple(self.material.text(count)),
            prompt_text_tokens=tuple(self.material.prompt_text(len(prompt))),
            prompt_speech_tokens=prompt,
            min_tokens=count,
            max_tokens=count,
        )
        return self._speech_lm.generate(request, RepetitionAwareSampler(self._speech_lm.sampling, seed))

    def _prepared(self, num_tokens: int) -> PreparedVoice:
        """Return a prepared voice; only the last is kept, as prompt states are large."""
        if self._voice is None or len(self._voice.prompt.speech_tokens) != num_tokens:
            self._voice = None
            drawn = self.material.voice(num_tokens)
            prompt = VoicePrompt(
                key=f"gpu-check-{num_tokens}",
                name="GPU check",
                transcript=None,
                clip_seconds=num_tokens / 25,
                speech_tokens=tuple(drawn.tokens),
                mel=drawn.mel,
                embedding=drawn.embedding,
            )
            flow_prompt = FlowPrompt(prompt.speech_tokens, prompt.mel, prompt.embedding)
            self._voice = PreparedVoice(prompt, flow_prompt, self._flow.prepare_prompt(flow_prompt))
            self._synchronize()
        return self._voice

    def _synchronize(self) -> None:
        if self.place.kind is DeviceKind.CUDA:
            torch.cuda.synchronize(self.place.torch_name)
