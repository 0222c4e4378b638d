"""The candidates of one model at one place, each with what decides about it: usable or not, key, manifest, failures."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from studio.engines.candidate import Available, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import facts_of, key_of
from studio.engines.ladder import no_room_for, status_of
from studio.engines.machine import budget_bytes
from studio.engines.manifest import Manifest
from studio.engines.overview import CandidateView, Status
from studio.engines.store import EngineStore
from studio.errors import StudioError
from studio.wording import Message


@dataclass
class CandidateState:
    """One candidate. What probing found is asked once: a library does not appear while the program runs."""

    candidate: EngineBackend
    subject: EngineTarget
    store: EngineStore
    is_reference: bool
    failed_now: Message | None = None

    @cached_property
    def probed(self) -> Available | Unusable:
        return self.candidate.probe(self.subject)

    @cached_property
    def _facts(self) -> dict[str, str] | Message:
        """The reason where they cannot be had."""
        try:
            return facts_of(self.candidate, self.subject)
        except StudioError as error:
            return error.problem

    @property
    def facts(self) -> dict[str, str]:
        return self._facts if isinstance(self._facts, dict) else {}

    @cached_property
    def key(self) -> str:
        """Empty for what cannot be used here."""
        return key_of(self.facts) if self.unusable is None else ""

    @cached_property
    def unusable(self) -> Message | None:
        if isinstance(self.probed, Unusable):
            return self.probed.reason
        return self._facts if isinstance(self._facts, Message) else None

    @property
    def manifest(self) -> Manifest | None:
        return self.store.manifest(self.key, self.facts) if self.key else None

    def no_room(self, reference: CandidateState) -> Message | None:
        """Why there is not room enough to try it now: it is timed beside the reference."""
        if not isinstance(self.probed, Available) or not isinstance(reference.probed, Available):
            return None
        needed = max(
            self.probed.build_memory_bytes,
            self.probed.memory_bytes + (0 if self is reference else reference.probed.memory_bytes),
        )
        free_disk = shutil.disk_usage(_existing_parent(self.store)).free
        return no_room_for(needed, budget_bytes(self.subject.device)) or no_room_for(
            self.probed.build_disk_bytes, free_disk, is_disk=True
        )

    def view(self, reference: CandidateState) -> CandidateView:
        manifest = self.manifest
        status, reason = status_of(
            unusable=self.unusable,
            no_room=self.no_room(reference) if manifest is None and self.unusable is None else None,
            manifest=manifest,
            attempts=self.store.attempts(self.key) if self.key else None,
            is_being_built=bool(self.key) and manifest is None and self.store.is_being_built(self.key),
            has_failed_now=self.failed_now,
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
    candidates: Iterable[EngineBackend], subject: EngineTarget, store: EngineStore
) -> list[CandidateState]:
    """In the order of ``candidates``; of each stage the first is the reference."""
    rungs: list[CandidateState] = []
    for candidate in candidates:
        is_first = all(rung.candidate.stage is not candidate.stage for rung in rungs)
        rungs.append(CandidateState(candidate, subject, store, is_reference=is_first))
    return rungs


def being_tried(view: CandidateView) -> CandidateView:
    """As it looks while this very process tries it."""
    return replace(view, status=Status.TRYING, reason=None)


def _existing_parent(store: EngineStore) -> str:
    return str(next(place for place in (store.folder, *store.folder.resolve().parents) if place.exists()))
