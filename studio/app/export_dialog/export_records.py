"""Records of running exports on disk, so that an export that a crash interrupts can be continued."""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import psutil

from studio.app.export_dialog.export_options import (
    ExportOrder,
    FormChoices,
    lines_of_script,
    make_export_settings,
    with_disclaimer,
)
from studio.errors import StudioError
from studio.export.presets import EXPORT_OPTIONS
from studio.export.project_lines import origin_of_project
from studio.export.provenance import Provenance
from studio.project.project import Project
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InterruptedExport:
    """An export whose process ended before it was complete.

    Attributes:
        record: The file that describes it.
        scripts: The names of its script, as in ``Origin``.
        project_path: The project file, or None if the script was never saved.
    """

    record: Path
    name: str
    scripts: tuple[str, ...]
    project_path: Path | None
    folder: Path
    line_ids: tuple[str, ...]
    choices: FormChoices
    replaceable: frozenset[PurePosixPath]

    def belongs_to(self, project: Project) -> bool:
        return not set(self.scripts).isdisjoint(origin_of_project(project).scripts)

    def order(self, project: Project, provenance: Provenance, style_names: Mapping[str, str]) -> ExportOrder | None:
        """Return the same export of the same lines as they are now, or None if none of them is left.

        Raise ``UnusableSetting``.
        """
        wanted = set(self.line_ids)
        settings = make_export_settings(project, self.choices, provenance=provenance, style_names=style_names)
        spoken = [line for line in lines_of_script(project) if line.id in wanted]
        lines = tuple(with_disclaimer(spoken, settings, self.choices))
        dictionary = project.dictionary_in_force
        order = ExportOrder(project, lines, dictionary, self.folder, settings, self.replaceable, self.choices)
        return order if lines else None


class ExportRecords:
    """Writes and deletes the records in ``folder`` on background threads.

    The latest call for a record takes effect, regardless of the order in which the threads run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._contents: dict[str, bytes | None] = {}
        self._lock = threading.Lock()

    def keep(self, order: ExportOrder) -> str | None:
        """Record the start of an export, and return the name of the record; None if the export cannot be repeated."""
        if order.choices is None:
            return None
        name = f"{secrets.token_hex(8)}.json"
        self._contents[name] = json.dumps(_values_of(order, order.choices), ensure_ascii=False).encode()
        return name

    def forget(self, name: str) -> None:
        self._contents[name] = None

    def write(self, name: str) -> None:
        """Bring the record on disk up to date. Called on a background thread; does not fail."""
        with self._lock:
            content = self._contents.get(name)
            path = self.folder / name
            try:
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    atomic_write(path, content)
            except (OSError, StudioError) as error:  # the export itself is not affected
                _log.warning("the record of an export cannot be changed: %s", error)


def interrupted_exports(folder: Path) -> list[InterruptedExport]:
    """Return the exports whose processes have ended, the latest first. Damaged records are deleted."""
    found: list[InterruptedExport] = []
    for path in sorted(folder.glob("*.json"), key=_modified, reverse=True):
        try:
            values = read_json(path)
            if not _is_running(values["process"], values["process_started"]):
                found.append(_interrupted(path, values))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, StudioError) as error:
            _log.warning("%s is not a record of an export: %s", path.name, error)
            discard_records([path])
    return found


def discard_records(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be deleted: %s", path.name, error)


def _values_of(order: ExportOrder, choices: FormChoices) -> dict[str, Any]:
    project = order.project
    return {
        "process": os.getpid(),
        "process_started": psutil.Process().create_time(),
        "name": order.name,
        "scripts": origin_of_project(project).scripts,
        "project": None if project.path is None else str(project.path),
        "folder": str(order.folder),
        "lines": [line.id for line in order.lines],
        "values": {setting.key: value for setting, value in choices.values.items()},
        "joined_name": choices.joined_name,
        "part": choices.part,
        "replaces_files": choices.replaces_files,
        "replaceable": [str(path) for path in order.replaceable],
    }


def _interrupted(record: Path, values: dict[str, Any]) -> InterruptedExport:
    choices = FormChoices(
        {setting: setting.checked(values["values"].get(setting.key, setting.default)) for setting in EXPORT_OPTIONS},
        str(values["joined_name"]),
        str(values["part"]),
        replaces_files=values["replaces_files"] is True,
    )
    return InterruptedExport(
        record=record,
        name=str(values["name"]),
        scripts=tuple(map(str, values["scripts"])),
        project_path=None if values["project"] is None else Path(values["project"]),
        folder=Path(values["folder"]),
        line_ids=tuple(map(str, values["lines"])),
        choices=choices,
        replaceable=frozenset(map(PurePosixPath, values["replaceable"])),
    )


def _is_running(process: int, started: float) -> bool:
    try:
        found: float = psutil.Process(process).create_time()
    except psutil.Error:
        return False
    return abs(found - started) < 1.0


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
