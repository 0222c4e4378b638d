"""Opening of the stages of a model in the requested precision, or in the fastest one that is close to float32.

``auto`` compares each precision with float32 once per weight file and machine: the language model on sentences in
several languages that follow the clips of bundled voices, the flow and the vocoder on two seconds of speech. The
description of the model includes the reason for the choice.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from studio import paths
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import StudioError, UnsupportedPrecision
from studio.model import cpu_products
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.limits import LIMITS, MIN_PRODUCT_SPEEDUP
from studio.model.measurements import Record, Records, Verification
from studio.model.onnx_networks import onnxruntime
from studio.model.speech_lm import CachedSpeechLM, QualityReport, compare_with_reference, open_network
from studio.model.stages import FlowDecoder, FlowPrompt, SpeechTokenRequest, Vocoder
from studio.model.weights import release_pages
from studio.pipeline.comparison import MeasuredSpeech, TimedMel, compare_timed, is_faster, timed, timed_flow
from studio.pipeline.enrolment import Frontend, build_prompt, source_tokens
from studio.pipeline.request import AUTO, EngineOptions, RequestControl, VoicePrompt, VoiceReference
from studio.text.segmentation import Sentence, prepare_text
from studio.voices.features import prompt_mel

_log = logging.getLogger(__name__)
_Network = TypeVar("_Network")
_Network_co = TypeVar("_Network_co", covariant=True)
# Increase when a comparison or a precision changes.
_VERSION = "9"
# Sentences of the comparison, each with the bundled voice whose clip precedes it.
_TRIAL_SENTENCES = (
    ("Ada", "The last train had left, so we walked home along the river."),
    ("Miles", "At half past seven, Dr. Brown opened the old blue door."),
    ("Linda", "今天天气很好，我们一起去公园散步吧。"),
    ("Max", "明日の朝、駅の前で会いましょう。"),
)
# The bundled voice on which flow and vocoder are compared.
_MEASURED_CLIP = "Ada.wav"
_TOKENIZER_THREADS = 2
_NOT_COMPARED = "precisions are compared later"
# A slower round is repeated, because another program may have delayed it.
_TIMED_ROUNDS = 3
# With the comparison that has begun, the first start takes less than a minute even without fast instructions.
MAX_COMPARISON_SECONDS = 40.0
_VOCODER_FRAMES = 100


@dataclass(frozen=True, slots=True)
class Opened(Generic[_Network_co]):
    """An opened stage. ``reason`` is empty if there was no choice, ``verification`` None without a comparison."""

    network: _Network_co
    precision: Precision
    reason: str = ""
    is_provisional: bool = False  # a comparison might find a faster precision
    verification: Verification | None = None


class StageOpener:
    """Opens stages on any thread. The progress of comparisons is the stage "precision" of ``control``.

    If a comparison is needed and ``may_compare`` is False, a stage is opened in the precision that will probably be
    chosen: float32 for a model that ``is_small``, and otherwise the one with the fastest products. Comparisons begin only
    within ``MAX_COMPARISON_SECONDS`` after the first one; the next start makes the others. All methods raise
    ``Cancelled``, ``UnsupportedPrecision`` and load errors.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        options: EngineOptions,
        frontend: Callable[[], Frontend],
        control: RequestControl | None = None,
        *,
        may_compare: bool = True,
        is_small: bool = False,
    ) -> None:
        self._checkpoint = checkpoint
        self._options = options
        self._frontend = frontend
        self._control = control or RequestControl()
        self._may_compare = may_compare
        self._is_small = is_small
        self._records = Records(model_folder=checkpoint.folder)
        self._first_comparison: float | None = None

    def speech_lm(self) -> Opened[CachedSpeechLM[Any]]:
        if self._options.speech_lm_precision != AUTO:
            precision = _parse_precision(self._options.speech_lm_precision)
            return Opened(
                self._load_speech_lm(precision), precision, f"language model in {precision.value}, as requested"
            )
        remarks: list[str] = []
        is_provisional = False
        for precision in DeviceKind(torch.device(self._options.device).type).traits.reduced_precisions:
            facts = self._facts("speech-lm", self._checkpoint.speech_lm_path(self._options.variant), precision)
            record = self._records.read(facts)
            report = _report_of(record)
            must_wait = report is None and not (self._may_compare and self._has_time())
            if must_wait and (self._is_small or self._may_compare):
                is_provisional = not self._may_compare
                remarks.append(_NOT_COMPARED)
                break
            try:
                speech_lm = self._load_speech_lm(precision)
            except UnsupportedPrecision as error:
                remarks.append(f"{precision.value} refused: {error.problem}")
                continue
            if must_wait:
                remarks.append(f"{precision.value}; {_NOT_COMPARED}")
                return Opened(speech_lm, precision, f"language model in {'; '.join(remarks)}", is_provisional=True)
            if record is None or report is None:
                report, record = self._compare_speech_lm(speech_lm, precision, facts)
            if report.is_good_enough(precision):
                remarks.append(f"{precision.value}: {_describe(report)}")
                reason = f"language model in {'; '.join(remarks)}"
                return Opened(speech_lm, precision, reason, verification=record.verification)
            remarks.append(f"{precision.value} refused: {_describe(report)}")
        reason = f"language model in {'; '.join(['float32', *remarks])}"
        return Opened(self._load_speech_lm(Precision.FLOAT32), Precision.FLOAT32, reason, is_provisional)

    def flow(self, before_comparison: Callable[[], object] = lambda: None) -> Opened[FlowDecoder]:
        """Open the flow. ``before_comparison`` waits for other work that would distort the measurement."""
        options, load = self._options, self._checkpoint.load_flow
        if not self.chooses_flow:
            precision = Precision.FLOAT32 if options.flow_precision == AUTO else _flow_precision(options.flow_precision)
            return Opened(load(precision, options.device, num_steps=options.flow_steps), precision)

        def runner(exact: FlowDecoder) -> Callable[[FlowDecoder], TimedMel]:
            before_comparison()
            prompt = self._clip
            speech = MeasuredSpeech.of(FlowPrompt(prompt.flow_tokens, prompt.flow_mel, prompt.embedding), exact)
            return lambda flow: timed_flow(flow, [speech], self._control)

        return self._fastest(
            "flow",
            self._checkpoint.flow_path,
            (Precision.BFLOAT16, Precision.INT8),
            lambda precision: load(precision, options.device),
            runner,
            discard=self._checkpoint.discard_flow,
        )

    def vocoder(self, before_comparison: Callable[[], object] = lambda: None) -> Opened[Vocoder]:
        """Open the vocoder, in float32 unless the precision of the flow is chosen automatically."""
        load, device = self._checkpoint.load_vocoder, self._options.device
        if not self.chooses_flow:
            return Opened(load(Precision.FLOAT32, device), Precision.FLOAT32)

        def runner(_exact: Vocoder) -> Callable[[Vocoder], TimedMel]:
            before_comparison()
            mel = torch.from_numpy(self._clip.flow_mel[:_VOCODER_FRAMES]).t()
            return lambda vocoder: self._timed_vocoder(vocoder, mel)

        path = self._checkpoint.vocoder_path
        return self._fastest("vocoder", path, (Precision.BFLOAT16,), lambda precision: load(precision, device), runner)

    @property
    def chooses_flow(self) -> bool:
        options = self._options
        return options.flow_precision == AUTO and options.flow_steps is None

    def _load_speech_lm(self, precision: Precision) -> CachedSpeechLM[Any]:
        return self._checkpoint.load_speech_lm(precision, self._options.device, variant=self._options.variant)

    def _compare_speech_lm(
        self, speech_lm: CachedSpeechLM[Any], precision: Precision, facts: Mapping[str, str]
    ) -> tuple[QualityReport, Record]:
        self._begin_comparison("language model", precision)
        weights = self._checkpoint.speech_lm_path(self._options.variant)
        network = open_network(weights, self._checkpoint.speech_lm)
        report = compare_with_reference(speech_lm, network, requests=trial_requests(self._checkpoint))
        release_pages(weights)
        verification = Verification(
            is_finite=True,
            relative_error=_finite(report.relative_error),
            max_error=0.0,
            num_values=report.num_tokens,
            agreement=report.top_agreement,
            divergence_nats=_finite(report.divergence_nats),
            worst_divergence_nats=_finite(report.worst_divergence_nats),
        )
        return report, self._records.add(facts, verification)

    @cached_property
    def _weights_key(self) -> str:
        return self._checkpoint.weights_key(self._options.variant)

    @cached_property
    def _clip(self) -> VoicePrompt:
        """The prompt of a bundled voice."""
        return build_prompt(VoiceReference(paths.resources() / "voices" / _MEASURED_CLIP), self._frontend(), "")

    def _timed_vocoder(self, vocoder: Vocoder, mel: torch.Tensor) -> TimedMel:
        """Return the mel of what ``vocoder`` makes of ``mel``, and its time."""
        samples, seconds = timed(lambda: vocoder.synthesize_whole(mel, vocoder.noise(0)), self._control)
        waveform = Waveform(samples, self._checkpoint.vocoder.sample_rate)
        return TimedMel(prompt_mel(waveform, self._checkpoint.prompt_mel).T, seconds)

    def _facts(self, stage: str, weights: Path, precision: Precision) -> dict[str, str]:
        status = weights.stat()
        return {
            "stage": stage,
            "name": precision.value,
            "version": _VERSION,
            "weights": f"{weights.resolve()} {status.st_size} {status.st_mtime_ns}",
            "content": self._weights_key,
            "device": self._options.device,
            "torch": torch.__version__,
            "onnxruntime": onnxruntime.__version__,
            "instructions": torch.backends.cpu.get_cpu_capability(),
        }

    def _fastest(
        self,
        stage: str,
        weights: Path,
        precisions: tuple[Precision, ...],
        load: Callable[[Precision], _Network],
        runner: Callable[[_Network], Callable[[_Network], TimedMel]],
        *,
        discard: Callable[[Precision], object] = lambda _precision: None,
    ) -> Opened[_Network]:
        """Open a stage in the fastest of ``precisions`` and float32 that is close to float32.

        ``runner`` receives the float32 network, and returns the function that runs a network on the speech of the
        comparison; it raises ``StudioError`` if there is none. ``discard`` deletes what the cache keeps for a precision
        that is not used.
        """
        exact = Precision.FLOAT32
        if self._options.device != "cpu":
            return Opened(load(exact), exact)
        facts = {precision: self._facts(stage, weights, precision) for precision in precisions}
        found = {precision: record for precision in precisions if (record := self._records.read(facts[precision]))}
        speedups = {precision: cpu_products.speedup(precision) for precision in precisions if precision not in found}
        missing = [precision for precision, speedup in speedups.items() if speedup >= MIN_PRODUCT_SPEEDUP]
        if missing and not self._may_compare:
            fastest = exact if self._is_small else max(missing, key=lambda precision: speedups[precision])
            return Opened(load(fastest), fastest, f"{stage} in {fastest.value}; {_NOT_COMPARED}", is_provisional=True)
        missing = [precision for precision in missing if self._has_time()]
        loaded: dict[Precision, _Network] = {}
        if missing:
            loaded[exact] = load(exact)
            try:
                run = runner(loaded[exact])
            except StudioError as error:  # a damaged front end, which is reported when a voice needs it
                _log.warning("skipping the precision comparison of the %s: %s", stage, error)
                return Opened(loaded[exact], exact)
            timed_exact: TimedMel | None = None
            for precision in missing:
                if not self._has_time():
                    break
                self._begin_comparison(stage, precision)
                loaded[precision] = load(precision)
                timed_exact = timed_exact or run(loaded[exact])
                found[precision] = self._compare(facts[precision], run, loaded[exact], loaded[precision], timed_exact)
                # The others are freed now, because a large model may not fit in memory in three precisions.
                loaded = {each: network for each, network in loaded.items() if each in (exact, _best(found))}
        chosen = _best(found)
        for precision in {exact, *missing} - {chosen} if missing else ():
            discard(precision)
        network = loaded[chosen] if chosen in loaded else load(chosen)
        verification = found[chosen].verification if chosen in found else None
        return Opened(network, chosen, _reason(stage, chosen, found), verification=verification)

    def _begin_comparison(self, stage: str, precision: Precision) -> None:
        self._control.raise_if_cancelled()
        now = time.monotonic()
        if self._first_comparison is None:
            self._first_comparison = now
        self._control.report_progress("precision", (now - self._first_comparison) / MAX_COMPARISON_SECONDS)
        _log.info("comparing the %s in %s with float32", stage, precision.value)

    def _has_time(self) -> bool:
        """Return whether another comparison may begin."""
        began = self._first_comparison
        return began is None or time.monotonic() - began < MAX_COMPARISON_SECONDS

    def _compare(
        self,
        facts: Mapping[str, str],
        run: Callable[[_Network], TimedMel],
        exact: _Network,
        reduced: _Network,
        timed_exact: TimedMel,
    ) -> Record:
        frame_rate = self._checkpoint.generation.frame_rate
        for number in range(_TIMED_ROUNDS):
            again = run(exact) if number else timed_exact
            verification, timing = compare_timed(again, run(reduced), frame_rate)
            if is_faster(timing) or not self._has_time():
                break
        return self._records.add(facts, verification, timing)


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


