"""What all tests share: where the reference data lie."""

from __future__ import annotations

from pathlib import Path

import pytest

_TESTS = Path(__file__).resolve().parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reference",
        type=Path,
        default=None,
        help="folder of reference checkpoints and golden arrays (default: ../shared/reference if it is there, else the copy in tests/)",
    )


@pytest.fixture(scope="session")
def reference(request: pytest.FixtureRequest) -> Path:
    """The folder with ``inputs/``, ``cosyvoice2/``, ``cosyvoice3/`` of the layout its README describes."""
    chosen = request.config.getoption("--reference")
    if chosen is not None:
        return Path(chosen)
    shared = _TESTS.parent.parent / "shared" / "reference"
    return shared if shared.is_dir() else _TESTS / "reference"


@pytest.fixture(params=["cosyvoice2", "cosyvoice3"])
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)
