"""`timbre models`: lists, installs, verifies, removes, imports and exports models."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable
from pathlib import Path

from studio.catalog.checking import check_model, remove_model
from studio.catalog.folders import in_gigabytes
from studio.catalog.installation import Installation
from studio.catalog.installed import ModelState, model_not_found, model_status, model_statuses
from studio.catalog.known import KnownModel, SourceKind, known_models
from studio.catalog.progress import OnProgress, Phase, Progress
from studio.catalog.sources import open_source
from studio.catalog.transfer import EXPORT_SUFFIX, export_model, import_model
from studio.cli.command_context import CommandContext
from studio.cli.model_text import as_json, in_words, progress_text
from studio.cli.progress import ProgressLine
from studio.errors import ModelNotFound
from studio.messages import did_you_mean, printable
from studio.settings import HUGGING_FACE_ENDPOINT, MODEL_SCOPE_ENDPOINT, MODEL_SOURCE
from studio.settings_store import Settings

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

To resume an interrupted installation, run the same command again.
Nothing is downloaded without your command.
"""
Run = Callable[[argparse.Namespace, CommandContext], int]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "models",
        help="list, install, verify, import and export models",
        description="List, install, verify, remove, import and export models.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)

    def action(name: str, run: Run, words: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        added.set_defaults(run=run)
        return added

    action("list", _list, "list all models").add_argument("--json", action="store_true", help="print a JSON array")
    install = action("install", _install, "download a model, resume a download, or repair a model")
    install.add_argument("name", metavar="NAME", help="a name listed by `timbre models list`")
    install.add_argument("--variant", choices=("rl",), help="also download the RL-tuned language model")
    _add_source(install)
    verify = action("verify", _verify, "verify the checksums of all files of a model")
    verify.add_argument("names", nargs="*", metavar="NAME", help="default: all installed models")
    verify.add_argument("--repair", action="store_true", help="download damaged files again")
    _add_source(verify)
    remove = action("remove", _remove, "delete a model or an incomplete download")
    remove.add_argument("name", metavar="NAME")
    import_ = action("import", _import, "copy a model from a folder, a zip or tar archive, or an export")
    import_.add_argument("path", type=Path, metavar="PATH")
    import_.add_argument("--name", help="name of the model (default: that of the folder or archive)")
    export = action("export", _export, "write a model to one file, for another computer")
    export.add_argument("name", metavar="NAME")
    export.add_argument("file", type=Path, nargs="?", metavar="FILE", help=f"default: NAME{EXPORT_SUFFIX}")


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", choices=[kind.value for kind in SourceKind], help="download source (default: from the settings)"
    )
    parser.add_argument("--endpoint", metavar="URL", help="address of a mirror to use instead of the source")


def _list(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    statuses = model_statuses()
    if arguments.json:
        print(json.dumps([as_json(status) for status in statuses], ensure_ascii=False))
    else:
        print("\n\n".join("\n".join(map(printable, in_words(status))) for status in statuses))
    return 0


def _install(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    variants = frozenset({arguments.variant}) if arguments.variant else frozenset()
    _install_model(_known(arguments.name), arguments, variants)
    return 0


def _verify(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    names = arguments.names or [
        status.name for status in model_statuses() if status.state in (ModelState.INSTALLED, ModelState.DAMAGED)
    ]
    if not names:
        _say("No model is installed. `timbre models list` lists available models.")
    status = 0
    for name in names:
        line = ProgressLine()
        result = check_model(name, on_progress=_shown_on(line))
        line.clear()
        damaged = f"{name}: {', '.join(result.damaged)} damaged"
        if result.is_intact:
            _say(f"{name}: {result.num_files} files, no damage found.")
        elif not _is_downloadable(name):
            _say(f"{damaged}. Remove the model, and import it again from an undamaged copy.")
            status = 1
        elif arguments.repair:
            _say(f"{damaged}; downloading again.")
            _install_model(_known(name), arguments, frozenset())
        else:
            _say(f"{damaged}. Repair it with `timbre models verify --repair {name}`.")
            status = 1
    return status


def _remove(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    if not remove_model(arguments.name):
        raise model_not_found(arguments.name)
    _say(f"removed {arguments.name}")
    return 0


def _import(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    line = ProgressLine()
    try:
        folder = import_model(arguments.path, name=arguments.name, on_progress=_shown_on(line))
    finally:
        line.clear()
    _say(f"{folder.name} is installed. Use it with `timbre say --model {folder.name} …`.")
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
    _say(f"wrote {target}")
    return 0


def _install_model(model: KnownModel, arguments: argparse.Namespace, variants: frozenset[str]) -> None:
    settings = Settings()
    kind = SourceKind(arguments.source or settings[MODEL_SOURCE])
    own = settings[HUGGING_FACE_ENDPOINT if kind is SourceKind.HUGGING_FACE else MODEL_SCOPE_ENDPOINT]
    source = open_source(kind, arguments.endpoint or own)
    line = ProgressLine()
    _say(f"{model.name}: {in_gigabytes(model.size_bytes(variants))} from {source.endpoint}")
    try:
        folder = Installation(model, source, variants=variants, on_progress=_shown_on(line)).run()
    except KeyboardInterrupt:
        line.say("Interrupted. Downloaded data is kept; run the same command to resume.")
        raise
    finally:
        line.clear()
    _say(f"{model.name} is installed in {folder}.")


def _is_downloadable(name: str) -> bool:
    known = known_models().get(name)
    return known is not None and known.can_be_downloaded


def _known(name: str) -> KnownModel:
    """Raises ``ModelNotFound``, which suggests similar names."""
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
        if progress.phase is Phase.WAITING and progress.error is not None:
            sentence = f"{progress.error.message} Retrying."
            if sentence not in shown:
                shown.add(sentence)
                line.say(sentence)
        line.show(progress_text(progress))

    return show


def _say(sentence: str) -> None:
    print(printable(sentence), file=sys.stderr)
