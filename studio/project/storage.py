"""Reading and writing a script in a working copy. Each change is one transaction."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from studio.audio.resampling import Samples
from studio.errors import BadPronunciation, UnusableSetting
from studio.messages import message
from studio.project import database
from studio.project.lines import Line
from studio.project.records import (
    dictionary_from,
    dictionary_rows,
    line_from,
    line_row,
    project_details_from,
    project_row,
    take_from,
    take_row,
)
from studio.project.script import Script
from studio.project.takes import Take
from studio.storage import sqlite
from studio.storage.atomic_file import sync

_log = logging.getLogger(__name__)
_SOUND_TYPE = np.dtype("<f4")
_CHECKPOINT_DELAY_SECONDS = 0.5
_MAX_LOG_BYTES = 16 << 20
_RANK_STEP = 1 << 20
# Exceptions that reading a damaged file can raise.
_INVALID = (UnusableSetting, BadPronunciation, LookupError, TypeError, ValueError, AttributeError, RecursionError)


class Storage:
    """An open working copy. Thread-safe. Methods raise ``DiskFull``, ``CannotWrite`` and ``UnreadableProject``."""

    def __init__(self, path: Path, *, is_new: bool = False, copy_of: Path | None = None) -> None:
        """If ``path`` was just copied from ``copy_of``, error messages name that file."""
        self.path = path
        self._read_as = copy_of or path
        self._lock = threading.RLock()
        with database.translate_errors(self._read_as):
            self._connection = database.connect(path, is_new=is_new, copy_of=copy_of)
            if self._connection.execute("SELECT 1 FROM working_copy").fetchone() is None:
                self.bind(None, is_modified=False)
        self._ranks: dict[str, int] = {}
        self._checkpoints = Checkpoints(path)
        # The names of invalid values for which ``read`` used defaults.
        self.replaced: tuple[str, ...] = ()

    # The script.

    def read(self) -> Script:
        """Read the script, and set ``replaced``."""
        with self._lock, self._reading():
            replaced: list[str] = []
            script = _read_script(self._connection, replaced)
            ranks = self._connection.execute("SELECT id, rank FROM lines").fetchall()
            self._ranks = {row["id"]: int(row["rank"]) for row in ranks}
            self.replaced = tuple(replaced)
        if replaced:
            _log.warning("invalid values in %s were replaced: %s", self._read_as, Counter(replaced))
        return script

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with database.translate_errors(self._read_as):
            try:
                yield
            except _INVALID as error:
                raise database.corrupt_file(self._read_as, error) from error

    def write(self, before: Script, after: Script, *, is_modified: bool) -> None:
        """Update the working copy from ``before``, its current content, to ``after``."""
        with self._lock, database.translate_errors(self.path):
            ranks = self._ranks_of(before, after)
            with sqlite.transaction(self._connection):
                known, wanted = dict(_changed(before, after)), dict(_changed(after, before))
                self._delete_takes(
                    known.keys() - wanted.keys()
                )  # first: deleting a line searches all takes for its own
                self._write_lines(before, after, ranks)
                self._write_takes([take for take_id, take in wanted.items() if known.get(take_id) is not take])
                if after.dictionary is not before.dictionary:
                    self._connection.execute("DELETE FROM dictionary")
                    _write_dictionary(self._connection, after)
                if after.name != before.name:
                    self._connection.execute("UPDATE project SET name = ?", (after.name,))
                if after.details is not before.details:
                    _write_details(self._connection, after)
                self._connection.execute("UPDATE working_copy SET is_modified = ?", (int(is_modified),))
            self._ranks = ranks
            self._checkpoints.request()

    def _ranks_of(self, before: Script, after: Script) -> dict[str, int]:
        if after.index_of is before.index_of:
            return self._ranks
        changed = sort_keys(self._ranks, [line.id for line in before.lines], [line.id for line in after.lines])
        return {line.id: self._ranks[line.id] for line in after.lines if line.id not in changed} | changed

    def _write_lines(self, before: Script, after: Script, ranks: dict[str, int]) -> None:
        if after.lines is before.lines:
            return
        rows, gone = set(after.changed_lines(before)), set[str]()
        if ranks is not self._ranks:
            rows |= {after.index_of[line_id] for line_id, rank in ranks.items() if self._ranks.get(line_id) != rank}
            gone = self._ranks.keys() - ranks.keys()
        written = [after.lines[row] for row in sorted(rows)]
        _put(self._connection, "lines", [line_row(line, ranks[line.id]) for line in written])
        self._connection.executemany("DELETE FROM lines WHERE id = ?", [(line_id,) for line_id in gone])

    def _delete_takes(self, take_ids: Iterable[str]) -> None:
        self._connection.executemany("DELETE FROM takes WHERE id = ?", [(take_id,) for take_id in take_ids])

    def _write_takes(self, takes: Iterable[Take]) -> None:
        rows = [take_row(take) for take in takes]
        _put(self._connection, "takes", rows)
        self._connection.executemany("DELETE FROM recordings WHERE id = ?", [(row["id"],) for row in rows])

    # The project file of the working copy.

    def bind(self, project_path: Path | None, *, is_modified: bool) -> None:
        """Store the path of the project file, and whether the working copy differs from it."""
        with self._lock, database.translate_errors(self.path), sqlite.transaction(self._connection):
            self._connection.execute("DELETE FROM working_copy")
            self._connection.execute(
                "INSERT INTO working_copy VALUES (?, '', ?)",
                (None if project_path is None else str(project_path), int(is_modified)),
            )

    def binding(self) -> tuple[Path | None, bool]:
        with self._lock, self._reading():
            row = self._connection.execute("SELECT project_path, is_modified FROM working_copy").fetchone()
            return (Path(row["project_path"]) if row["project_path"] else None), bool(row["is_modified"])

    def save_ids(self) -> set[str]:
        """Return the id of the last save, and the id of a later save if its end was not recorded."""
        with self._lock, database.translate_errors(self.path):
            row = self._connection.execute("SELECT save_id, next_save_id FROM project, working_copy").fetchone()
        return set(row) - {""}

    def announce_save(self, save_id: str) -> None:
        with self._lock, database.translate_errors(self.path):
            self._connection.execute("UPDATE working_copy SET next_save_id = ?", (save_id,))

    def confirm_save(self, save_id: str, project_path: Path, *, is_modified: bool) -> None:
        with self._lock, database.translate_errors(self.path), sqlite.transaction(self._connection):
            self._connection.execute("UPDATE project SET save_id = ?", (save_id,))
            self._connection.execute(
                "UPDATE working_copy SET project_path = ?, next_save_id = '', is_modified = ?",
                (str(project_path), int(is_modified)),
            )

    # Audio.

    def put_recording(self, take: Take) -> None:
        with self._lock, database.translate_errors(self.path):
            _put(self._connection, "recordings", [take_row(take)])

    def recordings(self) -> list[Take]:
        """Return recorded takes that are not in the script. Their lengths are computed from the stored audio."""
        lengths = "SELECT take_id, SUM(LENGTH(samples)) AS num_bytes FROM sounds GROUP BY take_id"
        with self._lock, self._reading():
            rows = self._connection.execute(
                f"SELECT * FROM recordings JOIN ({lengths}) ON take_id = id ORDER BY created, number"  # noqa: S608
            ).fetchall()
            values = [{**row, "audio_seconds": None} for row in map(dict, rows)]
            num_bytes = {row["id"]: int(row["num_bytes"]) for row in values}
            return [take_from(row, [], num_bytes.__getitem__) for row in values]

    def add_sound(self, take_id: str, blocks: list[tuple[int, Samples]]) -> None:
        """Append numbered blocks (n,) to a take, in one transaction."""
        rows = [(take_id, number, samples.astype(_SOUND_TYPE, copy=False).tobytes()) for number, samples in blocks]
        with self._lock, database.translate_errors(self.path):
            with sqlite.transaction(self._connection):
                self._connection.executemany("INSERT INTO sounds (take_id, number, samples) VALUES (?, ?, ?)", rows)
            self._checkpoints.request()

    def drop_recording(self, take_id: str) -> None:
        with self._lock, database.translate_errors(self.path), sqlite.transaction(self._connection):
            self._connection.execute("DELETE FROM recordings WHERE id = ?", (take_id,))
            self._connection.execute("DELETE FROM sounds WHERE take_id = ?", (take_id,))
            self._connection.execute("DELETE FROM evidence WHERE take_id = ?", (take_id,))

    # Evidence for checks.

    def put_evidence(self, take_id: str, sentences: str) -> None:
        """Store evidence about a take as JSON."""
        with self._lock, database.translate_errors(self.path):
            self._connection.execute("INSERT OR REPLACE INTO evidence VALUES (?, ?)", (take_id, sentences))

    def evidence(self, take_id: str) -> str | None:
        with self._lock, self._reading():
            row = self._connection.execute("SELECT sentences FROM evidence WHERE take_id = ?", (take_id,)).fetchone()
            return None if row is None else row["sentences"]

    def takes_with_evidence(self) -> set[str]:
        with self._lock, self._reading():
            return {row["take_id"] for row in self._connection.execute("SELECT take_id FROM evidence")}

    def samples(self, take_id: str) -> Samples:
        """Return the samples (n,) of a take, which are empty if it has no audio."""
        with self._lock, self._reading():
            rows = self._connection.execute(
                "SELECT samples FROM sounds WHERE take_id = ? ORDER BY number", (take_id,)
            ).fetchall()
            sound = b"".join(row["samples"] for row in rows)
        if len(sound) % _SOUND_TYPE.itemsize:
            raise database.corrupt_file(self.path, message("the audio of a take is incomplete"))
        return np.frombuffer(sound, _SOUND_TYPE).astype(np.float32)

    @property
    def lock(self) -> threading.RLock:
        """The lock of all changes. While it is held, the working copy does not change."""
        return self._lock

    def close(self) -> None:
        self._checkpoints.close()
        with self._lock, database.translate_errors(self.path):
            self._connection.close()


class Checkpoints:
    """Background thread that syncs a working copy to disk within a second of each write.

    Without it, a power cut loses what the system still buffers, which may be half a minute of work. Call ``request``
    after each write, and ``close`` before closing the working copy.

    Decision: sync the write-ahead log, and copy it to the database file only when it is long. Reason: after the log
    has been copied, the next write starts it again and waits until the disk has its new header. Alternative: copy it
    each time, which blocks the window for as long as a busy disk takes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_requested = threading.Event()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    def request(self) -> None:
        """Request a sync, without waiting for it. Call this from one thread at a time."""
        self._is_requested.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._is_closed.set()
        self._is_requested.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        log = self._path.with_name(f"{self._path.name}-wal")
        with contextlib.closing(sqlite.connect(self._path)) as connection:
            while self._is_requested.wait():
                # Clear the request before the delay. Clearing it afterwards could lose the request of ``close``.
                self._is_requested.clear()
                if self._is_closed.wait(_CHECKPOINT_DELAY_SECONDS):
                    return
                try:
                    sync(log)
                    if log.stat().st_size > _MAX_LOG_BYTES:
                        # Neither readers nor writers wait for it.
                        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                except (OSError, sqlite3.Error) as error:
                    _log.warning("%s might not have been synced to disk: %s", self._path, error)