def _report_of(record: Record | None) -> QualityReport | None:
    """Return the report of a language model in ``record``; None if there is none."""
    if record is None:
        return None
    found = record.verification
    if found.agreement is None or found.divergence_nats is None or found.worst_divergence_nats is None:
        return None
    return QualityReport(
        found.num_values, found.relative_error, found.divergence_nats, found.agreement, found.worst_divergence_nats
    )


def _finite(value: float) -> float:
    """Return ``value``, or a number above all limits, so that a broken precision is not compared at every start."""
    return value if math.isfinite(value) else 1e9


def _describe(report: QualityReport) -> str:
    return (
        f"scores within {report.relative_error:.2%} of float32, divergence {report.divergence_nats:.1e} nats"
        f" (worst step {report.worst_divergence_nats:.1e}), same most likely token in {report.top_agreement:.0%}"
        f" of {report.num_tokens} steps"
    )


def _best(found: Mapping[Precision, Record]) -> Precision:
    """Return the fastest precision that is close enough, or float32."""
    better = {
        precision: record.timing.speedup
        for precision, record in found.items()
        if record.timing is not None and _is_better(precision, record)
    }
    return max(better, key=lambda precision: better[precision], default=Precision.FLOAT32)


def _is_better(precision: Precision, record: Record) -> bool:
    """Return whether ``precision`` is close and faster."""
    distance_db = record.verification.mel_distance_db
    is_close = distance_db is not None and distance_db <= LIMITS[precision].mel_distance_db  # a NaN is not
    return is_close and record.timing is not None and is_faster(record.timing)


def _reason(stage: str, chosen: Precision, found: Mapping[Precision, Record]) -> str:
    """Return the measurements of a ``stage``, the one of the ``chosen`` precision first; empty if there are none."""
    remarks = [] if chosen in found or not found else ["float32"]
    for precision, record in sorted(found.items(), key=lambda item: item[0] is not chosen):
        verdict = "" if precision is chosen else " refused" if not _is_better(precision, record) else " is slower"
        share = 1.0 / record.timing.speedup if record.timing else 0.0
        remarks.append(
            f"{precision.value}{verdict}: {record.verification.mel_distance_db:.2f} dB from float32, {share:.0%} of its time"
        )
    return f"{stage} in {'; '.join(remarks)}" if remarks else ""


def _parse_precision(name: str) -> Precision:
    try:
        return Precision(name)
    except ValueError as error:
        known = ", ".join([AUTO, *(precision.value for precision in Precision)])
        raise UnsupportedPrecision(
            "Unknown precision “{name}”.", remedy="Choose one of {known}.", name=name, known=known
        ) from error


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
