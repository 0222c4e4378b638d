"""Estimate the remaining time of a trial from earlier trials on this machine or from its own speed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from studio.engines.manifest import Manifest
from studio.engines.task import Step

# A phase's speed is too uncertain before this share of it is done.
_MIN_SHARE = 0.05


def phase_history(manifests: Iterable[Manifest], stage: str, name: str) -> dict[str, float]:
    """Return the duration of each phase in the candidate's latest trial with any model, or an empty mapping."""
    for manifest in manifests:
        if (manifest.facts.get("stage"), manifest.facts.get("name")) == (stage, name) and manifest.phase_seconds:
            return dict(manifest.phase_seconds)
    return {}


def remaining_seconds(
    step: Step, phases: Sequence[str], past: Mapping[str, float], seconds_in_phase: float
) -> float | None:
    """Return the estimated seconds, or None if neither earlier trials nor this trial's speed allow an estimate."""
    later = phases[step.index + 1 :]
    if any(phase not in past for phase in later):
        return None
    if step.share >= _MIN_SHARE:
        current = seconds_in_phase * (1 - step.share) / step.share
    elif step.phase in past:
        current = max(0.0, past[step.phase] - seconds_in_phase)
    else:
        return None
    return current + sum(past[phase] for phase in later)
