"""`timbre engines` and `timbre bench`, which run ``studio.engines`` and ``studio.bench`` in separate processes."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys

from studio.cli.command_context import CommandContext
from studio.cli.old_options import add_old_options
from studio.cli.options import (
    Commands,
    add_command,
    add_device_option,
    add_model_option,
    add_threads_option,
    model_folder,
    preferred_variant,
)
from studio.engines.stage import Stage
from studio.settings import DEVICE, NUM_THREADS
from studio.settings_store import Settings

_ACTIONS = {
    "list": "show the engine of each stage and its measurements",
    "build": "build, verify and measure untried engines",
    "verify": "verify and measure proven engines again, without building",
    "bench": "the same as verify",
    "rebuild": "delete engines and build them again",
    "clear": "delete engines",
    "why": "explain the choice of engine for each stage",
}
EXAMPLES = """\
examples:
  timbre engines list
  timbre engines build --model ~/models/CosyVoice2-0.5B
  timbre engines why --stage flow
  timbre engines rebuild --stage vocoder --device cuda:1
  timbre engines verify                            after an update of a driver
  timbre engines list --json
  timbre engines clear --all                       for all models and machines

An engine is used only if it matches plain float32 within limits, on this machine and with these weights.
"""


def add_parser(commands: Commands) -> None:
    actions = "\n".join(f"  {name:<9} {words}" for name, words in _ACTIONS.items())
    parser = add_command(
        commands,
        "engines",
        _run_engines,
        help_text="build and compare faster engines for a model",
        description=f"Try all engines that can run a model on this machine, and keep the fastest correct ones.\n\n{actions}",
        examples=EXAMPLES,
    )
    parser.add_argument("action", choices=tuple(_ACTIONS), metavar="ACTION", help="one of the above")
    add_model_option(parser)
    add_device_option(parser)
    add_threads_option(parser)
    add_old_options(parser, "--variant")
    parser.add_argument(
        "--stage", action="append", choices=[stage.value for stage in Stage], help="only this stage; repeatable"
    )
    parser.add_argument("--engine", action="append", metavar="NAME", help="only this engine, tried or not; repeatable")
    parser.add_argument("--all", action="store_true", help="with clear: the engines of all models")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    bench = commands.add_parser("bench", help="measure the speed of a model on this machine", add_help=False)
    bench.set_defaults(run=_run_bench)


def _run_engines(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    """Run the action. Raise ``ModelNotFound``; the process itself prints other errors."""
    command = ["studio.engines", arguments.action]
    folder, settings = model_folder(arguments.model), Settings()
    command += ["--model", str(folder), "--device", arguments.device or settings[DEVICE]]
    if (threads := arguments.threads or settings[NUM_THREADS]) != 0:
        command += ["--threads", str(threads)]
    if (variant := arguments.variant or preferred_variant(settings, folder)) is not None:
        command += ["--variant", variant]
    for name in ("stage", "engine"):
        for value in getattr(arguments, name) or ():
            command += [f"--{name}", value]
    command += [f"--{name}" for name in ("all", "json") if getattr(arguments, name)]
    return _run_module(command)


def _run_bench(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    """Pass all other arguments, including ``--help``, to the benchmark. Raise ``ModelNotFound``."""
    parser = argparse.ArgumentParser(prog="timbre bench", add_help=False, allow_abbrev=False)
    parser.add_argument("--model", type=model_folder, metavar="DIR|NAME")
    chosen, rest = parser.parse_known_args(arguments.rest)
    model = () if chosen.model is None else ("--model", str(chosen.model))
    return _run_module(["studio.bench", *model, *rest])


def _run_module(command: list[str]) -> int:
    """Run ``python -m`` and return its exit status."""
    with subprocess.Popen([sys.executable, "-m", *command]) as process:  # noqa: S603 - our own program
        while True:
            # Ctrl+C also reaches the process, which then ends.
            with contextlib.suppress(KeyboardInterrupt):
                return process.wait()
