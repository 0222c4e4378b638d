"""The language model in the fastest precision that is good enough on these very weights, and why.

``auto`` tries precisions from the fastest on. Each is compared with float32 once per weight file and
machine; the verdict is kept in the cache folder. What is chosen, and why nothing faster, can be read in
the engine's description.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from studio import paths
from studio.errors import UnsupportedPrecision
from studio.json_input import read_json
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.speech_lm import QualityReport, TorchSpeechLM, compare_with_reference, open_network
from studio.model.weights import release_pages
from studio.pipeline.request import EngineOptions

_log = logging.getLogger(__name__)
AUTO = "auto"
# Fastest first, as measured for one token of a 0.5B model (studio.model.speech_lm.linear).
_REDUCED = {
    "cpu": (Precision.INT8, Precision.FLOAT16),
    "cuda": (Precision.BFLOAT16,),
}
# Bump when the comparison means something else.
_VERDICT_VERSION = 1


@dataclass(frozen=True, slots=True)
class OpenedSpeechLM:
    speech_lm: TorchSpeechLM
    precision: Precision
    reason: str


def open_speech_lm(checkpoint: Checkpoint, options: EngineOptions) -> OpenedSpeechLM:
    """The language model as asked for, or the best for this machine. Raises ``UnsupportedPrecision`` and load errors."""
    wanted = options.speech_lm_precision
    if wanted != AUTO:
        precision = _named(wanted)
        speech_lm = checkpoint.load_speech_lm(precision, options.device, variant=options.variant)
        return OpenedSpeechLM(speech_lm, precision, f"language model in {precision.value}, as asked")
    remarks: list[str] = []
    for precision in _REDUCED[torch.device(options.device).type]:
        candidate = _candidate(checkpoint, precision, options, remarks)
        if candidate is not None:
            return OpenedSpeechLM(candidate, precision, f"language model in {'; '.join(remarks)}")
    speech_lm = checkpoint.load_speech_lm(Precision.FLOAT32, options.device, variant=options.variant)
    return OpenedSpeechLM(speech_lm, Precision.FLOAT32, f"language model in {'; '.join(['float32', *remarks])}")


def _candidate(
    checkpoint: Checkpoint, precision: Precision, options: EngineOptions, remarks: list[str]
) -> TorchSpeechLM | None:
    """The language model in ``precision`` if it can be had and is good enough; ``remarks`` hears why, or why not."""
    try:
        speech_lm = checkpoint.load_speech_lm(precision, options.device, variant=options.variant)
    except UnsupportedPrecision as error:
        remarks.append(f"{precision.value} refused: {error.message}")
        return None
    verdict = _verdict(checkpoint, precision, speech_lm, options)
    is_good = verdict.is_good_enough(precision)
    remarks.append(f"{precision.value}{'' if is_good else ' refused'}: {_in_words(verdict)}")
    return speech_lm if is_good else None


def _named(name: str) -> Precision:
    try:
        return Precision(name)
    except ValueError as error:
        known = ", ".join([AUTO, *(precision.value for precision in Precision)])
        raise UnsupportedPrecision(
            "There is no precision “{name}”.", remedy="Choose one of {known}.", name=name, known=known
        ) from error


def _in_words(verdict: QualityReport) -> str:
    return (
        f"scores within {verdict.relative_error:.2%} of float32, divergence {verdict.divergence_nats:.1e} nats"
        f" over {verdict.num_tokens} tokens"
    )


def _verdict(
    checkpoint: Checkpoint, precision: Precision, speech_lm: TorchSpeechLM, options: EngineOptions
) -> QualityReport:
    weights = checkpoint.speech_lm_path(options.variant)
    path = paths.cache_folder() / "engines" / f"{_key(weights, precision, options.device)}.json"
    with contextlib.suppress(OSError, ValueError, TypeError):
        return QualityReport(**read_json(path))
    _log.info("comparing the language model in %s with float32", precision.value)
    verdict = compare_with_reference(speech_lm, open_network(weights, checkpoint.speech_lm))
    release_pages(weights)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        beside.write_text(json.dumps(asdict(verdict)), "utf-8")
        os.replace(beside, path)
    except OSError as error:
        _log.warning("the verdict cannot be kept: %s", error)
    return verdict


def _key(weights: Path, precision: Precision, device: str) -> str:
    status = weights.stat()
    parts = (
        _VERDICT_VERSION, str(weights.resolve()), status.st_size, status.st_mtime_ns, precision.value, device,
        torch.__version__, torch.backends.cpu.get_cpu_capability(),
    )  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()
