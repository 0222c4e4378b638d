"""What a built thing depends on, and the name that follows from it: whatever would make it stale is part of the name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from studio.engines.candidate import EngineBackend, EngineTarget
from studio.engines.stage import Device, DeviceKind, Stage
from studio.model.checkpoint import sampled_digest

# Raised when the way candidates are verified or timed changes, so that all are tried again.
PROOF_VERSION = 1


def weight_file(stage: Stage, subject: EngineTarget) -> Path:
    """The file of the model folder that holds the stage's weights."""
    checkpoint = subject.checkpoint
    match stage:
        case Stage.SPEECH_TOKENIZER:
            return checkpoint.folder / checkpoint.generation.speech_tokenizer_file
        case Stage.SPEAKER_ENCODER:
            return checkpoint.folder / "campplus.onnx"
        case Stage.SPEECH_LM:
            return checkpoint.speech_lm_path(subject.variant)
        case Stage.FLOW:
            return checkpoint.folder / "flow.pt"
        case Stage.VOCODER:
            return checkpoint.folder / "hift.pt"


def facts_of(candidate: EngineBackend, subject: EngineTarget) -> dict[str, str]:
    """Everything a built thing of ``candidate`` depends on. Raises ``MissingModelFile``."""
    place, checkpoint = subject.device, subject.checkpoint
    settings = {
        Stage.SPEECH_LM: checkpoint.speech_lm,
        Stage.FLOW: checkpoint.flow,
        Stage.VOCODER: checkpoint.vocoder,
    }.get(candidate.stage)
    own = {f"candidate: {name}": value for name, value in candidate.key_facts(subject).items()}
    return {
        "stage": candidate.stage.value,
        "name": candidate.name,
        "precision": candidate.precision.value,
        "code": str(candidate.code_version),
        "proof": str(PROOF_VERSION),
        "generation": checkpoint.generation.name,
        "weights": sampled_digest(weight_file(candidate.stage, subject)).hex(),
        "settings": hashlib.sha256(repr(settings).encode()).hexdigest(),
        **device_facts(place),
        **own,
    }


def device_facts(place: Device) -> dict[str, str]:
    """What of a place built things depend on. Of a driver its branch: updates within it keep plans valid."""
    if place.kind is DeviceKind.CPU:
        return {"place": place.name, "instructions": place.instructions, "threads": str(place.num_threads)}
    major, minor = place.compute_capability or (0, 0)
    return {"place": place.name, "capability": f"{major}.{minor}", "driver": place.driver.partition(".")[0]}


def key_of(facts: Mapping[str, str]) -> str:
    """The name of a folder: readable up front, decided by all facts."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return f"{facts['stage']}-{facts['name']}-{digest[:20]}"
