"""`timbre voices`: the voices one keeps."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from studio.cli.command_context import CommandContext
from studio.cli.model_choice import add_model_option, model_folder
from studio.errors import ModelNotFound, StudioError
from studio.export.names import sanitize_filename
from studio.model.detection import detect_generation
from studio.voices.library import Addition, Voice, VoiceLibrary
from studio.voices.voice_file import SUFFIX
from studio.wording import printable
from studio.worker.client import WorkerClient
from studio.worker.protocol import StoredVoicesWritten

EXAMPLES = """\
examples:
  timbre voices add Anna anna.wav --transcript "What she says in it."
  timbre voices list
  timbre voices edit Anna --transcript "What she really says in it."
  timbre voices export Anna anna.voice       one file, for another computer
  timbre voices import anna.voice
  timbre voices import CosyVoice2-0.5B/spk2info.pt     voices the official program stored

Keep only voices whose owners agree.
"""

Run = Callable[[argparse.Namespace, CommandContext], int]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "voices",
        help="keep voices under names",
        description="Keeps recordings of voices, and what is said in them, under names.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)

    def action(name: str, run: Run, words: str, *names: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        added.set_defaults(run=run)
        for metavar in names:
            added.add_argument(metavar.lower(), metavar=metavar)
        return added

    add = action("add", _add, "keep a recording of a voice under a name", "NAME")
    add.add_argument("clip", type=Path, metavar="CLIP", help="3 to 10 seconds of one person speaking")
    _add_details(add)
    action("list", _list, "list all voices").add_argument("--json", action="store_true", help="print a JSON array")
    show = action("show", _show, "show all that is known of a voice", "NAME")
    show.add_argument("--json", action="store_true", help="print one JSON object")
    action("remove", _remove, "forget a voice and its recording", "NAME")
    action("rename", _rename, "give a voice another name", "NAME", "NEW_NAME")
    _add_details(action("edit", _edit, "change a voice's transcript or notes", "NAME"))
    export = action("export", _export, f"put a voice into one {SUFFIX} file", "NAME")
    export.add_argument("file", type=Path, nargs="?", metavar="FILE", help=f"default: NAME{SUFFIX}")
    import_ = action("import", _import, f"take voices out of a {SUFFIX} file or an official spk2info.pt")
    import_.add_argument("file", type=Path, metavar="FILE")
    import_.add_argument("--name", help="instead of the one in the file")
    add_model_option(import_, default="with an spk2info.pt: the one it lies in")


def _add_details(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transcript", metavar="TEXT", help="what is said in the recording, word for word")
    parser.add_argument("--notes", metavar="TEXT", help="whatever you want to remember")


def _add(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    addition = command_context.open_library().add(
        arguments.clip, arguments.name, arguments.transcript, notes=arguments.notes or ""
    )
    _tell_added(addition)
    return 0


def _list(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    voices = command_context.open_library().voices()
    if arguments.json:
        print(json.dumps([_as_json(voice) for voice in voices], ensure_ascii=False))
    elif not voices:
        _say("There are no voices yet: `timbre voices add NAME CLIP` keeps one.")
    else:
        width = max(len(voice.name) for voice in voices)
        for voice in voices:
            print(printable(f"{voice.name:<{width}}  {voice.clip_seconds:4.1f} s  {_in_short(voice)}".rstrip()))
    return 0


def _show(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    values = _as_json(command_context.open_library().get(arguments.name))
    if arguments.json:
        print(json.dumps(values, ensure_ascii=False))
    else:
        for name, value in values.items():
            if value not in (None, "", False):
                lines = map(printable, str(value).splitlines())  # notes may have several
                print(f"{name + ':':<14}", "\n".join(lines))
    return 0


def _remove(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    command_context.open_library().remove(arguments.name)
    _say(f"{arguments.name} is gone.")
    return 0


def _rename(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    voice = command_context.open_library().rename(arguments.name, arguments.new_name)
    _say(f"{arguments.name} is now {voice.name}.")
    return 0


def _edit(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    voice = command_context.open_library().update_metadata(
        arguments.name, transcript=arguments.transcript, notes=arguments.notes
    )
    _say(f"{voice.name} is changed.")
    return 0


def _export(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    path = arguments.file or Path(f"{sanitize_filename(arguments.name)}{SUFFIX}")
    command_context.open_library().export(arguments.name, path)
    _say(f"wrote {path}")
    return 0


def _import(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    library = command_context.open_library()
    if arguments.file.suffix != ".pt":
        _tell_added(library.import_(arguments.file, name=arguments.name))
        return 0
    folder = model_folder(arguments.model) if arguments.model else _folder_of(arguments.file)
    with tempfile.TemporaryDirectory(prefix="timbre-import-") as destination:
        written = asyncio.run(_stored_voices(arguments.file, folder, Path(destination), command_context))
        return _take_over(written, library, arguments.name)


async def _stored_voices(
    path: Path, folder: Path, destination: Path, command_context: CommandContext
) -> StoredVoicesWritten:
    async with WorkerClient(folder, start_worker=command_context.start_worker) as client:
        return await client.import_stored_voices(path, destination)


def _take_over(written: StoredVoicesWritten, library: VoiceLibrary, name: str | None) -> int:
    """Each voice that can be taken is; the status is that of the last that could not."""
    status = 0
    for sentence in written.refused:
        _say(str(sentence))
    for stored in written.voices:
        try:
            new_name = name if name and len(written.voices) == 1 else stored.name
            _tell_added(library.add(stored.features, new_name, stored.transcript, generation=stored.generation))
        except StudioError as error:
            _say(f"timbre: {error} ({error.code})")
            status = error.exit_status
    return status


def _folder_of(path: Path) -> Path:
    """The model folder a spk2info.pt lies in: only that model's words and generation make sense of it."""
    try:
        detect_generation(path.parent)
    except ModelNotFound as error:
        raise ModelNotFound(
            "{file} does not lie in a model folder.",
            remedy="Say with --model which model it was stored with.",
            file=path.name,
        ) from error
    return path.parent


def _tell_added(addition: Addition) -> None:
    for warning in addition.warnings:
        _say(warning)
    voice = addition.voice
    without = "" if voice.transcript else "; with a --transcript it would be imitated better"
    _say(f"{voice.name} is kept ({voice.clip_seconds:.1f} s{without}).")


def _in_short(voice: Voice) -> str:
    if voice.is_built_in:
        origin = "(comes with the program) "
    else:
        origin = f"({voice.generation} only) " if voice.generation else ""
    return f"{origin}{voice.transcript or '(no transcript)'}"


def _as_json(voice: Voice) -> dict[str, Any]:
    return {
        "name": voice.name,
        "transcript": voice.transcript,
        "clip_seconds": round(voice.clip_seconds, 3),
        "notes": voice.notes,
        "language": voice.language,
        "quality": voice.quality.value if voice.quality else None,
        "consent": " · ".join(part for part in dataclasses.astuple(voice.consent) if part) or None,
        "generation": voice.generation,
        "created": voice.created or None,
        "built_in": voice.is_built_in,
        "clip": str(voice.clip),
    }


def _say(sentence: str) -> None:
    print(printable(sentence), file=sys.stderr)
