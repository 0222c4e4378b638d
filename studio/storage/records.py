"""Dataclasses as JSON values and back, following their type annotations.

Supports dataclasses, enums, unions, tuples, string-keyed mappings and the types of JSON. ``decode`` reads values of
another computer: every defect is a ``ValueError``. Unknown fields are ignored, so that both computers may have
different versions.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar

_T = TypeVar("_T")
_UNIONS = (typing.Union, types.UnionType)


def encode(value: object) -> Any:
    """Return ``value`` as a JSON value."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): encode(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    return value


def decode(kind: type[_T], value: object) -> _T:
    """Return the object of ``kind`` that ``encode`` has turned into ``value``. Raise ``ValueError``."""
    decoded: _T = _decode(kind, value)
    return decoded


def decode_fields(kind: type[_T], values: object, **given: object) -> _T:
    """Return a dataclass of ``kind`` with ``values`` for the fields that are not ``given``. Raise ``ValueError``."""
    if not isinstance(values, dict):
        raise ValueError(f"{kind.__name__} is not an object")  # noqa: TRY004 - input, not a bug
    hints = _hints(typing.cast("Any", kind))
    found = {name: _decode(hints[name], values[name]) for name in hints if name in values and name not in given}
    try:
        return kind(**found, **given)
    except TypeError as error:
        raise ValueError(f"{kind.__name__} is incomplete") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    assert dataclasses.is_dataclass(kind)
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _decode(kind: Any, value: object) -> Any:  # noqa: PLR0911 - one for each form
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in _UNIONS:
        return _decode_union(parts, value)
    if origin is tuple:
        return _decode_tuple(parts, value)
    if origin in (dict, Mapping) and isinstance(value, dict):
        return {str(name): _decode(parts[1], part) for name, part in value.items()}
    if dataclasses.is_dataclass(kind):
        return decode_fields(typing.cast("type", kind), value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind in (str, int, bool, type(None)) and type(value) is kind:
        return value
    raise ValueError(f"a value of the wrong type: {type(value).__name__}")


def _decode_union(kinds: tuple[Any, ...], value: object) -> Any:
    if type(value) in kinds:
        return value
    for kind in kinds:
        try:
            return _decode(kind, value)
        except ValueError:
            continue
    raise ValueError(f"a value of the wrong type: {type(value).__name__}")


def _decode_tuple(kinds: tuple[Any, ...], value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError("not a list")  # noqa: TRY004 - input, not a bug
    if len(kinds) == 2 and kinds[1] is ...:
        return tuple(_decode(kinds[0], part) for part in value)
    if len(kinds) != len(value):
        raise ValueError("a list of the wrong length")
    return tuple(_decode(kind, part) for kind, part in zip(kinds, value, strict=True))
