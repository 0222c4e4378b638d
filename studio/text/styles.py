"""Styles of a generation: named instructions, and labels of inline tags.

The instructions are stored in ``resources/styles/``, exactly as they were used in training. A ``styles.json`` in a model folder replaces
the list of its generation.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from studio import paths
from studio.errors import DamagedModelFile, MissingModelFile, UnknownPreset
from studio.messages import Message, did_you_mean, message
from studio.storage.json_input import read_json
from studio.text.tags import KNOWN_TAGS, TagSupport

STYLES_FILE = "styles.json"
# Optional generation prefix of an id: v3.dialect.sichuan and dialect.sichuan are the same style.
_GENERATION_PREFIX = regex.compile(r"\Av\d+\.")
_PRESET_ID = regex.compile(r"[a-z][\w-]*(?:\.[\w-]+)+")
_SUGGESTIONS = 3


@dataclass(frozen=True, slots=True)
class Preset:
    """A named instruction."""

    id: str
    family: str  # shared by corresponding styles of all generations
    label_zh: str
    label_en: str
    instruction: str
    grade: str  # source of the instruction: A is the official program, B its demo page, C another source
    note: str = ""


@dataclass(frozen=True, slots=True)
class TagLabel:
    """Labels of an inline tag. A span is identified by its opening tag."""

    tag: str
    label_zh: str
    label_en: str
    grade: TagSupport


@dataclass(frozen=True, slots=True)
class Styles:
    """The styles and inline tags of a model."""

    presets: tuple[Preset, ...]
    tags: tuple[TagLabel, ...]
    follows_instructions: bool = True  # in the user's own words

    def understands(self, instruction: str) -> bool:
        """Return whether the model follows ``instruction``, which may be that of one of its presets."""
        wanted = instruction.strip()
        return self.follows_instructions or any(preset.instruction == wanted for preset in self.presets)

    def find(self, preset_id: str) -> Preset | None:
        """Return the preset with this id or in this family, or None if the model has no such preset."""
        wanted, family = preset_id.strip().lower(), family_of(preset_id)
        return next((preset for preset in self.presets if wanted == preset.id or family == preset.family), None)

    def unlearned_sounds(self, text: str) -> tuple[str, ...]:
        """Return the tags of sounds in ``text``, such as ``[laughter]``, that the model has not learned."""
        learned = {label.tag for label in self.tags}
        return tuple(tag for tag in KNOWN_TAGS if tag in text and tag not in learned)

    def preset(self, preset_id: str) -> Preset:
        """Return the preset with that id or family. Ids of other generations match corresponding styles.

        Raise ``UnknownPreset`` with similar names.
        """
        family = family_of(preset_id)
        preset = self.find(preset_id)
        if preset is not None:
            return preset
        raise UnknownPreset(
            "The loaded model has no style “{style}”.{did_you_mean}",
            remedy="Choose one of its styles, or describe the style in your own words.",
            style=preset_id,
            did_you_mean=self._did_you_mean(family),
        )

    def _did_you_mean(self, family: str) -> str | Message:
        families = [preset.family for preset in self.presets]
        last_word = family.rpartition(".")[2]
        near = [known for known in families if known.rpartition(".")[2] == last_word]
        near = near or difflib.get_close_matches(family, families, n=_SUGGESTIONS)
        return did_you_mean(near[:_SUGGESTIONS])


def family_of(preset_id: str) -> str:
    """Return the name that corresponding styles of all generations share."""
    return _GENERATION_PREFIX.sub("", preset_id.strip().lower())


def words_of_id(preset_id: str) -> str:
    """Return a readable name for a style that is in no installed list: the last words of its id."""
    return preset_id.rpartition(".")[2].replace("-", " ").replace("_", " ")


def names_of_styles(styles: Styles | None = None, *, in_chinese: bool = False) -> dict[str, str]:
    """Return the names of all presets by family: those of every generation, and of ``styles``.

    Raise ``DamagedModelFile`` and ``MissingModelFile``.
    """
    generations = sorted(path.stem for path in (paths.resources() / "styles").glob("*.json"))
    lists = [*(load_styles(name) for name in generations), *([] if styles is None else [styles])]
    return {
        preset.family: preset.label_zh if in_chinese else preset.label_en for each in lists for preset in each.presets
    }


def style_name(style: str, names: Mapping[str, str]) -> str:
    """Return the name of a style, with the ``names`` of presets by family. An instruction is its own name."""
    family = family_of(style)
    return names.get(family) or (words_of_id(style) if _PRESET_ID.fullmatch(family) else style)


def load_styles(generation_name: str, folder: Path | None = None) -> Styles:
    """Return the styles listed in the model folder or, without such a list, those of the generation.

    Raise ``DamagedModelFile`` for an invalid file, and ``MissingModelFile`` if the program's list is missing.
    """
    own = folder / STYLES_FILE if folder is not None else None
    if own is not None and own.exists():
        return _read(own, remedy=message("Correct it, or remove it from the model folder."))
    path = paths.resources() / "styles" / f"{generation_name}.json"
    if not path.is_file():
        raise MissingModelFile(
            "The list of styles for {generation} is missing.",
            remedy="Reinstall the program.",
            generation=generation_name,
        )
    return _read(path, remedy=message("Reinstall the program."), model_name=folder.name if folder else "")


def _read(path: Path, *, remedy: Message, model_name: str = "") -> Styles:
    """Read a list. If it is for models with a certain word in their name, it is empty for other models."""
    try:
        values = read_json(path)
        if model_name and _text(values.get("only_models_named", "")) not in model_name.casefold():
            return Styles((), ())
        return Styles(
            presets=tuple(_preset(entry) for entry in values["presets"]),
            tags=tuple(_tag_label(entry) for entry in values.get("tags", ())),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedModelFile(
            "{file} in {folder} is not a list of styles.", remedy=remedy, file=path.name, folder=path.parent
        ) from error


def _preset(entry: dict[str, Any]) -> Preset:
    names = ("id", "family", "label_zh", "label_en", "instruction", "grade")
    return Preset(**{name: _text(entry[name]) for name in names}, note=_text(entry.get("note", "")))


def _tag_label(entry: dict[str, Any]) -> TagLabel:
    return TagLabel(
        tag=_text(entry["tag"]),
        label_zh=_text(entry["label_zh"]),
        label_en=_text(entry["label_en"]),
        grade=TagSupport(entry["grade"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value
