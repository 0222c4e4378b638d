"""Sample script in the language of the interface: characters, styles, chapters, and lines with times in a video."""

from __future__ import annotations

from studio import paths
from studio.project.lines import Heading, Line, LineStyle, Slot, new_id
from studio.storage.json_input import read_json


def read_sample(language: str) -> list[Line]:
    """Return the lines of the sample in ``language``, such as zh_CN, or else in English, with bundled voices."""
    folder = paths.resources() / "samples"
    path = folder / f"{language}.json"
    rows = read_json(path if path.is_file() else folder / "en.json")
    return [
        Line(
            id=new_id(),
            text=row["text"],
            character=row.get("character"),
            voice=row.get("voice"),
            style=LineStyle(preset=row.get("style")),
            heading=Heading[row.get("heading", "NONE")],
            slot=Slot(*row["slot"]) if "slot" in row else None,
            is_spoken=row.get("is_spoken", True),
        )
        for row in rows
    ]
