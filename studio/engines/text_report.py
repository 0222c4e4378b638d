"""Text and JSON reports of engine status for the CLI. No torch."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from studio.engines.ladder import why_not
from studio.engines.overview import CandidateView, CurrentTrial, EngineStatus, StageView, Status
from studio.engines.stage import Stage

TITLES = {
    Stage.SPEECH_TOKENIZER: "speech tokenizer",
    Stage.SPEAKER_ENCODER: "speaker encoder",
    Stage.SPEECH_LM: "language model",
    Stage.FLOW: "flow",
    Stage.VOCODER: "vocoder",
}


def title(view: CandidateView) -> str:
    return f"{view.engine} {view.precision}"


def _title_in_use(stage: StageView) -> str:
    choice = stage.choice
    if stage.stage is Stage.SPEECH_LM and choice.status is not Status.VERIFIED:
        # studio/pipeline/precision_selection.py compares 8, 16 and 32 bits.
        return f"{choice.engine}, precision chosen on loading"
    return title(choice)


def table(overview: EngineStatus) -> Iterator[str]:
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
    yield f"disk cache: {megabytes(overview.kept_bytes)} of at most {overview.limit_bytes / 2**30:.0f} GB"


def _row(stage: StageView) -> tuple[str, ...]:
    view = stage.choice
    timing = view.timing
    return (
        TITLES[stage.stage],
        _title_in_use(stage),
        f"{timing.seconds_per_audio_second:.2g}" if timing else "not measured",
        "1" if view.is_reference else f"{view.speedup:.2f}" if timing else "",
        error_text(view),
        megabytes(view.num_bytes) if view.num_bytes else "nothing built",
        age(view.made_at),
    )


def explanation(stage: StageView) -> Iterator[str]:
    """Yield the engine used for the stage, and why each of the others is not used."""
    choice = stage.choice
    yield f"{TITLES[stage.stage]}: {_title_in_use(stage)}"
    if choice.timing:
        yield f"  {choice.timing.seconds_per_audio_second:.2g} s per second of audio; {error_text(choice)}"
    elif choice.is_reference:
        yield "  no faster engine has been verified; not measured"
    for view in stage.candidates:
        if view.key != choice.key:
            yield f"  not {title(view)}: {why_not(view, choice)}."


def error_text(view: CandidateView) -> str:
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


def progress(work: CurrentTrial) -> str:
    words = f"{work.index} of {work.total}: {TITLES[work.stage]}, {work.name}"
    if work.step is not None:
        words += f": {work.step.phase}, {work.share:.0%}"
    if work.remaining_seconds is not None:
        words += f", about {_duration(work.remaining_seconds)}"
    return words


def megabytes(num_bytes: int) -> str:
    return f"{num_bytes / 2**20:.0f} MB" if num_bytes >= 1 << 20 else f"{num_bytes / 2**10:.0f} kB"


def age(made_at: str) -> str:
    """Return the time since ``made_at`` (ISO 8601) in words, or an empty string if it is empty."""
    if not made_at:
        return ""
    return _duration(max(0.0, (datetime.now(UTC) - datetime.fromisoformat(made_at)).total_seconds()))


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def as_rows(overview: EngineStatus) -> list[dict[str, object]]:
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
