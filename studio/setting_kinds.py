"""Kinds of settings: allowed values, and what the settings dialog needs to show them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

from studio.errors import UnusableSetting
from studio.messages import Message, message

T = TypeVar("T")


class Page(Enum):
    """A page of the settings dialog. Titles: ``PAGE_TITLES`` in ``settings.py``."""

    WINDOW = "window"
    SCRIPT = "script"
    SPEAKING = "speaking"
    CHECKS = "checks"
    MODELS = "models"
    EXPORT = "export"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Setting(Generic[T]):
    """A setting with its default."""

    key: str  # the name in the settings file, which never changes
    default: T
    title: str = ""
    help: str = ""
    page: Page | None = None  # None: the value is stored but not shown in the dialog
    needs: Setting[bool] | None = None  # a setting of the same page that must be on for this one to have an effect

    def checked(self, value: object) -> T:
        """Return ``value`` if it is allowed. Raise ``UnusableSetting`` otherwise."""
        raise NotImplementedError

    def _refuse(self, value: object, remedy: Message) -> UnusableSetting:
        return UnusableSetting(
            "{value} is not a valid value of “{setting}”.",
            remedy=remedy,
            value=repr(value),
            setting=Message(self.title or self.key),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoolSetting(Setting[bool]):
    def checked(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise self._refuse(value, message("Choose yes or no."))
        return value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntSetting(Setting[int]):
    """An integer from ``low`` to ``high``, inclusive. ``name_of_low`` is shown instead of the lowest number."""

    low: int
    high: int
    unit: str = ""
    name_of_low: str = ""

    def checked(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not self.low <= value <= self.high:
            raise self._refuse(value, message("Choose {lowest} to {highest}.", lowest=self.low, highest=self.high))
        return value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NumberSetting(Setting[float]):
    """A number from ``low`` to ``high``, inclusive. ``step`` is the step of the field in the dialog."""

    low: float
    high: float
    step: float
    unit: str = ""

    def checked(self, value: object) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not self.low <= float(value) <= self.high:  # type: ignore[arg-type]  # checked above
            raise self._refuse(value, message("Choose {lowest:g} to {highest:g}.", lowest=self.low, highest=self.high))
        return float(value)  # type: ignore[arg-type]  # checked above


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    value: T
    title: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChoiceSetting(Setting[T]):
    options: tuple[Option[T], ...]

    def checked(self, value: object) -> T:
        for option in self.options:
            if option.value == value and type(option.value) is type(value):
                return option.value
        possible = ", ".join(str(option.value) for option in self.options)
        raise self._refuse(value, message("Choose one of {known}.", known=possible))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StringSetting(Setting[str]):
    """One line of text, empty only if ``may_be_empty``."""

    may_be_empty: bool = False
    longest: int = 1000

    def checked(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > self.longest or not (value.strip() or self.may_be_empty):
            raise self._refuse(value, message("Enter 1 to {longest} characters.", longest=self.longest))
        return value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FolderSetting(StringSetting):
    """A path. If it is empty, the user is asked each time, or the folder described by ``name_of_empty`` is used."""

    may_be_empty: bool = True
    name_of_empty: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AudioFileSetting(StringSetting):
    """The path of an audio file. If it is empty, what ``name_of_empty`` describes is used."""

    may_be_empty: bool = True
    name_of_empty: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DeviceSetting(StringSetting):
    """The name of an output device, which need not be connected. Empty means the system default."""

    may_be_empty: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ProcessorSetting(StringSetting):
    """The device that runs the model: "auto", "cpu", "cuda", "cuda:1", or part of a GPU's name."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StringsSetting(Setting[tuple[str, ...]]):
    """A list of strings."""

    default: tuple[str, ...] = ()
    most: int

    def checked(self, value: object) -> tuple[str, ...]:
        is_list = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
        if not is_list or len(value) > self.most:  # type: ignore[arg-type]  # a list, as checked before
            raise self._refuse(value, message("Enter a list of at most {most} texts.", most=self.most))
        return tuple(value)  # type: ignore[arg-type]  # likewise


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NamesSetting(Setting[Mapping[str, str]]):
    """A table of names."""

    default: Mapping[str, str] = field(default_factory=dict)
    most: int

    def checked(self, value: object) -> Mapping[str, str]:
        is_table = isinstance(value, Mapping) and all(isinstance(word, str) for pair in value.items() for word in pair)
        if not is_table or len(value) > self.most:  # type: ignore[arg-type]  # a table, as checked before
            raise self._refuse(value, message("Enter a table of at most {most} names.", most=self.most))
        return dict(value)  # type: ignore[call-overload,no-any-return]  # likewise


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StringListsSetting(Setting[Mapping[str, tuple[str, ...]]]):
    """Lists of strings by name, such as key sequences by the name of the action."""

    default: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def checked(self, value: object) -> Mapping[str, tuple[str, ...]]:
        is_table = isinstance(value, Mapping) and all(
            isinstance(name, str) and isinstance(words, list | tuple) and all(isinstance(word, str) for word in words)
            for name, words in value.items()
        )
        if not is_table:
            raise self._refuse(value, message("Enter a table of names, each with a list of texts."))
        return {name: tuple(words) for name, words in value.items()}  # type: ignore[attr-defined]  # a table
