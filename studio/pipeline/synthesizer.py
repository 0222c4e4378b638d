"""The synthesizer: a loaded model, as used by the worker.

A request prepares the text and the voice, opens a feed of speech tokens for each sentence, decodes the feeds into
chunks with a ``SpeechStream``, and returns a report.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from studio import paths
from studio.audio.files import read_audio
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.errors import UnreadableClip, UnusableSetting
from studio.model.checkpoint import Checkpoint
from studio.model.measurements import Records
from studio.model.options import Quality
from studio.model.stages import FlowDecoder, FlowPrompt, SpeechLM, Vocoder
from studio.model.torch_device import cuda_stream, synchronize, used_memory_bytes
from studio.pipeline.comparison import MeasuredSpeech
from studio.pipeline.decodings import Decoding, Decodings
from studio.pipeline.enrolment import build_prompt, source_tokens
from studio.pipeline.evidence import EvidenceReader, UtteredSentence
from studio.pipeline.pacing import ChunkSchedule, CostModel
from studio.pipeline.prompt_cache import PromptCache, VoiceState, prompt_key
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    FlowQuality,
    Mode,
    RequestControl,
    SentenceEvidence,
    SynthesisReport,
    SynthesisRequest,
    VoicePrompt,
    VoiceReference,
    VoiceSummary,
)
from studio.pipeline.sentences import SentenceOpener, sentence_seed
from studio.pipeline.silence import split_at_silence
from studio.pipeline.speech_stream import SentenceTask, SpeechOptions, SpeechStream
from studio.pipeline.stages import Stages
from studio.pipeline.token_source import (
    AsyncTokenSource,
    FixedTokens,
    SyncTokenSource,
    TokenSource,
)
from studio.pipeline.utterance import DecoderStages
from studio.pipeline.warm_up import warm_ups
from studio.text.arriving import ArrivingText
from studio.text.segmentation import ArrivingSentence, Pause, Sentence, prepare_text, prepare_undivided
from studio.voices.clip_check import MAX_SECONDS, require_sound

# The bundled voices with which the qualities of the flow are measured. One voice is up to a fifth from their mean.
_MEASURED_CLIPS = ("Ada.wav", "Miles.wav", "Linda.wav")
Chunks = Generator[AudioChunk, None, SynthesisReport]


class Synthesizer:
    """A loaded model, created by ``loading.load_synthesizer``.

    Requests with ``in_batch`` run concurrently, all others one at a time.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        stages: Stages,
        prompt_cache: PromptCache,
        description: EngineDescription,
        *,
        streams_approximately: bool = False,
    ) -> None:
        synchronize(description.device)  # weights repacked on the GPU are read from other streams
        self._description = description
        self._chosen_lm_engine = stages.speech_lm.engine
        self._streams_approximately = streams_approximately
        self.checkpoint = checkpoint
        self.stages = stages
        self._frontend_key = checkpoint.front_end_key()
        self._decodings = self._new_decodings(prompt_cache)
        self._slots = threading.Semaphore(stages.flow.max_concurrent_lines)
        self._is_cold = True
        # On a GPU the language model is limited by its host thread, see token_source.
        self._make_source: Callable[[Iterator[int], RequestControl], TokenSource] = (
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
        self._is_cold = True
        cache = self._prompt_cache
        if flow is not None:
            cache = cache.for_flow(flow)
            self._slots = threading.Semaphore(flow.max_concurrent_lines)
        # The measured costs of the old stages do not apply to the new ones.
        self._decodings = self._new_decodings(cache)
        before = self.description
        self._chosen_lm_engine = self.stages.speech_lm.engine
        self._description = replace(
            before,
            stages={**before.stages, **words},
            engines={**before.engines, **names},
            comparisons={stage: found for stage, found in before.comparisons.items() if stage not in names},
            max_concurrent_lines=self.stages.speech_lm.max_concurrent_lines,
            is_provisional=False,
        )

    def warm_ups(self, *, uses_speech_lm: bool) -> Iterator[Callable[[], None]]:
        """Yield tasks that prepare the stages for the first line, once. See ``warm_up``."""
        if not self._is_cold:
            return
        self._is_cold = False
        speech_lm = self.stages.speech_lm if uses_speech_lm else None
        for task in warm_ups(speech_lm, self.stages.flow, self.stages.vocoder):
            yield partial(self._on_stream, task)

    def _on_stream(self, task: Callable[[], None]) -> None:
        with cuda_stream(self.description.device):
            task()

    def _new_decodings(self, prompt_cache: PromptCache) -> Decodings:
        def cost_model() -> CostModel:
            return CostModel(self.checkpoint.flow, self.stages.generation.token_rate)

        stages = DecoderStages(self.stages.flow, self.stages.vocoder, cost_model(), self._description.device)
        records = Records(model_folder=self.checkpoint.folder)
        return Decodings(Decoding(stages, prompt_cache), cost_model, self.stages.generation.frame_rate, records)

    @property
    def _prompt_cache(self) -> PromptCache:
        return self._decodings.exact.prompt_cache

    def prepare_voice(self, voice: VoiceReference, *, control: RequestControl) -> VoiceSummary:
        """Prepare a voice for synthesis, unless it is cached. Raise ``Cancelled`` and ``StudioError``."""
        with self._prompt_cache.writes_afterwards():
            prepared = self._prompt_cache.prepared(self._prompt(voice), progress=partial(_report_voice, control))
        return VoiceSummary(
            name=voice.name,
            clip_seconds=prepared.prompt.clip_seconds,
            prompt_tokens=prepared.prompt.num_tokens,
            first_hop_tokens=ChunkSchedule.of(self.stages.flow, prepared.prompt.num_flow_tokens).end_tokens,
            warnings=prepared.prompt.warnings,
            state_bytes=prepared.flow_state.num_bytes,
        )

    def stream(
        self,
        request: SynthesisRequest,
        *,
        control: RequestControl,
        in_batch: bool = False,
        text: ArrivingText | None = None,
    ) -> Chunks:
        """Yield audio chunks in playback order. The generator returns the report.

        ``text`` is the sentence to speak, if it is still being written; the text of ``request`` is empty then.

        ``in_batch`` says whether the request is one of at most ``EngineDescription.max_concurrent_lines`` concurrent
        requests, each in its own thread. Raise ``Cancelled`` and ``StudioError``.
        """
        started = time.perf_counter()
        known = tuple(each for each in request.known_tokens if self._are_speech_tokens(each.speech_tokens))
        request = replace(request, is_streaming=self._is_streamed(request), known_tokens=known)
        items: Sequence[Sentence | Pause | ArrivingSentence]
        items = self._items(request) if text is None else [ArrivingSentence(text, **self._text_options(request))]
        text_seconds = time.perf_counter() - started
        with cuda_stream(self.description.device), self._prompt_cache.writes_afterwards():
            prompt = self._prompt(request.voice)
            waits = in_batch or not (request.is_played and request.is_streaming)
            decoding = self._decoding(request.quality, control, may_measure=waits)
            decoder = decoding.stages.in_batch(self._slots) if in_batch else decoding.stages
            voice = self._voice(request, prompt, decoding.prompt_cache, control, is_one_of_many=in_batch)
            voice_seconds = time.perf_counter() - started - text_seconds
            sentences = SentenceOpener(
                self.stages, request, voice, self._make_source, control, makes_noise=self.description.makes_noise
            )
            options = SpeechOptions(
                request.speed,
                request.is_streaming,
                request.first_hop_tokens,
                request.trims_leading_silence,
                request.first_index + request.num_skipped,
            )
            speech = self._speech(voice, options, request.seed, control, decoder=decoder, started=started)
            speech_lm = self.stages.speech_lm
            parts = [sentences.open(index, item) for index, item in enumerate(items, request.first_index)]
            yield from speech.stream(parts[request.num_skipped :])
            report = self._report(
                speech,
                sentences.mode,
                {"text": text_seconds, "voice": voice_seconds},
                decoding.quality,
            )
            spoken = speech.spoken_sentences
            evidence = self._evidence(request, spoken, speech_lm) if request.forced_tokens is None else ()
        return replace(report, odd_lengths=sentences.odd_lengths, evidence=evidence, num_items=speech.num_items)

    def read_recording(self, request: SynthesisRequest, source: Path, *, control: RequestControl) -> SynthesisReport:
        """Return the speech tokens of a recording and their alignment with the text of ``request``, as evidence.

        Raise ``Cancelled``, ``ClipTooLong`` and other ``StudioError``.
        """
        started = time.perf_counter()
        recording = read_audio(source, longest_seconds=MAX_SECONDS)
        require_sound(recording)
        request = replace(request, is_divided=False)
        sentence = prepare_undivided(request.text, **self._text_options(request))
        with cuda_stream(self.description.device), self._prompt_cache.writes_afterwards():
            voice = self._voice(request, self._prompt(request.voice), self._prompt_cache, control, is_one_of_many=True)
            tokens = source_tokens(recording, self.stages.frontend().speech_tokenizer)
            control.raise_if_cancelled()
            opener = SentenceOpener(
                self.stages, request, voice, self._make_source, control, makes_noise=self.description.makes_noise
            )
            seconds = len(tokens) / self.stages.generation.token_rate
            read = UtteredSentence(opener.known_generation(sentence, tokens), 0.0, seconds)
            evidence = self._evidence(request, [read], self.stages.speech_lm)
        passed = time.perf_counter() - started
        return SynthesisReport(
            first_audio_seconds=passed,
            audio_seconds=seconds,
            total_seconds=passed,
            sample_rate=self.stages.vocoder.sample_rate,
            mode=Mode.RECORDING,
            num_speech_tokens=len(tokens),
            stages={},
            engine=dict(self.description.stages),
            spoken_text=(sentence.spoken.strip(),),
            evidence=evidence,
        )

    def _items(self, request: SynthesisRequest) -> Sequence[Sentence | Pause]:
        options = self._text_options(request)
        if not request.is_divided:
            return [prepare_undivided(request.text, **options)]
        return prepare_text(request.text, is_continued=request.first_index > 0, **options)

    def _text_options(self, request: SynthesisRequest) -> dict[str, Any]:
        """Return the arguments of ``prepare_text`` and its relatives that belong to the model and the request."""
        return {
            "form": self.stages.generation.text,
            "tokenizer": self.stages.text_tokenizer,
            "normalize": not request.text_is_normalized,
            "language": request.language,
        }

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks:
        """Convert a recording to another voice, from its speech tokens, without text and language model."""
        started = time.perf_counter()
        request = replace(request, is_streaming=self._is_streamed(request))
        with cuda_stream(self.description.device), self._prompt_cache.writes_afterwards():
            prompt = self._prompt(request.voice)
            decoding = self._decoding(request.quality, control)
            voice = self._voice(request, prompt, decoding.prompt_cache, control)
            voice_seconds = time.perf_counter() - started
            tokenizer = self.stages.frontend().speech_tokenizer
            recording = read_audio(request.source)
            require_sound(recording)
            pieces = split_at_silence(recording)
            parts = [
                SentenceTask(open_feed=partial(FixedTokens, list(source_tokens(piece, tokenizer)))) for piece in pieces
            ]
            options = SpeechOptions(request.speed, request.is_streaming)
            speech = self._speech(voice, options, request.seed, control, decoder=decoding.stages, started=started)
            yield from speech.stream(parts)
        tokens_seconds = time.perf_counter() - started - voice_seconds - speech.clock.flow - speech.clock.vocoder
        stages = {"voice": voice_seconds, "speech_tokenizer": tokens_seconds}
        return self._report(speech, Mode.CONVERSION, stages, decoding.quality)

    def finish_writes(self, control: RequestControl) -> None:
        """Wait until the prompt states of new voices are on disk; see ``PromptCache.finish_writes``."""
        self._prompt_cache.finish_writes(control)

    def close(self) -> None:
        self._prompt_cache.close()

    def _is_streamed(self, request: SynthesisRequest | ConversionRequest) -> bool:
        """Return whether chunks of a sentence are returned before all of it is decoded."""
        return request.is_streaming and (self.stages.flow.streams_exactly or self._streams_approximately)

    def _evidence(
        self, request: SynthesisRequest, sentences: list[UtteredSentence], speech_lm: SpeechLM
    ) -> tuple[SentenceEvidence, ...]:
        """Return the evidence about ``sentences``. The language model is the one that generated them.

        Long silences of recordings are kept.
        """
        return EvidenceReader(
            alignment=None if self.description.makes_noise else self.stages.alignment,
            speech_lm=speech_lm,
            tokenizer=self.stages.text_tokenizer,
            silent_tokens=self.stages.generation.silent_tokens if request.is_divided else (),
            token_seconds=1.0 / self.stages.generation.token_rate / request.speed,
            sentences=sentences,
        ).read()

    def _decoding(self, quality: Quality, control: RequestControl, *, may_measure: bool = True) -> Decoding:
        """Return stages and prompt states for ``quality``, or for the exact one if the flow has no other."""
        if quality is Quality.EXACT:
            return self._decodings.exact
        return self._decodings.choose(quality, self._measured_speech, control, may_measure=may_measure)

    @property
    def has_postponed_qualities(self) -> bool:
        """Whether lines were decoded exactly because their quality has not been measured."""
        return self._decodings.has_postponed

    def measure_qualities(self, control: RequestControl) -> None:
        """Measure the qualities that requests have asked for. Raise ``Cancelled``."""
        with cuda_stream(self.description.device):
            self._decodings.measure_postponed(self._measured_speech, control)

    def _measured_speech(self, exact: FlowDecoder) -> list[MeasuredSpeech]:
        """Return the same speech on every computer, so that all choose alike."""
        prompts = [self._prompt(VoiceReference(paths.resources() / "voices" / clip)) for clip in _MEASURED_CLIPS]
        return [
            MeasuredSpeech.of(FlowPrompt(each.flow_tokens, each.flow_mel, each.embedding), exact) for each in prompts
        ]

    def _voice(
        self,
        request: SynthesisRequest | ConversionRequest,
        prompt: VoicePrompt,
        cache: PromptCache,
        control: RequestControl,
        *,
        is_one_of_many: bool = False,
    ) -> VoiceState:
        """Return the voice of ``request``, with its flow state if it is needed at once."""
        progress = partial(_report_voice, control)
        if request.is_streaming and not is_one_of_many:
            return cache.prepared(prompt, progress=progress)
        return cache.on_demand(prompt, progress=progress)

    def _prompt(self, voice: VoiceReference) -> VoicePrompt:
        key = prompt_key(voice, self._frontend_key)
        prompt = self._prompt_cache.features(key, lambda: build_prompt(voice, self.stages.frontend(), key))
        if not self._are_speech_tokens(prompt.speech_tokens):
            raise UnreadableClip(
                "{file} contains speech tokens that the model does not have.",
                remedy="Create the voice again from its recording.",
                file=voice.name or voice.clip.name,
            )
        return replace(prompt, name=voice.name, transcript=voice.transcript)

    def _are_speech_tokens(self, tokens: tuple[int, ...]) -> bool:
        """Return whether ``tokens`` are rows of the tables of the networks. On a GPU, other rows end the process."""
        return all(0 <= token < self.checkpoint.flow.num_speech_tokens for token in tokens)

    def _speech(
        self,
        voice: VoiceState,
        options: SpeechOptions,
        seed: int,
        control: RequestControl,
        *,
        decoder: DecoderStages,
        started: float,
    ) -> SpeechStream:
        if not MIN_SPEED <= options.speed <= MAX_SPEED:
            raise UnusableSetting(
                "A speed of {speed:g} is not possible.",
                remedy="Choose one from {lowest:g} to {highest:g}; 1 is the voice's own.",
                speed=options.speed,
                lowest=MIN_SPEED,
                highest=MAX_SPEED,
            )
        return SpeechStream(
            voice=voice,
            decoder=decoder,
            options=options,
            control=control,
            make_noise=lambda index: self.stages.vocoder.noise(sentence_seed(seed, index)),
            started=started,
        )

    def _report(
        self, speech: SpeechStream, mode: Mode, stages: dict[str, float], quality: FlowQuality
    ) -> SynthesisReport:
        return SynthesisReport(
            first_audio_seconds=speech.first_sound_seconds,
            audio_seconds=speech.audio_seconds,
            total_seconds=time.perf_counter() - speech.started,
            sample_rate=self.stages.vocoder.sample_rate,
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
            voice_was_cached=speech.voice.was_cached,
            max_concurrent_lines=self.description.max_concurrent_lines,
            quality=quality,
            device_memory_bytes=used_memory_bytes(torch.device(self.description.device)),
        )


def _report_voice(control: RequestControl, done: float) -> None:
    control.raise_if_cancelled()
    control.report_progress("voice", done)
