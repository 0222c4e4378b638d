"""Lines, takes and dictionary entries as rows of the project's file, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, astuple
from datetime import datetime
from typing import Any

from studio.json_input import parse_json
from studio.model.config import SamplingOptions
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.lines import Line, LineStyle
from studio.project.takes import Take, TakeRecipe

Row = Mapping[str, Any] | sqlite3.Row
_HIGHEST_SAMPLE_RATE = 1_000_000


def line_row(line: Line, rank: int) -> dict[str, Any]:
    return {
        "id": line.id,
        "rank": rank,
        "text": line.text,
        "voice": line.voice,
        "preset": line.style.preset,
        "instruct": line.style.instruct,
        "speed": float(line.speed),
        "seed": line.seed,
        "sampling": None if line.sampling is None else json.dumps(asdict(line.sampling)),
        "pause_after_seconds": float(line.pause_after_seconds),
        "is_locked": int(line.is_locked),
        "chosen_take": line.chosen_take,
        "file_name": line.file_name,
    }


def line_from(row: Row) -> Line:
    return Line(
        id=row["id"],
        text=row["text"],
        voice=row["voice"],
        style=LineStyle(row["preset"], row["instruct"]),
        speed=row["speed"],
        seed=row["seed"],
        sampling=None if row["sampling"] is None else SamplingOptions(**parse_json(row["sampling"])),
        pause_after_seconds=row["pause_after_seconds"],
        is_locked=bool(row["is_locked"]),
        chosen_take=row["chosen_take"],
        file_name=row["file_name"],
    )


def take_row(take: Take) -> dict[str, Any]:
    return {
        "id": take.id,
        "line_id": take.line_id,
        "number": take.number,
        "created": take.created.isoformat(),
        "audio_seconds": take.audio_seconds,
        "sample_rate": take.sample_rate,
        "recipe": json.dumps(_recipe_values(take.recipe), ensure_ascii=False),
        "is_kept": int(take.is_kept),
        "is_complete": int(take.is_complete),
        "first_audio_seconds": take.first_audio_seconds,
        "real_time_factor": take.real_time_factor,
        "num_underruns": take.num_underruns,
    }


def take_from(row: Row) -> Take:
    """Raises ``ValueError``, ``LookupError`` and ``TypeError`` where it is not what this program writes."""
    if not 0 < row["sample_rate"] <= _HIGHEST_SAMPLE_RATE:
        raise ValueError("a take has no sample rate")
    recipe = parse_json(row["recipe"])
    if not isinstance(recipe, dict):
        raise TypeError("a take has no recipe")
    return Take(
        id=row["id"],
        line_id=row["line_id"],
        number=row["number"],
        created=datetime.fromisoformat(row["created"]),
        audio_seconds=row["audio_seconds"],
        sample_rate=row["sample_rate"],
        recipe=_recipe_from(recipe),
        is_kept=bool(row["is_kept"]),
        is_complete=bool(row["is_complete"]),
        first_audio_seconds=row["first_audio_seconds"],
        real_time_factor=row["real_time_factor"],
        num_underruns=row["num_underruns"],
    )


def dictionary_rows(dictionary: PronunciationDictionary) -> list[tuple[Any, ...]]:
    return [(position, *astuple(entry)) for position, entry in enumerate(dictionary.entries)]


def dictionary_from(rows: list[Any]) -> PronunciationDictionary:
    return PronunciationDictionary(
        tuple(
            DictionaryEntry(row["written"], row["alias"], row["pronunciation"], bool(row["is_case_sensitive"]))
            for row in rows
        )
    )


def _recipe_values(recipe: TakeRecipe) -> dict[str, Any]:
    return {
        "text": recipe.text,
        "seed": recipe.seed,
        "line_fingerprint": recipe.line_fingerprint,
        "mode": recipe.mode,
        "voice_name": recipe.voice_name,
        "voice_sha256": recipe.voice_sha256,
        "voice_key": recipe.voice_key,
        "model_name": recipe.model_name,
        "model_key": recipe.model_key,
        "spoken_text": recipe.spoken_text,
        "style": asdict(recipe.style),
        "speed": recipe.speed,
        "sampling": None if recipe.sampling is None else asdict(recipe.sampling),
        "engine": dict(recipe.engine),
        "versions": dict(recipe.versions),
    }


def _recipe_from(values: dict[str, Any]) -> TakeRecipe:
    style, sampling = LineStyle(**values.pop("style")), values.pop("sampling")
    return TakeRecipe(**values, style=style, sampling=None if sampling is None else SamplingOptions(**sampling))
