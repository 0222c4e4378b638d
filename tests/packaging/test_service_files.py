"""Image, compose file and systemd unit of the service: every path, command, option and port in them exists."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

import studio
from studio.cli.main import build_parser

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "packaging" / "service"
CLUSTER = ROOT / "packaging" / "cluster"
IMAGES = [SERVICE / "Containerfile", CLUSTER / "Containerfile"]


def instructions(path: Path) -> list[tuple[str, str]]:
    """Return the instructions of a Containerfile with their arguments, without comments."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(name, rest.strip()) for name, _, rest in (line.strip().partition(" ") for line in joined.splitlines())]


def arguments_of(path: Path, name: str) -> list[str]:
    return [rest for found, rest in instructions(path) if found == name]


def compose() -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((SERVICE / "compose.yaml").read_text("utf-8"))
    return values


def served_options() -> Any:
    """Return the options of `timbre serve` in the image."""
    [command] = arguments_of(SERVICE / "Containerfile", "CMD")[-1:]
    words = json.loads(command)
    assert words[0] == "timbre"
    return build_parser(words[1:]).parse_args(words[1:])


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.parent.name)
def test_an_image_copies_and_installs_what_exists(path: Path) -> None:
    known = {
        "FROM",
        "RUN",
        "ARG",
        "WORKDIR",
        "COPY",
        "USER",
        "ENV",
        "VOLUME",
        "EXPOSE",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    }
    assert {name for name, _ in instructions(path)} <= known
    for words in arguments_of(path, "COPY"):
        for source in words.split()[:-1]:
            assert (ROOT / source).exists(), source
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    run = " ".join(arguments_of(path, "RUN"))
    for name, value in (words.split("=") for words in arguments_of(path, "ARG")):
        run = run.replace(f"${{{name}}}", value)
    installed = re.findall(r'"\.\[([\w,]+)\]"', run)
    assert installed
    for extras in installed:
        assert set(extras.split(",")) <= set(project["optional-dependencies"]) - {"app"}, "no window in an image"
    torch = next(line for line in project["dependencies"] if line.startswith("torch"))
    assert f'"{torch}"' in " ".join(arguments_of(path, "RUN"))
    assert arguments_of(path, "USER") == ["timbre"]


def test_the_image_serves_other_computers_with_a_token_and_keeps_voices() -> None:
    options = served_options()
    assert (options.host, options.port, options.metrics_port) == ("0.0.0.0", 8807, 9108)
    [volumes] = arguments_of(SERVICE / "Containerfile", "VOLUME")
    assert str(options.token_file).startswith("/data/")
    assert "/data" in json.loads(volumes)
    variables = dict(each.split("=") for each in " ".join(arguments_of(SERVICE / "Containerfile", "ENV")).split())
    assert variables["TIMBRE_DATA"] == "/data"
    [ports] = arguments_of(SERVICE / "Containerfile", "EXPOSE")
    assert ports.split() == [str(options.port), str(options.metrics_port)]
    [check] = arguments_of(SERVICE / "Containerfile", "HEALTHCHECK")
    program = json.loads(check.partition("CMD ")[2])
    assert program[:2] == ["python", "-c"]
    compile(program[2], "healthcheck", "exec")
    assert f"127.0.0.1:{options.port}/readyz" in program[2]


def test_the_first_process_of_the_image_collects_orphans() -> None:
    """The line processes of a worker that was killed become children of the first process."""
    [entry] = arguments_of(SERVICE / "Containerfile", "ENTRYPOINT")
    program = json.loads(entry)[0]
    assert program in arguments_of(SERVICE / "Containerfile", "RUN")[0].split()


