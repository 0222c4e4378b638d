"""`timbre update`: update of a project from a new version of its script."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from studio import paths
from studio.cli.command_context import CommandContext
from studio.cli.export_options import add_reading_options
from studio.cli.export_script import import_options
from studio.cli.options import Commands, add_command
from studio.cli.progress import print_message
from studio.errors import UnusableSetting
from studio.project.casting import LibraryNames
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.importing.sources import options_of
from studio.project.project import Project
from studio.project.source_files import locate
from studio.project.updating import LineUpdate, ScriptUpdate, UpdateKind, find_source, plan_update, read_update

EXAMPLES = """\
examples:
  timbre update game.timbre game.xlsx --dry-run      show what would change
  timbre update game.timbre game.xlsx
  timbre update film.timbre                          the file that was imported, at its place
  timbre update game.timbre game.xlsx && timbre export game.timbre --for game --out vo

Rows are found by their ID or file name, otherwise by their text, time and place. Lines that did not change keep their
takes, locks and notes. Locked lines are listed, but not changed. Lines that the file no longer contains are kept at the
end of the script as notes, which are neither spoken nor exported, until you delete them.
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "update",
        run,
        help_text="update a project from a new version of its script",
        description="Read a file again that was imported into a project, and change only the lines that differ.",
        examples=EXAMPLES,
    )
    parser.add_argument("project", type=Path, metavar="PROJECT", help="a project (.timbre)")
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help="its new script (default: the imported file)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what would change")
    parser.add_argument("--delete-removed", action="store_true", help="delete lines that the file no longer contains")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    group = parser.add_argument_group("reading", "by default the choices of the import")
    add_reading_options(group, split_default="as before", cues_default="as before")


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    voices = LibraryNames(voice.name for voice in command_context.open_library().voices())
    with Project.open(arguments.project, paths.data_folder() / "drafts") as project:
        path = arguments.file or _imported_file(project, arguments.project)
        source = find_source(project.script, path)
        encoding = arguments.encoding or (None if source is None else source.encoding)
        file = read_file(path, encoding)
        former = ImportOptions() if source is None else options_of(source, file)
        imported = read_update(path, file, source, import_options(arguments, file, former), encoding=encoding)
        update = plan_update(project.script, imported, voices)
        if not arguments.dry_run:
            project.apply(update.change(f"Removed from {path.name}", deletes=arguments.delete_removed))
            if project.is_modified:
                project.save()
    for notice in imported.notices:
        print_message(f"timbre: {notice}")
    if arguments.json:
        print(json.dumps(_as_json(update, path, is_saved=not arguments.dry_run), ensure_ascii=False))
    else:
        _print(update)
    return 0


def _imported_file(project: Project, place: Path) -> Path:
    """Return the file from which the project was imported: at its place, or beside the project."""
    found = project.script.details.sources
    if len(found) != 1:
        raise UnusableSetting(
            "{project} was imported from {count} known files.",
            remedy="Name the file: timbre update PROJECT FILE.",
            project=place.name,
            count=len(found),
        )
    return locate(found[0], place)


def _print(update: ScriptUpdate) -> None:
    for line in update.lines:
        if line.kind is not UpdateKind.UNCHANGED:
            key = f"{line.key}: " if line.key else ""
            locked = " [locked, not changed]" if line.is_held else ""
            print(f"{line.kind.value:<9}{key}{_words(line)}{locked}")
    print(", ".join(f"{number} {kind.value}" for kind, number in update.counts.items()))


def _words(update: LineUpdate) -> str:
    changes = [f"{name.replace('_', ' ')}" for name in update.fields if name != "text"]
    words = update.text
    if update.kind is UpdateKind.CHANGED and "text" in update.fields and update.before is not None:
        words = f"{update.before.text} → {words}"
    return f"{words} ({', '.join(changes)})" if changes and update.kind is UpdateKind.CHANGED else words


def _as_json(update: ScriptUpdate, path: Path, *, is_saved: bool) -> dict[str, object]:
    return {
        "file": str(path),
        "is_saved": is_saved,
        "counts": {kind.value: number for kind, number in update.counts.items()},
        "num_locked": update.num_held,
        "lines": [
            {
                "kind": line.kind.value,
                "key": line.key,
                "before": None if line.before is None else line.before.text,
                "after": None if line.kind is UpdateKind.REMOVED else line.text,
                "fields": list(line.fields),
                "is_locked": line.is_held,
            }
            for line in update.lines
            if line.kind is not UpdateKind.UNCHANGED
        ],
    }
