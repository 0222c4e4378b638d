"""``python -m studio.bench``, the process behind ``timbre bench``."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from studio import paths
from studio.bench.inputs import FULL, PARTS, QUICK, BenchSize
from studio.bench.run import BenchRequest, run_bench
from studio.engines.machine import device_named
from studio.errors import StudioError, UnusableSetting
from studio.pipeline.request import EngineOptions

_REMOVED_PARTS = frozenset({"threads", "precisions"})  # accepted until the next version
_EXAMPLES = """\
examples:
  timbre bench --random cosyvoice3 --quick        a few minutes, with random weights of released size
  timbre bench --model ~/models/CosyVoice2-0.5B   all measurements, with a real model
  timbre bench --random cosyvoice2 --json > cosyvoice2.json
  timbre bench --random cosyvoice3 --only requests --prompt-seconds 10 --flow-steps 5

The speed of a model does not depend on its weights, so random weights measure it as well as real ones.
Do not use the machine during the measurement: other programs distort the results.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, or JSON with ``--json``; return the exit status. Progress goes to standard error."""
    parser = argparse.ArgumentParser(
        prog="timbre bench",
        description="Measure the speed of a model on this machine.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subject = parser.add_mutually_exclusive_group(required=True)
    subject.add_argument(
        "--model", type=Path, metavar="DIR|NAME", help="a model folder, or the name of an installed model"
    )
    subject.add_argument(
        "--random",
        choices=("cosyvoice1", "cosyvoice2", "cosyvoice3"),
        help="a model of released size with random weights, written once and kept (1.7, 2.6 or 3.4 GB)",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the random model (default 1)")
    parser.add_argument("--quick", action="store_true", help="short inputs and no comparisons")
    parser.add_argument("--only", metavar="PARTS", help=f"measure only these, with commas: {', '.join(PARTS)}")
    parser.add_argument("--prompt-seconds", type=float, metavar="S", help="length of the only clip")
    parser.add_argument("--speech-seconds", type=float, metavar="S", help="length of the streamed speech")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:1, or part of a GPU's name")
    parser.add_argument("--threads", type=int, help="number of CPU threads (default: chosen for this machine)")
    parser.add_argument(
        "--speech-lm-precision", default="auto", help="auto (default), float32, bfloat16, float16, int8, int4"
    )
    parser.add_argument("--flow-precision", default="float32", help="float32 (default), auto, bfloat16, float16, int8")
    parser.add_argument("--flow-steps", type=int, help="number of solver steps (default 10; fast and draft take fewer)")
    chosen = parser.parse_args(arguments)
    try:
        device, extent = device_named(chosen.device, num_threads=chosen.threads), _extent(chosen)
        folder = chosen.model or _random_folder(chosen.random, chosen.seed)
        with _empty_cache():
            report = run_bench(
                BenchRequest(
                    folder=folder,
                    options=EngineOptions(
                        device=device.torch_name,
                        num_threads=chosen.threads,
                        speech_lm_precision=chosen.speech_lm_precision,
                        flow_precision=chosen.flow_precision,
                        flow_steps=chosen.flow_steps,
                    ),
                    extent=extent,
                    progress=_print,
                )
            )
    except StudioError as error:
        _print(f"timbre: {error} ({error.code})")
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    sys.stdout.write(report.to_json() + "\n" if chosen.json else report.to_table())
    return 0


def _extent(chosen: argparse.Namespace) -> BenchSize:
    """Return the chosen extent. Raise ``UnusableSetting`` for an unknown part."""
    extent = QUICK if chosen.quick else FULL
    if chosen.prompt_seconds:
        extent = replace(extent, prompt_seconds=(chosen.prompt_seconds,))
    if chosen.speech_seconds:
        extent = replace(extent, speech_seconds=chosen.speech_seconds)
    if chosen.only:
        parts = frozenset(chosen.only.split(","))
        if removed := sorted(parts & _REMOVED_PARTS):
            _print(f"{', '.join(removed)}: no longer measured; the comparisons of precisions are always listed")
            parts -= _REMOVED_PARTS
        if unknown := sorted(parts.difference(PARTS)):
            raise UnusableSetting(
                "The benchmark has no part {part}.",
                remedy="Choose from: {parts}.",
                part=unknown[0],
                parts=", ".join(PARTS),
            )
        extent = replace(extent, parts=parts)
    return extent


def _random_folder(generation: str, seed: int) -> Path:
    folder = paths.cache_folder() / "random-models" / f"{generation}-{seed}"
    _random_models().write_random_checkpoint(
        folder, generation, seed, progress=lambda name: _print(f"writing {folder / name}")
    )
    return folder


def _random_models() -> ModuleType:
    """Import ``packaging/measurements/random_models/checkpoint.py`` of a checkout; an installed package lacks it."""
    packaging = Path(__file__).resolve().parents[2] / "packaging"
    if not (packaging / "measurements" / "random_models").is_dir():
        raise UnusableSetting(
            "Random models can only be created from a clone of the source.",
            remedy="Run the benchmark from a clone, or measure an installed model with --model.",
        )
    if str(packaging) not in sys.path:
        sys.path.insert(0, str(packaging))
    return importlib.import_module("measurements.random_models.checkpoint")


@contextlib.contextmanager
def _empty_cache() -> Iterator[None]:
    """Use a temporary cache, so that voices are computed again and not kept."""
    before = os.environ.get("TIMBRE_CACHE")
    with tempfile.TemporaryDirectory(prefix="timbre-bench-") as folder:
        os.environ["TIMBRE_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["TIMBRE_CACHE"]
            else:
                os.environ["TIMBRE_CACHE"] = before


def _print(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201 - progress for the user


if __name__ == "__main__":
    sys.exit(main())
