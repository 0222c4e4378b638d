"""Options of a cluster: access, resources, and the model."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from pydantic import ValidationError

from studio.cluster.node import RAY_ENVIRONMENT
from studio.cluster.options import ClusterOptions, require_authentication
from studio.errors import CannotServe, ModelNotFound, UnusableSetting
from studio.pipeline.request import EngineOptions
from studio.storage.token_file import write_token

PACKAGING = Path(__file__).parents[2] / "packaging" / "cluster"


@pytest.mark.parametrize("mode", [None, "", "disabled", "k8s"])
def test_ray_without_a_token_is_refused(monkeypatch: pytest.MonkeyPatch, mode: str | None) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    with pytest.raises(CannotServe, match="RAY_AUTH_MODE=token"):
        require_authentication()


def test_ray_with_a_token_is_accepted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "TOKEN")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    write_token(tmp_path / "token", "a" * 32)
    require_authentication()
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a" * 32)  # as KubeRay passes it
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "/nonexistent")
    require_authentication()


def test_a_token_of_ray_that_is_missing_or_readable_by_others_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As `ray get-auth-token --generate` leaves it, with the usual permissions."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    with pytest.raises(CannotServe, match="missing"):
        require_authentication()
    (tmp_path / "token").write_text("a" * 32)
    (tmp_path / "token").chmod(0o644)
    with pytest.raises(UnusableSetting, match="Other users"):
        require_authentication()


def test_a_service_for_other_computers_needs_a_token(tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match="--token-file"):
        ClusterOptions().access_rules()
    assert ClusterOptions(host="127.0.0.1").access_rules().token is None
    with pytest.raises(CannotServe, match="--token-file"):
        ClusterOptions().require_token()
    ClusterOptions(token_file=tmp_path / "token").require_token()
    assert not (tmp_path / "token").exists(), "only the head node reads and writes it"
    rules = ClusterOptions(token_file=tmp_path / "token", allowed_hosts=("Studio",)).access_rules()
    assert rules.token == (tmp_path / "token").read_text("utf-8").strip()
    assert "studio" in rules.hosts


def test_a_replica_has_a_gpu_or_two_cores() -> None:
    assert ClusterOptions().resources == {"num_cpus": 2.0, "num_gpus": 0.0}
    on_gpu = ClusterOptions(engine=EngineOptions(device="cuda"))
    assert on_gpu.resources == {"num_cpus": 1.0, "num_gpus": 1.0}
    assert ClusterOptions(cores=8, gpus=0.5).resources == {"num_cpus": 8.0, "num_gpus": 0.5}


def test_arguments_of_a_deployment_file_are_read() -> None:
    options = ClusterOptions.model_validate({"most_replicas": "4", "lines": "3", "engine": {"device": "cuda"}})
    assert options.num_lines == 12
    assert options.engine.device == "cuda"
    with pytest.raises(ValidationError):
        ClusterOptions.model_validate({"replica": "4"})


def test_the_manifest_has_known_options() -> None:
    documents = yaml.safe_load_all((PACKAGING / "rayservice.yaml").read_text("utf-8"))
    service = next(each for each in documents if each["kind"] == "RayService")
    (application,) = yaml.safe_load(service["spec"]["serveConfigV2"])["applications"]
    options = ClusterOptions.model_validate(application["args"])
    assert options.token_file is not None
    assert application["import_path"] == "studio.cluster.application:application"
    groups = service["spec"]["rayClusterConfig"]
    for group in (groups["headGroupSpec"], *groups["workerGroupSpecs"]):
        variables = {each["name"]: each["value"] for each in group["template"]["spec"]["containers"][0]["env"]}
        assert RAY_ENVIRONMENT.items() <= variables.items()
    requirements = tomllib.loads((PACKAGING.parents[1] / "pyproject.toml").read_text("utf-8"))
    ray = Requirement(requirements["project"]["optional-dependencies"]["cluster"][0])
    assert ray.specifier.contains(service["spec"]["rayClusterConfig"]["rayVersion"])


def test_the_model_is_a_folder_or_an_installed_one(tmp_path: Path) -> None:
    assert ClusterOptions(model=str(tmp_path)).model_folder() == tmp_path
    assert ClusterOptions().model_folder().name == "studio-mini"
    with pytest.raises(ModelNotFound):
        ClusterOptions(model="Nothing").model_folder()
