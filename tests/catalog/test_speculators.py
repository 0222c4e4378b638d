"""Trained speculators: parts of installed models that are downloaded, verified, transferred and removed like models."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import noise_models
import pytest
from hub_server import Fault, HubServer, Repository, use_only_hub
from small_speculator import REPOSITORY, known_speculator, speculator_files

from studio.catalog.checking import check_model, discard_download, remove_model
from studio.catalog.failover import FailoverInstallation
from studio.catalog.installation import Installation
from studio.catalog.installed import (
    ModelState,
    ModelStatus,
    installed_models,
    model_status,
    model_statuses,
    read_record,
)
from studio.catalog.known import KnownModel, SourceKind, known_models
from studio.catalog.sources import SourceOrder, open_source
from studio.catalog.transfer import export_model, import_model
from studio.engines.candidate import Available, EngineTarget
from studio.engines.machine import processor
from studio.engines.speculative_candidates import CANDIDATES, TrainedCandidate
from studio.errors import (
    BadModelArchive,
    BadModelName,
    BadModelSettings,
    DamagedModelFile,
    DiskFull,
    MissingModelFile,
    ModelNotFound,
    SourceRefused,
    SourceUnreachable,
    StudioError,
    WrongTensors,
)
from studio.model.checkpoint import open_checkpoint

MODEL, NAME = "Noise3", "Noise3-speculator"


@dataclass
class SpeculatorBench:
    """A hub that offers a speculator, and a models folder with the model that it belongs to."""

    hub: HubServer
    known: KnownModel
    folder: Path

    @property
    def speculator(self) -> Path:
        return self.folder / MODEL / "speculator"

    def install(self) -> Path:
        source = open_source(SourceKind.HUGGING_FACE, self.hub.url)
        return Installation(self.known, source, first_wait_seconds=0.01, num_attempts=1).run()

    def offer(self, files: dict[str, bytes]) -> None:
        self.hub.repositories[REPOSITORY] = Repository(files)

    @property
    def is_candidate(self) -> bool:
        """Whether the engine that needs the speculator is a candidate for a loaded model."""
        target = EngineTarget(open_checkpoint(self.folder / MODEL), processor(1))
        candidate = next(each for each in CANDIDATES if isinstance(each, TrainedCandidate))
        return isinstance(candidate.probe(target), Available)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SpeculatorBench]:
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    known = known_speculator(MODEL)
    use_only_hub(monkeypatch, tmp_path / "hf", {known.name: known})
    import_model(noise_models.V3, name=MODEL)
    with HubServer() as hub:
        found = SpeculatorBench(hub, known, tmp_path / "timbre_data" / "models")
        found.offer(speculator_files())
        yield found


def status_of(name: str = NAME) -> ModelStatus:
    status = model_status(name)
    assert status is not None
    return status


def changed(**changes: object) -> dict[str, bytes]:
    files = speculator_files()
    return files | {"config.json": json.dumps(json.loads(files["config.json"]) | changes).encode()}


def test_the_known_speculators_belong_to_known_models() -> None:
    found = [model for model in known_models().values() if model.is_speculator]
    assert [model.name for model in found] == ["Fun-CosyVoice3-0.5B-2512-speculator", "CosyVoice2-0.5B-speculator"]
    for model in found:
        assert known_models()[model.name.removesuffix("-speculator")].can_be_downloaded
        assert model.is_supported
        assert set(model.repositories) == {SourceKind.HUGGING_FACE}
        assert {file.path for file in model.files} == {"config.json", "model.safetensors"}
        assert 4e8 < model.size_bytes() < 6e8


def test_it_is_listed_after_its_model_and_only_if_that_is_installed(bench: SpeculatorBench) -> None:
    names = [status.name for status in model_statuses()]
    assert names[names.index(MODEL) + 1] == NAME
    status = status_of()
    assert (status.state, status.base, status.is_loadable) == (ModelState.AVAILABLE, MODEL, False)
    assert status.size_bytes == bench.known.size_bytes()
    remove_model(MODEL)
    assert model_status(NAME) is None
    with pytest.raises(ModelNotFound, match=f"belongs to the model {MODEL}, which is not installed"):
        bench.install()
    assert bench.hub.asked == []


def test_it_is_downloaded_into_its_model_and_removed_alone(bench: SpeculatorBench) -> None:
    size = status_of(MODEL).size_bytes
    assert not bench.is_candidate
    assert bench.install() == bench.speculator
    assert bench.is_candidate
    assert {path.name: path.read_bytes() for path in bench.speculator.iterdir()}.items() > speculator_files().items()
    record = read_record(bench.speculator)
    assert record is not None
    assert (record.name, record.origin) == (NAME, f"Hugging Face {REPOSITORY}")
    assert status_of().state is ModelState.INSTALLED
    assert (status_of(MODEL).state, status_of(MODEL).size_bytes) == (ModelState.INSTALLED, size)
    assert NAME not in installed_models()
    assert check_model(NAME).is_intact
    assert check_model(MODEL).is_intact
    assert remove_model(NAME)
    assert not bench.is_candidate
    assert status_of().state is ModelState.AVAILABLE
    assert status_of(MODEL).is_loadable
    assert not remove_model(NAME)


def test_an_interrupted_download_is_resumed_or_discarded(bench: SpeculatorBench) -> None:
    bench.hub.faults["model.safetensors"] = [Fault(cut_at=50_000)]
    with pytest.raises(SourceUnreachable):
        bench.install()
    assert status_of().state is ModelState.PARTIAL
    assert 50_000 <= status_of().arrived_bytes < status_of().size_bytes
    bench.hub.asked.clear()
    bench.install()
    assert any(asked.headers.get("range", "").startswith("bytes=5") for asked in bench.hub.asked)
    assert bench.is_candidate
    remove_model(NAME)
    bench.hub.faults["model.safetensors"] = [Fault(cut_at=50_000)]
    with pytest.raises(SourceUnreachable):
        bench.install()
    discard_download(NAME)
    assert status_of().state is ModelState.AVAILABLE


def test_a_model_is_removed_with_its_speculator_and_its_unfinished_download(bench: SpeculatorBench) -> None:
    bench.hub.faults["model.safetensors"] = [Fault(cut_at=50_000)]
    with pytest.raises(SourceUnreachable):
        bench.install()
    remove_model(MODEL)
    assert not list(bench.folder.rglob("*.safetensors*"))
    import_model(noise_models.V3, name=MODEL)
    assert status_of().state is ModelState.AVAILABLE
    bench.install()
    remove_model(MODEL)
    assert not (bench.folder / MODEL).exists()


def test_free_space_is_checked_before_the_download(bench: SpeculatorBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.catalog.folders.free_bytes", lambda _folder: 1000)
    with pytest.raises(DiskFull, match="needs"):
        bench.install()
    assert bench.hub.served_bytes == {}


def test_a_damaged_speculator_is_found_and_repaired_while_its_model_stays_usable(bench: SpeculatorBench) -> None:
    bench.install()
    weights = bench.speculator / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    assert check_model(NAME).damaged == ("model.safetensors",)
    assert check_model(MODEL).is_intact
    assert (status_of().state, status_of(MODEL).state) == (ModelState.DAMAGED, ModelState.INSTALLED)
    assert MODEL in installed_models()
    with pytest.raises(DamagedModelFile):
        export_model(NAME, bench.speculator, bench.folder / "out.zip")
    bench.hub.served_bytes.clear()
    bench.install()
    assert set(bench.hub.served_bytes) == {"model.safetensors"}
    assert check_model(NAME).is_intact


def test_a_speculator_without_a_record_is_verified_like_such_a_model(bench: SpeculatorBench) -> None:
    """Earlier versions required the user to copy the files."""
    bench.speculator.mkdir()
    for name, content in speculator_files().items():
        (bench.speculator / name).write_bytes(content)
    assert status_of().state is ModelState.INSTALLED
    assert bench.is_candidate
    result = check_model(NAME)
    assert (result.is_intact, result.is_learned, result.num_files) == (True, True, 2)
    assert check_model(MODEL).is_intact
    (bench.speculator / "timbre-model.json").unlink()
    (bench.speculator / "model.safetensors").unlink()
    assert status_of().damaged == ("model.safetensors",)


def test_a_check_of_a_model_without_a_record_leaves_out_the_speculator(bench: SpeculatorBench) -> None:
    bench.install()
    (bench.folder / MODEL / "timbre-model.json").unlink()
    check_model(MODEL)
    remove_model(NAME)
    assert status_of(MODEL).state is ModelState.INSTALLED


_WRONG: dict[str, tuple[Callable[[], dict[str, bytes]], type[StudioError], str]] = {
    "another kind": (lambda: changed(speculators_model_type="eagle3"), BadModelSettings, "unsupported kind"),
    "another generation": (
        lambda: changed(speculators_config={"verifier": {"name_or_path": "yuekai/cosyvoice2_llm"}}),
        WrongTensors,
        "not trained for Fun-CosyVoice3",
    ),
    "a deeper model": (lambda: changed(aux_hidden_state_layer_ids=[2, 60]), WrongTensors, "does not fit the model"),
    "a wider model": (lambda: changed(aux_hidden_state_layer_ids=[0, 1, 2]), WrongTensors, "does not fit the model"),
    "no settings": (lambda: speculator_files() | {"config.json": b"[]"}, DamagedModelFile, "not readable"),
    "a pickle": (lambda: speculator_files() | {"model.safetensors": b"\x80\x04code"}, DamagedModelFile, "not readable"),
    "cut off": (
        lambda: speculator_files() | {"model.safetensors": speculator_files()["model.safetensors"][:-9]},
        DamagedModelFile,
        "not readable",
    ),
}


@pytest.mark.parametrize("kind", _WRONG)
def test_a_speculator_that_does_not_fit_is_refused(bench: SpeculatorBench, tmp_path: Path, kind: str) -> None:
    make, error, words = _WRONG[kind]
    bench.offer(make())
    with pytest.raises(error, match=words):
        bench.install()
    folder = tmp_path / "copy"
    folder.mkdir()
    for name, content in make().items():
        (folder / name).write_bytes(content)
    with pytest.raises((error, BadModelArchive)):
        import_model(folder, name=MODEL)
    assert not bench.speculator.exists()
    assert not list((bench.folder / ".incoming").glob("Noise*"))
    assert status_of().state is ModelState.AVAILABLE
    assert status_of(MODEL).is_loadable


def test_a_local_folder_is_copied_into_the_model_that_it_fits(bench: SpeculatorBench, tmp_path: Path) -> None:
    folder = tmp_path / "downloads" / "anything"
    folder.mkdir(parents=True)
    for name, content in (speculator_files() | {"README.md": b"card", "train.py": b"print()"}).items():
        (folder / name).write_bytes(content)
    import_model(noise_models.V1, name="Old")  # a generation without speculators
    assert import_model(folder) == bench.speculator
    assert {path.name for path in bench.speculator.iterdir()} == {
        *speculator_files(), "README.md", "timbre-model.json",
    }  # fmt: skip
    assert status_of().record is not None
    with pytest.raises(BadModelName, match="already exists"):
        import_model(folder)
    remove_model(NAME)
    import_model(noise_models.V2, name="Noise2")
    with pytest.raises(BadModelName, match="may belong to several models: Noise2, Noise3"):
        import_model(folder)
    assert import_model(folder, name=MODEL) == bench.speculator
    (folder / "model.safetensors").unlink()
    remove_model(NAME)
    with pytest.raises(MissingModelFile, match=r"model\.safetensors is missing"):
        import_model(folder, name=MODEL)
    with pytest.raises(ModelNotFound, match="belongs to is not installed"):
        import_model(folder, name="Nothing")


def test_an_archive_of_a_model_contains_its_speculator(bench: SpeculatorBench, tmp_path: Path) -> None:
    bench.install()
    archive = tmp_path / "both.zip"
    export_model(MODEL, bench.folder / MODEL, archive)
    remove_model(MODEL)
    import_model(archive)
    record = read_record(bench.speculator)
    assert record is not None
    assert (record.name, record.origin) == (NAME, f"Hugging Face {REPOSITORY}")
    assert check_model(MODEL).is_intact
    assert check_model(NAME).is_intact
    assert bench.is_candidate
    remove_model(NAME)
    assert check_model(MODEL).is_intact


def test_an_archive_of_a_speculator_is_imported_into_the_same_model(bench: SpeculatorBench, tmp_path: Path) -> None:
    bench.install()
    archive = tmp_path / "speculator.zip"
    export_model(NAME, bench.speculator, archive)
    remove_model(NAME)
    import_model(noise_models.V2, name="Noise2")
    assert import_model(archive) == bench.speculator
    assert check_model(NAME).is_intact


def test_a_model_folder_with_a_damaged_speculator_is_not_imported(bench: SpeculatorBench, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(noise_models.V3, folder)
    (folder / "speculator").mkdir()
    (folder / "speculator" / "config.json").write_bytes(speculator_files()["config.json"])
    with pytest.raises(MissingModelFile, match=r"speculator/model\.safetensors is missing"):
        import_model(folder, name="Copy")
    assert "Copy" not in installed_models()


def test_a_source_that_does_not_offer_it_is_refused(bench: SpeculatorBench) -> None:
    """Speculators are published only on Hugging Face."""
    order = SourceOrder((open_source(SourceKind.MODEL_SCOPE, bench.hub.url),))
    with pytest.raises(SourceRefused, match="is not available from 127"):
        FailoverInstallation(bench.known, order).run()


@pytest.mark.parametrize("is_first", [True, False])
def test_files_of_the_same_name_keep_their_own_checksums(
    bench: SpeculatorBench, tmp_path: Path, is_first: bool
) -> None:
    """A licence of the model was recorded as that of the speculator, depending on the order in the archive."""
    archive = tmp_path / "model.zip"
    licences = {"speculator/LICENSE": "of the speculator", "LICENSE": "of the model"}
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(licences, reverse=not is_first, key=list(licences).index):
            packed.writestr(f"Copy/{path}", licences[path])
        for path in noise_models.V3.rglob("*"):
            if path.is_file():
                packed.write(path, f"Copy/{path.relative_to(noise_models.V3)}")
        for path, content in speculator_files().items():
            packed.writestr(f"Copy/speculator/{path}", content)
    import_model(archive, name="Copy")
    assert check_model("Copy").is_intact
    assert check_model("Copy-speculator").is_intact


def test_a_model_cannot_have_the_name_of_a_speculator(bench: SpeculatorBench) -> None:
    with pytest.raises(BadModelName, match="reserved"):
        import_model(noise_models.V3, name="My-speculator")
    assert not (bench.folder / "My").exists()


def test_a_model_with_an_incomplete_speculator_is_not_exported(bench: SpeculatorBench, tmp_path: Path) -> None:
    """Its archive could not be imported."""
    bench.speculator.mkdir()
    (bench.speculator / "README.md").write_text("Copied by hand.", "utf-8")
    with pytest.raises(MissingModelFile, match=r"speculator/config\.json is missing"):
        export_model(MODEL, bench.folder / MODEL, tmp_path / "model.zip")
