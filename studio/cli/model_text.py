"""Text and JSON descriptions of models and of installation progress."""

from __future__ import annotations

from typing import Any

from studio.catalog.folders import in_gigabytes
from studio.catalog.installed import ModelState, ModelStatus
from studio.catalog.known import Ability
from studio.catalog.progress import Phase, Progress

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
}
_PHASES = {Phase.CHECKING: "checking", Phase.RECEIVING: "", Phase.COPYING: "copying"}
_MEGABYTE = 1e6


def in_words(status: ModelStatus) -> list[str]:
    """Return the lines of a description; the first begins with the model's name."""
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


def as_json(status: ModelStatus) -> dict[str, Any]:
    """Keys are never removed or renamed."""
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
        "sources": {kind.value: name for kind, name in known.repositories.items()} if known else None,
    }


def progress_text(progress: Progress) -> str:
    """Return one line: bytes, the share if the total is known, speed and remaining time once measured."""
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


def duration_text(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if minutes < 60 else f"{int(minutes // 60)} h {int(minutes % 60)} min"
