"""The models the program knows, as data: what each can, where it comes from, and the files it is made of.

Sizes and SHA-256 sums are those of the releases; where a release does not tell one, it is missing
here and learned when the model is installed.
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


class Ability(Enum):
    CLONE = "clone"  # speaks in the voice of any clip
    INSTRUCT = "instruct"  # is told in words how to speak
    STREAM = "stream"  # is heard while it is still speaking
    STORED_VOICES = "stored-voices"  # brings voices of its own


class SourceKind(Enum):
    HUGGING_FACE = "huggingface"
    MODEL_SCOPE = "modelscope"

    @property
    def title(self) -> str:
        return {"huggingface": "Hugging Face", "modelscope": "ModelScope"}[self.value]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """``path`` with slashes. ``variant`` names the choice that needs this file; None: every one."""

    path: str
    size_bytes: int | None = None
    sha256: str | None = None
    variant: str | None = None


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
    is_demonstration: bool = False  # to begin with; others do what it does far better

    @property
    def can_be_downloaded(self) -> bool:
        """Else it comes with the program, and its files are those that are there."""
        return bool(self.repositories)

    @property
    def is_supported(self) -> bool:
        """Whether this program can speak with it."""
        return self.generation in {generation.name for generation in GENERATIONS}

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(sorted({file.variant for file in self.files if file.variant}))

    def files_of(self, variants: frozenset[str] = frozenset()) -> tuple[ModelFile, ...]:
        """Those everybody needs, and those of ``variants``."""
        return tuple(file for file in self.files if file.variant is None or file.variant in variants)

    def size_bytes(self, variants: frozenset[str] = frozenset()) -> int:
        """Of the files whose size is published: all but a few kilobytes."""
        return sum(file.size_bytes or 0 for file in self.files_of(variants))

    def file(self, path: str) -> ModelFile | None:
        return next((file for file in self.files if file.path == path), None)


def known_models() -> Mapping[str, KnownModel]:
    """By name, the most recommended first."""
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
            "The list of models that comes with the program is damaged ({file}).",
            remedy="Install the program again.",
            file=path.name,
        ) from error


def _read(values: dict[str, Any]) -> KnownModel:
    return KnownModel(
        name=values["name"],
        rank=values["rank"],
        generation=values["generation"],
        licence=values["licence"],
        languages=tuple(values["languages"]),
        num_dialects=values["num_dialects"],
        abilities=frozenset(map(Ability, values["abilities"])),
        repositories={SourceKind(kind): name for kind, name in values["repositories"].items()},
        revisions={SourceKind(kind): commit for kind, commit in values["revisions"].items()},
        files=tuple(ModelFile(**file) for file in values["files"]),
        is_demonstration=values.get("is_demonstration", False),
    )
