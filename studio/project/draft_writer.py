"""Writing of the script to the working copy. Changes that cannot be written stay in memory and are written later.

Decision: a change that cannot be written still takes effect. Reason: the user sees the change, can continue editing,
and can save the project elsewhere. Alternative: undoing the change, which would lose every edit until the disk has free
space.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from studio.errors import StudioError
from studio.project.script import Script
from studio.project.storage import Storage

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PendingChanges:
    """Changes that are only in memory, with the write error. Saving the project includes them."""

    num_changes: int
    error: StudioError = field(compare=False)


class DraftWriter:
    """Writer of one open project, which holds its lock during each call. No method raises: see ``unwritten``."""

    def __init__(self, storage: Storage, script: Script) -> None:
        self.unwritten: PendingChanges | None = None
        self._storage = storage
        self._written = script
        self._unconfirmed: tuple[str, Path] | None = None

    def write(self, script: Script, *, is_modified: bool) -> None:
        """Write the differences between ``script`` and the working copy."""
        try:
            self._confirm(is_modified=is_modified)
            self._storage.write(self._written, script, is_modified=is_modified)
        except StudioError as error:
            if self.unwritten is None:
                _log.warning("changes are kept in memory: %s", error)
            self.unwritten = PendingChanges(_num_differences(self._written, script), error)
        else:
            self._written, self.unwritten = script, None

    def announce_save(self, save_id: str) -> None:
        """Store the id of a save that begins, so that recovery recognises the file if ``confirm_save`` is never called."""
        try:
            self._storage.announce_save(save_id)
        except StudioError as error:
            _log.warning("the beginning of a save is not recorded: %s", error)

    def confirm_save(self, save_id: str, path: Path, *, is_modified: bool) -> None:
        """Record that the file at ``path`` was written. If ``is_modified``, the script has changed since then."""
        self._unconfirmed = (save_id, path)
        try:
            self._confirm(is_modified=is_modified)
        except StudioError as error:
            _log.warning("the end of a save is not recorded: %s", error)
        if not is_modified:
            self.unwritten = None  # the file contains all changes

    def _confirm(self, *, is_modified: bool) -> None:
        if self._unconfirmed is not None:
            self._storage.confirm_save(*self._unconfirmed, is_modified=is_modified)
            self._unconfirmed = None


def _num_differences(before: Script, after: Script) -> int:
    """Count changed lines and takes. Order, dictionary and name each count as one change."""
    lines = {line.id: line for line in before.lines}, {line.id: line for line in after.lines}
    takes = ({take.id: take for takes in script.takes.values() for take in takes} for script in (before, after))
    num_items = sum(
        old.get(key) != new.get(key) for old, new in (lines, tuple(takes)) for key in old.keys() | new.keys()
    )
    others = (
        before.dictionary != after.dictionary,
        before.name != after.name,
        num_items == 0 and before.lines != after.lines,
    )
    return num_items + sum(others)
