"""Instructions that the bundled voice supports: the training sentences of each style.

The canonical sentence becomes a preset in ``styles.json`` of the model folder.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from studio.model.generations import COSYVOICE3
from studio.text.styles import STYLES_FILE

BRITISH = "accent:british"  # a manner of the British voices, not a style of the corpus
_DATA = Path(__file__).with_name("instructions.json")


@dataclass(frozen=True, slots=True)
class Instruction:
    """Instructions of one style. The first sentence becomes the preset."""

    style: str
    family: str
    label_zh: str
    label_en: str
    grade: str
    sentences: tuple[str, ...]

    @property
    def canonical(self) -> str:
        return self.sentences[0]


def read_instructions() -> dict[str, Instruction]:
    """Return the instructions by style of the corpus."""
    return {
        entry["style"]: Instruction(
            style=entry["style"],
            family=entry["family"],
            label_zh=entry["label_zh"],
            label_en=entry["label_en"],
            grade=entry["grade"],
            sentences=(entry["canonical"], *entry["also"]),
        )
        for entry in json.loads(_DATA.read_text("utf-8"))["styles"]
    }


def write_presets(folder: Path, styles: Collection[str]) -> None:
    """Write ``styles.json`` with the presets that have instructions. There are no tags, because none were trained."""
    presets = [
        {
            "id": f"v3.{each.family}",
            "family": each.family,
            "label_zh": each.label_zh,
            "label_en": each.label_en,
            "instruction": each.canonical,
            "grade": each.grade,
        }
        for style, each in read_instructions().items()
        if style in styles
    ]
    lines = ",\n".join("    " + json.dumps(preset, ensure_ascii=False) for preset in presets)
    text = f'{{\n  "generation": "{COSYVOICE3.name}",\n  "presets": [\n{lines}\n  ],\n  "tags": []\n}}\n'
    (folder / STYLES_FILE).write_text(text, "utf-8")
