"""Checks of models, voices and folders, and the recent errors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from studio import paths
from studio.catalog.folders import bundled_folder, free_bytes, models_folder
from studio.catalog.installed import DEFAULT_MODEL, ModelState, ModelStatus, model_statuses, why_not_loadable
from studio.errors import StudioError
from studio.health.check import Check, Verdict
from studio.health.log_file import recent_errors
from studio.health.machine_checks import in_gibibytes
from studio.messages import Message, wording
from studio.model.generations import detect_generation
from studio.system.installation import repair_hint
from studio.voices.library import VoiceLibrary

_GIBIBYTE = 1 << 30
_COMFORTABLE_DISK_BYTES = 10 * _GIBIBYTE
_LEAST_DISK_BYTES = _GIBIBYTE // 4


def check_models() -> Iterator[Check]:
    if not (bundled_folder() / DEFAULT_MODEL).is_dir():
        yield Check(
            wording("model"),
            Verdict.BROKEN,
            wording("{name}, which is bundled with the program, is missing.", name=DEFAULT_MODEL),
            repair_hint(),
        )
    for status in model_statuses():
        if status.folder is not None or status.state is ModelState.PARTIAL:
            yield _check_model(status)


def _check_model(status: ModelStatus) -> Check:
    subject = wording("model {name}", name=status.name)
    if error := why_not_loadable(status.name):
        return Check(subject, Verdict.LIMITED, error.problem, error.hint)
    assert status.folder is not None, "a loadable model has a folder"
    try:
        generation, _ = detect_generation(status.folder)
    except StudioError as error:
        return Check(subject, Verdict.LIMITED, error.problem, error.hint)
    found = wording("{generation}, {folder}", generation=generation.title, folder=status.folder)
    return Check(subject, Verdict.FINE, found)


def check_voices(open_library: Callable[[], VoiceLibrary]) -> Check:
    subject = wording("voices")
    try:
        voices = open_library().voices()
    except StudioError as error:
        return Check(subject, Verdict.LIMITED, error.problem, error.hint)
    missing = sum(not os.path.isfile(voice.clip) for voice in voices)
    if missing:
        found = wording("{missing} of {all} lack their recording", missing=missing, all=len(voices))
        return Check(subject, Verdict.LIMITED, found, wording("Remove and add them again."))
    return Check(subject, Verdict.FINE, wording("{count} in the library", count=len(voices)))


def check_folders() -> Iterator[Check]:
    for subject, folder in (
        (wording("data"), paths.data_folder()),
        (wording("models"), models_folder()),
        (wording("cache"), paths.cache_folder()),
        (wording("logs"), paths.log_folder()),
    ):
        place, free = _existing(folder), free_bytes(folder)
        found = wording(
            "{folder}, {used} used, {free} free",
            folder=folder,
            used=in_gibibytes(_size(folder)),
            free=in_gibibytes(free),
        )
        if place is None or not _is_writable(place):
            found = wording("{folder} is not writable", folder=folder)
            yield Check(subject, Verdict.LIMITED, found, wording("Check its permissions."))
        elif free < _LEAST_DISK_BYTES:
            remedy = wording("Free disk space: the disk is almost full.")
            yield Check(subject, Verdict.LIMITED, found, remedy)
        elif folder == paths.cache_folder() and free < _COMFORTABLE_DISK_BYTES:
            remedy = wording("Prepared voices use up to 8 GB; with less space they are computed again.")
            yield Check(subject, Verdict.LIMITED, found, remedy)
        else:
            yield Check(subject, Verdict.FINE, found)


def check_recent_errors() -> Check:
    """List codes only: the sentences contain file names and texts."""
    errors = recent_errors()
    if not errors:
        return Check(wording("recent errors"), Verdict.FINE, wording("none in the log"))
    codes = ", ".join(f"{error.when} {error.code}" for error in errors)
    return Check(wording("recent errors"), Verdict.FINE, Message(codes))


def _existing(folder: Path) -> Path | None:
    """Return ``folder`` or its nearest existing parent; None if its disk is missing."""
    return next((place for place in (folder, *folder.resolve().parents) if os.path.exists(place)), None)


def _is_writable(folder: Path) -> bool:
    """Try to write: permissions do not cover read-only disks and root."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _size(folder: Path) -> int:
    """Return the size of all files in ``folder``, in bytes. Files that disappear during the check are skipped."""
    total = 0
    for path in folder.rglob("*") if os.path.isdir(folder) else ():
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
