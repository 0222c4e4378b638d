"""`timbre models`: lists, installs, verifies, removes, imports and exports models."""

from __future__ import annotations

import argparse
import difflib
import json
from pathlib import Path
from typing import Any

from studio.catalog.checking import check_model, remove_model
from studio.catalog.failover import FailoverInstallation
from studio.catalog.folders import in_gigabytes, is_bundled
from studio.catalog.installed import ModelState, ModelStatus, model_not_found, model_status, model_statuses
from studio.catalog.known import Ability, KnownModel, SourceKind, known_models
from studio.catalog.progress import OnProgress, Phase, Progress
from studio.catalog.source_order import AUTOMATIC, SourceOrder, open_source, order_sources
from studio.catalog.transfer import EXPORT_SUFFIX, export_model, import_model
from studio.cli.command_context import CommandContext
from studio.cli.options import Actions, Commands, add_command
from studio.cli.progress import ProgressLine, duration_text, print_message
from studio.errors import ModelNotFound
from studio.messages import did_you_mean, printable
from studio.settings import HUGGING_FACE_ENDPOINT, MODEL_SCOPE_ENDPOINT, MODEL_SOURCE
from studio.settings_store import Settings
from studio.system.installation import repair_hint
from studio.system.region import is_in_china

EXAMPLES = """\
examples:
  timbre models list
  timbre models install Fun-CosyVoice3-0.5B-2512
  timbre models install CosyVoice2-0.5B --source modelscope
  timbre models install CosyVoice2-0.5B --endpoint https://hf-mirror.com
  timbre models install Fun-CosyVoice3-0.5B-2512 --variant rl     with the RL-tuned language model
  timbre models verify                      read every byte; --repair downloads damaged files again
  timbre models export CosyVoice2-0.5B      write one file, for a computer without a network
  timbre models import CosyVoice2-0.5B.zip
  timbre models import path/to/CosyVoice2-0.5B
  timbre models remove CosyVoice2-0.5B

To resume an interrupted installation, run the same command again.
Nothing is downloaded without your command.
"""
_STATES = {
    ModelState.BUNDLED: "bundled",
    ModelState.INSTALLED: "installed",
    ModelState.DAMAGED: "damaged",
    ModelState.PARTIAL: "partly downloaded",
    ModelState.AVAILABLE: "not installed",
    ModelState.UNSUPPORTED: "not supported by this version of the program",
}
_ABILITIES = {
    Ability.CLONE: "voice cloning",
    Ability.STORED_VOICES: "built-in voices",
    Ability.INSTRUCT: "style instructions",
    Ability.STREAM: "streaming",
    Ability.RECOGNIZE: "speech recognition, for `timbre check` and the checks of takes",
}
_PHASES = {Phase.CHECKING: "checking", Phase.RECEIVING: "", Phase.COPYING: "copying"}
_MEGABYTE = 1e6


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "models",
        None,
        help_text="list, install, verify, import and export models",
        description="List, install, verify, remove, import and export models.",
        examples=EXAMPLES,
    )
    actions = Actions(parser)
    list_ = actions.add("list", _list, "list all models")
    list_.add_argument("--json", action="store_true", help="print a JSON array")
    install = actions.add("install", _install, "download a model, resume a download, or repair a model")
    install.add_argument("name", metavar="NAME", help="a name listed by `timbre models list`")
    install.add_argument("--variant", choices=("rl",), help="also download the RL-tuned language model")
    _add_source(install)
    verify = actions.add("verify", _verify, "verify the checksums of all files of a model")
    verify.add_argument("names", nargs="*", metavar="NAME", help="default: all models on this computer")
    verify.add_argument("--repair", action="store_true", help="download damaged files again")
    _add_source(verify)
    actions.add("remove", _remove, "delete a model or an incomplete download", "NAME")
    import_ = actions.add("import", _import, "copy a model from a folder, a zip or tar archive, or an export")
    import_.add_argument("path", type=Path, metavar="PATH")
    import_.add_argument("--name", help="name of the model (default: the name of the folder or archive)")
    export = actions.add("export", _export, "write a model to one file, for another computer", "NAME")
    export.add_argument("file", type=Path, nargs="?", metavar="FILE", help=f"default: NAME{EXPORT_SUFFIX}")


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", choices=[kind.value for kind in SourceKind], help="download source (default: from the settings)"
    )
    parser.add_argument("--endpoint", metavar="URL", help="address of a mirror to use instead of the source")


