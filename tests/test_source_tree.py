"""Rules for the whole source tree: imports, dependencies, error codes, styles in examples."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import studio
from studio import paths
from studio.catalog.installed import DEFAULT_MODEL
from studio.errors import StudioError, from_record, type_of_code
from studio.text.styles import load_styles

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "studio").rglob("*.py"))
TOP_LEVEL = {
    ".ci",
    ".gitattributes",
    ".gitignore",
    "LICENSE",
    "README.md",
    "packaging",
    "pyproject.toml",
    "resources",
    "studio",
    "tests",
}
# Imported only in the worker process: importing torch delays the window by seconds.
ENGINES = {"torch", "onnxruntime", "vllm", "tensorrt"}
LIGHT_MODULES = [
    "studio.app.main",
    "studio.start",
    "studio.audio",
    "studio.cli.main",
    "studio.export.exporter",
    "studio.export.worker_source",
    "studio.pipeline.request",
    "studio.project.project",
    "studio.remote.remote_worker",
    "studio.settings_store",
    "studio.text",
    "studio.voices",
    "studio.worker.client",
    "studio.worker.protocol",
]
MANY_LINES = 400
# Files that are lists.
LISTS = {"studio/errors.py", "studio/settings.py"}
# Functions that use torch's global generator unless they are given one.
TORCH_DRAWS = {"bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm"}
GLOBAL_DRAWS = {"torch.manual_seed", "torch.rand_like", "torch.randn_like", "torch.randint_like"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Call:
    """A call with its dotted name, in which ``np`` is spelled out."""

    name: str
    line: int
    keywords: frozenset[str | None]


@dataclass(frozen=True)
class Source:
    """What the tests need of a module. Its syntax tree would take too much memory."""

    imports: frozenset[str]
    modules: frozenset[str]  # names of imported modules, and of everything imported from them
    calls: tuple[Call, ...]
    has_docstring: bool


@cache
def source_of(path: Path) -> Source:
    """Return what a module imports anywhere, also late and for types, and its calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules, calls = set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules.add(node.module)
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            name = re.sub(r"^np\.", "numpy.", ast.unparse(node.func))
            calls.append(Call(name, node.lineno, frozenset(keyword.arg for keyword in node.keywords)))
    imports = frozenset(name.split(".")[0] for name in modules)
    return Source(imports, frozenset(modules), tuple(calls), bool(ast.get_docstring(tree)))


@pytest.mark.slow
def test_packages_import_only_from_lower_layers() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    linted = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_modules_do_not_import_each_other() -> None:
    """Late imports and imports for types count."""
    modules = {name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in MODULES}
    imports = {name: source_of(path).modules - {name} for name, path in modules.items()}
    while True:  # remove modules that import none of the others, or that none of the others imports
        imported = frozenset[str]().union(*imports.values())
        left = {name: found & imports.keys() for name, found in imports.items() if name in imported}
        left = {name: found for name, found in left.items() if found}
        if left == imports:
            break
        imports = left
    assert imports.keys() == set()


def test_the_top_level_has_no_unexpected_entries() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is not a git checkout")
    top_level = {path.split("/")[0] for path in listed.stdout.split("\0") if path}
    assert top_level - TOP_LEVEL == set()


def test_the_packaging_folder_does_not_shadow_the_packaging_library() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()
    import packaging.version

    assert ROOT not in Path(packaging.version.__file__).parents or ".venv" in packaging.version.__file__


@pytest.mark.slow
@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_engine_libraries_are_imported_in_the_worker_only(module: str) -> None:
    code = f"import sys, {module}; print(*({ENGINES!r} & set(sys.modules)))"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.split() == []


@pytest.mark.filterwarnings("default:.* lines:UserWarning")
def test_long_files_are_reported() -> None:
    """Warn only: files are split by subject, not merely by length."""
    for path in MODULES:
        num_lines = len(path.read_text(encoding="utf-8").splitlines())
        if num_lines > MANY_LINES and name_of(path) not in LISTS:
            warnings.warn(f"{name_of(path)} has {num_lines} lines", stacklevel=1)


# Distributions of libraries that need not be installed for this test.
_OPTIONAL = {"grpc": "grpcio", "c2pa": "c2pa-python"}


@pytest.mark.slow
def test_every_imported_library_is_declared() -> None:
    """A library installed only for the tests would be missing on the user's computer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = project["dependencies"] + extras["app"] + extras["media"] + extras["serve"]
    requirements += extras["cluster"] + extras["triton"] + extras["provenance"]
    declared = {_plain(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}
    distributions_of = packages_distributions()
    missing = [
        f"{name_of(path)} imports {name}"
        for path in MODULES
        for name in source_of(path).imports - set(sys.stdlib_module_names) - {"studio"}
        if not declared
        & {_plain(distribution) for distribution in distributions_of.get(name, [_OPTIONAL.get(name, name)])}
    ]
    assert missing == []


def _plain(distribution: str) -> str:
    """Return a distribution name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def test_every_module_has_a_docstring() -> None:
    assert [name_of(path) for path in MODULES if not source_of(path).has_docstring] == []


