"""Which candidate speaks, and why not a faster one. Pure: facts in, choice and words out. No torch.

The fastest candidate that was proven on this machine with these weights is chosen. Every other has a reason in
words: unusable here, wrong, failed, too large for what is free, slower, or not tried yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from studio.engines.manifest import FailureRecord, Manifest
from studio.engines.overview import CandidateView, Status
from studio.engines.store import MOST_FAILURES
from studio.wording import Message, wording

# A gain below this is within what measuring twice differs by.
_WORTHWHILE_SPEEDUP = 1.05


def choose(candidates: Sequence[CandidateView], *, unfit: frozenset[str] = frozenset()) -> CandidateView:
    """The fastest that is proven, else the reference, which is the first. ``unfit``: keys that could not be opened."""
    reference = candidates[0]
    proven = [view for view in candidates if view.status is Status.PROVEN and view.key not in unfit]
    fastest = max(proven, key=lambda view: view.speedup, default=reference)
    return fastest if fastest.speedup >= _WORTHWHILE_SPEEDUP * max(1.0, reference.speedup) else reference


def status_of(
    *,
    unusable: Message | None,
    no_room: Message | None,
    manifest: Manifest | None,
    attempts: FailureRecord | None,
    is_being_built: bool,
    has_failed_now: Message | None,
) -> tuple[Status, Message | None]:
    """Where a candidate stands, and why. ``has_failed_now``: in this very process."""
    if unusable is not None:
        return Status.UNUSABLE, unusable
    if manifest is not None:
        complaint = manifest.verification.complaint
        return (Status.PROVEN, None) if manifest.is_good else (Status.REFUSED, complaint)
    if is_being_built:
        return Status.BUSY, wording("another window of the program is trying it")
    if has_failed_now is not None or (attempts is not None and attempts.num_failures):
        return _after_failure(attempts, has_failed_now)
    return (
        (Status.UNTRIED, wording("it has not been tried yet"))
        if no_room is None
        else (Status.INSUFFICIENT_RESOURCES, no_room)
    )


def _after_failure(attempts: FailureRecord | None, has_failed_now: Message | None) -> tuple[Status, Message]:
    if attempts is not None and attempts.num_failures >= MOST_FAILURES:
        return Status.BACKED_OFF, wording(
            "it failed {count} times and rests until you ask for it; the last time: {reason}",
            count=attempts.num_failures,
            reason=attempts.reason,
        )
    if has_failed_now is not None:
        return Status.BACKED_OFF, wording("{reason}; it is tried again at the next start", reason=has_failed_now)
    assert attempts is not None
    return Status.FAILED, attempts.reason


def why_not(view: CandidateView, choice: CandidateView) -> Message:
    """Why ``view`` does not speak, as a clause. ``choice`` is what does."""
    if view.key == choice.key:
        return wording("it is in use")
    if view.status is not Status.PROVEN or view.timing is None:
        return view.reason or wording("it has not been tried yet")
    if choice.is_reference and view.speedup < _WORTHWHILE_SPEEDUP:
        return wording("it is no faster than plain float32 ({factor:.2f} times)", factor=view.speedup)
    if choice.timing is None and not choice.is_reference:
        return wording("what is in use has not been measured yet")
    if choice.timing is None or view.speedup >= choice.speedup:
        return wording("it could not be opened")
    return _slower(view, choice)


def _slower(view: CandidateView, choice: CandidateView) -> Message:
    """Not their seconds: each was measured in turns with plain float32, but at times when the machine was busy or not."""
    if view.is_reference:
        return wording("it is slower: what is in use is {best:.2f} times as fast", best=choice.speedup)
    return wording(
        "it is slower: {factor:.2f} times as fast as plain float32, and what is in use {best:.2f} times",
        factor=view.speedup,
        best=choice.speedup,
    )


def no_room_for(needed_bytes: int, free_bytes: int, *, is_disk: bool = False) -> Message | None:
    """The reason not to try what needs more than is free, or None."""
    if needed_bytes <= free_bytes:
        return None
    needed, free = needed_bytes / 2**30, free_bytes / 2**30
    if is_disk:
        return wording("it needs {needed:.1f} GB of disk, and {free:.1f} GB are free", needed=needed, free=free)
    return wording("it needs {needed:.1f} GB of memory, and {free:.1f} GB may be used now", needed=needed, free=free)
