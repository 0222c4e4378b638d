"""The engine cache: atomic installs, checksums, eviction, failure records and locks."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from full_records import full

from studio.engines.manifest import (
    BuiltFile,
    FailureKind,
    FailureRecord,
    Manifest,
    read_attempts,
    read_manifest,
)
from studio.engines.store import EngineStore, file_records
from studio.messages import Message, message
from studio.model.measurements import Records, Timing, Verification

GOOD = Verification(True, 1e-5, 1e-3, 100)
FACTS = {"stage": "flow", "name": "plan", "weights": "abc"}


def manifest_of(key: str, folder: Path, verification: Verification = GOOD) -> Manifest:
    return Manifest(
        key=key,
        facts=FACTS,
        made_at="2026-01-01T00:00:00+00:00",
        program_version="1",
        verification=verification,
        timing=Timing(0.1, 0.2, 0.05, 3) if verification.rejection is None else None,
        phase_seconds={"building": 3.0},
        files=file_records(folder),
    )


def build(store: EngineStore, key: str, num_bytes: int = 1000) -> None:
    with store.workspace(key) as workspace:
        (workspace / "plan.bin").write_bytes(bytes(num_bytes))
        store.install(workspace, manifest_of(key, workspace))


def test_manifest_round_trip(store: EngineStore) -> None:
    build(store, "a")
    found = store.manifest("a", FACTS)
    assert found is not None
    assert found == manifest_of("a", store.folder / "built" / "a")
    assert store.manifest("a", {**FACTS, "weights": "other"}) is None


def test_a_manifest_keeps_every_field(tmp_path: Path) -> None:
    rejection = Message("{part} differs by {error:.2%}", {"part": Message("the {what}", {"what": "mel"}), "error": 0.1})
    manifest = full(
        Manifest(
            key="a",
            facts=FACTS,
            made_at="2026-01-01T00:00:00+00:00",
            program_version="1",
            verification=Verification(True, 1e-5, 1e-3, 100, 0.5, 0.99, 1e-4, 2e-3, rejection),
            timing=Timing(0.1, 0.2, 0.05, 3),
            phase_seconds={"building": 3.0},
            files={"plan.bin": BuiltFile(1000, "ab" * 32)},
            was_disturbed=True,
        )
    )
    (tmp_path / "a").mkdir()
    manifest.write(tmp_path / "a" / "manifest.json")
    assert read_manifest(tmp_path / "a") == manifest


def test_a_failure_record_keeps_every_field(tmp_path: Path) -> None:
    reason = message("it needs {gigabytes:.1f} GB", gigabytes=3.5)
    record = full(FailureRecord(2, FailureKind.MEMORY, reason, "2026-01-01T00:00:00+00:00"))
    record.write(tmp_path / "a.json")
    assert read_attempts(tmp_path / "a.json") == record


def test_rejected_build_keeps_its_reason_and_no_files(store: EngineStore) -> None:
    rejection = message("it differs by {error:.2%}", error=0.1)
    with store.workspace("a") as workspace:
        (workspace / "plan.bin").write_bytes(b"1")
        bad = Verification(False, float("inf"), float("nan"), 1, rejection=rejection)
        store.install(workspace, manifest_of("a", workspace / "nothing", bad))
    found = store.manifest("a", FACTS)
    assert found is not None
    assert not found.is_good
    assert found.verification.relative_error == float("inf")
    assert str(found.verification.rejection) == "it differs by 10.00%"
    assert [path.name for path in (store.folder / "built" / "a").iterdir()] == ["manifest.json"]


def test_least_recently_used_engine_is_evicted_first(tmp_path: Path) -> None:
    store = EngineStore(tmp_path, limit_bytes=3000)
    for age, key in enumerate(("old", "older")):
        build(store, key)
        os.utime(store.folder / "built" / key, (1000 - age, 1000 - age))
    old = store.manifest("older", FACTS)
    assert old is not None
    assert store.verified_files(old) is not None  # used just now
    build(store, "new")
    assert {manifest.key for manifest in store.all_manifests()} == {"older", "new"}
    assert store.num_bytes() == 2000


def test_new_build_is_kept_even_if_it_exceeds_the_limit(tmp_path: Path) -> None:
    store = EngineStore(tmp_path, limit_bytes=500)
    build(store, "large")
    assert store.manifest("large", FACTS) is not None


def test_damaged_manifest_is_ignored(store: EngineStore) -> None:
    build(store, "a")
    path = store.folder / "built" / "a" / "manifest.json"
    for content in (b"", b"{", b"[]", b'{"version": 1}', b'{"version": 99}', b"[" * 200_000, path.read_bytes()[:-20]):
        path.write_bytes(content)
        assert read_manifest(path.parent) is None


@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"version": 1, "num_failures": 1e999, "trouble": "failed"}'])
def test_damaged_failure_record_is_ignored(store: EngineStore, content: bytes) -> None:
    store.begin("a")
    (store.folder / "attempts" / "a.json").write_bytes(content)
    assert store.attempts("a") is None
    assert store.num_backed_off() == 0
    store.begin("a")
    found = store.attempts("a")
    assert found is not None
    assert found.num_failures == 1


def test_only_folders_of_ended_builds_are_removed(store: EngineStore) -> None:
    left = store.folder / "building" / "dead"
    left.mkdir(parents=True)
    (left / "half.bin").write_bytes(b"1")
    with store.workspace("alive") as workspace:
        (workspace / "half.bin").write_bytes(b"1")
        EngineStore(store.folder).remove_stale()
        assert not left.exists()
        assert (workspace / "half.bin").exists()
    assert not workspace.exists()


def test_failure_is_recorded_before_a_build_begins(store: EngineStore) -> None:
    assert store.attempts("a") is None
    store.begin("a")
    found = store.attempts("a")
    assert found is not None
    assert found.num_failures == 1
    assert "the build was interrupted" in str(found.reason)
    with store.workspace("a"):
        at_work = EngineStore(store.folder).attempts("a")
        assert at_work is not None
        assert at_work.num_failures == 0
    store.fail("a", FailureKind.CRASHED, message("it crashed"))
    store.begin("a")
    store.cancel_attempt("a")
    found = store.attempts("a")
    assert found is not None
    assert (found.num_failures, str(found.reason)) == (
        1,
        "the build was interrupted: the program was killed, or the computer was turned off",
    )
    store.clear_failures("a")
    assert store.attempts("a") is None


def test_success_clears_failures(store: EngineStore) -> None:
    store.begin("a")
    build(store, "a")
    assert store.attempts("a") is None


def test_killed_build_installs_nothing_and_is_retried_only_once(store: EngineStore) -> None:
    """The building process is killed with SIGKILL."""
    program = f"""
