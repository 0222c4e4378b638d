"""Import of models from complete, damaged and hostile folders and archives."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from small_model import write_folder

from studio.catalog.checking import check_model
from studio.catalog.folders import is_safe_path
from studio.catalog.installed import installed_models
from studio.catalog.progress import CancelToken, DownloadCancelled, Progress
from studio.catalog.transfer import export_model, import_model
from studio.errors import (
    BadModelArchive,
    BadModelName,
    BadModelSettings,
    CannotWrite,
    DamagedModelFile,
    DiskFull,
    MissingModelFile,
    ModelNotFound,
)


def tar_of(folder: Path, target: Path, mode: Any = "w:gz") -> Path:
    with tarfile.open(target, mode) as archive:
        archive.add(folder, arcname=folder.name)
    return target


def zip_of(files: dict[str, bytes], target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target


def has_no_models(place: Any) -> bool:
    return not [path for path in place.folder.rglob("*") if path.is_file()]


def test_a_released_folder_is_imported_under_its_name(place: Any, tmp_path: Path) -> None:
    released = write_folder(tmp_path / "snapshots" / "29e01c", place.files | {"asset/dingding.png": b"x"})
    folder = import_model(released)
    assert folder == place.model_folder
    assert place.installed_files() == place.files
    assert not (folder / "asset").exists()
    assert check_model(place.model.name).is_intact
    assert released.is_dir()


@pytest.mark.parametrize(
    "make",
    [tar_of, lambda f, t: tar_of(f, t, "w"), lambda f, t: Path(shutil.make_archive(str(t), "zip", f.parent, f.name))],
)
def test_archives_are_imported(place: Any, tmp_path: Path, make: Any) -> None:
    folder = write_folder(tmp_path / "mine-v2", place.files | {"llm.pt": b"tuned"})
    archive = make(folder, tmp_path / "model.archive")
    assert import_model(archive).name == "mine-v2"
    assert installed_models()["mine-v2"] == place.folder / "mine-v2"


def test_a_tar_archive_that_ends_with_weights_is_not_read_as_zip(place: Any, tmp_path: Path) -> None:
    weights = zip_of({"llm/data.pkl": b"x"}, tmp_path / "weights").read_bytes()
    folder = write_folder(tmp_path / "mine-v2", place.files | {"llm.pt": weights})
    with tarfile.open(tmp_path / "model.tar", "w") as archive:
        for path in sorted(folder.rglob("*"), key=lambda path: path.name == "llm.pt"):
            archive.add(path, arcname=path.relative_to(tmp_path), recursive=False)
    assert (import_model(tmp_path / "model.tar") / "llm.pt").read_bytes() == weights


def test_an_export_can_be_imported_elsewhere(place: Any, tmp_path: Path) -> None:
    place.installation().run()
    target = tmp_path / "model.zip"
    export_model(place.model.name, place.model_folder, target)
    before = place.installed_files()
    shutil.rmtree(place.folder)
    import_model(target)
    assert place.installed_files() == before
    assert check_model(place.model.name).is_intact
    assert sorted(tmp_path.glob(".*.part")) == []


def test_damage_after_the_export_is_found(place: Any, tmp_path: Path) -> None:
    place.installation().run()
    export_model(place.model.name, place.model_folder, tmp_path / "model.zip")
    shutil.rmtree(place.folder)
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in files if name.endswith("/flow.pt"))
    files[name] = files[name][::-1]
    with pytest.raises(DamagedModelFile, match=r"flow\.pt was damaged"):
        import_model(zip_of(files, tmp_path / "bad.zip"))
    assert has_no_models(place)


def test_a_damaged_model_is_not_exported(place: Any, tmp_path: Path) -> None:
    place.installation().run()
    path = place.model_folder / "flow.pt"
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(DamagedModelFile):
        export_model(place.model.name, place.model_folder, tmp_path / "model.zip")
    assert list(tmp_path.glob("*.zip")) == []


def test_an_impossible_export_target_fails_before_copying(
    place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.installation().run()
    copied: list[Progress] = []

    def export_to(target: Path) -> None:
        export_model(place.model.name, place.model_folder, target, on_progress=copied.append)

    with pytest.raises(CannotWrite, match="is not an ordinary file"):
        export_to(tmp_path)
    with pytest.raises(CannotWrite, match="does not exist"):
        export_to(tmp_path / "no" / "model.zip")
    monkeypatch.setattr("studio.catalog.folders.free_bytes", lambda _folder: 1000)
    with pytest.raises(DiskFull, match=r"0 MB are free in") as caught:
        export_to(tmp_path / "model.zip")
    assert "choose another folder" in str(caught.value.remedy)
    assert copied == []


def hostile_tar(target: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(target, "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("model/campplus.onnx")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        hard = tarfile.TarInfo("model/spk2info.pt")
        hard.type, hard.linkname = tarfile.LNKTYPE, "../../outside"
        archive.addfile(hard)
    return target


def test_unsafe_members_of_a_tar_are_skipped(place: Any, tmp_path: Path) -> None:
    inside = {f"model/{path}": content for path, content in place.files.items() if path != "campplus.onnx"}
    outside = {
        "../escaped.pt": b"x",
        "/escaped-model.pt": b"x",
        "model/../../llm.pt": b"x",
        "model/sub/../llm.rl.pt": b"x",
    }
    archive = hostile_tar(tmp_path / "model.tar", inside | outside)
    with pytest.raises(MissingModelFile, match=r"campplus\.onnx"):  # the link is not imported
        import_model(archive)
    assert not list(tmp_path.rglob("escaped*"))
    assert has_no_models(place)


def test_unsafe_names_in_a_zip_are_skipped(place: Any, tmp_path: Path) -> None:
    inside = {f"mine/{path}": content for path, content in place.files.items() if path != "llm.rl.pt"}
    hostile = {"../../evil.pt": b"x", "C:\\evil.pt": b"x", "mine/run.sh": b"rm -rf", "mine/llm.py": b"import os"}
    folder = import_model(zip_of(inside | hostile, tmp_path / "m.zip"), name="mine")
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == {*(path for path in place.files if path != "llm.rl.pt"), "timbre-model.json"}


@pytest.mark.parametrize(
    ("path", "is_safe"),
    [
        ("llm.pt", True), ("a/b.json", True), ("../x", False), ("a/../x", False), ("/x", False), ("a//b", False),
        ("C:x", False), ("a\\b", False), ("", False), (".", False), ("a/./b", False), ("x ", False), ("nul\0", False),
        ("nul.md", False), ("a/Com1", False), ("LPT².txt", False), ("aux .md", False), ("nulls.md", True),
    ],
)  # fmt: skip
def test_safe_paths_are_recognised(path: str, is_safe: bool) -> None:
    assert is_safe_path(path) is is_safe


def test_a_file_that_is_not_an_archive_is_reported(place: Any, tmp_path: Path) -> None:
    (tmp_path / "model.zip").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(BadModelArchive, match="cannot be read as an archive"):
        import_model(tmp_path / "model.zip")
    (tmp_path / "letter.txt").write_bytes(b"Dear model,\n" * 1000)
    with pytest.raises(
        BadModelArchive, match=r"letter\.txt cannot be read as an archive \(it is damaged or not an archive\)\."
    ):
        import_model(tmp_path / "letter.txt")
    with pytest.raises(BadModelArchive, match="does not contain a model"):
        import_model(write_folder(tmp_path / "photos", {"a.jpg": b"x"}))
    with pytest.raises(ModelNotFound):
        import_model(tmp_path / "gone")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_cancelling_works_while_an_archive_is_listed(place: Any, tmp_path: Path, mode: str) -> None:
    class ThrownSoon(CancelToken):
        num_checks = 0

        def check(self) -> None:
            self.num_checks += 1
            if self.num_checks > 4:
                self.cancel()
            super().check()

    folder = write_folder(tmp_path / "mine", place.files)
    with pytest.raises(DownloadCancelled):
        import_model(tar_of(folder, tmp_path / "model.tar", mode), stop=ThrownSoon())
    assert not place.folder.exists(), "not a byte was copied yet"


@pytest.mark.parametrize(("name", "damaged"), [("ü.md", b"\xc3\xff.md"), ("x.md", b"\0.md")])
def test_a_zip_with_undecodable_names_is_reported(place: Any, tmp_path: Path, name: str, damaged: bytes) -> None:
    archive = zip_of({"m/cosyvoice3.yaml": b"x", name: b"x"}, tmp_path / "m.zip")
    archive.write_bytes(archive.read_bytes().replace(name.encode(), damaged))
    # Python 3.14 leaves out a member without a name, so that the settings are missing.
    with pytest.raises((BadModelArchive, BadModelSettings), match=r"cannot be read as an archive|holds no settings"):
        import_model(archive)


@pytest.mark.parametrize(
    "record",
    [
        b'{"name": ' + 100_000 * b"[",
        b'{"name": "x", "origin": "", "revision": "", "damaged": [], '
        b'"files": [{"path": "llm.pt", "size_bytes": 1e999, "sha256": ""}]}',
    ],
    ids=["too deep", "too large"],
)
def test_a_malformed_record_is_ignored(place: Any, tmp_path: Path, record: bytes) -> None:
    folder = write_folder(tmp_path / "mine", place.files | {"timbre-model.json": record})
    assert import_model(folder).name == place.model.name


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes among files")
def test_a_pipe_is_rejected_without_blocking(place: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.zip")
    with pytest.raises(BadModelArchive, match="not an ordinary file"):
        import_model(tmp_path / "model.zip")


def test_a_truncated_archive_leaves_no_files(place: Any, tmp_path: Path) -> None:
    archive = tar_of(write_folder(tmp_path / "mine", place.files), tmp_path / "m.tar.gz")
    archive.write_bytes(archive.read_bytes()[:-40_000])
    with pytest.raises(BadModelArchive):
        import_model(archive)
    assert has_no_models(place)


def test_another_model_cannot_take_the_name_of_a_release(place: Any, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", place.files | {"llm.pt": b"tuned"})
    with pytest.raises(BadModelName, match="differs from the release"):
        import_model(folder, name=place.model.name)
    assert has_no_models(place)
    assert import_model(folder, name="tuned by me").name == "tuned by me"


def test_an_existing_model_is_never_overwritten(place: Any, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", place.files)
    import_model(folder, name="mine")
    with pytest.raises(BadModelName, match="already"):
        import_model(folder, name="mine")
    with pytest.raises(BadModelName, match="already"):
        import_model(folder, name="studio-mini")


def test_import_checks_the_free_space_and_cancelling_leaves_no_files(
    place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path / "x", place.files)
    stop = CancelToken()
    with pytest.raises(DownloadCancelled):
        import_model(folder, stop=stop, on_progress=lambda p: stop.cancel() if p.file == "flow.pt" else None)
    assert has_no_models(place)
    monkeypatch.setattr("studio.catalog.folders.free_bytes", lambda _folder: 1000)
    with pytest.raises(DiskFull):
        import_model(folder)
