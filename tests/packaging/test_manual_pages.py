"""Manual pages and completions in the Debian package."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

pytest.importorskip("argparse_manpage")
pytest.importorskip("shtab")

from frozen.manual_pages import command_line_files

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def files() -> dict[PurePosixPath, bytes]:
    return command_line_files("1.2.3", "2026-09-21")


def page(files: dict[PurePosixPath, bytes], name: str) -> str:
    """Return the source of a page, without the backslashes of dashes."""
    return gzip.decompress(files[PurePosixPath("man", "man1", f"{name}.1.gz")]).decode().replace("\\-", "-")


def test_every_command_has_a_page_with_its_options_and_examples(files: dict[PurePosixPath, bytes]) -> None:
    names = {path.name.partition(".")[0] for path in files if path.parts[0] == "man"}
    assert {"timbre", "timbre-say", "timbre-serve", "timbre-models", "timbre-app", "timbre-completion"} <= names
    serve = page(files, "timbre-serve")
    assert "2026-09-21" in serve
    assert "Timbre Studio 1.2.3" in serve
    for words in ("serve speech to other programs", "--metrics-port", "timbre serve --host 0.0.0.0 --token-file token"):
        assert words in serve, words


def test_the_files_are_written_below_a_folder(files: dict[PurePosixPath, bytes], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "frozen.manual_pages", "1.2.3", "2026-09-21", str(tmp_path)]
    folders = os.pathsep.join([str(ROOT), str(ROOT / "packaging")])
    subprocess.run(command, env=os.environ | {"PYTHONPATH": folders}, check=True)
    written = {PurePosixPath(path.relative_to(tmp_path)): path for path in tmp_path.rglob("*") if path.is_file()}
    assert {place: path.read_bytes() for place, path in written.items()} == files


def test_the_pages_are_the_same_each_time(files: dict[PurePosixPath, bytes]) -> None:
    assert command_line_files("1.2.3", "2026-09-21") == files


def test_man_accepts_the_pages(files: dict[PurePosixPath, bytes], tmp_path: Path) -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    for path, content in files.items():
        if path.parts[0] == "man":
            (tmp_path / path.name).write_bytes(content)
            shown = subprocess.run(
                ["man", "-l", tmp_path / path.name], capture_output=True, text=True, check=True
            ).stdout
            assert "examples:" in shown or "begin with:" in shown, path
