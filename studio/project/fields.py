"""Validated access to values of the project file.

A project file may be damaged. A value of the wrong type or out of range is replaced with a default, and its name is
recorded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from studio.project.lines import sanitize
from studio.storage.json_input import parse_json

Row = Mapping[str, Any] | sqlite3.Row
_Default = TypeVar("_Default")
# Conversion to the local time zone fails for years outside this range.
_YEARS = range(1971, 9998)


class Fields:
    """Validated access to a row or a JSON object. The name of each replaced value is appended to ``replaced``."""

    def __init__(self, values: Mapping[str, Any], name: str, replaced: list[str]) -> None:
        self._values = values
        self._name = name
        self._replaced = replaced

    def required_text(self, key: str) -> str:
        """Return a value that has no default. Raise ``ValueError``."""
        value = self._values[key]
        if not isinstance(value, str) or not value:
            raise ValueError(f"{self._name}.{key} is missing")
        return value

    def required_whole(self, key: str, lowest: int, highest: int) -> int:
        """Return a required integer in a range. Raise ``ValueError``."""
        value = self._values[key]
        if type(value) is not int or not lowest <= value <= highest:
            raise ValueError(f"{self._name}.{key} is out of range")
        return value

    def text(self, key: str) -> str:
        """Return a value as text, converting bytes and numbers."""
        value = self._values.get(key, "")
        if isinstance(value, str):
            return sanitize(value)
        self.replace(key)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return str(value) if type(value) in (int, float) else ""

    def optional_text(self, key: str) -> str | None:
        return None if self._values.get(key) is None else self.text(key)

    def whole(self, key: str, lowest: int, highest: int, default: _Default) -> int | _Default:
        value = self._values.get(key, default)
        if value is None and default is None:
            return default
        if type(value) is int and lowest <= value <= highest:
            return value
        return self.replace(key, default)

    def number(self, key: str, lowest: float, highest: float, default: _Default) -> float | _Default:
        """Return a finite number in a range."""
        value = self._values.get(key, default)
        if value is None and default is None:
            return default
        if type(value) in (int, float) and lowest <= value <= highest:
            return value  # type: ignore[no-any-return]
        return self.replace(key, default)

    def truth(self, key: str, *, default: bool) -> bool:
        value = self._values.get(key, default)
        return bool(value) if isinstance(value, int) else self.replace(key, default)

    def optional_truth(self, key: str) -> bool | None:
        return None if self._values.get(key) is None else self.truth(key, default=False)

    def has(self, key: str) -> bool:
        return key in self._values

    def moment(self, key: str, default: datetime) -> datetime:
        """Return a time in UTC. A value without a time zone is assumed to be in UTC."""
        try:
            moment = datetime.fromisoformat(self._values[key])
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (KeyError, TypeError, ValueError, OverflowError):
            return self.replace(key, default)
        return moment if moment.year in _YEARS else self.replace(key, default)

    def object(self, key: str) -> Fields | None:
        """Return the fields of a nested object, or None if it is missing."""
        return self._nested(key, self._values.get(key))

    def json_object(self, key: str) -> Fields | None:
        """Return the fields of an object encoded as JSON text, or None if it is missing."""
        value = self._values.get(key)
        try:
            return self._nested(key, None if value is None else parse_json(value))
        except (TypeError, ValueError):
            return self.replace(key, None)

    def _nested(self, key: str, value: Any) -> Fields | None:
        if isinstance(value, dict):
            return Fields(value, f"{self._name}.{key}", self._replaced)
        return None if value is None else self.replace(key, None)

    def numbers(self, key: str, lowest: float, highest: float) -> list[float]:
        """Return a list of numbers in a range; empty if it is missing or invalid."""
        values = self._values.get(key, [])
        if isinstance(values, list) and all(
            type(each) in (int, float) and lowest <= each <= highest for each in values
        ):
            return values
        return self.replace(key, [])

    def object_list(self, key: str) -> list[Fields]:
        """Return the fields of a list of objects, without the elements that are not objects."""
        return [
            Fields(each, f"{self._name}.{key}", self._replaced)
            for each in self._list(key)
            if isinstance(each, dict) or self.replace(key, default=False)
        ]

    def whole_list(self, key: str, highest: int) -> tuple[int, ...]:
        """Return a list of integers from 0 to ``highest``; empty if it is missing or invalid."""
        values = self._list(key)
        is_valid = all(type(each) is int and 0 <= each <= highest for each in values)
        return tuple(values) if is_valid else self.replace(key, ())

    def _list(self, key: str) -> list[Any]:
        values = self._values.get(key, [])
        return values if isinstance(values, list) else self.replace(key, [])

    def text_list(self, key: str) -> tuple[str, ...]:
        values = self._values.get(key, [])
        if isinstance(values, list) and all(isinstance(each, str) for each in values):
            return tuple(map(sanitize, values))
        return self.replace(key, ())

    def optional_bytes(self, key: str) -> bytes | None:
        value = self._values.get(key)
        return value if value is None or isinstance(value, bytes) else self.replace(key, None)

    def objects(self, key: str) -> dict[str, Fields]:
        """Return an object whose values are all objects."""
        inner = self.object(key)
        found = {} if inner is None else {sanitize(name): inner.object(name) for name in inner._values}
        return {name: fields for name, fields in found.items() if fields is not None}

    def texts(self, key: str) -> dict[str, str]:
        """Return an object whose values are all text."""
        inner = self.object(key)
        return {} if inner is None else {sanitize(name): inner.text(name) for name in inner._values}

    def replace(self, key: str, default: _Default = None) -> _Default:  # type: ignore[assignment]
        self._replaced.append(f"{self._name}.{key}")
        return default
