"""`timbre engines`: which engine runs each stage here, and why not a faster one; in a process of its own."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys

from studio.cli.command_context import CommandContext
from studio.cli.model_choice import add_model_option, model_folder, num_threads
from studio.engines.stage import Stage

_ACTIONS = {
    "list": "what runs each stage, as it was measured",
    "build": "try what has not been tried yet",
    "verify": "prove again what was proven, without building it again",
    "bench": "the same: every proof ends with a measurement",
    "rebuild": "throw away and try again",
    "clear": "throw away",
    "why": "why each stage runs as it does, and not faster",
}
EXAMPLES = """\
examples:
  timbre engines list
  timbre engines build --model ~/models/CosyVoice2-0.5B
  timbre engines why --stage flow
  timbre engines rebuild --stage vocoder --device cuda:1
  timbre engines list --json
  timbre engines clear --all                       of all models and machines

Nothing is used unless it equals plain float32 within limits, on this machine and with these weights.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    actions = "\n".join(f"  {name:<9} {words}" for name, words in _ACTIONS.items())
    parser = commands.add_parser(
        "engines",
        help="make the model faster on this machine, and see why it is as fast as it is",
        description=f"Tries every way to run a model on this machine, and keeps what is right and fast.\n\n{actions}",
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
        help="cpu, cuda, cuda:1, or part of a graphics card's name (default: the card with most memory, else the processor)",
    )
    parser.add_argument(
        "--threads", type=num_threads, metavar="N", help="instead of the number chosen from the machine"
    )
    parser.add_argument("--variant", choices=("rl",), help="the language model after reinforcement learning, llm.rl.pt")
    parser.add_argument(
        "--stage", action="append", choices=[stage.value for stage in Stage], help="only this one; may be repeated"
    )
    parser.add_argument("--engine", action="append", metavar="NAME", help="only this one, whatever is known of it")
    parser.add_argument("--all", action="store_true", help="with clear: whatever model it was made for")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    """Raises ``ModelNotFound``; other errors are told by the process itself."""
    command = [sys.executable, "-m", "studio.engines", arguments.action]
    command += ["--model", str(model_folder(arguments.model)), "--device", arguments.device]
    for name in ("threads", "variant"):
        if (value := getattr(arguments, name)) is not None:
            command += [f"--{name}", str(value)]
    for name in ("stage", "engine"):
        for value in getattr(arguments, name) or ():
            command += [f"--{name}", value]
    command += [f"--{name}" for name in ("all", "json") if getattr(arguments, name)]
    with subprocess.Popen(command) as manager:  # noqa: S603 - our own program, with what the person typed
        while True:
            # Ctrl+C reaches the manager too; it is given the time to end what it is trying.
            with contextlib.suppress(KeyboardInterrupt):
                return manager.wait()
