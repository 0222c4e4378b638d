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
from studio.pipeline.enrolment import CPU_FIRST_HOPS_TOKENS, GPU_FIRST_HOPS_TOKENS, Frontend, build_prompt
from studio.pipeline.flow_quality import MeasuredSpeech
from studio.pipeline.precision_selection import AUTO, open_flow, open_speech_lm
from studio.pipeline.prompt_cache import PromptCache
from studio.pipeline.request import EngineDescription, EngineOptions, VoiceReference
from studio.pipeline.synthesizer import Stages, Synthesizer
from studio.text.styles import load_styles

_log = logging.getLogger(__name__)
# Size of the weight files below which one thread is faster than several.
_SMALL_MODEL_BYTES = 256 << 20
# Marks a folder with random weights (written by ``timbre bench --random``).
_RANDOM_WEIGHTS_MARKER = "random.json"


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


def load_synthesizer(folder: Path, options: EngineOptions, overrides: StageOverrides = StageOverrides()) -> Synthesizer:
    """Load a model for synthesis.

    Raise the errors of ``open_checkpoint``, those of damaged weight files, and ``UnsupportedPrecision``.
    """
    num_threads = options.num_threads or psutil.cpu_count(logical=False) or 1
    checkpoint = open_checkpoint(folder)
    line_threads = 1 if options.device == "cpu" and _is_small(checkpoint, options.variant) else num_threads
    configure_torch(line_threads)
    frontend = functools.cache(lambda: _load_frontend(checkpoint, options.device, num_threads, overrides))
    # On a CPU, two stages are opened at a time, because parts of the work use only one core.
    with ThreadPoolExecutor(2 if options.device == "cpu" else 1, "loading") as pool:
        opening_lm = pool.submit(_speech_lm, checkpoint, options, overrides)

        def measured_speech(flow: FlowDecoder) -> MeasuredSpeech:
            wait((opening_lm,))  # its own comparison would distort the measurement
            return _measured_speech(frontend(), flow)

        opening_flow = pool.submit(_flow, checkpoint, options, overrides, measured_speech)
        opening_vocoder = pool.submit(
            lambda: overrides.vocoder or checkpoint.load_vocoder(Precision.FLOAT32, options.device)
        )
        opening_tokenizer = pool.submit(checkpoint.load_text_tokenizer)
        speech_lm, reason, lm_name = opening_lm.result()
        flow, flow_precision, flow_reason = opening_flow.result()
    _log.info("opened %s on %s with %d threads, %s", folder, options.device, num_threads, reason)
    stages = Stages(
        speech_lm=speech_lm,
        flow=flow,
        vocoder=opening_vocoder.result(),
        text_tokenizer=opening_tokenizer.result(),
        frontend=frontend,
        styles=load_styles(checkpoint.generation.name, folder),
        alignment=AlignmentReader(checkpoint, lambda: frontend().speech_tokenizer, options.variant),
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
            "vocoder": f"torch float32, {threads}",
            **overrides.words,
        },
        engines={
            "speech_lm": lm_name,
            "flow": f"torch-{flow_precision.value}",
            "vocoder": "torch-float32",
            **overrides.names,
        },
        makes_noise=(folder / _RANDOM_WEIGHTS_MARKER).is_file(),
        notes=_notes([reason, flow_reason], options, stages.flow),
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


def _speech_lm(checkpoint: Checkpoint, options: EngineOptions, overrides: StageOverrides) -> tuple[SpeechLM, str, str]:
    """Return the language model, the reason for its choice, and the name of its engine."""
    if overrides.speech_lm is not None:
        return overrides.speech_lm, f"language model: {overrides.words['speech_lm']}, the fastest verified engine", ""
    if not options.loads_speech_lm:
        deferred = DeferredSpeechLM(
            lambda: open_speech_lm(checkpoint, options).speech_lm, checkpoint.speech_lm.sampling
        )
        return deferred, "language model: loaded on first use", ""
    opened = open_speech_lm(checkpoint, options)
    return opened.speech_lm, opened.reason, f"torch-{opened.precision.value}"


def _flow(
    checkpoint: Checkpoint,
    options: EngineOptions,
    overrides: StageOverrides,
    speech: Callable[[FlowDecoder], MeasuredSpeech],
) -> tuple[FlowDecoder, Precision, str]:
    """Return the flow, its precision, and the reason for an automatic choice."""
    is_as_released = options.flow_steps is None and options.flow_left_context_frames is None
    if options.flow_precision == AUTO and overrides.flow is None and is_as_released:
        opened = open_flow(checkpoint, options.device, speech)
        return opened.flow, opened.precision, opened.reason
    precision = Precision.FLOAT32 if options.flow_precision == AUTO else _flow_precision(options.flow_precision)
    flow = overrides.flow or checkpoint.load_flow(
        precision,
        options.device,
        num_steps=options.flow_steps,
        left_context_frames=options.flow_left_context_frames,
    )
    return flow, precision, ""


def _measured_speech(frontend: Frontend, flow: FlowDecoder) -> MeasuredSpeech:
    """Return speech of a bundled voice."""
    prompt = build_prompt(VoiceReference(paths.resources() / "voices" / "Ada.wav"), frontend, "")
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
