"""The service without HTTP: requests from names and options, the voices, and the metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from weakref import WeakSet

from studio.catalog.built_in_speakers import are_mixable, mixed_speaker, open_voice_library
from studio.catalog.known import known_models
from studio.catalog.language_check import language_error, unlearned_language
from studio.catalog.model_styles import styles_of_model
from studio.errors import (
    BadRequest,
    ModelNotFound,
    NothingToSpeak,
    ServiceStopping,
    StudioError,
    UnknownVoice,
    UnsupportedLanguage,
    VoiceNotFound,
    VoiceOfAnotherModel,
)
from studio.export.provenance import licence_of_model
from studio.model.generations import detect_generation
from studio.model.options import Quality
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.provenance.signing import FileSigner, Signing
from studio.serve.backend import Begin, ServedSpeech, SpeechBackend, TextMark, warm_up
from studio.serve.fair_queue import FairQueue
from studio.serve.metrics import ServiceMetrics
from studio.serve.request_log import RequestRecord, note_outcome, note_speech
from studio.serve.schemas import SpeechOptionsBody, VoiceId
from studio.serve.signed_files import RequestedFile
from studio.serve.voice_names import OPENAI_VOICES
from studio.serve.word_times import RequestedWords, WordAligner, open_aligning_checks
from studio.take_checks.service import TakeCheckService
from studio.text.arriving import ArrivingText
from studio.text.segmentation import TextPart
from studio.text.styles import Styles
from studio.voices.library import Voice, VoiceLibrary
from studio.voices.permission import require_permission
from studio.voices.voice import name_key
from studio.worker.request_handle import Callbacks

_log = logging.getLogger(__name__)

DEFAULT_QUEUE = 64
_MAX_RECENT = 50


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Options of the service.

    ``default_voice`` is used for requests without a voice or with one of OpenAI's voice names; if it is empty, they get
    the first voice of the library and bundled voices. ``voice_names`` takes precedence: it maps names that clients send
    to voices. ``max_waiting`` is the length of the queue. ``is_strict`` refuses names of other models. ``signing`` signs
    whole files, and ``is_marked`` adds the imperceptible mark to them. ``warms_up`` speaks a sentence in the default voice
    before the service is ready.
    """

    model_folder: Path
    default_voice: str = ""
    max_waiting: int = DEFAULT_QUEUE
    default_quality: Quality = Quality.EXACT
    voice_names: Mapping[str, str] = field(default_factory=dict)
    is_strict: bool = False
    signing: Signing | None = None
    is_marked: bool = False
    warms_up: bool = False


@dataclass(frozen=True, slots=True)
class EndedRequest:
    """A request that has ended. ``outcome`` is “ok”, “cancelled”, or the code of an error."""

    ended: datetime
    client: str
    route: str
    status: int
    outcome: str
    seconds: float


