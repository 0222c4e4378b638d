"""Styles of a model, and whether it follows other instructions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.catalog.known import Ability, known_models
from studio.text.styles import Styles, load_styles


def styles_of_model(generation: str, folder: Path) -> Styles:
    """Return the styles of the model in ``folder``. A model that is not known counts as one that follows instructions.

    Raise ``DamagedModelFile`` and ``MissingModelFile``.
    """
    known = known_models().get(folder.name)
    follows_instructions = known is None or Ability.INSTRUCT in known.abilities
    return replace(load_styles(generation, folder), follows_instructions=follows_instructions)
