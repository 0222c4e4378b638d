"""``python -m studio.engines``: the implementation of ``timbre engines``, which runs it in a separate process."""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from studio.engines.candidate import MODULES, EngineTarget
from studio.engines.ladder import why_not
from studio.engines.machine import device_named
from studio.engines.manager import EngineManager
from studio.engines.overview import CandidateView, CurrentTrial, EngineStatus, StageView, Status
from studio.engines.stage import Stage
from studio.engines.store import EngineStore
from studio.errors import StudioError, UnusableSetting
from studio.messages import printable
from studio.model.checkpoint import open_checkpoint

_TITLES = {
    Stage.SPEECH_TOKENIZER: "speech tokenizer",
    Stage.SPEAKER_ENCODER: "speaker encoder",
    Stage.SPEECH_LM: "language model",
    Stage.FLOW: "flow",
    Stage.VOCODER: "vocoder",
}


_CHOSEN_ON_LOADING = (Stage.SPEECH_LM, Stage.FLOW, Stage.VOCODER)  # with the default settings


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
            manager.clear(keys)
            manager.improve(stages)
        case "clear":
            freed = manager.store.clear() if chosen.all else manager.clear(keys)
            _print(f"{_megabytes(freed)} freed. Engines are rebuilt as needed.")
            return 0
    overview = manager.overview()
    shown = [stage for stage in overview.stages if stage.stage in stages]
    if chosen.json:
        answer = {
            "model": overview.model_name,
            "place": overview.device.description,
            "candidates": _as_rows(overview),
        }
        _print(json.dumps(_finite(answer), ensure_ascii=False, indent=1))
    elif chosen.action in ("why", "verify", "bench"):
        _print(*(line for stage in shown for line in (*_explanation(stage), "")))
    else:
        _print(*_table(overview))
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


def _title(view: CandidateView) -> str:
    return f"{view.engine} {view.precision}"


def _is_chosen_on_loading(stage: StageView) -> bool:
    """Return whether ``studio/pipeline/stage_opener.py`` compares 8, 16 and 32 bits when the model is loaded."""
    return stage.stage in _CHOSEN_ON_LOADING and stage.choice.status is not Status.VERIFIED


def _title_in_use(stage: StageView) -> str:
    choice = stage.choice
    return f"{choice.engine}, precision chosen on loading" if _is_chosen_on_loading(stage) else _title(choice)


def _table(overview: EngineStatus) -> Iterator[str]:
    """Yield a table of the engines in use with their measurements."""
    yield f"{overview.model_name} on {overview.device.description}"
    yield ""
    rows: list[tuple[str, ...]] = [("stage", "engine in use", "s per s", "times float32", "error", "size", "age")]
    rows += [_row(stage) for stage in overview.stages]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield ""
    for note in overview.notes:
        yield f"note: {note}."
    if overview.num_untried:
        yield f"{overview.num_untried} not tested yet: run `timbre engines build`. Details: `timbre engines why`."
    yield f"disk cache: {_megabytes(overview.kept_bytes)} of at most {overview.limit_bytes / 2**30:.0f} GB"


def _row(stage: StageView) -> tuple[str, ...]:
    view = stage.choice
    timing = view.timing
    return (
        _TITLES[stage.stage],
        _title_in_use(stage),
        f"{timing.seconds_per_audio_second:.2g}" if timing else "not measured",
        "1" if view.is_reference else f"{view.speedup:.2f}" if timing else "",
        _error_text(view),
        _megabytes(view.num_bytes) if view.num_bytes else "nothing built",
        _age(view.made_at),
    )


def _explanation(stage: StageView) -> Iterator[str]:
    """Yield the engine used for the stage, and why each of the others is not used."""
    choice = stage.choice
    yield f"{_TITLES[stage.stage]}: {_title_in_use(stage)}"
    if choice.timing:
        yield f"  {choice.timing.seconds_per_audio_second:.2g} s per second of audio; {_error_text(choice)}"
    elif _is_chosen_on_loading(stage):
        yield "  8 and 16 bits are compared with float32 on loading; no engine has been built or measured"
    elif choice.is_reference:
        yield "  no faster engine has been verified; not measured"
    for view in stage.candidates:
        if view.key != choice.key:
            yield f"  not {_title(view)}: {why_not(view, choice)}."


def _error_text(view: CandidateView) -> str:
    """Return the measured error against plain float32."""
    found = view.verification
    if found is None:
        return "not verified"
    if view.is_reference:
        return "the reference"
    words = f"{found.relative_error:.1e}"
    if found.mel_distance_db is not None:
        words += f", {found.mel_distance_db:.3f} dB"
    if found.agreement is not None:
        words += f", {found.agreement:.0%} equal"
    return words


def _progress(work: CurrentTrial) -> str:
    words = f"{work.index} of {work.total}: {_TITLES[work.stage]}, {work.name}"
    if work.step is not None:
        words += f": {work.step.phase}, {work.share:.0%}"
    if work.remaining_seconds is not None:
        words += f", about {_duration(work.remaining_seconds)}"
    return words


def _megabytes(num_bytes: int) -> str:
    return f"{num_bytes / 2**20:.0f} MB" if num_bytes >= 1 << 20 else f"{num_bytes / 2**10:.0f} kB"


def _age(made_at: str) -> str:
    """Return the time since ``made_at`` (ISO 8601) in words, or an empty string if it is empty."""
    if not made_at:
        return ""
    return _duration(max(0.0, (datetime.now(UTC) - datetime.fromisoformat(made_at)).total_seconds()))


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _as_rows(overview: EngineStatus) -> list[dict[str, object]]:
    """Return all candidates as JSON rows."""
    rows: list[dict[str, object]] = []
    for stage in overview.stages:
        for view in stage.candidates:
            found, timing = view.verification, view.timing
            rows.append(
                {
                    "stage": stage.stage.value,
                    "name": view.name,
                    "engine": view.engine,
                    "precision": view.precision,
                    "in_use": view.key == stage.choice.key,
                    "status": view.status.value,
                    "why_not": "" if view.key == stage.choice.key else str(why_not(view, stage.choice)),
                    "seconds_per_audio_second": timing.seconds_per_audio_second if timing else None,
                    "first_seconds": timing.first_seconds if timing else None,
                    "speedup": view.speedup if view.status is Status.VERIFIED else None,
                    "relative_error": found.relative_error if found and found.is_finite else None,
                    "mel_distance_db": found.mel_distance_db if found else None,
                    "agreement": found.agreement if found else None,
                    "bytes": view.num_bytes,
                    "made_at": view.made_at,
                    "key": view.key,
                }
            )
    return rows


class _ProgressPrinter:
    """Prints progress: on a terminal one line that is rewritten, elsewhere one line per phase."""

    def __init__(self) -> None:
        self._last = ""

    def update(self, overview: EngineStatus) -> None:
        work = overview.work
        if sys.stderr.isatty():
            words = _progress(work) if work else ""
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