class SpeechService:
    """Speech of one model for many clients. Used on one event loop."""

    def __init__(
        self,
        backend: SpeechBackend,
        options: ServiceOptions,
        open_library: Callable[[], VoiceLibrary] = open_voice_library,
        open_checks: Callable[[], TakeCheckService] = open_aligning_checks,
    ) -> None:
        self.options = options
        self.description: EngineDescription | None = None
        self.num_served = 0
        self.recent: deque[EndedRequest] = deque(maxlen=_MAX_RECENT)
        self._num_slots = 1
        self.library = open_library()
        self.queue = FairQueue(options.max_waiting, lambda: self._num_slots)
        self.metrics = ServiceMetrics(self.queue, self.model_name)
        self.use_voice_names(options.voice_names)
        self._aligner = WordAligner(open_checks, options.model_folder)
        self._backend = backend
        self._running: WeakSet[ServedSpeech] = WeakSet()
        generation, _ = detect_generation(options.model_folder)
        self._generation = generation.name
        self._signer = None if options.signing is None else FileSigner(options.signing)
        self.styles: Styles = styles_of_model(generation.name, options.model_folder)

    @property
    def interleaves_text(self) -> bool:
        """Whether a sentence can begin before it is complete."""
        return self.description is not None and self.description.interleaves_text

    @property
    def model_name(self) -> str:
        return self.options.model_folder.name

    async def load(self) -> EngineDescription:
        """Load the model. Raise ``StudioError``."""
        description = await self._backend.load()
        self._num_slots = description.max_concurrent_lines
        if self.options.warms_up:
            try:
                voice = await asyncio.to_thread(self._named_voice, "")
                await warm_up(self._backend, voice, self.options.default_quality, in_batch=self._num_slots > 1)
            except StudioError as error:  # requests report it
                _log.warning("the model was not warmed up: %s", error)
        self.description = description
        return description

    def end_requests(self) -> None:
        """End all requests with ``ServiceStopping``."""
        for speech in list(self._running):
            speech.end(ServiceStopping("The service is being stopped."))

    def use_voice_names(self, names: Mapping[str, str]) -> None:
        """Use ``names`` instead of those of the options. May be called on any thread."""
        self._voice_names = {name_key(sent): voice for sent, voice in names.items()}

    def close(self) -> None:
        """End the process that determines word times, if it runs."""
        self._aligner.close()

    async def request(self, body: SpeechOptionsBody, text: str | None) -> SynthesisRequest:
        """Return the request for ``text``, or for text that arrives later if it is None.

        Clients written for OpenAI send instructions to any model. Those that this model does not follow are left out.

        Raise ``ModelNotFound``, ``VoiceNotFound``, ``VoiceOfAnotherModel``, ``NothingToSpeak``, ``UnsupportedLanguage``.
        """
        if text is not None and not text.strip():
            raise NothingToSpeak("The text is empty.", remedy="Write at least one word.")
        self.require_model(body.model)
        if text is not None:
            self.require_language(body, text)
        name = body.voice.id if isinstance(body.voice, VoiceId) else body.voice
        instructions = (body.instructions or "").strip() or None
        preset = body.preset
        if preset is None and instructions is not None and (style := self._style_named(instructions)):
            preset = style
        if instructions is not None and not self.styles.understands(instructions):
            instructions = None
        return SynthesisRequest(
            text="" if text is None else text.encode("utf-8", "ignore").decode(),  # without lone surrogates
            voice=await asyncio.to_thread(self._named_voice, name),
            instruct=None if preset else instructions,
            preset=preset,
            speed=body.speed,
            seed=body.seed,
            language=body.language,
            trims_leading_silence=True,
            quality=body.quality or self.options.default_quality,
        )

    def require_language(self, body: SpeechOptionsBody, text: str) -> None:
        """Raise ``UnsupportedLanguage`` if the model lacks the language of ``text``, unless ``body`` allows it."""
        if not body.allow_unsupported_language and unlearned_language(self.model_name, text):
            raise UnsupportedLanguage(
                language_error(self.model_name).problem,
                remedy="Use a model that supports the language, or send “allow_unsupported_language”.",
            )

    async def conversion(
        self, source: Path, voice_name: str, *, speed: float, seed: int, quality: Quality | None = None
    ) -> ConversionRequest:
        """Return the request to convert a recording. Raises the errors of :meth:`request`."""
        voice = await asyncio.to_thread(self._named_voice, voice_name)
        quality = quality or self.options.default_quality
        return ConversionRequest(source, voice, speed=speed, seed=seed, quality=quality)

    def speak(self, request: SynthesisRequest, client: str, hooks: Callbacks | None = None) -> ServedSpeech:
        """Start a request for ``client``. Raise ``TooManyRequests`` if the queue is full."""

        def speak(speech: ServedSpeech) -> Awaitable[SynthesisReport]:
            return speech.speak_text(request, partial(self._synthesis, hooks=hooks or speech.hooks))

        return self._serve(client, speak, request.voice, len(request.text))

    def speak_arriving(
        self, request: SynthesisRequest, client: str, text: ArrivingText, hooks: Callbacks
    ) -> ServedSpeech:
        """Start a request for ``client``, of whose text a sentence is still being written. Raise ``TooManyRequests``."""

        def speak(speech: ServedSpeech) -> Awaitable[SynthesisReport]:
            is_continued = request.first_index > 0
            return speech.speak_arriving(text, self._synthesis(request, text, hooks), is_continued=is_continued)

        return self._serve(client, speak, request.voice)

    def speak_parts(
        self, request: SynthesisRequest, client: str, parts: AsyncIterable[TextPart | TextMark]
    ) -> ServedSpeech:
        """Start a request for ``client`` whose text arrives. Raise ``TooManyRequests`` if the queue is full."""
        return self._serve(client, lambda speech: speech.speak_parts(request, parts, self._synthesis), request.voice)

    def convert(self, request: ConversionRequest, client: str, hooks: Callbacks | None = None) -> ServedSpeech:
        """Start a conversion for ``client``. Raise ``TooManyRequests`` if the queue is full."""

        def speak(speech: ServedSpeech) -> Awaitable[SynthesisReport]:
            return speech.run(lambda backend: backend.convert(request, hooks=hooks))

        return self._serve(client, speak, request.voice)

    async def prepare_voice(
        self, voice: VoiceReference, client: str, on_progress: Callable[[str, float], None]
    ) -> VoiceSummary:
        """Prepare a voice when it is the turn of ``client``. Raise ``StudioError``."""
        async with self.queue.slot(client):
            return await self._backend.prepare_voice(voice, on_progress=on_progress)

    def voice_added(self, voice: Voice) -> None:
        """Called after a client has added ``voice``."""

    async def spell_out(self, text: str, language: str = "") -> str:
        """Return ``text`` as the model receives it. Raise ``StudioError``."""
        return await self._backend.spell_out(text, language)

    def requested_words(self, body: SpeechOptionsBody) -> RequestedWords | None:
        """Return the collector of word times for a request, or None if the request wants none."""
        return (
            RequestedWords(self._aligner, speed=body.speed, language=body.language)
            if body.timestamp_granularities
            else None
        )

    def requested_file(self, request: SynthesisRequest | ConversionRequest) -> RequestedFile | None:
        """Return what marks and signs the file of ``request``, or None if files are neither marked nor signed."""
        is_marked = self.options.is_marked
        if self.description is None or not (is_marked or self._signer is not None):
            return None
        licence = licence_of_model(self.options.model_folder)
        return RequestedFile(self._signer, is_marked, request, self.description, licence)

    def end_request(self, record: RequestRecord) -> None:
        """Count a request of the service, of any kind, and remember it for a while."""
        seconds = record.seconds()
        self.metrics.count_request(record.route, record.status, seconds)
        client = f"{record.agent} ({record.client})" if record.agent else record.client
        self.recent.appendleft(
            EndedRequest(datetime.now().astimezone(), client, record.route, record.status, record.outcome, seconds)
        )

    def count_end(self, speech: ServedSpeech | None, error: StudioError | None) -> None:
        """Count a request that has ended: failed with ``error``, finished with a report, otherwise cancelled."""
        if error is not None:
            self.count_failure(error)
        elif speech is not None and speech.report is not None:
            self.num_served += 1
            self._num_slots = speech.report.max_concurrent_lines  # engines are replaced while the model is in use
            self.metrics.count_finished(speech.report)
        else:
            self.metrics.cancelled.inc()
            note_outcome("cancelled")
        if speech is not None and speech.times.has_text:
            self.metrics.count_times(speech.times)

    def count_failure(self, error: StudioError) -> None:
        """Count a request that failed with ``error``."""
        note_outcome(error.code)
        if isinstance(error, UnknownVoice):
            return  # a normal answer to another copy of this program, which then sends the voice
        self.metrics.failures.labels(error.code).inc()

    async def metrics_text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return self.metrics.text(await self._backend.num_lost_workers())

    def _synthesis(self, request: SynthesisRequest, text: ArrivingText | None, hooks: Callbacks | None = None) -> Begin:
        return lambda backend: backend.synthesize(request, text=text, hooks=hooks, in_batch=self._num_slots > 1)

    def _serve(
        self,
        client: str,
        speak: Callable[[ServedSpeech], Awaitable[SynthesisReport]],
        voice: VoiceReference,
        num_characters: int = 0,
    ) -> ServedSpeech:
        restarted = self.metrics.restarted_requests
        speech = ServedSpeech(self._backend, self.queue, client, speak, on_restart=restarted.inc)
        self.metrics.requests.inc()
        note_speech(speech, voice.name, num_characters)
        self._running.add(speech)
        return speech

    def require_model(self, name: str) -> None:
        """Raise ``ModelNotFound`` if ``name`` means another model: another known model, or any if names are strict."""
        if name not in ("", self.model_name) and (self.options.is_strict or name in known_models()):
            raise ModelNotFound(
                "This service does not serve the model {name}.",
                remedy="Request {served}, or start another service with --model.",
                name=name,
                served=self.model_name,
            )

    def _style_named(self, instructions: str) -> str | None:
        """Return the id of the style that has ``instructions`` as its id or its name."""
        wanted = instructions.casefold()
        for preset in self.styles.presets:
            if wanted in (preset.id, preset.label_en.casefold(), preset.label_zh):
                return preset.id
        return None

    def _named_voice(self, name: str) -> VoiceReference:
        return self.voice_reference(self._voice(self._voice_names.get(name_key(name), name)))

    def voice_reference(self, voice: Voice) -> VoiceReference:
        """Return what a request contains of ``voice``.

        Raise ``VoiceOfAnotherModel``, ``ConsentExpired`` and ``ConsentMissing``.
        """
        require_permission(voice)
        if voice.generation not in (None, self._generation):
            raise VoiceOfAnotherModel(
                "{name} has only features stored by a {own} model.",
                remedy="Choose another voice.",
                name=voice.name,
                own=voice.generation,
            )
        return VoiceReference(voice.clip, voice.transcript, voice.name)

    def _mixture(self, name: str) -> Voice:
        """Return the mixture of the voices in ``name``, which have the form “A+B”. Raise ``BadRequest``."""
        voices = [self.library.get(part.strip()) for part in name.split("+")]
        if not are_mixable(voices) or voices[0].generation != self._generation:
            raise BadRequest(
                "The voices in “{name}” cannot be mixed, because a recording is the voice of one speaker.",
                remedy="Send the name of one voice, or mix speakers that the model contains.",
                name=name,
            )
        return mixed_speaker(name, voices)

    def _voice(self, name: str) -> Voice:
        if name:
            try:
                return self.library.get(name)
            except VoiceNotFound:
                bundled = OPENAI_VOICES.get(name_key(name))
                if bundled is None and "+" in name:
                    return self._mixture(name)
                if bundled is None:
                    raise
                if not self.options.default_voice:
                    with contextlib.suppress(VoiceNotFound):  # a library without bundled voices
                        return self.library.get(bundled)
        if self.options.default_voice:
            return self.library.get(self.options.default_voice)
        voices = self.library.voices()
        if not voices:
            raise VoiceNotFound("There are no voices.", remedy="Add one: POST /v1/audio/voices.")
        return voices[0]
