"""`timbre models`: its messages, JSON and exit statuses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import Fault, HubServer, Repository
from small_model import NAME, REPOSITORY, small_files, small_model
from terminal import Terminal

from studio.catalog import checking, folders
from studio.catalog.known import known_models


@pytest.fixture
def hub(timbre: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub with the only known model."""
    model = small_model(small_files())
    for module in ("cli.models", "catalog.known", "catalog.checking", "catalog.transfer"):
        monkeypatch.setattr(f"studio.{module}.known_models", lambda: {model.name: model})
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TIMBRE_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with HubServer() as server:
        server.repositories[REPOSITORY] = Repository(small_files())
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", server.url)
        yield server


def test_the_list_describes_each_model_without_requests(timbre: Terminal, hub: HubServer) -> None:
    ran = timbre("models", "list")
    assert ran.status == 0
    assert f"{NAME}: not installed, 1 MB" in ran.out
    assert "languages: zh, en, 18 Chinese dialects" in ran.out
    assert "licence: Apache-2.0; from Hugging Face" in ran.out
    assert "with --variant rl" in ran.out
    assert "studio-mini: bundled" in ran.out
    assert hub.asked == []


def test_the_bundled_model_is_described_and_not_downloaded(timbre: Terminal) -> None:
    ran = timbre("models", "list")
    described = ran.out.partition("studio-mini: ")[2].partition("\n\n")[0]
    assert "languages: en" in described
    assert "licence: Apache-2.0; bundled with the program" in described
    assert "a demonstration" in described
    ran = timbre("models", "install", "studio-mini")
    assert (ran.status, "is bundled with the program and is not downloaded" in ran.err) == (3, True)


def test_a_model_that_is_not_usable_has_a_reason(timbre: Terminal) -> None:
    unusable = [model.name for model in known_models().values() if not model.is_supported]
    states = {entry["name"]: entry["state"] for entry in timbre("models", "list", "--json").json}
    assert {states[name] for name in unusable} <= {"unsupported"}
    for name in unusable:
        ran = timbre("say", "Hello.", "--model", name)
        assert (ran.status, "is not supported by" in ran.err) == (3, True)


@pytest.mark.slow
def test_install_say_verify_and_remove(timbre: Terminal, hub: HubServer) -> None:
    ran = timbre("models", "install", NAME)
    assert (ran.status, ran.out) == (0, "")
    assert f"{NAME} is installed in" in ran.err
    listed = {entry["name"]: entry for entry in timbre("models", "list", "--json").json}[NAME]
    assert (listed["state"], listed["can_speak"], listed["variants"]) == ("installed", True, [])
    assert listed["origin"] == f"Hugging Face {REPOSITORY}"
    assert "no damage found" in timbre("models", "verify").err
    assert timbre("models", "remove", NAME).status == 0
    ran = timbre("models", "remove", NAME)
    assert (ran.status, "model-not-found" in ran.err) == (3, True)


def test_the_source_and_the_variant_can_be_chosen(timbre: Terminal, hub: HubServer) -> None:
    ran = timbre("models", "install", NAME, "--source", "modelscope", "--variant", "rl")
    assert ran.status == 0
    assert all(asked.path.startswith("/api/v1/models/") for asked in hub.asked)
    assert "llm.rl.pt" in hub.served_bytes


