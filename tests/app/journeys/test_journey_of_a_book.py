"""A narrator imports an EPUB of twelve chapters and exports an audiobook that meets the limits of ACX."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from traveller import Traveller, require_effort
from virtual_screen import needs_screen

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1), pytest.mark.timeout(1800), needs_screen]


def test_a_book_becomes_an_audiobook_with_chapters_within_the_limits_of_acx(traveller: Traveller) -> None:
    from audiobook import AUTHOR, CHAPTERS, NARRATOR, TITLE

    report = traveller.take("audiobook")
    require_effort(report, keys=9, clicks=9)
    found = report["found"]
    assert found["summary"] == "All files meet the standard."
    assert [row[0] for row in found["levels"]] == list(CHAPTERS)
    assert not [cell for row in found["levels"] for cell in row if "✗" in cell]
    assert all(sum("✓" in cell for cell in row) == 7 for row in found["levels"])
    (file,) = (traveller.folder / "Timbre").rglob("*.m4b")
    chapters, tags = read_book(file)
    assert chapters == list(CHAPTERS)
    assert (tags["title"], tags["artist"], tags["composer"]) == (TITLE, AUTHOR, NARRATOR)


def read_book(file: Path) -> tuple[list[str], dict[str, Any]]:
    """Return the titles of the chapters and the tags, read by ffprobe or with the same libraries by PyAV."""
    if shutil.which("ffprobe"):
        command = ["ffprobe", "-v", "error", "-show_chapters", "-show_format", "-of", "json", str(file)]
        answer = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return [chapter["tags"]["title"] for chapter in answer["chapters"]], answer["format"]["tags"]
    av = pytest.importorskip("av")
    with av.open(str(file)) as container:
        return [chapter["metadata"]["title"] for chapter in container.chapters()], dict(container.metadata)
