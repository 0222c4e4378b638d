"""Selection of the fastest sufficiently accurate precision of the language model, of the flow and of the vocoder.

``auto`` tries precisions, fastest first. Each is compared with float32 once per weight file and machine, on
sentences in several languages that follow the clips of bundled voices. The results are stored in the cache folder. The
engine description includes the reason for the choice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from studio import paths
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import CannotWrite, DiskFull, StudioError, UnsupportedPrecision
from studio.model import onednn
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.onnx_networks import onnxruntime
from studio.model.speech_lm import CachedSpeechLM, QualityReport, compare_with_reference, open_network
from studio.model.stages import FloatArray, FlowDecoder, SpeechTokenRequest, Vocoder
from studio.model.weights import release_pages
from studio.pipeline.control import RequestControl
from studio.pipeline.enrolment import source_tokens
from studio.pipeline.flow_quality import MeasuredSpeech, Measurement, TimedMel, compare, timed_run
from studio.pipeline.request import EngineOptions
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json
from studio.text.segmentation import Sentence, prepare_text
from studio.voices.features import prompt_mel

_log = logging.getLogger(__name__)
_Network = TypeVar("_Network")
AUTO = "auto"
# Increase when the comparison or a precision changes.
_REPORT_VERSION = 7
# Sentences of the comparison, each with the bundled voice whose clip precedes it.
_TRIAL_SENTENCES = (
    ("Ada", "The last train had left, so we walked home along the river."),
    ("Miles", "At half past seven, Dr. Brown opened the old blue door."),
    ("Linda", "今天天气很好，我们一起去公园散步吧。"),
    ("Max", "明日の朝、駅の前で会いましょう。"),
)
_TOKENIZER_THREADS = 2
_NOT_COMPARED = "the other precisions are compared after the first line"
# As for engines of these precisions, which are compared on more speech when the computer is idle.
_LIMITS_DB = {Precision.BFLOAT16: 0.4, Precision.INT8: 0.8}
# Smaller gains are within the noise of the measurement.
_MAX_TIME_SHARE = 0.9
_MIN_SPEEDUP = 1.2
# A slower round is repeated, because another program may have delayed it.
_TIMED_ROUNDS = 3
_VOCODER_FRAMES = 100


@dataclass(frozen=True, slots=True)
class OpenedSpeechLM:
    speech_lm: CachedSpeechLM[Any]
    precision: Precision
    reason: str
    is_provisional: bool = False  # a comparison might find a faster one


def open_speech_lm(
    checkpoint: Checkpoint,
    options: EngineOptions,
    control: RequestControl | None = None,
    *,
    may_compare: bool = True,
) -> OpenedSpeechLM:
    """Load the requested language model, or the best one that may be used without a comparison if none is permitted.

    The progress of a comparison is the stage "precision". Raise ``UnsupportedPrecision``, ``Cancelled`` and load errors.
    """
    wanted = options.speech_lm_precision
    if wanted != AUTO:
        precision = _parse_precision(wanted)
        speech_lm = checkpoint.load_speech_lm(precision, options.device, variant=options.variant)
        return OpenedSpeechLM(speech_lm, precision, f"language model in {precision.value}, as requested")
    remarks: list[str] = []
    weights = checkpoint.speech_lm_path(options.variant)
    is_provisional = False
    for precision in DeviceKind(torch.device(options.device).type).traits.reduced_precisions:
        if not may_compare and _stored_quality(_report_path(weights, precision, options.device)) is None:
            is_provisional = True
            remarks.append(_NOT_COMPARED)
            break
        candidate = _candidate(checkpoint, precision, options, remarks, control or RequestControl())
        if candidate is not None:
            return OpenedSpeechLM(candidate, precision, f"language model in {'; '.join(remarks)}")
    speech_lm = checkpoint.load_speech_lm(Precision.FLOAT32, options.device, variant=options.variant)
    reason = f"language model in {'; '.join(['float32', *remarks])}"
    return OpenedSpeechLM(speech_lm, Precision.FLOAT32, reason, is_provisional)


@dataclass(frozen=True, slots=True)
class OpenedFlow:
    flow: FlowDecoder
    precision: Precision
    reason: str  # empty if there was no choice
    is_provisional: bool = False  # a comparison might find a faster one


def open_flow(
    checkpoint: Checkpoint,
    device: str,
    speech: Callable[[FlowDecoder], MeasuredSpeech],
    control: RequestControl | None = None,
    *,
    may_compare: bool = True,
) -> OpenedFlow:
    """Load the flow in 16 or 8 bits if the processor is faster in them and a comparison with float32 permits it.

    The comparison, on ``speech``, takes a few seconds of work, once for each model. Its progress is the stage
    "precision". If it is needed and not permitted, the flow is float32. Raise ``Cancelled`` and load errors.
    """
    return OpenedFlow(
        *_open_fastest(
            _Choice(
                "flow",
                checkpoint.folder / "flow.pt",
                (Precision.BFLOAT16, Precision.INT8),
                load=lambda precision: checkpoint.load_flow(precision, device),
                measure=lambda exact: _timed_flow(speech(exact)),
                discard=checkpoint.discard_flow,
            ),
            device,
            control or RequestControl(),
            may_compare=may_compare,
        )
    )


def _timed_flow(measured: MeasuredSpeech) -> Callable[[FlowDecoder, RequestControl], TimedMel]:
    return lambda flow, control: timed_run(flow, measured, control)


def _compared(exact: Callable[[], TimedMel], reduced: Callable[[], TimedMel]) -> Measurement:
    for _ in range(_TIMED_ROUNDS):
        found = compare(exact(), reduced())
        if found.relative_seconds <= _MAX_TIME_SHARE:
            break
    return found


@dataclass(frozen=True, slots=True)
class OpenedVocoder:
    vocoder: Vocoder
    precision: Precision
    reason: str  # empty if there was no choice
    is_provisional: bool = False  # a comparison might find a faster one


def open_vocoder(
    checkpoint: Checkpoint,
    device: str,
    mel: Callable[[], FloatArray],
    control: RequestControl | None = None,
    *,
    may_compare: bool = True,
) -> OpenedVocoder:
    """Load the vocoder in 16 bits on the same conditions as the flow (``open_flow``).

    The comparison is on ``mel`` (frames, mel_bins). Raise ``Cancelled`` and load errors.
    """
    return OpenedVocoder(
        *_open_fastest(
            _Choice(
                "vocoder",
                checkpoint.folder / "hift.pt",
                (Precision.BFLOAT16,),
                load=lambda precision: checkpoint.load_vocoder(precision, device),
                measure=lambda _exact: partial(
                    _timed_samples, checkpoint, torch.from_numpy(mel()[:_VOCODER_FRAMES]).t()
                ),
            ),
            device,
            control or RequestControl(),
            may_compare=may_compare,
        )
    )


def _timed_samples(checkpoint: Checkpoint, mel: torch.Tensor, vocoder: Vocoder, control: RequestControl) -> TimedMel:
    """Return the mel of what ``vocoder`` makes of ``mel``, and the shorter time of two runs."""
    seconds = math.inf
    for _ in range(2):
        control.raise_if_cancelled()
        started = time.perf_counter()
        samples = vocoder.synthesize_whole(mel, vocoder.noise(0)).numpy(force=True)
        seconds = min(seconds, time.perf_counter() - started)
    waveform = Waveform(samples, checkpoint.vocoder.sample_rate)
    return prompt_mel(waveform, checkpoint.prompt_mel).T, seconds


@dataclass(frozen=True, slots=True)
class _Choice(Generic[_Network]):
    """A stage whose precision is chosen by a comparison with float32.

    Attributes:
        precisions: The precisions besides float32.
        load: Loads the network.
        measure: Returns, for the float32 network, the function that runs a network on the speech of the comparison.
            Raises ``StudioError`` if there is no such speech.
        discard: Deletes what the cache keeps for a precision that is not used.
    """

    stage: str
    weights: Path
    precisions: tuple[Precision, ...]
    load: Callable[[Precision], _Network]
    measure: Callable[[_Network], Callable[[_Network, RequestControl], TimedMel]]
    discard: Callable[[Precision], None] = lambda _precision: None


def _open_fastest(
    choice: _Choice[_Network], device: str, control: RequestControl, *, may_compare: bool
) -> tuple[_Network, Precision, str, bool]:
    """Return the network, its precision, the reason, and whether a comparison is still needed."""
    exact = Precision.FLOAT32
    if device != "cpu":
        return choice.load(exact), exact, "", False
    paths_of = {precision: _report_path(choice.weights, precision, device) for precision in choice.precisions}
    found = {precision: report for precision, path in paths_of.items() if (report := _stored_measurement(path))}
    missing = [
        precision
        for precision in choice.precisions
        if precision not in found and onednn.speedup(precision) >= _MIN_SPEEDUP
    ]
    loaded: dict[Precision, _Network] = {}
    if missing:
        loaded[exact] = choice.load(exact)
        if not may_compare:
            return loaded[exact], exact, f"{choice.stage} in float32; {_NOT_COMPARED}", True
        control.report_progress("precision", 0.0)
        try:
            run = choice.measure(loaded[exact])
        except StudioError as error:  # a damaged front end, which is reported when a voice needs it
            _log.warning("the %s is not compared: %s", choice.stage, error)
            return loaded[exact], exact, "", False
        for precision in missing:
            _log.info("comparing the %s in %s with float32", choice.stage, precision.value)
            loaded[precision] = choice.load(precision)
            found[precision] = _compared(partial(run, loaded[exact], control), partial(run, loaded[precision], control))
            if math.isfinite(found[precision].distance_db):
                _store(paths_of[precision], asdict(found[precision]))
            # The others are freed now, because a large model may not fit in memory in three precisions.
            loaded = {each: network for each, network in loaded.items() if each in (exact, _fastest(found))}
    chosen = _fastest(found)
    for precision in {exact, *missing} - {chosen} if missing else ():
        choice.discard(precision)
    network = loaded[chosen] if chosen in loaded else choice.load(chosen)
    return network, chosen, _reason(choice.stage, chosen, found), False


def _stored_measurement(path: Path) -> Measurement | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return Measurement(**read_json(path))
    return None


def _fastest(found: Mapping[Precision, Measurement]) -> Precision:
    """Return the fastest precision that is close enough, or float32."""
    better = [precision for precision, report in found.items() if _is_better(precision, report)]
    return min(better, key=lambda precision: found[precision].relative_seconds, default=Precision.FLOAT32)


def _is_better(precision: Precision, found: Measurement) -> bool:
    """Return whether ``precision`` is close and faster. A NaN is neither."""
    return found.distance_db <= _LIMITS_DB[precision] and found.relative_seconds <= _MAX_TIME_SHARE


def _reason(stage: str, chosen: Precision, found: Mapping[Precision, Measurement]) -> str:
    """Return the measurements of a ``stage``, the one of the ``chosen`` precision first; empty if there are none."""
    remarks = [] if chosen in found or not found else ["float32"]
    for precision, report in sorted(found.items(), key=lambda item: item[0] is not chosen):
        verdict = "" if precision is chosen else " refused" if not _is_better(precision, report) else " is slower"
        remarks.append(
            f"{precision.value}{verdict}: {report.distance_db:.2f} dB from float32, {report.relative_seconds:.0%} of its time"
        )
    return f"{stage} in {'; '.join(remarks)}" if remarks else ""


def _candidate(
    checkpoint: Checkpoint, precision: Precision, options: EngineOptions, remarks: list[str], control: RequestControl
) -> CachedSpeechLM[Any] | None:
    """Load the language model; return None if it fails the check. Append the reason to ``remarks``."""
    try:
        speech_lm = checkpoint.load_speech_lm(precision, options.device, variant=options.variant)
    except UnsupportedPrecision as error:
        remarks.append(f"{precision.value} refused: {error.message}")
        return None
    report = _quality(checkpoint, precision, speech_lm, options, control)
    is_good = report.is_good_enough(precision)
    remarks.append(f"{precision.value}{'' if is_good else ' refused'}: {_describe(report)}")
    return speech_lm if is_good else None


def _parse_precision(name: str) -> Precision:
    try:
        return Precision(name)
    except ValueError as error:
        known = ", ".join([AUTO, *(precision.value for precision in Precision)])
        raise UnsupportedPrecision(
            "Unknown precision “{name}”.", remedy="Choose one of {known}.", name=name, known=known
        ) from error


def _describe(report: QualityReport) -> str:
    return (
        f"scores within {report.relative_error:.2%} of float32, divergence {report.divergence_nats:.1e} nats"
        f" (worst step {report.worst_divergence_nats:.1e}), same most likely token in {report.top_agreement:.0%}"
        f" of {report.num_tokens} steps"
    )


def _quality(
    checkpoint: Checkpoint,
    precision: Precision,
    speech_lm: CachedSpeechLM[Any],
    options: EngineOptions,
    control: RequestControl,
) -> QualityReport:
    weights = checkpoint.speech_lm_path(options.variant)
    path = _report_path(weights, precision, options.device)
    if (stored := _stored_quality(path)) is not None:
        return stored
    control.raise_if_cancelled()
    control.report_progress("precision", 0.0)
    _log.info("comparing the language model in %s with float32", precision.value)
    network = open_network(weights, checkpoint.speech_lm)
    report = compare_with_reference(speech_lm, network, requests=trial_requests(checkpoint))
    release_pages(weights)
    _store(path, asdict(report))
    return report


def _stored_quality(path: Path) -> QualityReport | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return QualityReport(**read_json(path))
    return None


def _store(path: Path, report: dict[str, object]) -> None:
    try:
        atomic_write(path, json.dumps(report).encode())
    except (DiskFull, CannotWrite) as error:
        _log.warning("cannot store the result of the precision check: %s", error)


def trial_requests(checkpoint: Checkpoint) -> list[SpeechTokenRequest]:
    """Return the sentences of the comparison as requests, each with the transcript and clip of a bundled voice."""
    form, text_tokenizer = checkpoint.generation.text, checkpoint.load_text_tokenizer()
    speech_tokenizer = checkpoint.load_speech_tokenizer(_TOKENIZER_THREADS)
    requests = []
    for voice, text in _TRIAL_SENTENCES:
        clip = paths.resources() / "voices" / f"{voice}.wav"
        transcript = clip.with_suffix(".txt").read_text("utf-8").strip()
        sentence = next(
            item for item in prepare_text(text, form=form, tokenizer=text_tokenizer) if isinstance(item, Sentence)
        )
        requests.append(
            SpeechTokenRequest(
                text_tokens=sentence.text_tokens,
                prompt_text_tokens=form.zero_shot(transcript, text_tokenizer),
                prompt_speech_tokens=source_tokens(read_audio(clip), speech_tokenizer),
            )
        )
    return requests


def _report_path(weights: Path, precision: Precision, device: str) -> Path:
    status = weights.stat()
    parts = (
        _REPORT_VERSION, str(weights.resolve()), status.st_size, status.st_mtime_ns, precision.value, device,
        torch.__version__, onnxruntime.__version__, torch.backends.cpu.get_cpu_capability(),
    )  # fmt: skip
    return paths.cache_folder() / "engines" / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.json"
