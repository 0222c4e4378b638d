"""Choose an engine from the candidates' states, and explain the choice. Pure functions; no torch.

The fastest candidate that was verified on this machine with these weights is chosen. Each of the others gets a reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from studio.engines.manifest import FailureRecord, Manifest
from studio.engines.overview import CandidateView, Status
from studio.engines.store import MAX_FAILURES
from studio.messages import Message, message
from studio.model.limits import MIN_ENGINE_SPEEDUP


def choose(candidates: Sequence[CandidateView], *, excluded: frozenset[str] = frozenset()) -> CandidateView:
    """Return the fastest verified candidate whose key is not in ``excluded``, or the reference, which is the first."""
    reference = candidates[0]
    verified = [view for view in candidates if view.status is Status.VERIFIED and view.key not in excluded]
    fastest = max(verified, key=lambda view: view.speedup, default=reference)
    return fastest if fastest.speedup >= MIN_ENGINE_SPEEDUP * max(1.0, reference.speedup) else reference


def determine_status(
    *,
    unusable: Message | None,
    missing_resources: Message | None,
    manifest: Manifest | None,
    attempts: FailureRecord | None,
    is_being_built: bool,
    failed_now: Message | None,
) -> tuple[Status, Message | None]:
    """Return a candidate's status and its reason. ``failed_now`` is the reason of a failure in this process."""
    if unusable is not None:
        return Status.UNUSABLE, unusable
    if manifest is not None:
        return (Status.VERIFIED, None) if manifest.is_good else (Status.REJECTED, manifest.verification.rejection)
    if is_being_built:
        return Status.BUSY, message("another process is testing it")
    if failed_now is not None or (attempts is not None and attempts.num_failures):
        return _after_failure(attempts, failed_now)
    return (
        (Status.UNTRIED, message("not tested"))
        if missing_resources is None
        else (Status.INSUFFICIENT_RESOURCES, missing_resources)
    )


def _after_failure(attempts: FailureRecord | None, failed_now: Message | None) -> tuple[Status, Message]:
    if attempts is not None and attempts.num_failures >= MAX_FAILURES:
        return Status.BACKED_OFF, message(
            "it failed {count} times and is not tried again automatically; last failure: {reason}",
            count=attempts.num_failures,
            reason=attempts.reason,
        )
    if failed_now is not None:
        return Status.BACKED_OFF, message("{reason}; it is tried again at the next start", reason=failed_now)
    assert attempts is not None
    return Status.FAILED, attempts.reason


def why_not(view: CandidateView, choice: CandidateView) -> Message:
    """Return a clause that explains why ``choice`` is used and not ``view``."""
    if view.key == choice.key:
        return message("it is in use")
    if view.status is not Status.VERIFIED or view.timing is None:
        return _untested(view, choice)
    if choice.is_reference and view.speedup < MIN_ENGINE_SPEEDUP:
        return message("it is not faster than float32 ({factor:.2f}×)", factor=view.speedup)
    if choice.timing is None and not choice.is_reference:
        return message("the engine in use has not been measured yet")
    if choice.timing is None or view.speedup >= choice.speedup:
        return message("it could not be opened")
    return _slower(view, choice)


def _untested(view: CandidateView, choice: CandidateView) -> Message:
    if view.is_reference and choice.timing is None and choice.verification is not None:
        return message("the precision in use was close enough to it when the model was loaded")
    return view.reason or message("not tested")


def _slower(view: CandidateView, choice: CandidateView) -> Message:
    """Compare speed-ups, not seconds: each candidate was timed against float32, under different machine load."""
    if view.is_reference:
        return message("it is slower: the engine in use is {best:.2f}× as fast", best=choice.speedup)
    return message(
        "it is slower: {factor:.2f}× as fast as float32, the engine in use {best:.2f}×",
        factor=view.speedup,
        best=choice.speedup,
    )


def resource_shortage(needed_bytes: int, free_bytes: int, *, is_disk: bool = False) -> Message | None:
    """Return a message if ``needed_bytes`` exceeds ``free_bytes``, else None."""
    if needed_bytes <= free_bytes:
        return None
    needed, free = needed_bytes / 2**30, free_bytes / 2**30
    if is_disk:
        return message("it needs {needed:.1f} GB of disk space, and {free:.1f} GB are free", needed=needed, free=free)
    return message("it needs {needed:.1f} GB of memory, and {free:.1f} GB are available", needed=needed, free=free)