def _read_script(connection: sqlite3.Connection, replaced: list[str]) -> Script:
    """Return the script. Invalid values are replaced with defaults, and their names are appended to ``replaced``."""
    select = connection.execute

    def num_sound_bytes(take_id: str) -> int:
        found = select("SELECT SUM(LENGTH(samples)) FROM sounds WHERE take_id = ?", (take_id,)).fetchone()
        return int(found[0] or 0)

    lines = [line_from(row, replaced) for row in select("SELECT * FROM lines ORDER BY rank, id")]
    takes: dict[str, tuple[Take, ...]] = {line.id: () for line in lines}
    for row in select("SELECT * FROM takes ORDER BY number, id").fetchall():
        take = take_from(row, replaced, num_sound_bytes)
        if take.line_id in takes:
            takes[take.line_id] = (*takes[take.line_id], take)
        else:
            replaced.append("takes.line_id")
    project = select("SELECT * FROM project").fetchone()
    return Script(
        name=str(project["name"]),
        lines=tuple(_with_existing_take(line, takes[line.id], replaced) for line in lines),
        takes={line_id: found for line_id, found in takes.items() if found},
        dictionary=dictionary_from(select("SELECT * FROM dictionary ORDER BY position").fetchall(), replaced),
        details=project_details_from(project, replaced),
    )


