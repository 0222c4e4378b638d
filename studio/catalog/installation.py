"""A known model, from a hub to its folder: only what is missing or broken travels, and an interruption costs nothing.

    plan → room on the disk → file after file → everything in its place

An installation knows nothing of windows and terminals: it is told to stop through a switch, and tells how far it
is through a function. Both may be used from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import httpx2

from studio.catalog.cancellation import CancelToken
from studio.catalog.connection import open_client
from studio.catalog.disk import require_free_space
from studio.catalog.download import DownloadCallbacks, FileDownload
from studio.catalog.folders import install_files, lock_model, models_folder, staging_folder
from studio.catalog.installed import unsupported
from studio.catalog.known import KnownModel
from studio.catalog.network_errors import is_permanent, is_transient, refused, unreachable
from studio.catalog.partial_file import downloaded_bytes
from studio.catalog.plan import (
    InstallPlan,
    delete_all_except,
    delete_plan,
    load_completed,
    make_plan,
    read_plan,
    save_completed,
    write_plan,
)
from studio.catalog.progress import OnProgress, Phase, Progress, SpeedMeter, ignore_progress
from studio.catalog.record import RECORD_NAME, InstallRecord, RecordedFile, read_record, write_record
from studio.catalog.retry_policy import RetryPolicy
from studio.catalog.sources import Address, Listing, ModelSource, RefusedError, RemoteFile
from studio.errors import SourceRefused, SourceUnreachable, StudioError, WrongDownload


class Installation:
    """One attempt to have ``model``, complete and sound, from ``source``. Run once."""

    def __init__(
        self,
        model: KnownModel,
        source: ModelSource,
        *,
        variants: frozenset[str] = frozenset(),
        stop: CancelToken | None = None,
        on_progress: OnProgress = ignore_progress,
        first_wait_seconds: float = 1.0,
    ) -> None:
        self.stop = stop or CancelToken()
        self._model = model
        self._source = source
        self._on_progress = on_progress
        self._first_wait_seconds = first_wait_seconds
        self._place = models_folder() / model.name
        self._incoming = staging_folder(model.name)
        self._record = read_record(self._place)
        # What is installed is mended whole, and what was begun goes on whole.
        begun = read_plan(self._incoming)
        here = {file.path for part in (self._record, begun) if part is not None for file in part.files}
        self._variants = variants | {file.variant for file in model.files if file.variant and file.path in here}
        self._speed = SpeedMeter()
        self._done_bytes = 0
        self._total_bytes = 0

    def run(self) -> Path:
        """The folder of the model.

        Raises ``Stopped`` where that was asked for; ``ModelBusy``, ``SourceUnreachable``, ``SourceRefused``,
        ``WrongDownload``, ``DiskFull``, ``CannotWrite``, ``UnknownGeneration``. What has arrived is kept.
        """
        if not self._model.is_supported:
            raise unsupported(self._model.name)
        with lock_model(self._model.name):
            plan = read_plan(self._incoming)
            if plan is not None and plan.is_for(self._model, self._source, self._variants):
                try:
                    return self._carry_out(plan)
                except (WrongDownload, SourceRefused):
                    self.stop.check()  # else the place has moved on since then: ask what it has now
            plan = self._make_plan()
            write_plan(self._incoming, plan)
            try:
                return self._carry_out(plan)
            except (WrongDownload, SourceRefused):
                delete_plan(self._incoming)
                raise

    # What is to be fetched.

    def _make_plan(self) -> InstallPlan:
        self._on_progress(Progress(Phase.LISTING))
        pinned = self._model.revisions.get(self._source.kind)
        try:
            listing = self._ask(pinned)
        except SourceRefused:
            if pinned is None:
                raise
            listing = self._ask(None)  # a mirror that has only the newest
        return make_plan(self._model, self._variants, self._source, listing)

    def _ask(self, revision: str | None) -> Listing:
        patience = RetryPolicy(self._first_wait_seconds)
        host = httpx2.URL(self._source.endpoint).host
        repository = self._model.repositories[self._source.kind]
        while True:
            self.stop.check()
            trouble: SourceRefused | SourceUnreachable
            wished = None
            try:
                return self._source.list_files(repository, revision)
            except httpx2.HTTPError as error:
                trouble = unreachable(host, error)
                if is_permanent(error):
                    raise trouble from error
            except RefusedError as error:
                trouble, wished = refused(host, error), error.wait_seconds
                if not is_transient(error):
                    raise trouble from error
            seconds = patience.next_delay_seconds(wished)
            if seconds is None:
                raise trouble
            self._on_progress(Progress(Phase.WAITING, error=trouble, wait_seconds=seconds))
            self.stop.sleep(seconds)

    # Fetching.

    def _carry_out(self, plan: InstallPlan) -> Path:
        sums = self._sums_in_place(plan)
        arrived = self._sums_arrived(plan, sums)
        missing = [file for file in plan.files if file.path not in sums and file.path not in arrived]
        self._total_bytes = plan.size_bytes
        self._done_bytes = plan.size_bytes - sum(file.size_bytes for file in missing)
        kept = sum(min(file.size_bytes, downloaded_bytes(self._incoming / file.path)) for file in missing)
        require_free_space(models_folder(), sum(file.size_bytes for file in missing) - kept, what=self._model.name)
        with open_client() as client:
            for file in missing:
                arrived[file.path] = self._fetch(client, plan, file)
                save_completed(self._incoming, arrived)
                self._done_bytes += file.size_bytes
        return self._finish(plan, {**sums, **arrived})

    def _sums_in_place(self, plan: InstallPlan) -> dict[str, str]:
        """Sound files of the installed model: a repair leaves them where they are."""
        if self._record is None:
            return {}
        bad = {*self._record.damaged, *self._record.missing_in(self._place)}
        recorded = {file.path: file for file in self._record.files if file.path not in bad}
        return {
            file.path: recorded[file.path].sha256
            for file in plan.files
            if file.path in recorded and _is_same(file, recorded[file.path].size_bytes, recorded[file.path].sha256)
        }

    def _sums_arrived(self, plan: InstallPlan, in_place: Mapping[str, str]) -> dict[str, str]:
        """Files that earlier attempts brought, from wherever: what counts is that they are the same."""
        sums = load_completed(self._incoming)
        return {
            file.path: sums[file.path]
            for file in plan.files
            if file.path in sums
            and file.path not in in_place
            and (self._incoming / file.path).is_file()
            and _is_same(file, (self._incoming / file.path).stat().st_size, sums[file.path])
        }

    def _fetch(self, client: httpx2.Client, plan: InstallPlan, file: RemoteFile) -> str:
        present = 0

        def on_checked(num_bytes: int) -> None:
            nonlocal present
            present = num_bytes
            self._tell(Phase.CHECKING, file, num_bytes)

        def on_bytes(num_bytes: int) -> None:
            nonlocal present
            self._speed.add(num_bytes - present)
            present = num_bytes
            self._tell(Phase.RECEIVING, file, num_bytes)

        def on_waiting(seconds: float, trouble: StudioError) -> None:
            self._tell(Phase.WAITING, file, present, trouble, seconds)
            self._speed.restart()

        download = FileDownload(client, self._address_of(plan, file), file, RetryPolicy(self._first_wait_seconds))
        return download.run(self._incoming / file.path, self.stop, DownloadCallbacks(on_checked, on_bytes, on_waiting))

    def _address_of(self, plan: InstallPlan, file: RemoteFile) -> Callable[[], Address]:
        return lambda: self._source.address(plan.repository, plan.revision, file.path)

    def _tell(
        self, phase: Phase, file: RemoteFile, num_bytes: int, trouble: StudioError | None = None, wait: float = 0.0
    ) -> None:
        done = self._done_bytes + num_bytes
        self._on_progress(
            Progress(
                phase,
                file.path,
                num_bytes,
                file.size_bytes,
                done,
                self._total_bytes,
                self._speed.bytes_per_second,
                self._speed.remaining_seconds(self._total_bytes - done),
                trouble,
                wait,
            )
        )

    def _finish(self, plan: InstallPlan, sums: Mapping[str, str]) -> Path:
        planned = {file.path for file in plan.files}
        old = self._record
        others = [f for f in old.files if f.path not in planned and f.path not in old.damaged] if old else []
        files = (*(RecordedFile(file.path, file.size_bytes, sums[file.path]) for file in plan.files), *others)
        origin = f"{self._source.kind.title} {plan.repository}"
        write_record(self._incoming, InstallRecord(self._model.name, origin, plan.revision, files))
        delete_all_except(self._incoming, {*planned, RECORD_NAME})
        # The record last: until then the old one says what is broken.
        return install_files(self._model.name, [*planned, RECORD_NAME])


def _is_same(file: RemoteFile, size_bytes: int, sha256: str) -> bool:
    return file.size_bytes == size_bytes and file.sha256 in (None, sha256)
