"""Safe reader for the yaml of official model folders.

The tags (``!new:``, ``!name:``, ``!apply:``) make the official program build objects and call functions.
Here they are plain strings: nothing is imported or called (specification A6).
"""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from studio.errors import BadModelSettings, MissingModelFile
from studio.messages import Message, message
from studio.storage.disk import require_regular_file

_REFERENCE = re.compile(r"<([\w]+)>")
_MAX_BYTES = 1 << 18
# Limit on nodes with all aliases expanded: a few lines of nested aliases can expand to billions.
_MAX_NODES = 100_000
_MAX_LIST = 64
_MAX_FACTORS = 4
_MAX_DEPTH = 8
_MAX_FACTOR = 1 << 30
_MAX_INTEGER_BITS = 64
# Errors of PyYAML's safe loader. A scalar with a wrong tag raises the error of the failed conversion.
_UNREADABLE = (
    yaml.YAMLError, OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError, ArithmeticError,
)  # fmt: skip
_REMEDY = "Download the model again, or correct the file by hand."

Value = object


@dataclass(frozen=True, slots=True)
class TaggedNode:
    """A tagged value such as ``!new:pkg.Class {…}``: the text after the ``!`` and the value."""

    tag: str
    value: Value

    @property
    def class_name(self) -> str:
        return self.tag.rpartition(".")[2].rpartition(":")[2]


class _DataLoader(yaml.SafeLoader):
    pass


class _ShortRepr(reprlib.Repr):
    """Short representation of a value of any size, for error messages."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxdict = 2, 4, 4

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if x.bit_length() <= _MAX_INTEGER_BITS else "a number of many digits"

    def repr_TaggedNode(self, x: TaggedNode, _level: int) -> str:  # noqa: N802 - looked up by class name
        return f"!{self.repr_str(x.tag, 0)}"


_short = _ShortRepr().repr


def _check_size(node: yaml.Node | None, sizes: dict[int, int]) -> int:
    """Return the number of nodes of ``node`` with aliases expanded. Raise ``ValueError`` beyond the limit."""
    if node is None or isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in sizes:
        sizes[id(node)] = _MAX_NODES  # rejects a node that contains itself
        parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        size = 1
        for part in parts:
            size += _check_size(part, sizes)
            if size > _MAX_NODES:
                raise ValueError("the settings expand to too many values")
        sizes[id(node)] = size
    return sizes[id(node)]


@lru_cache(maxsize=8)
def _load(text: str) -> Value:
    """Parse ``text`` with a safe loader that keeps tags as strings. The result must not be changed.

    Cached, because several parts of the program read the same file, and parsing takes 12 ms.
    """
    loader = _DataLoader(text)
    try:
        node = loader.get_single_node()
        _check_size(node, {})
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _construct_tagged(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> TaggedNode:
    match node:
        case yaml.MappingNode():
            return TaggedNode(tag, loader.construct_mapping(node, deep=True))
        case yaml.SequenceNode():
            return TaggedNode(tag, loader.construct_sequence(node, deep=True))
        case _:
            return TaggedNode(tag, str(node.value))


_DataLoader.add_multi_constructor("!", _construct_tagged)


class ConfigSection:
    """One mapping of the file, with typed and checked access. Error messages contain the path of the value."""

    def __init__(self, document: Document, path: str, values: dict[str, Value]) -> None:
        self._document = document
        self._path = path
        self._values = values

    @property
    def file_name(self) -> str:
        return self._document.file_name

    def has(self, key: str) -> bool:
        return key in self._values

    def class_name(self, key: str) -> str | None:
        """Return the class name in the tag of ``key``, such as ``CosyVoice3LM`` for ``llm``."""
        value = self._values.get(key)
        return value.class_name if isinstance(value, TaggedNode) else None

    def section(self, key: str) -> ConfigSection:
        value = self._read(key)
        if isinstance(value, TaggedNode):
            value = value.value
        if not isinstance(value, dict):
            raise self._complaint(key, message("is not a group of settings"))
        return ConfigSection(self._document, self._name(key), value)

    def integer(self, key: str, *, low: int = 1, high: int = 1 << 14, default: int | None = None) -> int:
        value = self._read(key, default)
        if type(value) is not int or not low <= value <= high:
            raise self._complaint(
                key,
                message("is {value}, not a whole number from {low} to {high}", value=_short(value), low=low, high=high),
            )
        return value

    def number(self, key: str, *, low: float, high: float, default: float | None = None) -> float:
        value = self._read(key, default)
        if type(value) not in (int, float) or not low <= value <= high:  # type: ignore[operator]
            raise self._complaint(
                key,
                message("is {value}, not a number from {low:g} to {high:g}", value=_short(value), low=low, high=high),
            )
        return float(value)  # type: ignore[arg-type]

    def optional_number(self, key: str, *, low: float, high: float) -> float | None:
        return None if self._read(key) is None else self.number(key, low=low, high=high)

    def integers(self, key: str, *, length: int, default: list[int] | None = None) -> tuple[int, ...]:
        value = self._read(key, default)
        if not isinstance(value, list) or not _are_counts(value) or len(value) != length:
            raise self._complaint(
                key, message("is {value}, not a list of {n} positive whole numbers", value=_short(value), n=length)
            )
        return tuple(value)

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return a list of any length."""
        value = self._read(key)
        if not isinstance(value, list) or not value or not _are_counts(value):
            raise self._complaint(key, message("is {value}, not a list of positive whole numbers", value=_short(value)))
        return tuple(value)

    def rows(self, key: str) -> tuple[tuple[int, ...], ...]:
        value = self._read(key)
        if not isinstance(value, list) or not 0 < len(value) <= _MAX_LIST or not all(map(_are_counts, value)):
            raise self._complaint(key, message("is {value}, not lists of positive whole numbers", value=_short(value)))
        return tuple(tuple(row) for row in value)

    def _name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def _read(self, key: str, default: Value = None) -> Value:
        """Return the value of ``key`` with references resolved, or ``default`` if the file does not contain it."""
        if key in self._values:
            return self._document.resolve(self._values[key], self._name(key))
        if default is None:
            raise BadModelSettings(
                "{file} lacks the value {key}.", remedy=_REMEDY, file=self._document.file_name, key=self._name(key)
            )
        return default

    def _complaint(self, key: str, what: Message) -> BadModelSettings:
        return BadModelSettings(
            "In {file}, {key} {what}.", remedy=_REMEDY, file=self._document.file_name, key=self._name(key), what=what
        )


