"""The catalog data is complete enough to install and check every known model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studio.catalog import installed
from studio.catalog.checking import is_allowed_file, require_complete
from studio.catalog.folders import check_model_name, is_safe_path
from studio.catalog.installed import DEFAULT_MODEL, ModelState, model_status, model_statuses
from studio.catalog.known import KnownModel, SourceKind, known_models
from studio.model.generations import GENERATIONS

MODELS = [model for model in known_models().values() if model.can_be_downloaded]
BUNDLED = Path(__file__).parents[2] / "resources" / "models"


def test_known_models_are_ordered_by_rank() -> None:
    assert list(known_models()) == [
        "Fun-CosyVoice3-0.5B-2512", "CosyVoice2-0.5B", "CosyVoice-300M", "CosyVoice-300M-SFT", "CosyVoice-300M-Instruct",
        "studio-mini", "SenseVoiceSmall",
    ]  # fmt: skip


def test_the_bundled_model_is_described_in_the_catalog() -> None:
    """It is never downloaded, so its files are those on disk, and an export keeps all of them."""
    bundled = {model.name: model for model in known_models().values() if not model.can_be_downloaded}
    assert list(bundled) == [DEFAULT_MODEL]
    mini = bundled[DEFAULT_MODEL]
    assert (mini.licence, mini.languages, mini.is_demonstration) == ("Apache-2.0", ("en",), True)
    folder = BUNDLED / mini.name
    assert require_complete(folder) == mini.generation
    paths = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert [path for path in paths if not is_allowed_file(path)] == []
    status = model_status(mini.name)
    assert status is not None
    assert (status.state, status.known) == (ModelState.BUNDLED, mini)


def test_a_missing_bundled_model_is_not_offered_for_download(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installed, "bundled_folder", lambda: tmp_path)
    monkeypatch.setattr(installed, "models_folder", lambda: tmp_path)
    assert DEFAULT_MODEL not in {status.name for status in model_statuses()}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_known_model_can_be_installed(model: KnownModel) -> None:
    assert check_model_name(model.name) == model.name
    # The recognisers' ONNX files are published on one hub.
    assert set(model.repositories) == ({SourceKind.HUGGING_FACE} if model.is_recognizer else set(SourceKind))
    assert model.licence
    assert model.languages
    for file in model.files:
        assert is_safe_path(file.path)
        assert is_allowed_file(file.path), "an export would omit it"
        assert file.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", file.sha256)


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.is_supported and not model.is_recognizer], ids=lambda model: model.name
)
def test_a_supported_model_has_all_required_files_and_checksums(model: KnownModel, tmp_path: Path) -> None:
    generation = next(generation for generation in GENERATIONS if generation.name == model.generation)
    yaml = Path(__file__).parents[1] / "models" / f"noise-{generation.name}" / generation.yaml_name
    for file in model.files_of():
        (tmp_path / file.path).parent.mkdir(exist_ok=True)
        (tmp_path / file.path).write_bytes(yaml.read_bytes() if file.path.endswith(".yaml") else b"")
        if model.generation == "cosyvoice1" and (file.size_bytes or 0) < 1 << 20:
            continue  # the hub's listing has the size and checksum of small files
        assert file.size_bytes
        assert file.sha256 or model.generation == "cosyvoice1", "not all checksums of the first release are known"
    assert require_complete(tmp_path) == model.generation


def test_the_rl_variant_is_optional() -> None:
    model = known_models()["Fun-CosyVoice3-0.5B-2512"]
    assert model.variants == ("rl",)
    assert model.size_bytes(frozenset({"rl"})) - model.size_bytes() == 2_024_682_701
