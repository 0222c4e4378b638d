"""Loading of a model folder into a ``Synthesizer``: precision, threads and memory limits.

Decision: on a CPU, every stage uses all physical cores, one stage at a time. Reason: the language model is limited
by memory bandwidth, flow and vocoder by arithmetic, and in measurements two thread pools on the same cores slowed
each other down many times over. A small model uses one core. Reason: its products are so short that distributing them
takes longer than computing them; the bundled model speaks a line in 0.68 of the time with one thread instead of two.
Lines of a batch then run in several processes (``studio/worker/line_processes.py``).
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import torch

from studio import paths
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.options import SamplingOptions
from studio.model.speech_lm import TorchSpeechLM
from studio.model.stages import (
    FloatArray,
    FlowDecoder,
    FlowPrompt,
    SpeakerEncoder,
    SpeechLM,
    SpeechTokenizer,
    SpeechTokenRequest,
    TokenSampler,
    Vocoder,
)
from studio.model.torch_device import configure_torch, free_memory_bytes
from studio.pipeline.alignment import AlignmentReader
from studio.pipeline.control import RequestControl
from studio.pipeline.enrolment import CPU_FIRST_HOPS_TOKENS, GPU_FIRST_HOPS_TOKENS, Frontend, build_prompt
from studio.pipeline.flow_quality import MeasuredSpeech
from studio.pipeline.precision_selection import (
    AUTO,
    OpenedFlow,
    OpenedVocoder,
    open_flow,
    open_speech_lm,
    open_vocoder,
)
from studio.pipeline.prompt_cache import PromptCache
from studio.pipeline.request import EngineDescription, EngineOptions, VoiceReference
from studio.pipeline.synthesizer import Stages, Synthesizer
from studio.text.styles import load_styles

_log = logging.getLogger(__name__)
# Size of the weight files below which one thread is faster than several.
_SMALL_MODEL_BYTES = 256 << 20
# Marks a folder with random weights (written by ``timbre bench --random``).
_RANDOM_WEIGHTS_MARKER = "random.json"
# The bundled voice on which precisions are compared.
_MEASURED_CLIP = "Ada.wav"


@dataclass(frozen=True, slots=True)
class StageOverrides:
    """Stages opened by faster engines. None selects plain PyTorch."""

    speech_lm: SpeechLM | None = None
    flow: FlowDecoder | None = None
    vocoder: Vocoder | None = None
    # Called when the first new voice needs these stages.
    open_speech_tokenizer: Callable[[], SpeechTokenizer | None] = lambda: None
    open_speaker_encoder: Callable[[], SpeakerEncoder | None] = lambda: None
    # Descriptions of the stages, and names of their engines, by key of ``EngineDescription.stages``.
    words: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


class DeferredSpeechLM:
    """A ``SpeechLM`` that is loaded on first use. Voice conversion does not use it."""

    def __init__(self, open_speech_lm: Callable[[], SpeechLM], sampling: SamplingOptions) -> None:
        self.sampling = sampling
        self.engine = "not loaded"
        self.max_concurrent_lines = 1
        self._open = open_speech_lm
        self._lock = threading.Lock()
        self._opened: SpeechLM | None = None

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        return self._speech_lm().generate(request, sampler)

    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        return self._speech_lm().generate_from_pieces(request, text_tokens, sampler)

    def plain(self) -> TorchSpeechLM:
        """Return the PyTorch model that computes attention after a take."""
        opened = self._speech_lm()
        assert isinstance(opened, TorchSpeechLM)
        return opened

    def _speech_lm(self) -> SpeechLM:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
                self.sampling, self.engine = self._opened.sampling, self._opened.engine
                self.max_concurrent_lines = self._opened.max_concurrent_lines
            return self._opened


def load_synthesizer(
    folder: Path,
    options: EngineOptions,
    overrides: StageOverrides = StageOverrides(),
    control: RequestControl | None = None,
) -> Synthesizer:
    """Load a model for synthesis. The progress of comparing precisions is the stage "precision".

    Raise the errors of ``open_checkpoint``, those of damaged weight files, ``UnsupportedPrecision`` and ``Cancelled``.
    """
    num_threads = options.num_threads or psutil.cpu_count(logical=False) or 1
    checkpoint = open_checkpoint(folder)
    is_small = _is_small(checkpoint, options.variant)
    line_threads = 1 if options.device == "cpu" and is_small else num_threads
    may_compare = not (options.compares_later and is_small)
    configure_torch(line_threads)
    frontend = functools.cache(lambda: _load_frontend(checkpoint, options.device, num_threads, overrides))
    # On a CPU, two stages are opened at a time, because parts of the work use only one core.
    with ThreadPoolExecutor(2 if options.device == "cpu" else 1, "loading") as pool:
        opening_lm = pool.submit(_speech_lm, checkpoint, options, overrides, control, may_compare=may_compare)

        def measured_speech(flow: FlowDecoder) -> MeasuredSpeech:
            wait((opening_lm,))  # its own comparison would distort the measurement
            return _measured_speech(frontend(), flow)

        opening_flow = pool.submit(
            _flow, checkpoint, options, overrides, measured_speech, control, may_compare=may_compare
        )

        def measured_mel() -> FloatArray:
            wait((opening_flow,))
            return _measured_mel(frontend())

        opening_vocoder = pool.submit(
            _vocoder, checkpoint, options, overrides, measured_mel, control, may_compare=may_compare
        )
        opening_tokenizer = pool.submit(checkpoint.load_text_tokenizer)
        speech_lm, reason, lm_name, is_lm_provisional = opening_lm.result()
        opened_flow = opening_flow.result()
        opened_vocoder = opening_vocoder.result()
    flow, flow_precision = opened_flow.flow, opened_flow.precision
    _log.info("opened %s on %s with %d threads, %s", folder, options.device, num_threads, reason)
    stages = Stages(
        speech_lm=speech_lm,
        flow=flow,
        vocoder=opened_vocoder.vocoder,
        text_tokenizer=opening_tokenizer.result(),
        frontend=frontend,
        styles=load_styles(checkpoint.generation.name, folder),
        alignment=AlignmentReader(checkpoint, lambda: frontend().speech_tokenizer, options.variant),
        is_provisional=is_lm_provisional or opened_flow.is_provisional or opened_vocoder.is_provisional,
    )
    threads = "1 thread" if line_threads == 1 else f"{line_threads} threads"
    description = EngineDescription(
        model_name=folder.name,
        generation=checkpoint.generation.name,
        folder=str(folder),
        sample_rate=checkpoint.vocoder.sample_rate,
        device=options.device,
        stages={
            "speech_lm": f"{speech_lm.engine}, {threads}" if options.loads_speech_lm else speech_lm.engine,
            "flow": f"torch {flow_precision.value}, {threads}",
            "vocoder": f"torch {opened_vocoder.precision.value}, {threads}",
            **overrides.words,
        },
        engines={
            "speech_lm": lm_name,
            "flow": f"torch-{flow_precision.value}",
            "vocoder": f"torch-{opened_vocoder.precision.value}",
            **overrides.names,
        },
        makes_noise=(folder / _RANDOM_WEIGHTS_MARKER).is_file(),
        notes=_notes([reason, opened_flow.reason, opened_vocoder.reason], options, stages.flow),
        weights_key=checkpoint.weights_key(options.variant),
        max_concurrent_lines=speech_lm.max_concurrent_lines,
        voice_memory_bytes=options.voice_memory_bytes or _voice_memory_bytes(torch.device(options.device)),
        idle_cores=num_threads - line_threads,
    )
    store = PromptCache(
        paths.cache_folder() / "voices",
        stages.flow,
        checkpoint.generation,
        memory_bytes=description.voice_memory_bytes,
        # A GPU rebuilds a voice faster than a disk reads it.
        disk_bytes=options.voice_disk_bytes if options.device == "cpu" else 0,
        device=options.device,
    )
    if options.streams_approximately and not stages.flow.streams_exactly:
        description.stages["flow"] += ", approximate stream"
    return Synthesizer(checkpoint, stages, store, description, streams_approximately=options.streams_approximately)


def _is_small(checkpoint: Checkpoint, variant: str | None) -> bool:
    files = (checkpoint.speech_lm_path(variant), checkpoint.folder / "flow.pt", checkpoint.folder / "hift.pt")
    return sum(path.stat().st_size for path in files if path.is_file()) < _SMALL_MODEL_BYTES


def _voice_memory_bytes(device: torch.device) -> int:
    return int(DeviceKind(device.type).traits.voice_memory_share * free_memory_bytes(device))


def compare_precisions(folder: Path, options: EngineOptions, control: RequestControl) -> None:
    """Compare the precisions that ``load_synthesizer`` has left for later. The next load uses the result.

    Raise ``Cancelled``, and the errors of ``load_synthesizer``.
    """
    checkpoint = open_checkpoint(folder)
    if options.speech_lm_precision == AUTO and options.loads_speech_lm:
        open_speech_lm(checkpoint, options, control)
    control.raise_if_cancelled()
    if _chooses_flow(options):
        num_threads = options.num_threads or psutil.cpu_count(logical=False) or 1
        frontend = functools.cache(lambda: _load_frontend(checkpoint, options.device, num_threads, StageOverrides()))
        open_flow(checkpoint, options.device, lambda flow: _measured_speech(frontend(), flow), control)
        open_vocoder(checkpoint, options.device, lambda: _measured_mel(frontend()), control)


def _chooses_flow(options: EngineOptions) -> bool:
    is_as_released = options.flow_steps is None and options.flow_left_context_frames is None
    return options.flow_precision == AUTO and is_as_released


def _speech_lm(
    checkpoint: Checkpoint,
    options: EngineOptions,
    overrides: StageOverrides,
    control: RequestControl | None,
    *,
    may_compare: bool,
) -> tuple[SpeechLM, str, str, bool]:
    """Return the language model, the reason for its choice, the name of its engine, and whether it is provisional."""
    if overrides.speech_lm is not None:
        reason = f"language model: {overrides.words['speech_lm']}, the fastest verified engine"
        return overrides.speech_lm, reason, "", False
    if not options.loads_speech_lm:
        deferred = DeferredSpeechLM(
            lambda: open_speech_lm(checkpoint, options).speech_lm, checkpoint.speech_lm.sampling
        )
        return deferred, "language model: loaded on first use", "", False
    opened = open_speech_lm(checkpoint, options, control, may_compare=may_compare)
    return opened.speech_lm, opened.reason, f"torch-{opened.precision.value}", opened.is_provisional


def _flow(
    checkpoint: Checkpoint,
    options: EngineOptions,
    overrides: StageOverrides,
    speech: Callable[[FlowDecoder], MeasuredSpeech],
    control: RequestControl | None,
    *,
    may_compare: bool,
) -> OpenedFlow:
    if _chooses_flow(options) and overrides.flow is None:
        return open_flow(checkpoint, options.device, speech, control, may_compare=may_compare)
    precision = Precision.FLOAT32 if options.flow_precision == AUTO else _flow_precision(options.flow_precision)
    flow = overrides.flow or checkpoint.load_flow(
        precision,
        options.device,
        num_steps=options.flow_steps,
        left_context_frames=options.flow_left_context_frames,
    )
    return OpenedFlow(flow, precision, "")


def _vocoder(
    checkpoint: Checkpoint,
    options: EngineOptions,
    overrides: StageOverrides,
    mel: Callable[[], FloatArray],
    control: RequestControl | None,
    *,
    may_compare: bool,
) -> OpenedVocoder:
    if overrides.vocoder is None and _chooses_flow(options):  # one option is for both
        return open_vocoder(checkpoint, options.device, mel, control, may_compare=may_compare)
    vocoder = overrides.vocoder or checkpoint.load_vocoder(Precision.FLOAT32, options.device)
    return OpenedVocoder(vocoder, Precision.FLOAT32, "")


def _measured_mel(frontend: Frontend) -> FloatArray:
    """Return the mel of a bundled clip."""
    return build_prompt(VoiceReference(paths.resources() / "voices" / _MEASURED_CLIP), frontend, "").flow_mel


def _measured_speech(frontend: Frontend, flow: FlowDecoder) -> MeasuredSpeech:
    """Return speech of a bundled voice."""
    prompt = build_prompt(VoiceReference(paths.resources() / "voices" / _MEASURED_CLIP), frontend, "")
    return MeasuredSpeech.of(FlowPrompt(prompt.flow_tokens, prompt.flow_mel, prompt.embedding), flow, tuple)


def _flow_precision(name: str) -> Precision:
    permitted = {precision.value: precision for precision in Precision if precision is not Precision.INT4}
    if name not in permitted:
        raise UnsupportedPrecision(
            "The flow cannot run in {name}.",
            remedy="Choose one of {known}.",
            name=name,
            known=", ".join((AUTO, *permitted)),
        )
    return permitted[name]


def _notes(reasons: list[str], options: EngineOptions, flow: FlowDecoder) -> tuple[str, ...]:
    """Return notes for the user: ``reasons`` of choices, unless empty, and approximations."""
    notes = list(filter(None, reasons))
    if options.flow_steps is not None:
        notes.append(f"approximation: the flow takes {options.flow_steps} steps")
    if options.flow_left_context_frames is not None:
        notes.append(f"approximation: the flow sees {options.flow_left_context_frames} previous frames")
    if options.streams_approximately and not flow.streams_exactly:
        notes.append("approximation: chunks of a sentence are decoded separately and cross-faded")
    return tuple(notes)


def _load_frontend(checkpoint: Checkpoint, device: str, num_threads: int, overrides: StageOverrides) -> Frontend:
    return Frontend(
        speech_tokenizer=overrides.open_speech_tokenizer() or checkpoint.load_speech_tokenizer(num_threads),
        speaker_encoder=overrides.open_speaker_encoder() or checkpoint.load_speaker_encoder(num_threads),
        mel=checkpoint.prompt_mel,
        generation=checkpoint.generation,
        chunk_tokens=checkpoint.flow.grid_tokens,
        lookahead_tokens=checkpoint.flow.lookahead_tokens,
        first_hops_tokens=CPU_FIRST_HOPS_TOKENS if device == "cpu" else GPU_FIRST_HOPS_TOKENS,
    )