def _with_existing_take(line: Line, takes: tuple[Take, ...], replaced: list[str]) -> Line:
    if line.chosen_take is None or any(take.id == line.chosen_take for take in takes):
        return line
    replaced.append("lines.chosen_take")
    return replace(line, chosen_take=None)


def write_script(connection: sqlite3.Connection, script: Script, save_id: str) -> None:
    """Fill the empty tables of a new project file."""
    connection.execute("UPDATE project SET name = ?, save_id = ?", (script.name, save_id))
    _write_details(connection, script)
    ranks = sort_keys({}, [], [line.id for line in script.lines])
    _put(connection, "lines", [line_row(line, ranks[line.id]) for line in script.lines])
    _put(connection, "takes", [take_row(take) for takes in script.takes.values() for take in takes])
    _write_dictionary(connection, script)


def contains_script(connection: sqlite3.Connection, script: Script) -> bool:
    """Return whether a file contains exactly the rows of ``script``.

    Unlike :meth:`Storage.read`, this corrects no values.
    """
    select = connection.execute
    lines = [dict(row) | {"rank": 0} for row in select("SELECT * FROM lines ORDER BY rank, id")]
    takes = {row["id"]: dict(row) for row in select("SELECT * FROM takes")}
    words = select(
        "SELECT position, written, alias, pronunciation, is_case_sensitive FROM dictionary ORDER BY position"
    )
    return (
        dict(select("SELECT name, details, cover FROM project").fetchone())
        == {"name": script.name} | project_row(script.details)
        and lines == [line_row(line, 0) for line in script.lines]
        and takes == {take.id: take_row(take) for of_line in script.takes.values() for take in of_line}
        and [tuple(row) for row in words] == dictionary_rows(script.dictionary)
    )


