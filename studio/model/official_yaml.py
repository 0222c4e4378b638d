"""The yaml of an official model folder, read as data.

Its tags (``!new:``, ``!name:``, ``!apply:``) would build objects and run functions in the program it
was written for. Here a tag is a word: nothing is imported or called (specification A6).
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from studio.errors import BadModelSettings, MissingModelFile
from studio.wording import Wording, wording

_log = logging.getLogger(__name__)
_REFERENCE = re.compile(r"<([\w]+)>")
_MAX_BYTES = 1 << 20
_REMEDY = "Download the model again, or mend the file by hand."

Value = object


@dataclass(frozen=True, slots=True)
class Tagged:
    """``!new:pkg.Class {…}``: the words after the ``!``, and whatever came with it."""

    tag: str
    value: Value

    @property
    def class_name(self) -> str:
        return self.tag.rpartition(".")[2].rpartition(":")[2]


class _DataLoader(yaml.SafeLoader):
    pass


def _construct_tagged(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> Tagged:
    match node:
        case yaml.MappingNode():
            return Tagged(tag, loader.construct_mapping(node, deep=True))
        case yaml.SequenceNode():
            return Tagged(tag, loader.construct_sequence(node, deep=True))
        case _:
            return Tagged(tag, str(node.value))


_DataLoader.add_multi_constructor("!", _construct_tagged)


class Section:
    """One mapping of the file, with typed, checked access; remembers its path for error sentences."""

    def __init__(self, document: Document, path: str, values: dict[str, Value]) -> None:
        self._document = document
        self._path = path
        self._values = values

    def section(self, key: str) -> Section:
        value = self._document.resolve(self._get(key), self._name(key))
        if isinstance(value, Tagged):
            value = value.value
        if not isinstance(value, dict):
            raise self._complaint(key, wording("is not a group of settings"))
        return Section(self._document, self._name(key), value)

    def has(self, key: str) -> bool:
        return self._values.get(key) is not None

    def integer(self, key: str, *, low: int = 1, high: int = 1 << 20, default: int | None = None) -> int:
        if key not in self._values and default is not None:
            return default
        value = self._resolved(key)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self._complaint(
                key,
                wording("is {value}, not a whole number from {low} to {high}", value=repr(value), low=low, high=high),
            )
        return value

    def number(self, key: str, *, low: float, high: float, default: float | None = None) -> float:
        if key not in self._values and default is not None:
            return default
        value = self._resolved(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self._complaint(
                key, wording("is {value}, not a number from {low:g} to {high:g}", value=repr(value), low=low, high=high)
            )
        return float(value)

    def optional_number(self, key: str, *, low: float, high: float) -> float | None:
        return None if self._resolved(key) is None else self.number(key, low=low, high=high)

    def integers(
        self, key: str, *, length: int | None = None, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        if key not in self._values and default is not None:
            return default
        value = self._resolved(key)
        if not isinstance(value, list) or not _are_counts(value) or (length is not None and len(value) != length):
            raise self._complaint(
                key,
                wording("is {value}, not a list of positive whole numbers", value=repr(value))
                if length is None
                else wording("is {value}, not a list of {n} positive whole numbers", value=repr(value), n=length),
            )
        return tuple(value)

    def rows(self, key: str) -> tuple[tuple[int, ...], ...]:
        value = self._resolved(key)
        if not isinstance(value, list) or not value or not all(_are_counts(row) for row in value):
            raise self._complaint(key, wording("is {value}, not lists of positive whole numbers", value=repr(value)))
        return tuple(tuple(row) for row in value)

    def debug_unknown(self, known: set[str]) -> None:
        """A line in the log for keys nobody here reads: training's, or a newer version's."""
        unknown = sorted(set(self._values) - known)
        if unknown:
            _log.debug("%s: ignored %s", self._path or "top level", ", ".join(unknown))

    def _name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def _get(self, key: str) -> Value:
        if key not in self._values:
            raise BadModelSettings(
                "{file} lacks the value {key}.", remedy=_REMEDY, file=self._document.file_name, key=self._name(key)
            )
        return self._values[key]

    def _resolved(self, key: str) -> Value:
        return self._document.resolve(self._get(key), self._name(key))

    def _complaint(self, key: str, what: Wording) -> BadModelSettings:
        return BadModelSettings(
            "In {file}, {key} {what}.", remedy=_REMEDY, file=self._document.file_name, key=self._name(key), what=what
        )


def _are_counts(value: Value) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 < item <= 1 << 20 for item in value)


class Document:
    """A whole file. Raises ``BadModelSettings`` for anything that is not the yaml we know how to read."""

    def __init__(self, path: Path) -> None:
        self.file_name = path.name
        try:
            with path.open("rb") as file:
                text = file.read(_MAX_BYTES + 1).decode("utf-8")
            if len(text) > _MAX_BYTES:
                raise BadModelSettings("{file} is far too large for a settings file.", remedy=_REMEDY, file=path.name)
            # _DataLoader derives from the safe loader and turns every tag into a word.
            loaded = yaml.load(text, _DataLoader)  # noqa: S506
        except FileNotFoundError as error:
            raise MissingModelFile(
                "{file} is missing from {folder}.", remedy=_REMEDY, file=path.name, folder=path.parent
            ) from error
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError, OSError, ValueError) as error:
            raise BadModelSettings("{file} is not readable as yaml.", remedy=_REMEDY, file=path.name) from error
        if not isinstance(loaded, dict):
            raise BadModelSettings("{file} holds no settings.", remedy=_REMEDY, file=path.name)
        self._values: dict[str, Value] = loaded
        self.root = Section(self, "", loaded)

    def class_name(self, key: str) -> str | None:
        """The last word of the tag under a top-level key: ``CosyVoice3LM`` for ``llm``."""
        value = self._values.get(key)
        return value.class_name if isinstance(value, Tagged) else None

    def resolve(self, value: Value, where: str, depth: int = 0) -> Value:
        """Follows ``!ref <name>`` and products ``!ref <a> * <b>``; refuses any other arithmetic."""
        if not isinstance(value, Tagged) or value.tag != "ref":
            return value
        if depth > 8:
            raise BadModelSettings("In {file}, {key} refers to itself.", remedy=_REMEDY, file=self.file_name, key=where)
        factors: list[Value] = []
        for part in str(value.value).split("*"):
            match = _REFERENCE.fullmatch(part.strip())
            if match is None or match[1] not in self._values:
                raise BadModelSettings(
                    "In {file}, {key} refers to {reference}, which is not there.",
                    remedy=_REMEDY,
                    file=self.file_name,
                    key=where,
                    reference=repr(value.value),
                )
            factors.append(self.resolve(self._values[match[1]], where, depth + 1))
        if len(factors) == 1:
            return factors[0]
        product = 1
        for factor in factors:
            if not isinstance(factor, int):
                raise BadModelSettings(
                    "In {file}, {key} multiplies what is no number.", remedy=_REMEDY, file=self.file_name, key=where
                )
            product *= factor
        return product
