"""Cutting the silence of takes. The result is a new take; the take before is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from studio.audio.resampling import Samples
from studio.audio.silence import Pauses, SilenceCuts, SilenceLimits, find_pauses
from studio.project.project import Project
from studio.project.recording import TakeRecorder
from studio.project.takes import Take
from studio.take_checks.cut_takes import check_after_cuts
from studio.take_checks.requests import Strictness


@dataclass(frozen=True, slots=True)
class TakePauses:
    """A take and the pauses of its recording without the trimmed ends."""

    take: Take
    pauses: Pauses

    @property
    def seconds(self) -> float:
        return self.pauses.num_samples / self.pauses.sample_rate


def take_pauses(project: Project, take: Take) -> TakePauses:
    """Return the pauses of ``take`` from its word times or, without any, from its sound. Reads the disk.

    Raise ``TakeNotFound``.
    """
    words = take.check.words if take.check is not None else ()
    times = [(word.from_seconds - take.trim_start_seconds, word.to_seconds - take.trim_start_seconds) for word in words]
    return TakePauses(take, find_pauses(trimmed_recording(project, take), take.sample_rate, times))


def trimmed_recording(project: Project, take: Take) -> Samples:
    """Return the recording of ``take`` without its trimmed ends. Raise ``TakeNotFound``."""
    recording = project.recording_of(take.id)
    start = round(take.trim_start_seconds * take.sample_rate)
    return recording[start : max(start, len(recording) - round(take.trim_end_seconds * take.sample_rate))]


def cut_silence(
    project: Project,
    found: Sequence[TakePauses],
    limits: SilenceLimits,
    strictness: Strictness,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> list[Take]:
    """Return new takes, not yet in the script, for those of ``found`` that become shorter. None if cancelled.

    Raise ``TakeNotFound``, ``DiskFull`` or ``CannotWrite``, after which there is no new take.
    """
    recorders: list[tuple[TakeRecorder, Take, SilenceCuts]] = []
    try:
        for each in found:
            if is_cancelled():
                return []
            if not each.pauses.saved_seconds(limits):
                continue
            samples = trimmed_recording(project, each.take)
            cuts = each.pauses.cuts(samples, limits)
            recorder = project.begin_take(each.take.line_id, each.take.parameters, each.take.sample_rate)
            recorders.append((recorder, each.take, cuts))
            recorder.append(cuts.apply(samples))
        made = []
        while recorders:
            recorder, take, cuts = recorders[0]
            made.append(_as_cut(recorder.finish(), take, cuts, strictness))
            recorders.pop(0)
        return made
    finally:
        for recorder, _, _ in recorders:
            recorder.discard()


def _as_cut(made: Take, take: Take, cuts: SilenceCuts, strictness: Strictness) -> Take:
    """Return the new take with the properties of ``take`` that the cuts do not change, and with its moved word times."""

    def time_after(seconds: float) -> float:
        return cuts.time_after(min(max(0.0, seconds - take.trim_start_seconds), cuts.num_samples / cuts.sample_rate))

    check = None if take.check is None else check_after_cuts(take.check, time_after, strictness)
    return replace(made, is_complete=take.is_complete, check=check, retry_of=take.retry_of)
