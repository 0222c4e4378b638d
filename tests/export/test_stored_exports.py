"""Every field of the records of exports is the same after writing and reading."""

from __future__ import annotations

import os
from pathlib import Path

from full_records import FULL_CHECK, full

from studio.export.line_checks import LineCheck, StoredChecks
from studio.export.target_folder import FileRecord, Journal, Origin


def test_the_journal_keeps_every_field(tmp_path: Path) -> None:
    # Python counts these separators as ends of lines, JSON does not.
    name = "Kapitel\u2028eins\x85"
    file = tmp_path / "target" / "001.wav"
    file.parent.mkdir()
    file.write_bytes(b"samples")
    os.utime(file, ns=(5, 5))
    record = full(FileRecord(file.name, "recipe", 7, 5, 24_000, 48_000, -16.5, -1.5, name, "1-3"))
    with Journal(file.parent, journals=tmp_path / "journals") as journal:
        journal.append(record)
    for _ in range(2):  # opening a journal writes it again
        with Journal(file.parent, journals=tmp_path / "journals") as journal:
            assert journal._records == {file.name: [record]}
            assert journal.files_of(full(Origin((name,), "1-3")))


def test_stored_checks_keep_every_field(tmp_path: Path) -> None:
    line = full(LineCheck(FULL_CHECK, seed=2**63 - 1, num_retries=2))
    stored = StoredChecks(tmp_path)
    stored.put("key", line)
    assert stored.get("key") == line
