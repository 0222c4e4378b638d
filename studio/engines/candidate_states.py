"""The candidates of one model on one device, each with the facts that decide its status."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from studio.engines.candidate import Available, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import facts_of, key_of
from studio.engines.ladder import resource_shortage, status_of
from studio.engines.machine import budget_bytes
from studio.engines.manifest import Manifest
from studio.engines.overview import CandidateView, Status
from studio.engines.store import EngineStore
from studio.errors import StudioError
from studio.messages import Message


@dataclass
class CandidateState:
    """One candidate. It is probed once: libraries do not change while the program runs."""

    candidate: EngineBackend
    target: EngineTarget
    store: EngineStore
    is_reference: bool
    failed_now: Message | None = None

    @cached_property
    def probed(self) -> Available | Unusable:
        return self.candidate.probe(self.target)

    @cached_property
    def _facts(self) -> dict[str, str] | Message:
        """The facts of the cache key, or the reason why they are unavailable."""
        try:
            return facts_of(self.candidate, self.target)
        except StudioError as error:
            return error.problem

    @property
    def facts(self) -> dict[str, str]:
        return self._facts if isinstance(self._facts, dict) else {}

    @cached_property
    def key(self) -> str:
        """The cache key; empty if the candidate is unusable here."""
        return key_of(self.facts) if self.unusable is None else ""

    @cached_property
    def unusable(self) -> Message | None:
        if isinstance(self.probed, Unusable):
            return self.probed.reason
        return self._facts if isinstance(self._facts, Message) else None

    @property
    def manifest(self) -> Manifest | None:
        return self.store.manifest(self.key, self.facts) if self.key else None

    def missing_resources(self, reference: CandidateState) -> Message | None:
        """Return why there is too little memory or disk space to try it beside the reference now, or None."""
        if not isinstance(self.probed, Available) or not isinstance(reference.probed, Available):
            return None
        needed = max(
            self.probed.build_memory_bytes,
            self.probed.memory_bytes + (0 if self is reference else reference.probed.memory_bytes),
        )
        free_disk = shutil.disk_usage(_existing_parent(self.store)).free
        return resource_shortage(needed, budget_bytes(self.target.device)) or resource_shortage(
            self.probed.build_disk_bytes, free_disk, is_disk=True
        )

    def view(self, reference: CandidateState) -> CandidateView:
        manifest = self.manifest
        status, reason = status_of(
            unusable=self.unusable,
            missing_resources=self.missing_resources(reference) if manifest is None and self.unusable is None else None,
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
            needs_build=bool(self.candidate.phases),
            reason=reason,
            verification=manifest.verification if manifest else None,
            timing=manifest.timing if manifest else None,
            num_bytes=manifest.num_bytes if manifest else 0,
            made_at=manifest.made_at if manifest else "",
        )


def candidate_states_of(
    candidates: Iterable[EngineBackend], target: EngineTarget, store: EngineStore
) -> list[CandidateState]:
    """Return the states in the order of ``candidates``; the first of each stage is the reference."""
    states: list[CandidateState] = []
    for candidate in candidates:
        is_first = all(state.candidate.stage is not candidate.stage for state in states)
        states.append(CandidateState(candidate, target, store, is_reference=is_first))
    return states


def as_trying(view: CandidateView) -> CandidateView:
    """Return ``view`` as it is while this process tries it."""
    return replace(view, status=Status.TRYING, reason=None)


def _existing_parent(store: EngineStore) -> str:
    return str(next(path for path in (store.folder, *store.folder.resolve().parents) if path.exists()))
