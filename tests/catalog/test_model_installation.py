"""Installation of a model from a hub, without requests to any other host."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hub_server import Fault, Repository
from small_model import COMMIT, REPOSITORY

from studio.catalog.installed import ModelState, installed_models, model_status, read_record
from studio.catalog.known import SourceKind
from studio.catalog.progress import Phase
from studio.errors import DiskFull, SourceRefused, SourceUnreachable, UnknownGeneration, WrongDownload
from studio.storage.disk import free_bytes


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(SourceKind))
def test_a_model_is_installed_from_either_hub(place: Any, kind: SourceKind) -> None:
    folder = place.installation(kind).run()
    assert folder == place.model_folder
    wanted = {path: content for path, content in place.files.items() if path != "llm.rl.pt"}
    assert place.installed_files() == wanted
    assert installed_models()[place.model.name] == folder
    record = read_record(folder)
    assert record is not None
    assert {file.path: file.sha256 for file in record.files} == {
        path: hashlib.sha256(content).hexdigest() for path, content in wanted.items()
    }
    assert not list(place.folder.rglob("*.part*"))
    assert not (place.folder / ".incoming" / place.model.name).exists()


def test_only_the_released_revision_is_requested(place: Any) -> None:
    place.installation().run()
    paths = [asked.path for asked in place.hub.asked]
    assert paths[0].startswith(f"/api/models/{REPOSITORY}/revision/{COMMIT}")
    assert all(f"{COMMIT}/" in path for path in paths[1:])
    assert len(paths) < 3 * len(place.files)


def test_the_rl_variant_is_downloaded_only_if_chosen(place: Any) -> None:
    place.installation().run()
    place.hub.asked.clear()
    place.installation(variants=frozenset({"rl"})).run()
    assert place.installed_files() == place.files
    assert {path.split("/")[-1] for path in (a.path.partition("?")[0] for a in place.hub.asked[1:])} == {"llm.rl.pt"}
    status = model_status(place.model.name)
    assert status is not None
    assert status.variants == {"rl"}


def test_installation_works_with_hf_hub_offline(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert place.installation().run().is_dir()


def test_a_mirror_with_only_the_newest_revision_is_used(place: Any) -> None:
    place.hub.repositories[REPOSITORY] = Repository(place.files, revision="ab" * 20)
    folder = place.installation().run()
    record = read_record(folder)
    assert record is not None
    assert record.revision == "ab" * 20


def test_another_release_is_refused_before_the_download(place: Any) -> None:
    changed = place.files | {"llm.pt": b"x" * len(place.files["llm.pt"])}
    place.hub.repositories[REPOSITORY] = Repository(changed)
    with pytest.raises(WrongDownload, match=r"llm\.pt at .* differs from the release"):
        place.installation().run()
    assert place.hub.served_bytes == {}
    assert place.model.name not in installed_models()


def test_free_space_is_checked_before_the_download(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.catalog.folders.free_bytes", lambda _folder: 1000)
    with pytest.raises(DiskFull, match="needs"):
        place.installation().run()
    assert place.hub.served_bytes == {}


def test_free_space_of_a_missing_folder_is_that_of_its_disk(tmp_path: Any) -> None:
    assert free_bytes(tmp_path / "not" / "yet") > 0


def test_a_removed_disk_has_no_free_space(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models on a removed disk: on Windows even its root does not exist."""
    monkeypatch.setattr("os.path.exists", lambda _path: False)
    assert free_bytes(tmp_path / "models") == 0


def test_progress_increases_to_the_total(place: Any) -> None:
    place.installation().run()
    done = [progress.done_bytes for progress in place.received]
    total = sum(len(content) for path, content in place.files.items() if path != "llm.rl.pt")
    assert done == sorted(done)
    assert done[-1] == total
    assert {progress.total_bytes for progress in place.received} == {total}
    assert place.seen[0].phase is Phase.LISTING
    assert place.seen[0].share is None  # unknown, not 0 %


def test_an_unsupported_model_is_not_downloaded(place: Any) -> None:
    from dataclasses import replace

    place.model = replace(place.model, generation="cosyvoice9")
    with pytest.raises(UnknownGeneration, match="is not supported by this version"):
        place.installation().run()
    assert place.hub.asked == []


@pytest.mark.slow
def test_listing_the_files_is_retried(place: Any) -> None:
    place.hub.list_faults = [Fault(503), Fault(429, {"Retry-After": "0.05"})]
    place.installation().run()
    waits = [progress for progress in place.seen if progress.phase is Phase.WAITING]
    assert [type(wait.error) for wait in waits] == [SourceRefused, SourceRefused]
    assert waits[1].wait_seconds == pytest.approx(0.05)


_DEEP = b'{"siblings": ' + b"[" * 200_000
_SIBLINGS = b'{"id": "x", "sha": "c0ffee", "siblings": %s}'


@pytest.mark.parametrize("kind", list(SourceKind))
@pytest.mark.parametrize(
    "page",
    [
        b"<html>Welcome to the hotel</html>",
        _DEEP,
        b"[]",
        b'"text"',
        _SIBLINGS % b"[1]",
        _SIBLINGS % b'[{"rfilename": "llm.pt", "size": "many"}]',
        _SIBLINGS % b'[{"rfilename": "llm.pt", "size": -1}]',
        b'{"Code": 1e999}',
        b'{"Code": 200, "Data": {"Files": [1]}}',
        b'{"Code": 200, "Data": {"Files": [{"Path": "llm.pt", "Size": -1}]}}',
    ],
    ids=lambda page: repr(page[:60]),
)
def test_a_malformed_list_of_files_is_refused_without_retry(place: Any, kind: SourceKind, page: bytes) -> None:
    place.hub.list_faults = 20 * [Fault(200, page=page)]
    with pytest.raises(SourceRefused, match="something other than a list of files"):
        place.installation(kind).run()
    assert len(place.hub.list_faults) >= 18  # the pinned revision, and the newest
    assert not [progress for progress in place.seen if progress.phase is Phase.WAITING]


@pytest.mark.slow
def test_an_unreachable_hub_raises(place: Any) -> None:
    place.hub.url = "http://127.0.0.1:9"
    with pytest.raises(SourceUnreachable, match="connected to the internet"):
        place.installation().run()
    assert place.model.name not in installed_models()


def test_the_token_is_not_sent_to_a_mirror(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    place.installation().run()
    assert not [asked for asked in place.hub.asked if "authorization" in asked.headers]


@pytest.mark.slow
def test_an_unfinished_download_is_not_an_installed_model(place: Any) -> None:
    place.hub.faults["llm.pt"] = 20 * [Fault(cut_at=8192)]
    with pytest.raises(SourceUnreachable):
        place.installation().run()
    status = model_status(place.model.name)
    assert status is not None
    assert status.state is ModelState.PARTIAL
    assert 0 < status.arrived_bytes < status.size_bytes
    assert place.model.name not in installed_models()
    assert json.loads((place.folder / ".incoming" / place.model.name / "timbre-plan.json").read_bytes())["files"]
