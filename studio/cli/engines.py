"""`timbre engines`: runs ``python -m studio.engines`` in its own process."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys

from studio.cli.command_context import CommandContext
from studio.cli.model_choice import add_model_option, model_folder, num_threads
from studio.engines.stage import Stage

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
  timbre engines list --json
  timbre engines clear --all                       for all models and machines

An engine is used only if it matches plain float32 within limits, on this machine and with these weights.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    actions = "\n".join(f"  {name:<9} {words}" for name, words in _ACTIONS.items())
    parser = commands.add_parser(
        "engines",
        help="build and compare faster engines for a model",
        description=f"Try all engines that can run a model on this machine, and keep the fastest correct ones.\n\n{actions}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("action", choices=tuple(_ACTIONS), metavar="ACTION", help="one of the above")
    add_model_option(parser)
    parser.add_argument(
        "--device",
        default="auto",
        metavar="WHERE",
        help="cpu, cuda, cuda:1, or part of a GPU's name (default: the GPU with the most memory, else the CPU)",
    )
    parser.add_argument(
        "--threads", type=num_threads, metavar="N", help="number of CPU threads (default: chosen for this machine)"
    )
    parser.add_argument("--variant", choices=("rl",), help="use the RL-tuned language model, llm.rl.pt")
    parser.add_argument(
        "--stage", action="append", choices=[stage.value for stage in Stage], help="only this stage; repeatable"
    )
    parser.add_argument("--engine", action="append", metavar="NAME", help="only this engine, tried or not; repeatable")
    parser.add_argument("--all", action="store_true", help="with clear: the engines of all models")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    """Raises ``ModelNotFound``; the process itself prints other errors."""
    command = [sys.executable, "-m", "studio.engines", arguments.action]
    command += ["--model", str(model_folder(arguments.model)), "--device", arguments.device]
    for name in ("threads", "variant"):
        if (value := getattr(arguments, name)) is not None:
            command += [f"--{name}", str(value)]
    for name in ("stage", "engine"):
        for value in getattr(arguments, name) or ():
            command += [f"--{name}", value]
    command += [f"--{name}" for name in ("all", "json") if getattr(arguments, name)]
    with subprocess.Popen(command) as manager:  # noqa: S603 - our own program, with the user's arguments
        while True:
            # Ctrl+C reaches the manager too, which ends its trial by itself.
            with contextlib.suppress(KeyboardInterrupt):
                return manager.wait()
