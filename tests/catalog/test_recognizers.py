"""Recognisers among the models: import, verification, and that they are not taken for models that speak."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_recognizers import write_parakeet, write_sense_voice

from studio.catalog.checking import check_model, remove_model
from studio.catalog.installed import installed_models, model_status
from studio.catalog.known import Ability, known_models
from studio.catalog.recognizers import available_recognizers
from studio.catalog.transfer import export_model, import_model
from studio.cli.options import model_folder
from studio.errors import DamagedModelFile, MissingModelFile, ModelNotFound
from studio.take_checks.recognizers.choice import choose
from studio.take_checks.recognizers.layouts import LAYOUT_OF
from studio.take_checks.recognizers.opening import open_recognizer


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))


def test_the_known_recognisers_have_pinned_files_and_a_licence() -> None:
    known = [model for model in known_models().values() if model.is_recognizer]
    assert [model.name for model in known] == ["SenseVoiceSmall", "Parakeet-TDT-0.6b-v3"]
    for model in known:
        assert model.is_supported
        assert model.abilities == {Ability.RECOGNIZE}
        assert model.languages == LAYOUT_OF[model.generation].languages
        assert set(model.revisions) == set(model.repositories)
        assert all(file.sha256 and file.size_bytes for file in model.files)
        assert {file.path for file in model.files} <= set(LAYOUT_OF[model.generation].files)
        assert model.licence


@pytest.mark.parametrize(("write", "language"), [(write_sense_voice, "zh"), (write_parakeet, "fr")])
def test_an_imported_recogniser_is_found_opened_verified_exported_and_removed(
    tmp_path: Path, write: object, language: str
) -> None:
    folder = import_model(write(tmp_path / "Recogniser"))  # type: ignore[operator]
    name = folder.name
    choice = choose("auto", language, available_recognizers())
    assert choice.name == name
    assert open_recognizer(choice).name == name
    assert name not in installed_models()
    status = model_status(name)
    assert status is not None
    assert status.is_recognizer
    assert not status.is_loadable
    assert check_model(name).is_intact
    export_model(name, folder, tmp_path / "out.zip")
    remove_model(name)
    assert [each.name for each in available_recognizers()] == ["pocketsphinx"]
    assert import_model(tmp_path / "out.zip").name == name


def test_a_damaged_recogniser_is_found_by_verification_and_not_used(tmp_path: Path) -> None:
    folder = import_model(write_sense_voice(tmp_path / "Recogniser"))
    network = folder / "model.int8.onnx"
    network.write_bytes(network.read_bytes()[:-1])
    for _ in range(2):
        assert check_model("Recogniser").damaged == ("model.int8.onnx",)
        assert [each.name for each in available_recognizers()] == ["pocketsphinx"]
    with pytest.raises(DamagedModelFile):
        export_model("Recogniser", folder, tmp_path / "out.zip")


def test_an_incomplete_recogniser_is_not_imported(tmp_path: Path) -> None:
    folder = write_parakeet(tmp_path / "Recogniser")
    (folder / "vocab.txt").unlink()
    with pytest.raises(MissingModelFile, match=r"vocab\.txt"):
        import_model(folder)


def test_a_recogniser_cannot_be_chosen_to_speak(tmp_path: Path) -> None:
    import_model(write_sense_voice(tmp_path / "Recogniser"))
    with pytest.raises(ModelNotFound):
        model_folder("Recogniser")
