"""Every field of a download's plan and of a model's record is the same after writing and reading."""

from __future__ import annotations

from pathlib import Path

from full_records import full

from studio.catalog.installed import InstallRecord, RecordedFile, read_record, write_record
from studio.catalog.sources import RemoteFile
from studio.catalog.staging import InstallPlan, read_plan, write_plan


def test_a_plan_keeps_every_field(tmp_path: Path) -> None:
    file = RemoteFile("folder/llm.pt", 7, "ab" * 32, "cd" * 20)
    plan = full(InstallPlan("https://example.org", "owner/model", "v1", (file,)))
    write_plan(tmp_path, plan)
    assert read_plan(tmp_path) == plan


def test_a_record_keeps_every_field(tmp_path: Path) -> None:
    file = RecordedFile("folder/llm.pt", 7, "ab" * 32)
    record = full(InstallRecord("Modell", "owner/model", "v1", (file,), damaged=("folder/llm.pt",)))
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record