def test_the_compose_file_mounts_files_that_exist_and_declares_its_volumes() -> None:
    values = compose()
    for name, service in values["services"].items():
        for mount in service["volumes"]:
            source, target, *_ = mount.split(":")
            assert target.startswith("/")
            if source.startswith("."):
                assert (SERVICE / source).resolve().is_file(), f"{name}: {source}"
            else:
                assert source in values["volumes"], f"{name}: {source}"
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), "no port for other computers by default"
    build = values["services"]["timbre"]["build"]
    assert (SERVICE / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_images_have_versions() -> None:
    images = [service["image"] for service in compose()["services"].values()]
    manifest = (CLUSTER / "rayservice.yaml").read_text("utf-8")
    images += re.findall(r"image: (\S+)", manifest)
    images += [rest for path in IMAGES for rest in arguments_of(path, "FROM")]
    for image in images:
        name, _, tag = image.rpartition(":")
        assert re.match(r"v?\d+\.\d+", tag), image
        if "timbre" in name:
            assert tag == studio.__version__, image


def test_prometheus_scrapes_the_port_of_the_metrics_and_reads_the_alerts() -> None:
    values = yaml.safe_load((SERVICE / "prometheus.yaml").read_text("utf-8"))
    [job] = values["scrape_configs"]
    assert job["job_name"] == "timbre"
    assert job["static_configs"] == [{"targets": [f"timbre:{served_options().metrics_port}"]}]
    mounted = {mount.split(":")[1] for mount in compose()["services"]["prometheus"]["volumes"]}
    assert set(values["rule_files"]) <= mounted
    rules = yaml.safe_load((ROOT / "packaging" / "grafana" / "alerts.yaml").read_text("utf-8"))
    assert 'job="timbre"' in str(rules)


def test_grafana_finds_its_data_source_and_the_dashboard() -> None:
    [source] = yaml.safe_load((SERVICE / "grafana.yaml").read_text("utf-8"))["datasources"]
    assert source["url"] == "http://prometheus:9090"
    assert "prometheus" in compose()["services"]
    [provider] = yaml.safe_load((SERVICE / "dashboards.yaml").read_text("utf-8"))["providers"]
    mounted = [mount.split(":")[1] for mount in compose()["services"]["grafana"]["volumes"]]
    assert f"{provider['options']['path']}/timbre-studio.json" in mounted


def test_the_unit_runs_a_command_with_known_options_in_folders_of_its_own() -> None:
    unit = RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(SERVICE / "timbre.service", "utf-8")
    program, *words = shlex.split(unit["Service"]["ExecStart"].replace("$OPTIONS", ""))
    assert program == "/usr/bin/timbre"
    build_parser(words).parse_args(words)
    variables = dict(each.split("=") for each in unit["Service"]["Environment"].split())
    folders = {"TIMBRE_DATA": "/var/lib/", "TIMBRE_CACHE": "/var/cache/", "TIMBRE_LOGS": "/var/log/"}
    for variable, parent in folders.items():
        assert variables[variable] == f"{parent}timbre"
    for name in ("StateDirectory", "CacheDirectory", "LogsDirectory"):
        assert unit["Service"][name] == "timbre"
    example = re.search(r'OPTIONS=(.+)"', (SERVICE / "timbre.service").read_text("utf-8"))
    assert example is not None
    words = ["serve", *shlex.split(example[1])]
    build_parser(words).parse_args(words)


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    unit = tmp_path / "timbre.service"
    unit.write_text((SERVICE / "timbre.service").read_text("utf-8").replace("/usr/bin/timbre", "/bin/true"), "utf-8")
    ran = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_manifests_for_kubernetes_have_valid_schemas() -> None:
    """KubeRay's own kind is not among the schemas, but its pods are."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    documents = list(yaml.safe_load_all((CLUSTER / "rayservice.yaml").read_text("utf-8")))
    service = next(each for each in documents if each["kind"] == "RayService")
    groups = service["spec"]["rayClusterConfig"]
    pods = [groups["headGroupSpec"], *groups["workerGroupSpecs"]]
    claims = {each["metadata"]["name"] for each in documents if each["kind"] == "PersistentVolumeClaim"}
    for pod in pods:
        for volume in pod["template"]["spec"].get("volumes", ()):
            if "persistentVolumeClaim" in volume:
                assert volume["persistentVolumeClaim"]["claimName"] in claims
    checked = [each for each in documents if each is not service]
    checked += [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, **pod["template"]} for pod in pods]
    assert len(checked) >= 4
    for each in checked:
        kubernetes_validate.validate(each, "1.31", strict=True)