def test_the_source_of_the_settings_is_used(timbre: Terminal, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from studio.settings import MODEL_SCOPE_ENDPOINT, MODEL_SOURCE, MODELS_FOLDER
    from studio.settings_store import Settings

    monkeypatch.setenv("MODELSCOPE_ENDPOINT", "http://127.0.0.1:9")
    elsewhere = str(timbre.folder / "large disk")
    Settings().change({MODEL_SOURCE: "modelscope", MODEL_SCOPE_ENDPOINT: hub.url, MODELS_FOLDER: elsewhere})
    assert timbre("models", "install", NAME).status == 0
    assert (Path(elsewhere) / NAME / "llm.pt").is_file()


@pytest.mark.slow
def test_damage_sets_the_exit_status_and_can_be_repaired(timbre: Terminal, hub: HubServer) -> None:
    timbre("models", "install", NAME)
    path = timbre.folder / "data" / "models" / NAME / "flow.pt"
    path.write_bytes(path.read_bytes()[::-1])
    ran = timbre("models", "verify", NAME)
    assert (ran.status, "flow.pt damaged" in ran.err) == (1, True)
    ran = timbre("say", "Hello.", "--model", NAME)
    assert (ran.status, "must be repaired" in ran.err) == (3, True)
    hub.served_bytes.clear()
    assert timbre("models", "verify", "--repair", NAME).status == 0
    assert set(hub.served_bytes) == {"flow.pt"}
    assert timbre("models", "verify", NAME).status == 0


@pytest.mark.slow
def test_a_damaged_imported_model_has_its_own_remedy(timbre: Terminal, hub: HubServer) -> None:
    timbre("models", "install", NAME)
    timbre("models", "export", NAME)
    timbre("models", "import", f"{NAME}.zip", "--name", "mine")
    path = timbre.folder / "data" / "models" / "mine" / "flow.pt"
    path.write_bytes(path.read_bytes()[::-1])
    for options in ((), ("--repair",)):
        ran = timbre("models", "verify", "mine", *options)
        assert ran.status == 1
        assert ran.err.endswith("flow.pt damaged. Remove the model, and import it again from an undamaged copy.\n")
    ran = timbre("say", "Hello.", "--model", "mine")
    assert "import a complete copy" in ran.err
    assert "models install" not in ran.err


def test_the_bundled_model_is_verified_too(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "studio-mini: 16 files, no damage found" in timbre("models", "verify").err
    copy = timbre.folder / "bundled"
    shutil.copytree(folders.bundled_folder(), copy, copy_function=os.symlink)
    (copy / "studio-mini" / "flow.pt").unlink()
    (copy / "studio-mini" / "flow.pt").write_bytes(b"damaged")
    for module in (checking, folders):
        monkeypatch.setattr(module, "bundled_folder", lambda: copy)
    ran = timbre("models", "verify", "studio-mini")
    assert (ran.status, "studio-mini: flow.pt damaged. Run the set-up again" in ran.err) == (1, True)


def test_a_missing_model_has_the_install_command_as_remedy(timbre: Terminal, hub: HubServer) -> None:
    ran = timbre("say", "Hello.", "--model", NAME)
    assert (ran.status, f"timbre models install {NAME}" in ran.err) == (3, True)
    ran = timbre("models", "install", NAME.lower())
    assert (ran.status, f"Did you mean {NAME}" in ran.err) == (3, True)


@pytest.mark.slow
def test_a_network_failure_is_reported_once(timbre: Terminal, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.catalog.network._MAX_SECONDS", 0.01)
    hub.faults["llm.pt"] = 50 * [Fault(cut_at=5000)]
    ran = timbre("models", "install", NAME)
    assert ran.status == 13
    assert ran.err.count("closed the connection. Retrying.") == 1
    assert "source-unreachable" in ran.err
    hub.faults.clear()
    assert timbre("models", "install", NAME).status == 0


@pytest.mark.slow
def test_export_and_import_move_a_model(timbre: Terminal, hub: HubServer) -> None:
    timbre("models", "install", NAME)
    assert timbre("models", "export", NAME).status == 0
    assert timbre.files() == {f"{NAME}.zip"}
    timbre("models", "remove", NAME)
    assert f"{NAME} is installed" in timbre("models", "import", f"{NAME}.zip").err
    ran = timbre("models", "import", f"{NAME}.zip", "--name", "copy of it")
    assert ran.status == 0
    assert timbre("models", "import", "nowhere").status == 3


def test_an_invalid_endpoint_is_refused(timbre: Terminal, hub: HubServer) -> None:
    assert timbre("models", "install", NAME, "--endpoint", "hf-mirror").status == 2
