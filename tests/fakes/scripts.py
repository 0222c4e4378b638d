"""Import of a script file in one step."""

from __future__ import annotations

from pathlib import Path

from studio.project.importing.blocks import ImportedScript
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.splitting import SplitMode


def import_script(path: Path, breaks: SplitMode = SplitMode.SENTENCE) -> ImportedScript:
    """Return the content of a script file, with the usual options."""
    return read_file(path).script(ImportOptions(breaks))
