"""Installation, resumption and repair of a known model from a hub; only missing and damaged files are downloaded.

plan → check free space → download each file → move into place
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
    """One attempt to install or repair ``model`` from ``source``. Run once; ``stop`` works from any thread."""

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
        self._folder = models_folder() / model.name
        self._staging = staging_folder(model.name)
        self._record = read_record(self._folder)
        # A repair includes the installed variants; a resumed download includes the variants of its plan.
        plan = read_plan(self._staging)
        known = {file.path for part in (self._record, plan) if part is not None for file in part.files}
        self._variants = variants | {file.variant for file in model.files if file.variant and file.path in known}
        self._speed = SpeedMeter()
        self._done_bytes = 0
        self._total_bytes = 0

    def run(self) -> Path:
        """Return the folder of the model. Downloaded data is kept after a failure.

        Raise ``DownloadCancelled``, ``ModelBusy``, ``SourceUnreachable``, ``SourceRefused``, ``WrongDownload``,
        ``DiskFull``, ``CannotWrite``, ``UnknownGeneration``.
        """
        if not self._model.is_supported:
            raise unsupported(self._model.name)
        with lock_model(self._model.name):
            plan = read_plan(self._staging)
            if plan is not None and plan.is_for(self._model, self._source, self._variants):
                try:
                    return self._execute(plan)
                except (WrongDownload, SourceRefused):
                    self.stop.check()  # otherwise the repository has changed since the plan was made
            plan = self._make_plan()
            write_plan(self._staging, plan)
            try:
                return self._execute(plan)
            except (WrongDownload, SourceRefused):
                delete_plan(self._staging)
                raise

    def _make_plan(self) -> InstallPlan:
        self._on_progress(Progress(Phase.LISTING))
        pinned = self._model.revisions.get(self._source.kind)
        try:
            listing = self._list_files(pinned)
        except SourceRefused:
            if pinned is None:
                raise
            listing = self._list_files(None)  # a mirror that has only the newest revision
        return make_plan(self._model, self._variants, self._source, listing)

    def _list_files(self, revision: str | None) -> Listing:
        retry = RetryPolicy(self._first_wait_seconds)
        host = httpx2.URL(self._source.endpoint).host
        repository = self._model.repositories[self._source.kind]
        while True:
            self.stop.check()
            failure: SourceRefused | SourceUnreachable
            requested_seconds = None
            try:
                return self._source.list_files(repository, revision)
            except httpx2.HTTPError as error:
                failure = unreachable(host, error)
                if is_permanent(error):
                    raise failure from error
            except RefusedError as error:
                failure, requested_seconds = refused(host, error), error.wait_seconds
                if not is_transient(error):
                    raise failure from error
            seconds = retry.next_delay_seconds(requested_seconds)
            if seconds is None:
                raise failure
            self._on_progress(Progress(Phase.WAITING, error=failure, wait_seconds=seconds))
            self.stop.sleep(seconds)

    def _execute(self, plan: InstallPlan) -> Path:
        installed = self._installed_checksums(plan)
        completed = self._completed_checksums(plan, installed)
        missing = [file for file in plan.files if file.path not in installed and file.path not in completed]
        self._total_bytes = plan.size_bytes
        self._done_bytes = plan.size_bytes - sum(file.size_bytes for file in missing)
        kept = sum(min(file.size_bytes, downloaded_bytes(self._staging / file.path)) for file in missing)
        require_free_space(models_folder(), sum(file.size_bytes for file in missing) - kept, what=self._model.name)
        with open_client() as client:
            for file in missing:
                completed[file.path] = self._download(client, plan, file)
                save_completed(self._staging, completed)
                self._done_bytes += file.size_bytes
        return self._finish(plan, {**installed, **completed})

    def _installed_checksums(self, plan: InstallPlan) -> dict[str, str]:
        """Return the SHA-256 of the intact installed files by path. A repair leaves these files in place."""
        if self._record is None:
            return {}
        bad = {*self._record.damaged, *self._record.missing_in(self._folder)}
        recorded = {file.path: file for file in self._record.files if file.path not in bad}
        return {
            file.path: recorded[file.path].sha256
            for file in plan.files
            if file.path in recorded and _is_same(file, recorded[file.path].size_bytes, recorded[file.path].sha256)
        }

    def _completed_checksums(self, plan: InstallPlan, installed: Mapping[str, str]) -> dict[str, str]:
        """Return the SHA-256 of the files that earlier attempts downloaded, from any hub, by path."""
        completed = load_completed(self._staging)
        return {
            file.path: completed[file.path]
            for file in plan.files
            if file.path in completed
            and file.path not in installed
            and (self._staging / file.path).is_file()
            and _is_same(file, (self._staging / file.path).stat().st_size, completed[file.path])
        }

    def _download(self, client: httpx2.Client, plan: InstallPlan, file: RemoteFile) -> str:
        present = 0

        def on_checked(num_bytes: int) -> None:
            nonlocal present
            present = num_bytes
            self._report(Phase.CHECKING, file, num_bytes)

        def on_bytes(num_bytes: int) -> None:
            nonlocal present
            self._speed.add(num_bytes - present)
            present = num_bytes
            self._report(Phase.RECEIVING, file, num_bytes)

        def on_waiting(seconds: float, error: StudioError) -> None:
            self._report(Phase.WAITING, file, present, error, seconds)
            self._speed.restart()

        download = FileDownload(client, self._address_of(plan, file), file, RetryPolicy(self._first_wait_seconds))
        return download.run(self._staging / file.path, self.stop, DownloadCallbacks(on_checked, on_bytes, on_waiting))

    def _address_of(self, plan: InstallPlan, file: RemoteFile) -> Callable[[], Address]:
        return lambda: self._source.address(plan.repository, plan.revision, file.path)

    def _report(
        self,
        phase: Phase,
        file: RemoteFile,
        num_bytes: int,
        error: StudioError | None = None,
        wait_seconds: float = 0.0,
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
                error,
                wait_seconds,
            )
        )

    def _finish(self, plan: InstallPlan, checksums: Mapping[str, str]) -> Path:
        planned = {file.path for file in plan.files}
        old = self._record
        others = [f for f in old.files if f.path not in planned and f.path not in old.damaged] if old else []
        files = (*(RecordedFile(file.path, file.size_bytes, checksums[file.path]) for file in plan.files), *others)
        origin = f"{self._source.kind.title} {plan.repository}"
        write_record(self._staging, InstallRecord(self._model.name, origin, plan.revision, files))
        delete_all_except(self._staging, {*planned, RECORD_NAME})
        # The record comes last: until then the old one lists the damaged files.
        return install_files(self._model.name, [*planned, RECORD_NAME])


def _is_same(file: RemoteFile, size_bytes: int, sha256: str) -> bool:
    return file.size_bytes == size_bytes and file.sha256 in (None, sha256)
