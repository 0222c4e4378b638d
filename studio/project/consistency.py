"""Consistency of the voices of a script: the measures of its takes, their targets, and the lines outside them.

Headings are left out, because titles are read slower than sentences. All values come from the stored checks, so
thousands of takes are compared at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from studio.pipeline.request import Mode
from studio.project.details import VoiceRole
from studio.project.lines import Line
from studio.project.script import Script
from studio.project.takes import Take
from studio.take_checks.consistency import centred, deviations, drifts, target_of
from studio.take_checks.records import Measure, ProblemKind, Span, TakeCheck, TakeMeasures, VoiceTarget
from studio.voices.voice import name_key

# A take is also compared with the median of this many lines of its role on each side, with a wider tolerance.
_NEIGHBOURS = 4
_MIN_NEIGHBOURS = 5
_NEIGHBOUR_TOLERANCE = 1.25


@dataclass(frozen=True, slots=True)
class MeasuredLine:
    """A line with the measures of its chosen take.

    Attributes:
        deviations: Distance of each measure from its target, in tolerances.
        drifts: The measures outside the target or the neighbouring lines; empty if the user has accepted the take.
    """

    number: int
    line: Line
    role: VoiceRole
    take: Take
    measures: TakeMeasures
    deviations: Mapping[Measure, float]
    drifts: Mapping[Measure, float]


@dataclass(frozen=True, slots=True)
class Consistency:
    """The measured lines of a script in order.

    Attributes:
        unmeasured: Chosen takes that were checked by an earlier version or not at all.
        num_headings: The number of spoken headings, which are not compared.
    """

    lines: tuple[MeasuredLine, ...]
    targets: Mapping[VoiceRole, VoiceTarget]
    unmeasured: tuple[Take, ...]
    num_headings: int = 0

    @property
    def drifting(self) -> tuple[MeasuredLine, ...]:
        return tuple(each for each in self.lines if each.drifts)


def analyse(script: Script) -> Consistency:
    """Compare the chosen takes of ``script`` with its targets, or with those of its best takes, and with each other."""
    measured = list(_measured(script))
    targets = dict(best_targets(script)) | dict(script.details.targets)
    of_role: dict[VoiceRole, list[TakeMeasures]] = {}
    places = []
    for _, line, take, measures in measured:
        takes = of_role.setdefault(role_of(line, take), [])
        places.append(len(takes))
        takes.append(measures)
    lines = []
    for place, (number, line, take, measures) in zip(places, measured, strict=True):
        role = role_of(line, take)
        target = targets[role]
        around = _around(of_role[role], place)
        is_accepted = take.is_kept or (take.check is not None and take.check.is_accepted)
        found = {} if is_accepted else drifts(measures, _targets(target, around), take.audio_seconds)
        lines.append(
            MeasuredLine(number, line, role, take, measures, deviations(measures, target, take.audio_seconds), found)
        )
    num_headings = sum(line.is_spoken and bool(line.heading and line.chosen_take) for line in script.lines)
    return Consistency(tuple(lines), targets, tuple(_unmeasured(script)), num_headings)


def best_targets(script: Script) -> Mapping[VoiceRole, VoiceTarget]:
    """Return targets from the takes without problems; from all takes of a role if there are no such takes."""
    everything: dict[VoiceRole, list[TakeMeasures]] = {}
    best: dict[VoiceRole, list[TakeMeasures]] = {}
    for _, line, take, measures in _measured(script):
        role = role_of(line, take)
        everything.setdefault(role, []).append(measures)
        if not take.needs_review:
            best.setdefault(role, []).append(measures)
    return {role: target_of(best.get(role, takes)) for role, takes in everything.items()}


def example_targets(script: Script, line_ids: Collection[str]) -> Mapping[VoiceRole, VoiceTarget]:
    """Return targets for the roles of some lines, with the medians of their takes as centres."""
    examples: dict[VoiceRole, list[TakeMeasures]] = {}
    for _, line, take, measures in _measured(script):
        if line.id in line_ids:
            examples.setdefault(role_of(line, take), []).append(measures)
    usual = best_targets(script)
    return {role: centred(usual[role], takes) for role, takes in examples.items()}


def targets_of_take(script: Script, take: Take) -> tuple[VoiceTarget, ...]:
    """Return the targets for the check of ``take``: that of its role and that of the lines around it.

    A script without targets has none, so that new scripts are not checked for consistency. Headings have none.
    """
    line = script.line(take.line_id)
    return targets_of_line(script, line, role_of(line, take))


def targets_of_line(script: Script, line: Line, role: VoiceRole) -> tuple[VoiceTarget, ...]:
    """Return the targets for speech of ``line`` in ``role``, like ``targets_of_take``."""
    target = None if line.heading else script.details.targets.get(role)
    if target is None:
        return ()
    number = script.index_of[line.id] + 1
    others = [each for each in _measured(script) if each[1].id != line.id and role_of(each[1], each[2]) == role]
    before = [measures for other, _, _, measures in others if other < number][-_NEIGHBOURS:]
    after = [measures for other, _, _, measures in others if other > number][:_NEIGHBOURS]
    return _targets(target, [*before, *after])


def role_of(line: Line, take: Take) -> VoiceRole:
    return VoiceRole(name_key(line.character or ""), take.parameters.voice_name, take.parameters.style)


def _targets(target: VoiceTarget, around: Sequence[TakeMeasures]) -> tuple[VoiceTarget, ...]:
    if len(around) < _MIN_NEIGHBOURS:
        return (target,)
    local = centred(target, around)
    wider = {measure: Span(span.centre, span.tolerance * _NEIGHBOUR_TOLERANCE) for measure, span in local.items()}
    return (target, wider)


def _around(takes: Sequence[TakeMeasures], place: int) -> list[TakeMeasures]:
    return [*takes[max(0, place - _NEIGHBOURS) : place], *takes[place + 1 : place + 1 + _NEIGHBOURS]]


def _measured(script: Script) -> Iterator[tuple[int, Line, Take, TakeMeasures]]:
    for number, line, take in _chosen(script):
        measures = None if take.check is None else take.check.measures
        if measures is not None and measures.pitch_hz is not None:
            yield number, line, take, measures


def _unmeasured(script: Script) -> Iterator[Take]:
    for _, _, take in _chosen(script):
        if not _was_measured(take.check):
            yield take


def _was_measured(check: TakeCheck | None) -> bool:
    """Return whether another check would find nothing new. A silent take has no measures."""
    if check is None:
        return False
    if check.measures is None:
        return any(each.kind is ProblemKind.LONG_SILENCE for each in check.problems)
    return check.measures.pitch_hz is not None


def _chosen(script: Script) -> Iterator[tuple[int, Line, Take]]:
    """Yield the spoken lines with a complete chosen take, and their numbers, without headings."""
    for number, line in enumerate(script.lines, 1):
        if line.chosen_take is None or not line.is_spoken or line.heading:
            continue
        take = next((each for each in script.takes_of(line.id) if each.id == line.chosen_take), None)
        is_of_person = take is not None and (take.is_recording or take.parameters.mode == Mode.CONVERSION.value)
        if take is not None and take.is_complete and not is_of_person:
            yield number, line, take