def _list(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    statuses = model_statuses()
    if arguments.json:
        print(json.dumps([_as_json(status) for status in statuses], ensure_ascii=False))
    else:
        print("\n\n".join("\n".join(map(printable, _description(status))) for status in statuses))
    return 0


def _install(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    variants = frozenset({arguments.variant}) if arguments.variant else frozenset()
    _install_model(_known(arguments.name), arguments, variants)
    return 0


def _verify(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    names = arguments.names or [
        status.name
        for status in model_statuses()
        if status.state in (ModelState.BUNDLED, ModelState.INSTALLED, ModelState.DAMAGED)
    ]
    status = 0
    for name in names:
        line = ProgressLine()
        result = check_model(name, on_progress=_shown_on(line))
        line.clear()
        damaged = f"{name}: {', '.join(result.damaged)} damaged"
        if result.is_intact:
            print_message(f"{name}: {result.num_files} files, no damage found.")
        elif not _is_downloadable(name):
            remedy = (
                repair_hint() if is_bundled(name) else "Remove the model, and import it again from an undamaged copy."
            )
            print_message(f"{damaged}. {remedy}")
            status = 1
        elif arguments.repair:
            print_message(f"{damaged}; downloading again.")
            _install_model(_known(name), arguments, frozenset())
        else:
            print_message(f"{damaged}. Repair it with `timbre models verify --repair {name}`.")
            status = 1
    return status


def _remove(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    if not remove_model(arguments.name):
        raise model_not_found(arguments.name)
    print_message(f"removed {arguments.name}")
    return 0


def _import(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    line = ProgressLine()
    try:
        folder = import_model(arguments.path, name=arguments.name, on_progress=_shown_on(line))
    finally:
        line.clear()
    print_message(f"{folder.name} is installed. Use it with `timbre say --model {folder.name} …`.")
    return 0


def _export(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    status = model_status(arguments.name)
    if status is None or status.folder is None:
        raise model_not_found(arguments.name)
    target = arguments.file or Path(f"{arguments.name}{EXPORT_SUFFIX}")
    line = ProgressLine()
    try:
        export_model(status.name, status.folder, target, on_progress=_shown_on(line))
    finally:
        line.clear()
    print_message(f"wrote {target}")
    return 0


def _install_model(model: KnownModel, arguments: argparse.Namespace, variants: frozenset[str]) -> None:
    order = _sources(arguments)
    line = ProgressLine()
    print_message(f"{model.name}: {in_gigabytes(model.size_bytes(variants))} from {order.automatic[0].endpoint}")
    try:
        folder = FailoverInstallation(model, order, variants=variants, on_progress=_shown_on(line)).run()
    except KeyboardInterrupt:
        line.say("Interrupted. Downloaded data is kept; run the same command to resume.")
        raise
    finally:
        line.clear()
    print_message(f"{model.name} is installed in {folder}.")


def _sources(arguments: argparse.Namespace) -> SourceOrder:
    """Return the sources in the order in which they are tried. A source given as an option is the only one."""
    settings = Settings()
    own = {
        SourceKind.HUGGING_FACE: settings[HUGGING_FACE_ENDPOINT],
        SourceKind.MODEL_SCOPE: settings[MODEL_SCOPE_ENDPOINT],
    }
    choice = arguments.source or settings[MODEL_SOURCE]
    if not (arguments.source or arguments.endpoint):
        return order_sources(choice, own, is_in_china=is_in_china())
    kind = SourceKind.HUGGING_FACE if choice == AUTOMATIC else SourceKind(choice)
    return SourceOrder((open_source(kind, arguments.endpoint or own[kind]),))


def _is_downloadable(name: str) -> bool:
    known = known_models().get(name)
    return known is not None and known.can_be_downloaded


def _known(name: str) -> KnownModel:
    """Raise ``ModelNotFound``, which suggests similar names."""
    known = known_models()
    if name in known and known[name].can_be_downloaded:
        return known[name]
    if name in known:
        raise ModelNotFound(
            "{name} is bundled with the program and is not downloaded.",
            remedy="If it is damaged, reinstall the program.",
            name=name,
        )
    near = difflib.get_close_matches(name, [n for n in known if known[n].can_be_downloaded], n=3, cutoff=0.4)
    raise ModelNotFound(
        "{name} is not a downloadable model.{did_you_mean}",
        remedy="`timbre models list` lists them. For a folder or an archive use `timbre models import`.",
        name=name,
        did_you_mean=did_you_mean(near),
    )


def _shown_on(line: ProgressLine) -> OnProgress:
    shown: set[str] = set()

    def show(progress: Progress) -> None:
        if progress.phase in (Phase.WAITING, Phase.LISTING) and progress.error is not None:
            action = "Retrying" if progress.phase is Phase.WAITING else f"Trying {progress.source}"
            sentence = f"{progress.error.problem} {action}."
            if sentence not in shown:
                shown.add(sentence)
                line.say(sentence)
        line.show(_progress_text(progress))

    return show


def _description(status: ModelStatus) -> list[str]:
    """Return the lines of a description. The first line begins with the model's name."""
    known = status.known
    size = in_gigabytes(status.size_bytes)
    lines = [f"{status.name}: {_STATES[status.state]}, {size}"]
    if status.arrived_bytes:
        lines[0] += f", {in_gigabytes(status.arrived_bytes)} downloaded"
    if status.damaged:
        lines.append(f"  damaged: {', '.join(status.damaged)}; repair with `timbre models install {status.name}`")
    if known is not None:
        dialects = f", {known.num_dialects} Chinese dialects" if known.num_dialects else ""
        lines.append(f"  languages: {', '.join(known.languages)}{dialects}")
        lines.append(
            f"  features: {', '.join(words for ability, words in _ABILITIES.items() if ability in known.abilities)}"
        )
        if known.is_demonstration:
            lines.append("  a demonstration; the other models sound far better")
        sources = ", ".join(f"{kind.title} {name}" for kind, name in known.repositories.items())
        lines.append(f"  licence: {known.licence}; {f'from {sources}' if sources else 'bundled with the program'}")
        for variant in known.variants:
            extra = in_gigabytes(known.size_bytes(frozenset({variant})) - known.size_bytes())
            state = "installed" if variant in status.variants else f"{extra} extra, with --variant {variant}"
            lines.append(f"  llm.{variant}.pt, the RL-tuned language model: {state}")
    if status.record is not None:
        lines.append(f"  installed from: {status.record.origin}")
    return lines


def _as_json(status: ModelStatus) -> dict[str, Any]:
    """Return the description for JSON. Keys are never removed or renamed."""
    known = status.known
    return {
        "name": status.name,
        "state": status.state.value,
        "can_speak": status.is_loadable,
        "size_bytes": status.size_bytes,
        "arrived_bytes": status.arrived_bytes,
        "damaged": list(status.damaged),
        "folder": str(status.folder) if status.folder else None,
        "origin": status.record.origin if status.record else None,
        "revision": status.record.revision if status.record else None,
        "variants": sorted(status.variants),
        "generation": known.generation if known else None,
        "languages": list(known.languages) if known else None,
        "num_dialects": known.num_dialects if known else None,
        "abilities": sorted(ability.value for ability in known.abilities) if known else None,
        "licence": known.licence if known else None,
        "is_demonstration": known.is_demonstration if known else None,
        "part_of": None,  # of earlier versions
        "sources": {kind.value: name for kind, name in known.repositories.items()} if known else None,
    }


def _progress_text(progress: Progress) -> str:
    """Return one line with the number of bytes, and the share, speed and remaining time once they are known."""
    match progress.phase:
        case Phase.LISTING:
            return "reading the list of files …"
        case Phase.WAITING:
            return f"retrying in {progress.wait_seconds:.0f} s …"
        case phase:
            parts = [f"{_PHASES[phase]} {progress.file}".strip()]
    if progress.share is not None:
        parts.append(
            f"{in_gigabytes(progress.done_bytes)} of {in_gigabytes(progress.total_bytes)} ({progress.share:.0%})"
        )
    if progress.bytes_per_second is not None:
        parts.append(f"{progress.bytes_per_second / _MEGABYTE:.1f} MB/s")
    if progress.remaining_seconds is not None:
        parts.append(f"{duration_text(progress.remaining_seconds)} left")
    return "  ".join(parts)
