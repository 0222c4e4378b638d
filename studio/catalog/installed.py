"""The models that can be chosen by name, and the state of every model there is or could be."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from studio.catalog.folders import bundled_folder, models_folder, staging_folder
from studio.catalog.record import InstallRecord, read_record
from studio.errors import DamagedModelFile, ModelNotFound, StudioError, UnknownGeneration

if TYPE_CHECKING:
    from studio.catalog.known import KnownModel

DEFAULT_MODEL = "studio-mini"  # which comes with the program


def installed_models() -> dict[str, Path]:
    """Folders of models by name, those that are whole; the user's hide the program's of the same name."""
    found: dict[str, Path] = {}
    for base in (bundled_folder(), models_folder()):
        found.update({name: folder for name, folder in _folders(base).items() if _is_offered(folder)})
    return found


def _is_offered(folder: Path) -> bool:
    """Takes no longer than looking: whether each recorded file is there in its size, and none is known to be broken."""
    record = read_record(folder)
    return record is None or not (record.damaged or record.missing_in(folder))


class ModelState(Enum):
    BUNDLED = "bundled"
    INSTALLED = "installed"
    DAMAGED = "damaged"  # installed once, and not loaded until it is mended
    PARTIAL = "partial"  # some of it has arrived
    AVAILABLE = "available"
    UNSUPPORTED = "unsupported"  # known, and of no use to this version of the program


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """``size_bytes``: on the disk, or of the download. ``arrived_bytes``: of an unfinished download."""

    name: str
    state: ModelState
    known: KnownModel | None
    folder: Path | None = None
    record: InstallRecord | None = None
    size_bytes: int = 0
    arrived_bytes: int = 0
    damaged: tuple[str, ...] = ()

    @property
    def variants(self) -> frozenset[str]:
        """Those that are here."""
        if self.known is None or self.folder is None:
            return frozenset()
        return frozenset(f.variant for f in self.known.files if f.variant and (self.folder / f.path).is_file())

    @property
    def is_loadable(self) -> bool:
        return self.state in (ModelState.BUNDLED, ModelState.INSTALLED)


def model_statuses() -> list[ModelStatus]:
    """Those that ship, those that are known, and those somebody imported, in this order. Reads only small files."""
    from studio.catalog.known import known_models  # noqa: PLC0415 - the window's first picture needs folders only

    statuses = {name: _status_here(name, folder) for name, folder in _folders(bundled_folder()).items()}
    own = _folders(models_folder())
    for name, known in known_models().items():
        if name in own:
            statuses[name] = _status_here(name, own[name])
        elif known.can_be_downloaded:
            statuses[name] = _status_elsewhere(known)
    for name, folder in own.items():
        statuses[name] = _status_here(name, folder)
    return list(statuses.values())


def model_status(name: str) -> ModelStatus | None:
    return next((status for status in model_statuses() if status.name == name), None)


def model_not_found(name: str) -> ModelNotFound:
    return ModelNotFound("There is no model {name} here.", remedy="`timbre models list` names them.", name=name)


def unsupported(name: str) -> UnknownGeneration:
    return UnknownGeneration(
        "{name} cannot be used yet: this version of the program does not speak with its generation.",
        remedy="Choose CosyVoice2-0.5B or Fun-CosyVoice3-0.5B-2512.",
        name=name,
    )


def why_not_loadable(name: str) -> StudioError | None:
    """What keeps a model of that name from being loaded; None where nothing does, or nothing of that name is known."""
    status = model_status(name)
    match status.state if status else None:
        case ModelState.DAMAGED:
            can_be_fetched = status is not None and status.known is not None and status.known.can_be_downloaded
            return DamagedModelFile(
                "{name} is not complete: {files} must be mended.",
                remedy="`timbre models install {name}` mends it, as does the page of models (Ctrl+M)."
                if can_be_fetched
                else "Remove the model, and import it again from where it is whole.",
                name=name,
                files=", ".join(status.damaged if status else ()),
            )
        case ModelState.PARTIAL | ModelState.AVAILABLE:
            return ModelNotFound(
                "{name} is not installed.",
                remedy="`timbre models install {name}` downloads it, as does the page of models (Ctrl+M).",
                name=name,
            )
        case ModelState.UNSUPPORTED:
            return unsupported(name)
        case _:
            return None


def _folders(base: Path) -> dict[str, Path]:
    try:
        found = sorted(base.iterdir())
    except OSError:  # not there, or not to be looked into
        return {}
    return {folder.name: folder for folder in found if os.path.isdir(folder) and folder.name[0] != "."}


def _status_here(name: str, folder: Path) -> ModelStatus:
    from studio.catalog.known import known_models  # noqa: PLC0415 - as above

    record = read_record(folder)
    damaged = tuple(sorted({*record.damaged, *record.missing_in(folder)})) if record else ()
    is_bundled = folder.parent == bundled_folder()
    state = ModelState.BUNDLED if is_bundled else ModelState.DAMAGED if damaged else ModelState.INSTALLED
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return ModelStatus(name, state, known_models().get(name), folder, record, size, _arrived_bytes(name), damaged)


def _status_elsewhere(known: KnownModel) -> ModelStatus:
    from studio.catalog.plan import read_plan  # noqa: PLC0415 - as above

    arrived = _arrived_bytes(known.name)
    state = ModelState.PARTIAL if arrived else ModelState.AVAILABLE
    if not known.is_supported:
        state = ModelState.UNSUPPORTED
    plan = read_plan(staging_folder(known.name))
    size = plan.size_bytes if plan else known.size_bytes()
    return ModelStatus(known.name, state, known, size_bytes=size, arrived_bytes=arrived)


def _arrived_bytes(name: str) -> int:
    from studio.catalog.partial_file import downloaded_bytes  # noqa: PLC0415 - as above
    from studio.catalog.plan import read_plan  # noqa: PLC0415

    incoming = staging_folder(name)
    plan = read_plan(incoming)
    return sum(downloaded_bytes(incoming / file.path) for file in plan.files) if plan else 0
