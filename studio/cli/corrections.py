"""Corrections of the speakers of a novel: the file of `--corrections`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studio.errors import UnusableSetting
from studio.messages import message
from studio.project.attribution.attribution import AttributedQuotation, Attribution
from studio.project.full_cast import Dialogue
from studio.storage.json_input import read_json


def corrected_attribution(dialogue: Dialogue, path: Path | None) -> Attribution:
    """Return the quotations with the speakers of a file, from which others are learned. Raise ``UnusableSetting``."""
    inferred = dialogue.attribution(dialogue.known_speakers())
    return inferred if path is None else dialogue.attribution(read_corrections(path, inferred))


def read_corrections(path: Path, inferred: Attribution) -> dict[int, str | None]:
    """Return the speakers in a file that differ from the ``inferred`` ones, or are marked as certain.

    The file has the form of `timbre characters --json`. Quotations may be left out; the others are in reading order.
    Raise ``UnusableSetting``.
    """
    corrections: dict[int, str | None] = {}
    position = 0
    for entry in _read_entries(path):
        text = entry["text"]
        while position < len(inferred.quotations) and inferred.quotations[position].text != text:
            position += 1
        if position == len(inferred.quotations):
            raise UnusableSetting(
                "{file} corrects a quotation that is not in the book, or not in this order: {text}",
                remedy="Copy the quotations from the output of `timbre characters --json`.",
                file=path.name,
                text=text,
            )
        if _is_correction(entry, inferred.quotations[position]):
            corrections[position] = entry["speaker"]
        position += 1
    return corrections


def _is_correction(entry: Mapping[str, Any], quotation: AttributedQuotation) -> bool:
    return entry["speaker"] != quotation.speaker or (entry.get("confidence") == 1 and quotation.is_doubtful)


def _read_entries(path: Path) -> list[dict[str, Any]]:
    reason: object = message("it does not have the form of `timbre characters --json`")
    try:
        content = read_json(path)
    except OSError as error:
        reason = error
    except ValueError:
        pass
    else:
        entries = content.get("quotations") if isinstance(content, dict) else content
        if isinstance(entries, list) and all(map(_is_entry, entries)):
            return entries
    raise UnusableSetting(
        "The corrections cannot be read ({file}): {reason}.",
        remedy="Write the output of `timbre characters BOOK --json` to a file, and change the speakers.",
        file=path,
        reason=reason,
    )


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str) or "speaker" not in entry:
        return False
    speaker = entry["speaker"]
    return speaker is None or (isinstance(speaker, str) and bool(speaker.strip()))
