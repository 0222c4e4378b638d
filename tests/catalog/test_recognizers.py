"""Recognisers among the models: import, verification, and that they are not taken for models that speak."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_recognizers import write_sense_voice

from studio.catalog.checking import check_model, remove_model
from studio.catalog.installed import installed_models, model_status
from studio.catalog.known import Ability, known_models
from studio.catalog.recognizers import available_recognizers
from studio.catalog.transfer import export_model, import_model
from studio.cli.options import model_folder
from studio.errors import DamagedModelFile, MissingModelFile, ModelNotFound
from studio.take_checks.recognizers.choice import choose
from studio.take_checks.recognizers.opening import open_recognizer
from studio.take_checks.recognizers.sense_voice_files import FILES, LANGUAGES


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))


def test_the_known_recogniser_has_pinned_files_and_a_licence() -> None:
    (model,) = [model for model in known_models().values() if model.is_recognizer]
    assert model.name == "SenseVoiceSmall"
    assert model.is_supported
    assert model.abilities == {Ability.RECOGNIZE}
    assert model.languages == LANGUAGES
    assert set(model.revisions) == set(model.repositories)
    assert all(file.sha256 and file.size_bytes for file in model.files)
    assert {file.path for file in model.files} <= FILES
    assert model.licence


def test_an_imported_recogniser_is_found_opened_verified_exported_and_removed(tmp_path: Path) -> None:
    folder = import_model(write_sense_voice(tmp_path / "Recogniser"))
    name = folder.name
    choice = choose("auto", "zh", available_recognizers())
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
    folder = write_sense_voice(tmp_path / "Recogniser")
    (folder / "tokens.txt").unlink()
    with pytest.raises(MissingModelFile, match=r"tokens\.txt"):
        import_model(folder)


def test_english_is_compared_by_the_bundled_recogniser_where_its_library_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_model(write_sense_voice(tmp_path / "Recogniser"))
    assert choose("auto", "en", available_recognizers()).name == "pocketsphinx"
    monkeypatch.setattr("studio.catalog.recognizers.find_spec", lambda _: None)
    assert choose("auto", "en", available_recognizers()).name == "Recogniser"


def test_a_recogniser_cannot_be_chosen_to_speak(tmp_path: Path) -> None:
    import_model(write_sense_voice(tmp_path / "Recogniser"))
    with pytest.raises(ModelNotFound):
        model_folder("Recogniser")
