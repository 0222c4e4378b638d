"""The model and its engine options: ``--model``, ``--device``, ``--precision`` and others."""

from __future__ import annotations

import argparse
import difflib
import os
from pathlib import Path

from studio.catalog.installed import DEFAULT_MODEL, installed_models, why_not_loadable
from studio.errors import ModelNotFound
from studio.messages import did_you_mean, wording
from studio.model.device_kind import DeviceKind
from studio.pipeline.request import EngineOptions

# More than any computer has. A number that the system refuses would end the worker.
_MAX_THREADS = 1024


def add_model_option(parser: argparse.ArgumentParser, *, default: str = DEFAULT_MODEL) -> None:
    parser.add_argument(
        "--model",
        metavar="DIR|NAME",
        help=f"a model folder as officially released, or the name of an installed one (default {default})",
    )


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("engine", "how the model is run; the defaults suit this machine")
    group.add_argument(
        "--device",
        default="cpu",
        choices=[kind.value for kind in DeviceKind],
        help="where the model runs (default cpu)",
    )
    group.add_argument(
        "--precision",
        default="auto",
        choices=("auto", "float32", "bfloat16", "float16", "int8"),
        help="precision of the speech language model; auto: the fastest that passes the quality check (default)",
    )
    group.add_argument(
        "--flow-precision",
        default="float32",
        choices=("float32", "bfloat16", "float16"),
        help="precision of the flow (default float32)",
    )
    group.add_argument(
        "--threads", type=num_threads, metavar="N", help="number of CPU threads (default: chosen for this machine)"
    )
    group.add_argument("--variant", choices=("rl",), help="use the RL-tuned language model, llm.rl.pt")
    group.add_argument("--flow-steps", type=positive, metavar="N", help="fewer than 10: faster, less accurate")
    group.add_argument(
        "--flow-left-context",
        type=positive,
        metavar="FRAMES",
        help="left context of the flow (50 frames per second): less memory, less accurate",
    )


def engine_options(arguments: argparse.Namespace) -> EngineOptions:
    return EngineOptions(
        device=arguments.device,
        speech_lm_precision=arguments.precision,
        flow_precision=arguments.flow_precision,
        variant=arguments.variant,
        num_threads=arguments.threads,
        flow_steps=arguments.flow_steps,
        flow_left_context_frames=arguments.flow_left_context,
    )


def model_folder(choice: str | None) -> Path:
    """Return the folder of ``--model``. Raises ``ModelNotFound``, which suggests similar names."""
    if choice is None:
        choice = DEFAULT_MODEL
    elif os.path.isdir(choice):
        return Path(choice)
    installed = installed_models()
    if choice in installed:
        return installed[choice]
    if error := why_not_loadable(choice):
        raise error
    near = difflib.get_close_matches(choice, installed, n=3)
    raise ModelNotFound(
        "There is no model {choice}.{did_you_mean}",
        remedy="Give a folder, or one of: {known}.",
        choice=choice,
        did_you_mean=did_you_mean(near),
        known=", ".join(sorted(installed)) or wording("none is installed"),
    )


def num_threads(text: str) -> int:
    number = positive(text)
    if number > _MAX_THREADS:
        raise argparse.ArgumentTypeError(f"{text} is above {_MAX_THREADS}")
    return number


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number
