"""Known models, read from ``resources/catalog``: abilities, sources and files.

Sizes and SHA-256 checksums come from the releases. If a release does not publish a checksum, it is None here and is
recorded when the model is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from studio import paths
from studio.errors import IncompleteInstallation
from studio.model.generations import GENERATIONS
from studio.storage.json_input import read_json
from studio.take_checks.recognizers.sense_voice_files import LAYOUT


class Ability(Enum):
    CLONE = "clone"  # clones the voice of a clip
    INSTRUCT = "instruct"  # follows style instructions in words
    STREAM = "stream"  # plays while still synthesising
    STORED_VOICES = "stored-voices"  # has built-in voices
    RECOGNIZE = "recognize"  # recognises speech, for checks of takes; cannot speak


class SourceKind(Enum):
    HUGGING_FACE = "huggingface"
    MODEL_SCOPE = "modelscope"

    @property
    def title(self) -> str:
        return {"huggingface": "Hugging Face", "modelscope": "ModelScope"}[self.value]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model."""

    path: str  # path with slashes
    size_bytes: int | None = None
    sha256: str | None = None
    variant: str | None = None  # the optional variant that the file belongs to; None if the file is required


@dataclass(frozen=True, slots=True)
class KnownModel:
    name: str
    rank: int
    generation: str
    licence: str
    languages: tuple[str, ...]
    num_dialects: int
    abilities: frozenset[Ability]
    repositories: Mapping[SourceKind, str]
    revisions: Mapping[SourceKind, str]
    files: tuple[ModelFile, ...]
    is_demonstration: bool = False  # a small model for a first try, far below the others in quality

    @property
    def can_be_downloaded(self) -> bool:
        """False for the bundled model."""
        return bool(self.repositories)

    @property
    def is_supported(self) -> bool:
        """Whether this version of the program can run it."""
        supported = {generation.name for generation in GENERATIONS}
        return self.is_recognizer or self.generation in supported

    @property
    def is_recognizer(self) -> bool:
        return self.generation == LAYOUT

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(sorted({file.variant for file in self.files if file.variant}))

    def files_of(self, variants: frozenset[str] = frozenset()) -> tuple[ModelFile, ...]:
        """Return the required files and those of ``variants``."""
        return tuple(file for file in self.files if file.variant is None or file.variant in variants)

    def size_bytes(self, variants: frozenset[str] = frozenset()) -> int:
        """Return the total of the published sizes. The files without one are a few kilobytes in all."""
        return sum(file.size_bytes or 0 for file in self.files_of(variants))


def known_models() -> Mapping[str, KnownModel]:
    """Return the known models by name, the most recommended first."""
    return _read_all(paths.resources() / "catalog")


@cache
def _read_all(folder: Path) -> Mapping[str, KnownModel]:
    models = [_read_file(path) for path in folder.glob("*.json")]
    return {model.name: model for model in sorted(models, key=lambda model: model.rank)}


def _read_file(path: Path) -> KnownModel:
    try:
        return _read(read_json(path))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise IncompleteInstallation(
            "The program's list of models is damaged ({file}).",
            remedy="Install the program again.",
            file=path.name,
        ) from error


def _read(values: dict[str, Any]) -> KnownModel:
    converted = {
        "languages": tuple(values["languages"]),
        "abilities": frozenset(map(Ability, values["abilities"])),
        "repositories": {SourceKind(kind): name for kind, name in values["repositories"].items()},
        "revisions": {SourceKind(kind): commit for kind, commit in values["revisions"].items()},
        "files": tuple(ModelFile(**file) for file in values["files"]),
    }
    return KnownModel(**{**values, **converted})
