"""The settings as this person has them: read once, written with every change, told to whoever watches.

The file, ``settings.json`` in the config folder, holds only what differs from the defaults; what this
version does not know stays in it untouched.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from studio import paths
from studio.errors import UnusableSetting
from studio.setting_kinds import Setting
from studio.settings import SETTINGS
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json
from studio.wording import Message, wording

_log = logging.getLogger(__name__)

T = TypeVar("T")
Watcher = Callable[[frozenset[Setting[Any]]], None]


class Settings:
    """``settings[LANGUAGE]`` is its value. Safe from any thread; watchers are called on that of the change."""

    def __init__(self, path: Path | None = None) -> None:
        """Read ``path``, by default the user's own. What is unreadable becomes a complaint and has its default value."""
        self.path = path or paths.config_folder() / "settings.json"
        self.complaints: tuple[UnusableSetting, ...] = ()
        self._lock = threading.RLock()
        self._watchers: list[Watcher] = []
        self._values: dict[Setting[Any], Any] = {}
        self._read(self._file_content())

    def __getitem__(self, setting: Setting[T]) -> T:
        value: T = self._values.get(setting, setting.default)
        return value

    def __setitem__(self, setting: Setting[T], value: T) -> None:
        self.change({setting: value})

    def is_default(self, setting: Setting[Any]) -> bool:
        return setting not in self._values

    def change(self, values: Mapping[Setting[Any], object]) -> None:
        """All of them or none. Raises ``UnusableSetting``, ``DiskFull``, ``CannotWrite``."""
        checked = {setting: setting.checked(value) for setting, value in values.items()}
        with self._lock:
            changed = frozenset(setting for setting, value in checked.items() if self[setting] != value)
            if not changed:
                return
            content = self._file_content()  # another window may have written meanwhile
            for setting in changed:
                content.pop(setting.key, None)
                if checked[setting] != setting.default:
                    content[setting.key] = _plain(checked[setting])
            atomic_write(self.path, json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8") + b"\n")
            for setting in changed:
                self._values.pop(setting, None)
                if checked[setting] != setting.default:
                    self._values[setting] = checked[setting]
        for watcher in list(self._watchers):
            watcher(changed)

    def reset(self, settings: Iterable[Setting[Any]]) -> None:
        """Back to the defaults. Raises like ``change``."""
        self.change({setting: setting.default for setting in settings})

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """``watcher`` is called with the settings that changed; the returned function ends that."""
        self._watchers.append(watcher)

        def unwatch() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)

        return unwatch

    def _file_content(self) -> dict[str, Any]:
        """Return what the file holds; one that is unreadable is renamed, so that the next change does not overwrite it."""
        try:
            content = read_json(self.path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._set_aside(wording("The settings cannot be read ({reason}); the defaults are used.", reason=error))
            return {}
        except ValueError:
            content = None
        if not isinstance(content, dict):
            self._set_aside(wording("The settings were damaged; the defaults are used."))
            return {}
        return content

    def _set_aside(self, complaint: Message) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged")
        try:
            self.path.replace(aside)
        except OSError:
            self._complain(UnusableSetting(complaint, remedy="Repair {path}, or remove it.", path=self.path))
        else:
            self._complain(UnusableSetting(complaint, remedy="The old file is kept as {path}.", path=aside))

    def _read(self, content: Mapping[str, Any]) -> None:
        for setting in SETTINGS:
            if setting.key in content:
                try:
                    self._values[setting] = setting.checked(content[setting.key])
                except UnusableSetting as error:
                    self._complain(UnusableSetting(error.sentence, remedy="The default is used."))

    def _complain(self, complaint: UnusableSetting) -> None:
        _log.warning("%s", complaint)
        self.complaints = (*self.complaints, complaint)


def _plain(value: object) -> object:
    """As JSON can hold it."""
    if isinstance(value, Mapping):
        return {name: list(words) for name, words in value.items()}
    return value