def test_libraries_do_not_write_to_standard_output() -> None:
    """Only the command line and ``__main__`` modules write to standard output."""
    offenders = []
    for path in MODULES:
        if "cli" in path.relative_to(ROOT).parts or path.name == "__main__.py":
            continue
        offenders += [
            f"{name_of(path)}:{call.line}"
            for call in source_of(path).calls
            if re.match(r"sys\.stdout\.(buffer\.)?write", call.name)
            or (call.name == "print" and "file" not in call.keywords)
        ]
    assert offenders == []


def test_no_global_random_generator_is_used() -> None:
    """With a global generator, one request would change the speech of another."""
    offenders = []
    for path in MODULES:
        for call in source_of(path).calls:
            name = call.name
            is_unseeded_draw = name.removeprefix("torch.") in TORCH_DRAWS and name.startswith("torch.")
            if (
                name in GLOBAL_DRAWS
                or (is_unseeded_draw and "generator" not in call.keywords)
                or re.fullmatch(r"numpy\.random\.(?!default_rng)[a-z_]+", name)
            ):
                offenders.append(f"{name_of(path)}:{call.line} {name}")
        if "random" in source_of(path).imports:
            offenders.append(f"{name_of(path)} imports random, which has global state")
    assert offenders == []


def all_errors() -> set[type[StudioError]]:
    """Return all error classes, including those declared outside errors.py."""
    for module in pkgutil.walk_packages(studio.__path__, "studio."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name not in ("ray", "cryptography"):  # in extras that the tests do not need
                raise
    waiting, found = [StudioError], set()
    while waiting:
        subclasses = waiting.pop().__subclasses__()
        found.update(subclasses)
        waiting += subclasses
    return {kind for kind in found if kind.__module__.startswith("studio.")}


def test_every_error_has_a_unique_code() -> None:
    assert all_errors() == set(type_of_code.values())
    assert {code for code, kind in type_of_code.items() if kind.code != code} == set()
    assert [code for code in type_of_code if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", code)] == []


def test_every_error_has_a_cause_and_a_remedy_and_can_be_sent_to_another_process() -> None:
    for code, kind in type_of_code.items():
        for sentence in (str(kind.cause), str(kind.usual_remedy)):
            assert re.fullmatch(r"[A-Z`][^{}]*\.", sentence), f"{code}: not a sentence: {sentence}"
        assert kind.exit_status not in (0, 20), f"{code}: 0 is success, 20 a failed set-up"
        assert kind.exit_status < 126, f"{code}: the shell uses 126 and above"
        copy = from_record(kind("It broke.", remedy="Mend it.").to_record())
        assert (type(copy), str(copy)) == (kind, "It broke. Mend it.")


def test_errors_are_declared_in_the_order_of_their_exit_statuses() -> None:
    """``timbre doctor --codes`` lists them in this order, which groups them by subject."""
    statuses = [kind.exit_status for kind in type_of_code.values()]
    assert statuses == sorted(statuses)


def test_every_example_names_a_style_of_its_model() -> None:
    """Examples in the README, in the manual and in the help of the commands."""
    manual = (ROOT / "resources" / "manual").rglob("*.md")
    sources = [ROOT / "README.md", *manual, *(ROOT / "studio" / "cli").glob("*.py")]
    lines = [line for path in sources for line in path.read_text("utf-8").splitlines()]
    examples = [found for line in lines if (found := re.search(r"timbre (?:say|export) .*--preset ([\w.-]+)", line))]
    assert len(examples) >= 3
    mini = paths.resources() / "models" / DEFAULT_MODEL
    for example in examples:
        is_of_cosyvoice2 = "--model CosyVoice2-0.5B" in example.string
        styles = load_styles("cosyvoice2") if is_of_cosyvoice2 else load_styles("cosyvoice3", mini)
        assert styles.find(example[1]), example.string


def test_resources_are_found_in_a_checkout_and_in_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paths.resources() == ROOT / "resources"
    assert (paths.resources() / "models" / DEFAULT_MODEL / "llm.pt").is_file()
    site_packages = tmp_path / "site-packages"
    (site_packages / "resources").mkdir(parents=True)  # of another library
    (site_packages / "studio" / "resources").mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(site_packages / "studio" / "paths.py"))
    assert paths.resources() == site_packages / "studio" / "resources"


def test_test_folders_match_packages() -> None:
    packages = {folder.name for folder in (ROOT / "tests").iterdir() if any(folder.glob("test_*.py"))}
    assert packages - {folder.name for folder in (ROOT / "studio").iterdir()} == {"mini", "packaging"}


def test_test_files_have_unique_names() -> None:
    """Pytest imports them by file name."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
