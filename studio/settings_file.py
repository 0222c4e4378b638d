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
from studio.disk import require_regular_file
from studio.errors import UnusableSetting
from studio.setting_kinds import Setting
from studio.settings import SETTINGS
from studio.whole_file import write_whole

_log = logging.getLogger(__name__)

T = TypeVar("T")
Watcher = Callable[[frozenset[Setting[Any]]], None]


class Settings:
    """``settings[LANGUAGE]`` is its value. Safe from any thread; watchers are called on that of the change."""

    def __init__(self, path: Path | None = None) -> None:
        """``path`` defaults to the person's own. Never fails: what cannot be read is a complaint, and the default counts."""
        self.path = path or paths.config_folder() / "settings.json"
        self.complaints: tuple[str, ...] = ()
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
            write_whole(self.path, json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8") + b"\n")
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
        try:
            require_regular_file(self.path)
            content = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._complain(f"The settings in {self.path} cannot be read ({error.strerror}); the defaults are used.")
            return {}
        except ValueError:
            content = None
        if not isinstance(content, dict):
            self._set_aside()
            return {}
        return content

    def _set_aside(self) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged")
        with contextlib.suppress(OSError):
            self.path.replace(aside)
        self._complain(f"The settings were damaged; the defaults are used. What there was is in {aside}.")

    def _read(self, content: Mapping[str, Any]) -> None:
        for setting in SETTINGS:
            if setting.key in content:
                try:
                    self._values[setting] = setting.checked(content[setting.key])
                except UnusableSetting as error:
                    self._complain(f"{error.message} The default is used.")

    def _complain(self, sentence: str) -> None:
        _log.warning("%s", sentence)
        self.complaints = (*self.complaints, sentence)


def _plain(value: object) -> object:
    """As JSON can hold it."""
    if isinstance(value, Mapping):
        return {name: list(words) for name, words in value.items()}
    return value