def _write_details(connection: sqlite3.Connection, script: Script) -> None:
    connection.execute("UPDATE project SET details = :details, cover = :cover", project_row(script.details))


def _write_dictionary(connection: sqlite3.Connection, script: Script) -> None:
    connection.executemany(
        "INSERT INTO dictionary (position, written, alias, pronunciation, is_case_sensitive) VALUES (?, ?, ?, ?, ?)",
        dictionary_rows(script.dictionary),
    )


def _put(connection: sqlite3.Connection, table: str, rows: list[dict[str, object]]) -> None:
    """Insert or update rows. Deleting first would violate foreign keys.

    Ids are not updated, because SQLite would then search for each id in all tables that refer to it.
    """
    if not rows:
        return
    names = list(rows[0])
    updates = ", ".join(f"{name} = excluded.{name}" for name in names if name != "id")
    statement = (
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"  # noqa: S608 - constant names
        f" ON CONFLICT (id) DO UPDATE SET {updates}"
    )
    connection.executemany(statement, rows)


def _changed(script: Script, other: Script) -> Iterator[tuple[str, Take]]:
    """Yield (id, take) of lines whose takes differ in ``other``."""
    if script.takes is other.takes:
        return
    for line_id, takes in script.takes.items():
        if other.takes.get(line_id) is not takes:
            yield from ((take.id, take) for take in takes)


def sort_keys(ranks: Mapping[str, int], before: Sequence[str], after: Sequence[str]) -> dict[str, int]:
    """Return the ranks that must change when lines are reordered from ``before`` to ``after``.

    Ranks are sparse, so that inserting a line rarely changes other ranks. ``before`` is in order of ``ranks``.
    """
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    middle = after[head : len(after) - tail]
    if not middle:
        return {}
    low = ranks[after[head - 1]] if head else 0
    high = ranks[after[-tail]] if tail else low + _RANK_STEP * (len(middle) + 1)
    step = (high - low) // (len(middle) + 1)
    if step > 0:
        return {line_id: low + step * number for number, line_id in enumerate(middle, start=1)}
    return {line_id: _RANK_STEP * number for number, line_id in enumerate(after, start=1)}
