"""Metadata of exported files: synthetic speech, model and licence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import regex

import studio
from studio.catalog.known import known_models
from studio.provenance.signing import Signing
from studio.storage.disk import require_regular_file

_MAX_TAG = 200
# YAML front matter of a model card on Hugging Face or ModelScope.
_CARD_HEADER = regex.compile(r"\A---\n(.*?)\n---\n", regex.DOTALL)
_LICENCE = regex.compile(r"""^license:[ \t]*(["']?)([\w][\w.+ -]*)\1[ \t]*(?:#.*)?$""", regex.MULTILINE)
_MAX_CARD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Provenance:
    """The model and its licence, empty if unknown, and whether and how exported files are signed and marked."""

    model: str = ""
    licence: str = ""
    signing: Signing | None = None
    is_marked: bool = False

    def tags(self, *, title: str, voice: str = "", album: str = "") -> dict[str, str]:
        """Return the tags of a file under libsndfile's names. A format omits the tags that it does not support."""
        model = f" with the model {self.model}" if self.model else ""
        licence = f" Licence of the model: {self.licence}." if self.licence else ""
        tags = {
            "title": title,
            "artist": f"{voice} (synthetic voice)" if voice else "synthetic voice",
            "album": album,
            "comment": f"Synthetic speech, made by a computer{model}.{licence}",
            "software": f"Timbre Studio {studio.__version__}",
            "license": self.licence,
        }
        return {name: _one_line(value) for name, value in tags.items() if value}


def licence_of_model(folder: Path) -> str:
    """Return the licence that the model card (``README.md``) or the catalogue gives, empty if unknown."""
    try:
        require_regular_file(folder / "README.md")
        with (folder / "README.md").open(encoding="utf-8") as card:
            header = _CARD_HEADER.match(card.read(_MAX_CARD_BYTES))
    except (OSError, ValueError):
        header = None
    licence = _LICENCE.search(header[1]) if header else None
    if licence is not None:
        return licence[2].strip()
    known = known_models().get(folder.name)
    return known.licence if known is not None else ""


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_TAG else f"{words[: _MAX_TAG - 1]}…"
