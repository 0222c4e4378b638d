"""Fixtures of all tests: the reference data, separate folders, and process-wide settings that are reset after each test."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import studio  # noqa: F401 - before torch: it decides how OpenMP threads wait

# Background jobs of a shell ignore Ctrl+C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests are not timed: on a busy machine, drawing an example may take longer than the limits of Hypothesis. All examples of
# a test share its fixtures, so a test must not change them.
settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("untimed")

_TESTS = Path(__file__).resolve().parent
_MODELS = _TESTS / "models"
FAMILIES = ("cosyvoice1", "cosyvoice2", "cosyvoice3")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reference",
        type=Path,
        default=None,
        help="folder of reference checkpoints and golden arrays (default: the copy in tests/reference)",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the tests of the window to the end: Qt processes events after each later test of the process."""
    items.sort(key=lambda item: item.path.is_relative_to(_TESTS / "app"))


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collections, of which the window's tests request one each."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep voices, settings, caches and logs apart from the user's, and from those of concurrent test processes."""
    folder = tmp_path_factory.mktemp("program")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATA", "CONFIG", "CACHE", "LOGS"):
            patch.setenv(f"TIMBRE_{name}", str(folder / name.lower()))
        yield


@pytest.fixture(scope="session")
def _num_torch_threads() -> int | None:
    torch = sys.modules.get("torch")
    return torch.get_num_threads() if torch else None


@pytest.fixture(autouse=True)
def _process_settings_end_with_the_test(_num_torch_threads: int | None) -> Iterator[None]:
    """Reset the settings of torch that engines change for the whole process.

    Flushed denormals break hypothesis, and the number of threads affects the order of summation.
    """
    yield
    torch = sys.modules.get("torch")
    if torch:
        torch.set_flush_denormal(False)
        if _num_torch_threads:
            torch.set_num_threads(_num_torch_threads)


@pytest.fixture(scope="session")
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with ``inputs/``, ``cosyvoice1/``, ``cosyvoice2/``, ``cosyvoice3/`` of the layout its README describes."""
    chosen = request.config.getoption("--reference")
    if chosen is not None:
        if not (chosen / "inputs").is_dir():
            raise pytest.UsageError(f"--reference {chosen}: this is not a folder of reference data, it has no inputs/.")
        return Path(chosen)
    return _own_copy(tmp_path_factory.mktemp("reference"))


def _own_copy(folder: Path) -> Path:
    """Combine the golden arrays with the checkpoints from which they were computed."""
    for part in ("inputs", "state-dicts"):
        _show(_TESTS / "reference" / part, folder / part)
    for family in FAMILIES:
        (folder / family).mkdir()
        _show(_TESTS / "reference" / family / "golden", folder / family / "golden")
        _show(_MODELS / f"noise-{family}", folder / family / "checkpoint")
    return folder


def _show(source: Path, place: Path) -> None:
    try:
        os.symlink(source, place, target_is_directory=True)
    except OSError:  # Windows gives links to administrators only
        shutil.copytree(source, place)


@pytest.fixture(params=["cosyvoice2", "cosyvoice3"])
def family(request: pytest.FixtureRequest) -> str:
    """The generations with a Qwen2 backbone and a flow that streams."""
    return str(request.param)


@pytest.fixture(params=FAMILIES)
def every_family(request: pytest.FixtureRequest, reference: Path) -> str:
    if not (reference / request.param).is_dir():
        pytest.skip(f"the reference folder has no {request.param}")
    return str(request.param)


@pytest.fixture
def no_spare_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes have to end with their slots, for tests of what happens to those that are too long."""
    monkeypatch.setattr("studio.project.lines._MAX_SPARE_SECONDS", 0.0)