import os, signal
from pathlib import Path
from studio.engines.store import EngineStore
store = EngineStore(Path({str(store.folder)!r}))
with store.workspace("a") as workspace:
    store.begin("a")
    (workspace / "plan.bin").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    for count in (1, 2):
        killed = subprocess.run([sys.executable, "-c", program], check=False)
        assert killed.returncode == -9
        after = EngineStore(store.folder)
        after.remove_stale()
        assert after.manifest("a", FACTS) is None
        assert not (store.folder / "building" / "a").exists()
        found = after.attempts("a")
        assert found is not None
        assert found.num_failures == count


def test_only_one_process_builds_a_key(store: EngineStore) -> None:
    with store.workspace("a"), pytest.raises(BlockingIOError), store.workspace("a"):
        pass
    assert not store.is_being_built("a")


def test_clearing_one_engine_keeps_the_others(store: EngineStore) -> None:
    build(store, "a")
    build(store, "b")
    store.begin("a")
    assert store.clear({"a"}) == 1000
    assert store.attempts("a") is None
    assert {manifest.key for manifest in store.all_manifests()} == {"b"}
    assert store.clear() == 1000


def test_unreadable_folder_counts_as_empty(store: EngineStore, monkeypatch: pytest.MonkeyPatch) -> None:
    build(store, "a")

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    store.remove_stale()
    assert store.clear() == 0


@pytest.mark.parametrize("key", ["../../precious", "..", ".", "", "/precious", "a/../../../precious", "a\\b", "a\n"])
def test_key_with_a_path_outside_the_store_deletes_nothing(tmp_path: Path, key: str) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "work.txt").touch()
    store = EngineStore(tmp_path / "cache" / "engines")
    build(store, "a")
    hostile = manifest_of(key or "x", precious)
    hostile = dataclasses.replace(hostile, key=key, files={"missing.bin": BuiltFile(1, "0" * 64)})
    hostile.write(store.folder / "built" / "a" / "manifest.json")
    assert store.all_manifests() == []
    with pytest.raises(ValueError, match="not the name"):
        store.verified_files(hostile)
    with pytest.raises(ValueError, match="not the name"):
        store.discard(key)
    assert (precious / "work.txt").exists()
    assert (store.folder / "built" / "a").exists()


def test_link_among_built_engines_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "work.txt").touch()
    store = EngineStore(tmp_path / "engines")
    build(store, "a")
    (store.folder / "built" / "link").symlink_to(precious, target_is_directory=True)
    store.discard("link")
    store.clear()
    assert (precious / "work.txt").exists()


def test_json_keys_of_earlier_versions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "attempts.json"
    FailureRecord(1, FailureKind.CRASHED, message("it crashed")).write(path)
    assert json.loads(path.read_text("utf-8"))["trouble"] == "crashed"
    records = Records(tmp_path / "measured")
    records.add(FACTS, Verification(True, 0.1, 0.1, 1, rejection=message("it is noise")))
    (record,) = (tmp_path / "measured").iterdir()
    assert json.loads(record.read_text("utf-8"))["verification"]["complaint"]["template"] == "it is noise"
    assert read_attempts(path) == FailureRecord(1, FailureKind.CRASHED, message("it crashed"))


def test_distortions_of_earlier_versions_are_read_in_the_usual_scale(tmp_path: Path) -> None:
    """Version 1 computed them with half the scale. What it rejected because of them is compared again."""
    records = Records(tmp_path)

    def store(rejection: Message | None) -> None:
        verification = Verification(True, 0.1, 0.1, 1, mel_distance_db=0.3, rejection=rejection)
        records.add(FACTS, verification)
        (path,) = tmp_path.iterdir()
        path.write_text(path.read_text("utf-8").replace('"version": 2', '"version": 1'), "utf-8")

    store(None)
    record = records.read(FACTS)
    assert record is not None
    assert record.verification.mel_distance_db == 0.6
    store(message("it differs by {distance} dB, more than {limit} dB", distance=0.9, limit=0.8))
    assert records.read(FACTS) is None
    store(message("it is noise"))
    assert records.read(FACTS) is not None