def _are_counts(value: Value) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _MAX_LIST
        and all(type(item) is int and 0 < item <= 1 << 12 for item in value)
    )


class Document:
    """A whole yaml file. Raises ``BadModelSettings`` for unsupported content."""

    def __init__(self, path: Path) -> None:
        self.file_name = path.name
        try:
            require_regular_file(path)
            with path.open("rb") as file:
                text = file.read(_MAX_BYTES + 1).decode("utf-8")
            if len(text) > _MAX_BYTES:
                raise BadModelSettings("{file} is far too large for a settings file.", remedy=_REMEDY, file=path.name)
            loaded = _load(text)
        except FileNotFoundError as error:
            raise MissingModelFile(
                "{file} is missing from {folder}.", remedy=_REMEDY, file=path.name, folder=path.parent
            ) from error
        except _UNREADABLE as error:
            raise BadModelSettings("{file} is not readable as yaml.", remedy=_REMEDY, file=path.name) from error
        if not isinstance(loaded, dict):
            raise BadModelSettings("{file} holds no settings.", remedy=_REMEDY, file=path.name)
        self._values: dict[str, Value] = loaded
        self.root = ConfigSection(self, "", loaded)

    def resolve(self, value: Value, where: str, depth: int = 0) -> Value:
        """Resolve ``!ref <name>`` and the product ``!ref <a> * <b>``. Other arithmetic is an error."""
        if not isinstance(value, TaggedNode) or value.tag != "ref":
            return value
        if depth > _MAX_DEPTH:
            raise BadModelSettings("In {file}, {key} refers to itself.", remedy=_REMEDY, file=self.file_name, key=where)
        factors: list[Value] = []
        parts = value.value.split("*") if isinstance(value.value, str) else []
        for part in parts if 1 <= len(parts) <= _MAX_FACTORS else [""]:
            match = _REFERENCE.fullmatch(part.strip())
            if match is None or match[1] not in self._values:
                raise BadModelSettings(
                    "In {file}, {key} refers to {reference}, which does not exist.",
                    remedy=_REMEDY,
                    file=self.file_name,
                    key=where,
                    reference=_short(value.value),
                )
            factors.append(self.resolve(self._values[match[1]], where, depth + 1))
        if len(factors) == 1:
            return factors[0]
        product = 1
        for factor in factors:
            if not isinstance(factor, int) or abs(factor) > _MAX_FACTOR:
                raise BadModelSettings(
                    "In {file}, {key} multiplies a value that is not a number.",
                    remedy=_REMEDY,
                    file=self.file_name,
                    key=where,
                )
            product *= factor
        return product
