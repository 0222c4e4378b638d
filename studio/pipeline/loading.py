"""Loading of a model folder into a ``Synthesizer``: precision, threads and memory limits.

Decision: on a CPU, every stage uses all physical cores, one stage at a time. Reason: the language model is limited
by memory bandwidth, flow and vocoder by arithmetic, and in measurements two thread pools on the same cores slowed
each other down many times over. A small model uses one core. Reason: its products are so short that distributing them
takes longer than computing them; the bundled model synthesises a line in 0.68 of the time with one thread instead of two.
Lines of a batch then run in several processes (``studio/worker/line_processes.py``).
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch

from studio import paths
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import AnySpeechLMConfig, Precision, SpeechLMConfig
from studio.model.cpu_products import useful_threads
from studio.model.device_kind import DeviceKind
from studio.model.options import SamplingOptions
from studio.model.speech_lm.torch_lm import CachedSpeechLM
from studio.model.stages import (
    FlowDecoder,
    SpeakerEncoder,
    SpeechLM,
    SpeechTokenizer,
    SpeechTokenRequest,
    TokenSampler,
    Vocoder,
)
from studio.model.torch_device import configure_torch, free_memory_bytes
from studio.pipeline.alignment import AlignmentReader
from studio.pipeline.enrolment import CPU_FIRST_HOPS_TOKENS, GPU_FIRST_HOPS_TOKENS, Frontend
from studio.pipeline.prompt_cache import PromptCache
from studio.pipeline.request import AUTO, EngineDescription, EngineOptions, RequestControl
from studio.pipeline.stage_opener import Opened, StageOpener
from studio.pipeline.stages import Stages
from studio.pipeline.synthesizer import Synthesizer
from studio.text.segmentation import prepare_text
from studio.text.styles import load_styles
from studio.text.tokenizer import TextTokenizer

_log = logging.getLogger(__name__)
_Engine = TypeVar("_Engine")
# Size of the weight files below which one thread is faster than several.
_SMALL_MODEL_BYTES = 256 << 20
_VOICE_DISK_BYTES = 8 << 30
_FIRST_TEXT = "One line."
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

    def plain(self) -> CachedSpeechLM[Any]:
        """See ``CachedSpeechLM.plain``."""
        opened = self._speech_lm()
        assert isinstance(opened, CachedSpeechLM)
        return opened

    def _speech_lm(self) -> SpeechLM:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
                self.sampling, self.engine = self._opened.sampling, self._opened.engine
                self.max_concurrent_lines = self._opened.max_concurrent_lines
            return self._opened


def _interleaves_text(config: AnySpeechLMConfig) -> bool:
    return isinstance(config, SpeechLMConfig) and config.interleave_text_tokens > 0


def load_synthesizer(
    folder: Path,
    options: EngineOptions,
    overrides: StageOverrides = StageOverrides(),
    control: RequestControl | None = None,
) -> Synthesizer:
    """Load a model for synthesis. The progress of comparing precisions is the stage "precision".

    Raise the errors of ``open_checkpoint``, those of damaged weight files, ``UnsupportedPrecision`` and ``Cancelled``.
    """
    num_threads = options.num_threads or useful_threads()
    checkpoint = open_checkpoint(folder)
    is_small = _is_small(checkpoint, options.variant)
    line_threads = 1 if options.device == "cpu" and is_small else num_threads
    configure_torch(line_threads)
    frontend = functools.cache(lambda: _load_frontend(checkpoint, options.device, num_threads, overrides))
    # On a GPU, comparisons are quick, and later there may be no memory for them.
    may_compare = not options.compares_later or options.device != "cpu"
    opener = StageOpener(checkpoint, options, frontend, control, may_compare=may_compare, is_small=is_small)
    deferred: Opened[SpeechLM] | None = None
    if not options.loads_speech_lm:
        later = StageOpener(checkpoint, options, frontend)
        speech_lm: SpeechLM = DeferredSpeechLM(lambda: later.speech_lm().network, checkpoint.speech_lm.sampling)
        deferred = Opened(speech_lm, Precision.FLOAT32, "language model: loaded on first use")
    # On a CPU, two stages are opened at a time, because parts of the work use only one core.
    with ThreadPoolExecutor(2 if options.device == "cpu" else 1, "loading") as pool:
        # Each comparison waits for the one before it, which would distort its measurement.
        opening_lm = pool.submit(lambda: _given(overrides.speech_lm) or deferred or opener.speech_lm())
        opening_flow = pool.submit(
            lambda: _given(overrides.flow) or opener.flow(before_comparison=lambda: wait((opening_lm,)))
        )
        opening_vocoder = pool.submit(
            lambda: _given(overrides.vocoder) or opener.vocoder(before_comparison=lambda: wait((opening_flow,)))
        )
        opening_tokenizer = pool.submit(_open_text_tokenizer, checkpoint)
        opened_lm, opened_flow, opened_vocoder = opening_lm.result(), opening_flow.result(), opening_vocoder.result()
    speech_lm = opened_lm.network
    reason = opened_lm.reason or f"language model: {overrides.words['speech_lm']}, the fastest verified engine"
    _log.info("opened %s on %s with %d threads, %s", folder, options.device, num_threads, reason)
    stages = Stages(
        generation=checkpoint.generation,
        speech_lm=speech_lm,
        flow=opened_flow.network,
        vocoder=opened_vocoder.network,
        text_tokenizer=opening_tokenizer.result(),
        frontend=frontend,
        styles=load_styles(checkpoint.generation.name, folder),
        alignment=AlignmentReader(checkpoint, lambda: frontend().speech_tokenizer, options.variant),
        is_provisional=any(opened.is_provisional for opened in (opened_lm, opened_flow, opened_vocoder)),
    )
    # Processors with other instructions round differently, so takes of the same engines may differ.
    where = "1 thread" if line_threads == 1 else f"{line_threads} threads"
    if torch.device(options.device).type == "cpu":
        where = f"{torch.backends.cpu.get_cpu_capability()}, {where}"
    description = EngineDescription(
        model_name=folder.name,
        generation=checkpoint.generation.name,
        folder=str(folder),
        sample_rate=checkpoint.vocoder.sample_rate,
        device=options.device,
        stages={
            "speech_lm": f"{speech_lm.engine}, {where}" if options.loads_speech_lm else speech_lm.engine,
            "flow": f"torch {opened_flow.precision.value}, {where}",
            "vocoder": f"torch {opened_vocoder.precision.value}, {where}",
            **overrides.words,
        },
        engines={
            "speech_lm": "" if isinstance(speech_lm, DeferredSpeechLM) else f"torch-{opened_lm.precision.value}",
            "flow": f"torch-{opened_flow.precision.value}",
            "vocoder": f"torch-{opened_vocoder.precision.value}",
            **overrides.names,
        },
        comparisons={
            stage: opened.verification
            for stage, opened in (("speech_lm", opened_lm), ("flow", opened_flow), ("vocoder", opened_vocoder))
            if opened.verification is not None
        },
        is_provisional=stages.is_provisional,
        makes_noise=(folder / _RANDOM_WEIGHTS_MARKER).is_file(),
        notes=_notes([reason, opened_flow.reason, opened_vocoder.reason], options, stages.flow),
        weights_key=checkpoint.weights_key(options.variant),
        max_concurrent_lines=speech_lm.max_concurrent_lines,
        voice_memory_bytes=options.voice_memory_bytes or _voice_memory_bytes(torch.device(options.device)),
        idle_cores=num_threads - line_threads,
        interleaves_text=_interleaves_text(checkpoint.speech_lm),
    )
    store = PromptCache(
        paths.cache_folder() / "voices",
        stages.flow,
        checkpoint.generation,
        memory_bytes=description.voice_memory_bytes,
        # A GPU rebuilds a voice faster than a disk reads it.
        disk_bytes=_VOICE_DISK_BYTES if options.device == "cpu" else 0,
        device=options.device,
    )
    if options.streams_approximately and not stages.flow.streams_exactly:
        description.stages["flow"] += ", approximate stream"
    return Synthesizer(checkpoint, stages, store, description, streams_approximately=options.streams_approximately)


def _open_text_tokenizer(checkpoint: Checkpoint) -> TextTokenizer:
    """Return the text tokenizer, after reading a text whose rules the first line would otherwise compile."""
    tokenizer = checkpoint.load_text_tokenizer()
    prepare_text(_FIRST_TEXT, form=checkpoint.generation.text, tokenizer=tokenizer)
    return tokenizer


def _is_small(checkpoint: Checkpoint, variant: str | None) -> bool:
    return sum(path.stat().st_size for path in checkpoint.weight_files(variant)) < _SMALL_MODEL_BYTES


def _voice_memory_bytes(device: torch.device) -> int:
    return int(DeviceKind(device.type).traits.voice_memory_share * free_memory_bytes(device))


def compare_precisions(folder: Path, options: EngineOptions, control: RequestControl) -> None:
    """Compare the precisions that ``load_synthesizer`` has left for later. The next load uses the result.

    Raise ``Cancelled``, and the errors of ``load_synthesizer``.
    """
    checkpoint = open_checkpoint(folder)
    num_threads = options.num_threads or useful_threads()
    frontend = functools.cache(lambda: _load_frontend(checkpoint, options.device, num_threads, StageOverrides()))
    opener = StageOpener(checkpoint, options, frontend, control)
    if options.speech_lm_precision == AUTO and options.loads_speech_lm:
        opener.speech_lm()
    control.raise_if_cancelled()
    if opener.chooses_flow:
        opener.flow()
        opener.vocoder()


def _given(engine: _Engine | None) -> Opened[_Engine] | None:
    """Return an engine that is open already as an opened stage."""
    return None if engine is None else Opened(engine, Precision.FLOAT32)


def _notes(reasons: list[str], options: EngineOptions, flow: FlowDecoder) -> tuple[str, ...]:
    """Return notes for the user: ``reasons`` of choices, unless empty, and approximations."""
    notes = list(filter(None, reasons))
    if options.flow_steps is not None:
        notes.append(f"approximation: the flow takes {options.flow_steps} steps")
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
