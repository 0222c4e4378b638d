"""The candidates of one model on one device, each with the facts that decide its status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from studio.engines.candidate import Available, EngineBackend, EngineTarget, Unusable, gather_facts
from studio.engines.ladder import determine_status, resource_shortage
from studio.engines.machine import budget_bytes
from studio.engines.manifest import Manifest
from studio.engines.overview import CandidateView
from studio.engines.stage import Stage
from studio.engines.store import EngineStore
from studio.errors import StudioError
from studio.messages import Message, message
from studio.model.measurements import record_key
from studio.storage.disk import free_bytes


@dataclass
class CandidateState:
    """One candidate. It is probed once: libraries do not change while the program runs.

    Attributes:
        reference: The state of the stage's reference; None if this candidate is the reference.
        failed_now: The reason why it failed in this process.
    """

    candidate: EngineBackend
    target: EngineTarget
    store: EngineStore
    reference: CandidateState | None
    failed_now: Message | None = None

    @property
    def is_reference(self) -> bool:
        return self.reference is None

    @property
    def title(self) -> Message:
        return message(
            "{engine} in {precision}", engine=self.candidate.engine, precision=self.candidate.precision.value
        )

    @cached_property
    def probed(self) -> Available | Unusable:
        return self.candidate.probe(self.target)

    @cached_property
    def _facts(self) -> dict[str, str] | Message:
        """The facts of the cache key, or the reason why they are unavailable."""
        try:
            return gather_facts(self.candidate, self.target)
        except StudioError as error:
            return error.problem

    @property
    def facts(self) -> dict[str, str]:
        return self._facts if isinstance(self._facts, dict) else {}

    @cached_property
    def key(self) -> str:
        """The cache key; empty if the candidate is unusable here."""
        return record_key(self.facts) if self.unusable is None else ""

    @cached_property
    def unusable(self) -> Message | None:
        if isinstance(self.probed, Unusable):
            return self.probed.reason
        return self._facts if isinstance(self._facts, Message) else None

    @property
    def manifest(self) -> Manifest | None:
        return self.store.manifest(self.key, self.facts) if self.key else None

    def missing_resources(self, more_bytes: int = 0) -> Message | None:
        """Return why there is too little memory or disk space to try it, or None. ``more_bytes`` of memory count as free.

        It need not fit beside the reference: if it does not, the reference is timed first and then closed.
        """
        if not isinstance(self.probed, Available):
            return None
        needed = max(self.probed.build_memory_bytes, self.probed.memory_bytes)
        if self.reference is not None:
            if not isinstance(self.reference.probed, Available):
                return None
            needed = max(needed, self.reference.probed.memory_bytes)
        return resource_shortage(needed, budget_bytes(self.target.device) + more_bytes) or resource_shortage(
            self.probed.build_disk_bytes, free_bytes(self.store.folder), is_disk=True
        )

    def view(self) -> CandidateView:
        manifest = self.manifest
        status, reason = determine_status(
            unusable=self.unusable,
            missing_resources=self.missing_resources() if manifest is None and self.unusable is None else None,
            manifest=manifest,
            attempts=self.store.attempts(self.key) if self.key else None,
            is_being_built=bool(self.key) and manifest is None and self.store.is_being_built(self.key),
            failed_now=self.failed_now,
        )
        return CandidateView(
            stage=self.candidate.stage,
            name=self.candidate.name,
            engine=self.candidate.engine,
            precision=self.candidate.precision.value,
            key=self.key or f"{self.candidate.stage.value}-{self.candidate.name}",
            status=status,
            is_reference=self.is_reference,
            reason=reason,
            verification=manifest.verification if manifest else None,
            timing=manifest.timing if manifest else None,
            num_bytes=manifest.num_bytes if manifest else 0,
            made_at=manifest.made_at if manifest else "",
            was_disturbed=manifest is not None and manifest.was_disturbed,
        )


def list_candidate_states(
    candidates: Iterable[EngineBackend], target: EngineTarget, store: EngineStore
) -> list[CandidateState]:
    """Return the states in the order of ``candidates``; the first of each stage is the reference."""
    references: dict[Stage, CandidateState] = {}
    states = []
    for candidate in candidates:
        states.append(CandidateState(candidate, target, store, references.get(candidate.stage)))
        references.setdefault(candidate.stage, states[-1])
    return states
