"""The synthesizer: a loaded model, as used by the worker.

A request prepares the text and the voice, opens a feed of speech tokens for each sentence, decodes the feeds into
chunks with a ``SpeechStream``, and returns a report.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from studio.audio.files import read_audio
from studio.audio.time_stretch import FASTEST_SPEED, SLOWEST_SPEED
from studio.errors import UnusableSetting
from studio.model.checkpoint import Checkpoint
from studio.model.speech_lm import RepetitionAwareSampler, filter_silent_tokens
from studio.model.stages import FlowDecoder, SpeechLM, SpeechTokenRequest, Vocoder
from studio.pipeline.control import RequestControl
from studio.pipeline.cuda_streams import cuda_stream, synchronize
from studio.pipeline.enrolment import Frontend, build_prompt, prompt_key, source_tokens
from studio.pipeline.length_limits import LengthLimits, limits_of_sentences
from studio.pipeline.pacing import CostModel
from studio.pipeline.prompt_cache import PromptCache, SpeakingVoice
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    Mode,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.pipeline.schedule import ChunkSchedule
from studio.pipeline.silence import split_at_silence
from studio.pipeline.speech_stream import SentenceTask, SpeechOptions, SpeechStream
from studio.pipeline.token_source import (
    EVERYTHING,
    AsyncTokenSource,
    Attempt,
    CheckedFeed,
    CountedTokens,
    FixedTokens,
    LengthCheck,
    SyncTokenSource,
    TokenSource,
)
from studio.pipeline.utterance import DecoderStages
from studio.text.segmentation import IncrementalText, Pause, Sentence, prepare_text
from studio.text.styles import Styles
from studio.text.tokenizer import TextTokenizer
from studio.voices.clip_check import require_sound
from studio.voices.prompt import VoicePrompt

Chunks = Generator[AudioChunk, None, SynthesisReport]


@dataclass(frozen=True, slots=True)
class Stages:
    """Stages of a loaded model."""

    speech_lm: SpeechLM
    flow: FlowDecoder
    vocoder: Vocoder
    text_tokenizer: TextTokenizer
    frontend: Callable[[], Frontend]  # loads the front end when the first new voice needs it
    styles: Styles


class Synthesizer:
    """A loaded model, created by ``loading.load_synthesizer``.

    Requests with ``in_batch`` run concurrently, all others one at a time.
    """

    def __init__(
        self, checkpoint: Checkpoint, stages: Stages, prompt_cache: PromptCache, description: EngineDescription
    ) -> None:
        synchronize(description.device)  # weights repacked on the GPU are read from other streams
        self._description = description
        self._chosen_lm_engine = stages.speech_lm.engine
        self.checkpoint = checkpoint
        self.stages = stages
        self._prompt_cache = prompt_cache
        self._frontend_key = checkpoint.front_end_key()
        self._decoder = DecoderStages(stages.flow, stages.vocoder, CostModel(checkpoint.flow))
        self._slots = threading.Semaphore(stages.flow.max_concurrent_lines)
        # On a GPU the language model is limited by its host thread, see token_source.
        self._make_feed: Callable[[Iterator[int], RequestControl], TokenSource] = (
            SyncTokenSource if description.device == "cpu" else AsyncTokenSource
        )

    @property
    def description(self) -> EngineDescription:
        """Current description. It changes if the language model falls back to another engine after a failure."""
        lm, opened = self.stages.speech_lm, self._description
        if lm.engine == self._chosen_lm_engine:
            return opened
        return replace(
            opened, stages={**opened.stages, "speech_lm": lm.engine}, max_concurrent_lines=lm.max_concurrent_lines
        )

    def use(
        self,
        *,
        speech_lm: SpeechLM | None = None,
        flow: FlowDecoder | None = None,
        vocoder: Vocoder | None = None,
        words: Mapping[str, str],
        names: Mapping[str, str],
    ) -> None:
        """Use these stages from the next request on. ``words`` describe them, and ``names`` identify their engines.

        Must not be called during a request.
        """
        synchronize(self.description.device)
        self.stages = replace(
            self.stages,
            speech_lm=speech_lm or self.stages.speech_lm,
            flow=flow or self.stages.flow,
            vocoder=vocoder or self.stages.vocoder,
        )
        if flow is not None:
            self._prompt_cache = self._prompt_cache.for_flow(flow)
            self._slots = threading.Semaphore(flow.max_concurrent_lines)
        # The measured costs of the old stages do not apply to the new ones.
        self._decoder = DecoderStages(self.stages.flow, self.stages.vocoder, CostModel(self.checkpoint.flow))
        before = self.description
        self._chosen_lm_engine = self.stages.speech_lm.engine
        self._description = replace(
            before,
            stages={**before.stages, **words},
            engines={**before.engines, **names},
            max_concurrent_lines=self.stages.speech_lm.max_concurrent_lines,
        )

    def prepare_voice(self, voice: VoiceReference, *, control: RequestControl) -> VoiceSummary:
        """Prepare a voice for synthesis, unless it is cached. Raise ``Cancelled`` and ``StudioError``."""
        with self._prompt_cache.writes_afterwards():
            prepared = self._prompt_cache.prepared(self._prompt(voice), progress=partial(_report_voice, control))
        return VoiceSummary(
            name=voice.name,
            clip_seconds=prepared.prompt.clip_seconds,
            prompt_tokens=prepared.prompt.num_tokens,
            first_hop_tokens=ChunkSchedule(prepared.prompt.num_tokens, self.stages.flow.chunk_tokens).end_tokens,
            warnings=prepared.prompt.warnings,
        )

    def stream(
        self,
        request: SynthesisRequest,
        *,
        control: RequestControl,
        pieces: Iterator[str] | None = None,
        in_batch: bool = False,
    ) -> Chunks:
        """Yield audio chunks in playback order. The generator returns the report.

        Raise ``Cancelled`` and ``StudioError``.

        Args:
            pieces: the text, if it arrives in pieces. Each sentence is synthesized as soon as it is complete.
            in_batch: whether the request is one of at most ``EngineDescription.max_concurrent_lines`` concurrent
                requests, each in its own thread.
        """
        started = time.perf_counter()
        form, tokenizer = self.checkpoint.generation.text, self.stages.text_tokenizer
        normalize = not request.text_is_normalized
        items: Iterable[Sentence | Pause] = (
            prepare_text(request.text, form=form, tokenizer=tokenizer, normalize=normalize)
            if pieces is None
            else IncrementalText(form=form, tokenizer=tokenizer, normalize=normalize).items(pieces)
        )
        text_seconds = time.perf_counter() - started
        decoder = self._decoder.in_batch(self._slots) if in_batch else self._decoder
        with cuda_stream(self.description.device), self._prompt_cache.writes_afterwards():
            voice = self._voice(request, decoder, control)
            voice_seconds = time.perf_counter() - started - text_seconds
            check = LengthCheck()
            open_part = self._part_opener(request, voice, check, control)
            options = SpeechOptions(
                request.speed, request.is_streaming, request.first_hop_tokens, request.trims_leading_silence
            )
            speech = self._speech(voice, options, request.seed, control, decoder=decoder, started=started)
            parts = (open_part(index, item) for index, item in enumerate(items))
            yield from speech.stream(list(parts) if pieces is None else parts)
        report = self._report(speech, request.mode, {"text": text_seconds, "voice": voice_seconds})
        return replace(report, odd_lengths=check.findings)

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks:
        """Convert a recording to another voice, from its speech tokens, without text and language model."""
        started = time.perf_counter()
        with cuda_stream(self.description.device), self._prompt_cache.writes_afterwards():
            voice = self._voice(request, self._decoder, control)
            voice_seconds = time.perf_counter() - started
            tokenizer = self.stages.frontend().speech_tokenizer
            recording = read_audio(request.source)
            require_sound(recording)
            pieces = split_at_silence(recording)
            parts = [
                SentenceTask(open_feed=partial(FixedTokens, list(source_tokens(piece, tokenizer)))) for piece in pieces
            ]
            options = SpeechOptions(request.speed, request.is_streaming)
            speech = self._speech(voice, options, request.seed, control, decoder=self._decoder, started=started)
            yield from speech.stream(parts)
        tokens_seconds = time.perf_counter() - started - voice_seconds - speech.clock.flow - speech.clock.vocoder
        return self._report(speech, Mode.CONVERSION, {"voice": voice_seconds, "speech_tokenizer": tokens_seconds})

    def finish_writes(self, control: RequestControl) -> None:
        """Wait until the prompt states of new voices are on disk; see ``PromptCache.finish_writes``."""
        self._prompt_cache.finish_writes(control)

    def close(self) -> None:
        self._prompt_cache.close()

    def _part_opener(
        self, request: SynthesisRequest, voice: SpeakingVoice, check: LengthCheck, control: RequestControl
    ) -> Callable[[int, Sentence | Pause], SentenceTask]:
        prompt_text, has_prompt_speech = self._language_prompt(request)
        prompt_speech = voice.prompt.speech_tokens if has_prompt_speech else ()
        # Lengths are not checked in benchmarks and with random weights.
        is_checked = request.forced_tokens is None and not self.description.makes_noise
        limits_of = limits_of_sentences(request, self.stages.text_tokenizer.respellings, voice.prompt.num_tokens)
        judged_below = self._judged_below(request, voice)

        def open_part(index: int, item: Sentence | Pause) -> SentenceTask:
            if isinstance(item, Pause):
                return SentenceTask(open_feed=None, pause_seconds=item.seconds)
            tokens = SpeechTokenRequest(
                text_tokens=item.text_tokens,
                prompt_text_tokens=prompt_text,
                prompt_speech_tokens=prompt_speech,
                min_tokens=request.forced_tokens,
                max_tokens=request.forced_tokens,
            )
            limits, spoken_text = limits_of(item) if is_checked else None, item.spoken.strip()

            def open_attempt(attempt: int) -> Attempt:
                return self._attempt(tokens, request, sentence_seed(request.seed, index, attempt), limits, control)

            def open_feed() -> TokenSource:
                if limits is None:
                    return open_attempt(0).feed
                return check.add(spoken_text, CheckedFeed(open_attempt, limits, judged_below=judged_below))

            return SentenceTask(open_feed=open_feed, num_text_tokens=len(item.text_tokens), spoken_text=spoken_text)

        return open_part

    def _attempt(
        self,
        tokens: SpeechTokenRequest,
        request: SynthesisRequest,
        seed: int,
        limits: LengthLimits | None,
        control: RequestControl,
    ) -> Attempt:
        sampler = RepetitionAwareSampler(request.sampling or self.stages.speech_lm.sampling, seed)
        generated = self.stages.speech_lm.generate(tokens, sampler)
        counted = CountedTokens(generated, EVERYTHING if limits is None else limits.longest)
        silent = self.checkpoint.generation.silent_tokens
        tokens_for_flow = filter_silent_tokens(counted, silent) if silent else iter(counted)
        return Attempt(self._make_feed(tokens_for_flow, control), counted)

    def _judged_below(self, request: SynthesisRequest, voice: SpeakingVoice) -> int:
        """Return the number of tokens below which a sentence is complete before any of it is decoded."""
        if not (request.is_played and request.is_streaming):
            return EVERYTHING
        first_chunk = ChunkSchedule(
            voice.prompt.num_tokens,
            self.stages.flow.chunk_tokens,
            first_hop_tokens=request.first_hop_tokens,
        )
        return first_chunk.end_tokens + self.stages.flow.lookahead_tokens

    def _language_prompt(self, request: SynthesisRequest) -> tuple[tuple[int, ...], bool]:
        """Return the prompt text tokens, and whether the prompt's speech tokens are used too (specification B6)."""
        form, tokenizer = self.checkpoint.generation.text, self.stages.text_tokenizer
        match request.mode:
            case Mode.INSTRUCT:
                instruction = request.instruct or self.stages.styles.preset(request.preset or "").instruction
                return form.instruct(instruction, tokenizer), False
            case Mode.ZERO_SHOT:
                return form.zero_shot(request.voice.transcript or "", tokenizer), True
            case _:
                return form.cross_lingual(tokenizer), False

    def _voice(
        self, request: SynthesisRequest | ConversionRequest, decoder: DecoderStages, control: RequestControl
    ) -> SpeakingVoice:
        """Return the voice of ``request``, with its flow state if it is needed at once."""
        prompt, progress = self._prompt(request.voice), partial(_report_voice, control)
        if request.is_streaming and decoder.slots is None:
            return self._prompt_cache.prepared(prompt, progress=progress)
        return self._prompt_cache.on_demand(prompt, progress=progress)

    def _prompt(self, voice: VoiceReference) -> VoicePrompt:
        key = prompt_key(voice, self._frontend_key)
        prompt = self._prompt_cache.features(key, lambda: build_prompt(voice, self.stages.frontend(), key))
        return replace(prompt, name=voice.name, transcript=voice.transcript)

    def _speech(
        self,
        voice: SpeakingVoice,
        options: SpeechOptions,
        seed: int,
        control: RequestControl,
        *,
        decoder: DecoderStages,
        started: float,
    ) -> SpeechStream:
        if not SLOWEST_SPEED <= options.speed <= FASTEST_SPEED:
            raise UnusableSetting(
                "A speed of {speed:g} is not possible.",
                remedy="Choose one from {lowest:g} to {highest:g}; 1 is the voice's own.",
                speed=options.speed,
                lowest=SLOWEST_SPEED,
                highest=FASTEST_SPEED,
            )
        return SpeechStream(
            voice=voice,
            decoder=decoder,
            options=options,
            control=control,
            make_noise=lambda index: self.stages.vocoder.noise(sentence_seed(seed, index)),
            started=started,
        )

    def _report(self, speech: SpeechStream, mode: Mode, stages: dict[str, float]) -> SynthesisReport:
        return SynthesisReport(
            first_audio_seconds=speech.first_sound_seconds,
            audio_seconds=speech.audio_seconds,
            total_seconds=time.perf_counter() - speech.started,
            sample_rate=self._decoder.vocoder.sample_rate,
            mode=mode,
            num_speech_tokens=speech.num_speech_tokens,
            stages={
                **stages,
                "speech_lm": speech.speech_lm_seconds,
                "flow": speech.clock.flow,
                "vocoder": speech.clock.vocoder,
            },
            engine=dict(self.description.stages),
            spoken_text=tuple(speech.spoken_text),
            warnings=speech.voice.prompt.warnings,
        )


def _report_voice(control: RequestControl, done: float) -> None:
    control.raise_if_cancelled()
    control.report_progress("voice", done)


def sentence_seed(seed: int, index: int, attempt: int = 0) -> int:
    """Return a seed for each sentence and attempt, so that equal sentences of a request differ.

    All seeds are distinct for up to half a million sentences.
    """
    return (seed * 1_000_003 + index + attempt * 500_000) % (1 << 63)
