"""The user's settings, which are read once and written on every change. Watchers are called on changes.

The file, ``settings.json`` in the config folder, contains only values that differ from the defaults. Unknown keys are
preserved.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from studio import paths
from studio.errors import UnusableSetting
from studio.messages import Message, message
from studio.setting_kinds import Setting
from studio.settings import SETTINGS
from studio.storage.atomic_file import atomic_write
from studio.storage.file_lock import FileLock
from studio.storage.json_input import read_json

_log = logging.getLogger(__name__)

# Longest time that another program may take to change the settings.
_LOCK_WAIT_SECONDS = 2.0

T = TypeVar("T")
Watcher = Callable[[frozenset[Setting[Any]]], None]


class Settings:
    """Mapping from a setting to its value. Thread-safe; watchers run on the thread that makes the change."""

    def __init__(self, path: Path | None = None) -> None:
        """Read ``path``, by default the user's file.

        Invalid values are listed in ``complaints`` and replaced by defaults.
        """
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

    def change(self, values: Mapping[Setting[Any], object]) -> None:
        """Set all ``values`` or none. Raise ``UnusableSetting``, ``DiskFull`` or ``CannotWrite``."""
        checked = {setting: setting.checked(value) for setting, value in values.items()}
        with self._lock:
            changed = frozenset(setting for setting, value in checked.items() if self[setting] != value)
            if not changed:
                return
            with self._file_lock():
                content = self._file_content()  # another program may have changed it
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
        """Set ``settings`` to their defaults. Raise the errors of ``change``."""
        self.change({setting: setting.default for setting in settings})

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Call ``watcher`` with the changed settings after each change. Return a function that stops this."""
        self._watchers.append(watcher)

        def unwatch() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)

        return unwatch

    @contextlib.contextmanager
    def _file_lock(self) -> Iterator[None]:
        """Keep other programs from changing the file, if the folder permits a lock."""
        lock = None
        with contextlib.suppress(OSError):  # reported by writing
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path.with_suffix(".lock"), wait_seconds=_LOCK_WAIT_SECONDS)
        try:
            yield
        finally:
            if lock is not None:
                lock.release(removes_file=True)

    def _file_content(self) -> dict[str, Any]:
        """Return the content of the file. Rename an unreadable file, so that the next change does not overwrite it."""
        try:
            content = read_json(self.path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._set_aside(message("The settings cannot be read ({reason}); the defaults are used.", reason=error))
            return {}
        except ValueError:
            content = None
        if not isinstance(content, dict):
            self._set_aside(message("The settings file is damaged; the defaults are used."))
            return {}
        return content

    def _set_aside(self, complaint: Message) -> None:
        backup = self.path.with_name(f"{self.path.name}.damaged")
        try:
            self.path.replace(backup)
        except OSError:
            self._complain(UnusableSetting(complaint, remedy="Repair {path}, or remove it.", path=self.path))
        else:
            self._complain(UnusableSetting(complaint, remedy="The old file is kept as {path}.", path=backup))

    def _read(self, content: Mapping[str, Any]) -> None:
        for setting in SETTINGS:
            if setting.key in content:
                try:
                    self._values[setting] = setting.checked(content[setting.key])
                except UnusableSetting as error:
                    self._complain(UnusableSetting(error.problem, remedy="The default is used."))

    def _complain(self, complaint: UnusableSetting) -> None:
        _log.warning("%s", complaint)
        self.complaints = (*self.complaints, complaint)


def _plain(value: object) -> object:
    """Return ``value`` as JSON types."""
    if isinstance(value, Mapping):
        return {name: items if isinstance(items, str) else list(items) for name, items in value.items()}
    return value
