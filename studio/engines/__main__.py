"""``python -m studio.engines``: the implementation of ``timbre engines``, which runs it in a separate process."""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from studio.engines.candidate import EngineTarget
from studio.engines.machine import device_named
from studio.engines.manager import EngineManager
from studio.engines.overview import EngineStatus, Status
from studio.engines.registry import MODULES
from studio.engines.stage import Stage
from studio.engines.store import EngineStore
from studio.engines.text_report import as_rows, explanation, megabytes, progress, table
from studio.errors import StudioError, UnusableSetting
from studio.messages import printable
from studio.model.checkpoint import open_checkpoint


def main(arguments: Sequence[str] | None = None) -> int:
    """Print results to standard output and progress to standard error. Return the exit status."""
    chosen = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    progress_printer = _ProgressPrinter()
    try:
        device = device_named(chosen.device, num_threads=chosen.threads)
        target = EngineTarget(open_checkpoint(chosen.model), device, chosen.variant)
        manager = EngineManager(
            target,
            EngineStore(),
            modules=tuple(chosen.modules),
            has_low_priority=False,
            on_change=progress_printer.update,
        )
        stages = tuple(chosen.stage or Stage)
        try:
            return _run(chosen, manager, stages)
        except KeyboardInterrupt:
            manager.cancel()
            raise
    except StudioError as error:
        _print_error(f"timbre: {error} ({error.code})")
        return error.exit_status
    except KeyboardInterrupt:
        return 130


def _run(chosen: argparse.Namespace, manager: EngineManager, stages: tuple[Stage, ...]) -> int:
    keys = _keys(manager.overview(), stages, chosen.engine)
    match chosen.action:
        case "build":
            manager.improve(stages, again=keys if chosen.engine else ())
        case "verify" | "bench":
            known = {view.key for stage in manager.overview().stages for view in stage.candidates if view.verification}
            manager.improve(stages, again=[key for key in keys if key in known or chosen.engine])
        case "rebuild":
            manager.forget(keys)
            manager.improve(stages)
        case "clear":
            freed = manager.store.clear() if chosen.all else manager.forget(keys)
            _print(f"{megabytes(freed)} freed. Engines are rebuilt as needed.")
            return 0
    overview = manager.overview()
    shown = [stage for stage in overview.stages if stage.stage in stages]
    if chosen.json:
        answer = {
            "model": overview.model_name,
            "place": overview.device.description,
            "candidates": as_rows(overview),
        }
        _print(json.dumps(_finite(answer), ensure_ascii=False, indent=1))
    elif chosen.action in ("why", "verify", "bench"):
        _print(*(line for stage in shown for line in (*explanation(stage), "")))
    else:
        _print(*table(overview))
    return 0


def _keys(overview: EngineStatus, stages: Iterable[Stage], names: list[str] | None) -> list[str]:
    """Return the keys of the selected candidates. Raises ``UnusableSetting`` for an unknown name."""
    views = [view for stage in overview.stages if stage.stage in stages for view in stage.candidates]
    unknown = set(names or ()) - {view.name for view in views}
    if unknown:
        raise UnusableSetting(
            "There is no engine {names} for these stages.",
            remedy="Choose one of: {known}.",
            names=", ".join(sorted(unknown)),
            known=", ".join(sorted({view.name for view in views})),
        )
    usable = [view for view in views if view.status is not Status.UNUSABLE]
    return [view.key for view in usable if not names or view.name in names]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="timbre engines")
    parser.add_argument("action", choices=("list", "build", "verify", "bench", "rebuild", "clear", "why"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--variant")
    parser.add_argument("--stage", type=Stage, action="append")
    parser.add_argument("--engine", action="append")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--modules", nargs="+", default=MODULES)
    return parser


class _ProgressPrinter:
    """Prints progress: on a terminal one line that is rewritten, elsewhere one line per phase."""

    def __init__(self) -> None:
        self._last = ""

    def update(self, overview: EngineStatus) -> None:
        work = overview.work
        if sys.stderr.isatty():
            words = progress(work) if work else ""
            sys.stderr.write(f"\r\x1b[K{words}")
            sys.stderr.flush()
        elif work is not None and work.step is not None:
            words = f"{work.index} of {work.total}: {work.stage.value}, {work.name}: {work.step.phase}"
            if words != self._last:
                self._last = words
                _print_error(words)


def _finite(value: object) -> object:
    """Replace numbers that are not finite by None, since JSON does not support them."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201 - the command's output


def _print_error(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201 - messages of the command


if __name__ == "__main__":
    sys.exit(main())
