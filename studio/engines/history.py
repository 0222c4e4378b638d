"""How long a trial will still take: from how long its parts took before on this machine, else from this one's pace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from studio.engines.manifest import Manifest
from studio.engines.task import Step

# Less of a part than this says nothing about its pace.
_LEAST_TELLING_SHARE = 0.05


def phase_history(manifests: Iterable[Manifest], stage: str, name: str) -> dict[str, float]:
    """Seconds of each part of the newest trial of that candidate, of whichever model; empty where there was none."""
    for manifest in manifests:
        if (manifest.facts.get("stage"), manifest.facts.get("name")) == (stage, name) and manifest.phase_seconds:
            return dict(manifest.phase_seconds)
    return {}


def remaining_seconds(
    step: Step, phases: Sequence[str], past: Mapping[str, float], seconds_in_phase: float
) -> float | None:
    """None where neither the past nor this trial's pace tells."""
    later = phases[step.index + 1 :]
    if any(phase not in past for phase in later):
        return None
    if step.share >= _LEAST_TELLING_SHARE:
        here = seconds_in_phase * (1 - step.share) / step.share
    elif step.phase in past:
        here = max(0.0, past[step.phase] - seconds_in_phase)
    else:
        return None
    return here + sum(past[phase] for phase in later)
