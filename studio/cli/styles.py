"""`timbre styles`: the styles and inline tags of a model."""

from __future__ import annotations

import argparse
import dataclasses
import json

from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command, add_model_option, model_folder
from studio.model.generations import detect_generation
from studio.text.styles import load_styles

EXAMPLES = """\
examples:
  timbre styles
  timbre say "We have won!" --voice Anna --preset volume.loud
  timbre styles --model CosyVoice2-0.5B
  timbre say "We have won!" --voice Anna --preset emotion.happy --model CosyVoice2-0.5B
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "styles",
        run,
        help_text="list the styles and inline tags of a model",
        description="List the named styles of a model and the inline tags for its texts.",
        examples=EXAMPLES,
    )
    add_model_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    folder = model_folder(arguments.model)
    generation, _ = detect_generation(folder)
    styles = load_styles(generation.name, folder)
    if arguments.json:
        values = dataclasses.asdict(styles)
        print(
            json.dumps({"generation": generation.name, **values}, ensure_ascii=False, default=lambda grade: grade.value)
        )
        return 0
    width = max((len(preset.family) for preset in styles.presets), default=0)
    for preset in styles.presets:
        print(f"{preset.family:<{width}}  {preset.label_en} ({preset.label_zh})")
    if styles.tags:
        print("\nin the text:")
        for tag in styles.tags:
            print(f"{tag.tag:<{width}}  {tag.label_en} ({tag.label_zh}), {tag.grade.value}")
    return 0
