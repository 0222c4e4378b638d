"""Damaged models are found, not loaded, and repaired with few downloaded bytes."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from small_model import write_folder

from studio.catalog.checking import check_model, discard_download, remove_model
from studio.catalog.folders import lock_model
from studio.catalog.installed import ModelState, installed_models, model_status, why_not_loadable
from studio.catalog.progress import CancelToken, DownloadCancelled
from studio.errors import BadModelName, MissingModelFile, ModelBusy, ModelNotFound


def flip_a_byte(place: Any, name: str) -> None:
    path = place.model_folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_an_undamaged_model_passes_verification(place: Any) -> None:
    place.installation().run()
    result = check_model(place.model.name)
    assert result.is_intact
    assert not result.is_learned
    assert result.num_files == len(place.files) - 1


def test_a_damaged_file_is_found_and_the_model_is_not_loaded(place: Any) -> None:
    place.installation().run()
    flip_a_byte(place, "flow.pt")
    assert check_model(place.model.name).damaged == ("flow.pt",)
    assert place.model.name not in installed_models()
    status = model_status(place.model.name)
    assert status is not None
    assert (status.state, status.damaged) == (ModelState.DAMAGED, ("flow.pt",))
    assert "flow.pt must be repaired" in str(why_not_loadable(place.model.name))


def test_a_repair_downloads_only_damaged_files(place: Any) -> None:
    place.installation().run()
    flip_a_byte(place, "flow.pt")
    (place.model_folder / "hift.pt").unlink()
    check_model(place.model.name)
    place.hub.served_bytes.clear()
    place.installation().run()
    assert set(place.hub.served_bytes) == {"flow.pt", "hift.pt"}
    assert check_model(place.model.name).is_intact
    assert place.model.name in installed_models()


def test_a_truncated_file_is_found_by_its_size(place: Any) -> None:
    place.installation().run()
    path = place.model_folder / "llm.pt"
    path.write_bytes(path.read_bytes()[:-1])
    assert place.model.name not in installed_models()


def test_a_copied_folder_is_compared_with_its_release(place: Any) -> None:
    write_folder(place.model_folder, place.files | {"llm.pt": b"x" * len(place.files["llm.pt"])})
    assert installed_models()[place.model.name] == place.model_folder
    assert check_model(place.model.name).damaged == ("llm.pt",)


def test_checksums_of_an_unknown_model_are_recorded_by_the_first_check(place: Any) -> None:
    write_folder(place.folder / "mine", place.files)
    assert check_model("mine").is_learned
    path = place.folder / "mine" / "llm.pt"
    path.write_bytes(path.read_bytes()[::-1])
    result = check_model("mine")
    assert (result.is_learned, result.damaged) == (False, ("llm.pt",))


def test_a_bundled_model_can_be_verified(place: Any) -> None:
    assert check_model("studio-mini").is_intact


def test_an_incomplete_model_is_reported(place: Any) -> None:
    write_folder(place.folder / "mine", {name: place.files[name] for name in ("cosyvoice3.yaml", "llm.pt")})
    with pytest.raises(MissingModelFile, match=r"flow\.pt"):
        check_model("mine")


def test_verification_can_be_cancelled(place: Any) -> None:
    place.installation().run()
    stop = CancelToken()
    stop.cancel()
    with pytest.raises(DownloadCancelled):
        check_model(place.model.name, stop=stop)


def test_removing_a_model_leaves_no_files(place: Any) -> None:
    place.installation().run()
    assert remove_model(place.model.name)
    assert not [path for path in place.folder.rglob("*") if path.is_file()]
    assert not remove_model(place.model.name)


def test_a_bundled_model_cannot_be_removed(place: Any) -> None:
    with pytest.raises(ModelNotFound, match="is part of the program"):
        remove_model("studio-mini")


def test_an_unfinished_download_can_be_discarded(place: Any) -> None:
    installation = place.installation()
    place.on_progress = lambda p: installation.stop.cancel() if p.file == "llm.pt" else None
    with pytest.raises(DownloadCancelled):
        installation.run()
    discard_download(place.model.name)
    assert not [path for path in place.folder.rglob("*") if path.is_file()]


def test_a_locked_model_cannot_be_changed(place: Any) -> None:
    with lock_model(place.model.name):
        for work in (place.installation().run, lambda: remove_model(place.model.name)):
            with pytest.raises(ModelBusy, match="another program"):
                work()
    place.installation().run()


def test_concurrent_installations_give_one_undamaged_model(place: Any) -> None:
    errors: list[Exception] = []

    def install() -> None:
        try:
            place.installation().run()
        except ModelBusy as error:
            errors.append(error)

    threads = [threading.Thread(target=install) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) < 3
    assert check_model(place.model.name).is_intact


@pytest.mark.parametrize("name", ["..", "a/b", ".hidden", "CON", "x" * 81, "ends.", "", "a\nb"])
def test_unsafe_model_names_are_refused(place: Any, name: str) -> None:
    with pytest.raises((BadModelName, ModelNotFound)):
        remove_model(name)
    with pytest.raises((BadModelName, ModelNotFound)):
        check_model(name)
