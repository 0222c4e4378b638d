"""What all tests share: where the reference data lie, and a process that every test finds as the first one did."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import studio  # noqa: F401 - before torch: it decides how OpenMP threads wait

# A suite that a shell runs in the background inherits deafness to Ctrl+C, and so would the programs it interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_TESTS = Path(__file__).resolve().parent
_MODELS = _TESTS / "models"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reference",
        type=Path,
        default=None,
        help="folder of reference checkpoints and golden arrays (default: the copy in tests/reference)",
    )


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Voices, settings, caches and logs of the tests are not the user's, nor those of tests that run beside them."""
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
    """An engine sets torch up for the whole of its process, which in tests belongs to everybody.

    Flushed denormals break hypothesis, and another number of threads sums in another order.
    """
    yield
    torch = sys.modules.get("torch")
    if torch:
        torch.set_flush_denormal(False)
        if _num_torch_threads:
            torch.set_num_threads(_num_torch_threads)


@pytest.fixture(scope="session")
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with ``inputs/``, ``cosyvoice2/``, ``cosyvoice3/`` of the layout its README describes."""
    chosen = request.config.getoption("--reference")
    if chosen is not None:
        if not (chosen / "inputs").is_dir():
            raise pytest.UsageError(f"--reference {chosen}: this is not a folder of reference data, it has no inputs/.")
        return Path(chosen)
    return _own_copy(tmp_path_factory.mktemp("reference"))


def _own_copy(folder: Path) -> Path:
    """The golden arrays kept here, together with the checkpoints they were computed from."""
    for part in ("inputs", "state-dicts"):
        _show(_TESTS / "reference" / part, folder / part)
    for family in ("cosyvoice2", "cosyvoice3"):
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
    return str(request.param)
