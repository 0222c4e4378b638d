"""Installation, resumption and repair of a known model from a hub. Only missing and damaged files are downloaded.

The steps are: make a plan, check the free space, download each file, move the files into place.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import httpx2

from studio.catalog.download import FileDownload
from studio.catalog.folders import install_files, lock_model, models_folder, require_free_space, staging_folder
from studio.catalog.installed import RECORD_NAME, InstallRecord, RecordedFile, read_record, unsupported, write_record
from studio.catalog.known import KnownModel
from studio.catalog.network import (
    MAX_ATTEMPTS,
    RefusedError,
    RetryPolicy,
    is_permanent,
    is_transient,
    open_client,
    refused,
    unreachable,
)
from studio.catalog.progress import CancelToken, OnProgress, Phase, Progress, ProgressCounter, ignore_progress
from studio.catalog.sources import FileList, ModelSource, RemoteFile
from studio.catalog.staging import (
    InstallPlan,
    delete_all_except,
    delete_plan,
    downloaded_bytes,
    load_completed,
    make_plan,
    read_plan,
    save_completed,
    write_plan,
)
from studio.errors import SourceRefused, SourceUnreachable, StudioError, WrongDownload


class Installation:
    """One attempt to install or repair ``model`` from ``source``. ``stop`` may be used from any thread.

    The list of files is requested up to ``num_list_attempts`` times, and each file up to ``num_attempts`` times.
    """

    def __init__(
        self,
        model: KnownModel,
        source: ModelSource,
        *,
        variants: frozenset[str] = frozenset(),
        stop: CancelToken | None = None,
        on_progress: OnProgress = ignore_progress,
        first_wait_seconds: float = 1.0,
        num_attempts: int = MAX_ATTEMPTS,
        num_list_attempts: int = MAX_ATTEMPTS,
    ) -> None:
        self.stop = stop or CancelToken()
        self._model = model
        self._source = source
        self._on_progress = on_progress
        self._first_wait_seconds = first_wait_seconds
        self._num_attempts = num_attempts
        self._num_list_attempts = num_list_attempts
        self._folder = models_folder() / model.name
        self._staging = staging_folder(model.name)
        self._record = read_record(self._folder)
        # A repair includes the installed variants; a resumed download includes the variants of its plan.
        plan = read_plan(self._staging)
        known = {file.path for part in (self._record, plan) if part is not None for file in part.files}
        self._variants = variants | {file.variant for file in model.files if file.variant and file.path in known}

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
                    self.stop.check()  # if not cancelled, the repository has changed since the plan was made
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

    def _list_files(self, revision: str | None) -> FileList:
        retry = RetryPolicy(self._first_wait_seconds, num_attempts=self._num_list_attempts)
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
            self._wait(seconds, failure)

    def _wait(self, seconds: float, failure: StudioError) -> None:
        self.stop.countdown(
            seconds, lambda left: self._on_progress(Progress(Phase.WAITING, error=failure, wait_seconds=left))
        )

    def _execute(self, plan: InstallPlan) -> Path:
        installed = self._installed_checksums(plan)
        completed = self._completed_checksums(plan, installed)
        missing = [file for file in plan.files if file.path not in installed and file.path not in completed]
        missing_bytes = sum(file.size_bytes for file in missing)
        kept_bytes = sum(min(file.size_bytes, downloaded_bytes(self._staging / file.path)) for file in missing)
        require_free_space(models_folder(), missing_bytes - kept_bytes, what=self._model.name)
        done_bytes = plan.size_bytes - missing_bytes
        counter = ProgressCounter(Phase.RECEIVING, plan.size_bytes, self.stop, self._on_progress, done_bytes=done_bytes)
        with open_client() as client:
            for file in missing:
                counter.begin(file.path, file.size_bytes)
                # Called before every attempt, because addresses expire.
                get_address = partial(self._source.address, plan.repository, plan.revision, file.path)
                retry = RetryPolicy(self._first_wait_seconds, num_attempts=self._num_attempts)
                download = FileDownload(client, get_address, file, retry, counter)
                completed[file.path] = download.run(self._staging / file.path)
                save_completed(self._staging, completed)
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
