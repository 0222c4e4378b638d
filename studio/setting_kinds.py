"""The kinds of settings: what each may be, and what a dialog must know to show one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

from studio.errors import UnusableSetting
from studio.wording import Message, wording

T = TypeVar("T")


class Page(Enum):
    """A page of the dialog; its title is ``PAGE_TITLES`` of it (``settings.py``)."""

    WINDOW = "window"
    SCRIPT = "script"
    SPEAKING = "speaking"
    MODELS = "models"
    EXPORT = "export"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Setting(Generic[T]):
    """``key`` is its name in the file and never changes. ``page`` of None: remembered, but in no dialog.

    ``needs``: a setting of the same page without which this one means nothing.
    """

    key: str
    default: T
    title: str = ""
    help: str = ""
    page: Page | None = None
    needs: Setting[bool] | None = None

    def checked(self, value: object) -> T:
        """``value`` if it is one of those possible. Raises ``UnusableSetting``."""
        raise NotImplementedError

    def _refuse(self, value: object, remedy: Message) -> UnusableSetting:
        return UnusableSetting(
            "{value} is not possible for “{setting}”.",
            remedy=remedy,
            value=repr(value),
            setting=Message(self.title or self.key),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoolSetting(Setting[bool]):
    def checked(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise self._refuse(value, wording("Choose yes or no."))
        return value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntSetting(Setting[int]):
    """``low`` to ``high``, both included. ``name_of_low`` is shown in place of the lowest number."""

    low: int
    high: int
    unit: str = ""
    name_of_low: str = ""

    def checked(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not self.low <= value <= self.high:
            raise self._refuse(value, wording("Choose {lowest} to {highest}.", lowest=self.low, highest=self.high))
        return value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Number(Setting[float]):
    """``low`` to ``high``, both included; the dialog goes by ``step``."""

    low: float
    high: float
    step: float
    unit: str = ""

    def checked(self, value: object) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not self.low <= float(value) <= self.high:  # type: ignore[arg-type]  # it is a number
            raise self._refuse(value, wording("Choose {lowest:g} to {highest:g}.", lowest=self.low, highest=self.high))
        return float(value)  # type: ignore[arg-type]  # see above


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    value: T
    title: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choice(Setting[T]):
    options: tuple[Option[T], ...]

    def checked(self, value: object) -> T:
        for option in self.options:
            if option.value == value and type(option.value) is type(value):
                return option.value
        possible = ", ".join(str(option.value) for option in self.options)
        raise self._refuse(value, wording("Choose one of {known}.", known=possible))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StringSetting(Setting[str]):
    """One line; empty only where ``may_be_empty``."""

    may_be_empty: bool = False
    longest: int = 1000

    def checked(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > self.longest or not (value.strip() or self.may_be_empty):
            raise self._refuse(value, wording("Write 1 to {longest} letters.", longest=self.longest))
        return value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Folder(StringSetting):
    """A path; empty where the person is asked each time, or as ``name_of_empty`` says."""

    may_be_empty: bool = True
    name_of_empty: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Device(StringSetting):
    """The name of a device to play on; empty for the one the system chooses. It need not be connected."""

    may_be_empty: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShortcutsSetting(Setting[Mapping[str, tuple[str, ...]]]):
    """Names, each with some words: the keys a person gave to actions."""

    default: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def checked(self, value: object) -> Mapping[str, tuple[str, ...]]:
        if not isinstance(value, Mapping):
            raise self._refuse(value, wording("Write names with lists of words."))
        table: dict[str, tuple[str, ...]] = {}
        for name, words in value.items():
            is_fine = isinstance(name, str) and isinstance(words, list | tuple)
            if not is_fine or not all(isinstance(word, str) for word in words):
                raise self._refuse(value, wording("Write names with lists of words."))
            table[name] = tuple(words)
        return table
