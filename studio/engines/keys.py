"""Cache keys of built engines: a hash of everything that would make one stale."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from studio.engines.candidate import EngineBackend, EngineTarget
from studio.engines.stage import Stage
from studio.model.checkpoint import sampled_digest

# Bump when verification or timing changes, so that all engines are tried again.
PROOF_VERSION = 1


def weight_file(stage: Stage, target: EngineTarget) -> Path:
    """Return the file of the model folder that holds the stage's weights."""
    checkpoint = target.checkpoint
    match stage:
        case Stage.SPEECH_TOKENIZER:
            return checkpoint.folder / checkpoint.generation.speech_tokenizer_file
        case Stage.SPEAKER_ENCODER:
            return checkpoint.folder / "campplus.onnx"
        case Stage.SPEECH_LM:
            return checkpoint.speech_lm_path(target.variant)
        case Stage.FLOW:
            return checkpoint.folder / "flow.pt"
        case Stage.VOCODER:
            return checkpoint.folder / "hift.pt"


def facts_of(candidate: EngineBackend, target: EngineTarget) -> dict[str, str]:
    """Return everything a build of ``candidate`` depends on. Raises ``MissingModelFile``."""
    checkpoint = target.checkpoint
    settings = {
        Stage.SPEECH_LM: checkpoint.speech_lm,
        Stage.FLOW: checkpoint.flow,
        Stage.VOCODER: checkpoint.vocoder,
    }.get(candidate.stage)
    own = {f"candidate: {name}": value for name, value in candidate.key_facts(target).items()}
    return {
        "stage": candidate.stage.value,
        "name": candidate.name,
        "precision": candidate.precision.value,
        "code": str(candidate.code_version),
        "proof": str(PROOF_VERSION),
        "generation": checkpoint.generation.name,
        "weights": sampled_digest(weight_file(candidate.stage, target)).hex(),
        "settings": hashlib.sha256(repr(settings).encode()).hexdigest(),
        **target.device.identity,
        **own,
    }


def key_of(facts: Mapping[str, str]) -> str:
    """Return the folder name for ``facts``: the stage, the candidate's name and a hash of all facts."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return f"{facts['stage']}-{facts['name']}-{digest[:20]}"
