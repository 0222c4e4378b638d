"""Conversion of lines, takes and dictionary entries to rows of the project file, and back."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, astuple
from datetime import UTC, datetime
from typing import Any

from studio.audio.time_stretch import FASTEST_SPEED, SLOWEST_SPEED
from studio.errors import BadPronunciation
from studio.model.config import SamplingOptions
from studio.pipeline.request import LengthVerdict
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.fields import Fields
from studio.project.lines import DEFAULT_PAUSE_SECONDS, LARGEST_SEED, LONGEST_PAUSE_SECONDS, Line, LineStyle
from studio.project.phones import phone_tokens
from studio.project.takes import Take, TakeParameters

Row = Mapping[str, Any] | sqlite3.Row
_HIGHEST_SAMPLE_RATE = 1_000_000
_BYTES_PER_SAMPLE = 4
_MOST_SECONDS = 1e7  # four months
_MOST = 1_000_000_000
_LEAST_SHARE = 0.001
_UNKNOWN_TIME = datetime(2000, 1, 1, tzinfo=UTC)


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


def line_from(row: Row, replaced: list[str]) -> Line:
    """Return the line of ``row``. Names of values replaced by defaults are added to ``replaced``.

    Raise ``LookupError`` or ``ValueError``.
    """
    fields = Fields(dict(row), "lines", replaced)
    return Line(
        id=fields.required_text("id"),
        text=fields.text("text"),
        voice=fields.optional_text("voice"),
        style=_style_from(fields),
        speed=fields.number("speed", SLOWEST_SPEED, FASTEST_SPEED, 1.0),
        seed=fields.whole("seed", 0, LARGEST_SEED, None),
        sampling=_sampling_from(fields.json_object("sampling")),
        pause_after_seconds=fields.number("pause_after_seconds", 0.0, LONGEST_PAUSE_SECONDS, DEFAULT_PAUSE_SECONDS),
        is_locked=fields.truth("is_locked", default=False),
        chosen_take=fields.optional_text("chosen_take"),
        file_name=fields.optional_text("file_name"),
    )


def take_row(take: Take) -> dict[str, Any]:
    return {
        "id": take.id,
        "line_id": take.line_id,
        "number": take.number,
        "created": take.created.isoformat(),
        "audio_seconds": take.audio_seconds,
        "sample_rate": take.sample_rate,
        "recipe": _parameters_json(take.parameters),
        "is_kept": int(take.is_kept),
        "is_complete": int(take.is_complete),
        "first_audio_seconds": take.first_audio_seconds,
        "real_time_factor": take.real_time_factor,
        "num_underruns": take.num_underruns,
    }


def take_from(row: Row, replaced: list[str], num_sound_bytes: Callable[[str], int]) -> Take:
    """As ``line_from``. An unusable length is computed from the stored audio."""
    fields = Fields(dict(row), "takes", replaced)
    take_id = fields.required_text("id")
    sample_rate = fields.required_whole("sample_rate", 1, _HIGHEST_SAMPLE_RATE)
    audio_seconds = fields.number("audio_seconds", 0.0, _MOST_SECONDS, None)
    if audio_seconds is None:
        audio_seconds = num_sound_bytes(take_id) / _BYTES_PER_SAMPLE / sample_rate
    return Take(
        id=take_id,
        line_id=fields.required_text("line_id"),
        number=fields.whole("number", 1, _MOST, 1),
        created=fields.moment("created", _UNKNOWN_TIME),
        audio_seconds=audio_seconds,
        sample_rate=sample_rate,
        parameters=_parameters_from(fields.json_object("recipe") or Fields({}, "takes.recipe", replaced)),
        is_kept=fields.truth("is_kept", default=False),
        is_complete=fields.truth("is_complete", default=True),
        first_audio_seconds=fields.number("first_audio_seconds", 0.0, _MOST_SECONDS, None),
        real_time_factor=fields.number("real_time_factor", 0.0, _MOST, None),
        num_underruns=fields.whole("num_underruns", 0, _MOST, None),
    )


def dictionary_rows(dictionary: PronunciationDictionary) -> list[tuple[Any, ...]]:
    return [(position, *astuple(entry)) for position, entry in enumerate(dictionary.entries)]


def dictionary_from(rows: list[Row], replaced: list[str]) -> PronunciationDictionary:
    """Like ``line_from``, but omits invalid entries."""
    entries = []
    for row in rows:
        fields = Fields(dict(row), "dictionary", replaced)
        with _noted(fields, "written"):
            entries.append(
                DictionaryEntry(
                    fields.text("written"),
                    fields.optional_text("alias"),
                    _pronunciation_from(fields),
                    fields.truth("is_case_sensitive", default=False),
                )
            )
    return PronunciationDictionary(tuple(entries))


def _pronunciation_from(fields: Fields) -> str | None:
    pronunciation = fields.optional_text("pronunciation")
    if pronunciation is not None:
        with _noted(fields, "pronunciation"):
            phone_tokens(pronunciation)
            return pronunciation
    return None


@contextlib.contextmanager
def _noted(fields: Fields, key: str) -> Iterator[None]:
    try:
        yield
    except BadPronunciation:
        fields.replace(key)


def _parameters_json(parameters: TakeParameters) -> str:
    odd_length = parameters.odd_length
    values = asdict(parameters) | {"odd_length": None if odd_length is None else odd_length.value}
    return json.dumps(values, ensure_ascii=False)


def _parameters_from(fields: Fields) -> TakeParameters:
    style = fields.object("style")
    return TakeParameters(
        text=fields.text("text"),
        seed=fields.whole("seed", 0, LARGEST_SEED, 0),
        line_fingerprint=fields.text("line_fingerprint"),
        mode=fields.text("mode"),
        voice_name=fields.text("voice_name"),
        voice_sha256=fields.text("voice_sha256"),
        model_name=fields.text("model_name"),
        model_key=fields.text("model_key"),
        voice_key=fields.text("voice_key"),
        spoken_text=fields.text("spoken_text"),
        style=LineStyle() if style is None else _style_from(style),
        speed=fields.number("speed", SLOWEST_SPEED, FASTEST_SPEED, 1.0),
        sampling=_sampling_from(fields.object("sampling")),
        odd_length=_odd_length_from(fields),
        engine=fields.texts("engine"),
        versions=fields.texts("versions"),
    )


def _odd_length_from(fields: Fields) -> LengthVerdict | None:
    value = fields.optional_text("odd_length")
    if value is None:
        return None
    verdict = {verdict.value: verdict for verdict in LengthVerdict}.get(value)
    return fields.replace("odd_length", None) if verdict is None else verdict


def _style_from(fields: Fields) -> LineStyle:
    """If both a preset and an instruction are given, the instruction counts."""
    preset, instruct = fields.optional_text("preset"), fields.optional_text("instruct")
    return LineStyle(fields.replace("preset", None) if preset and instruct else preset, instruct)


def _sampling_from(fields: Fields | None) -> SamplingOptions | None:
    if fields is None:
        return None
    usual = SamplingOptions()
    return SamplingOptions(
        top_p=fields.number("top_p", _LEAST_SHARE, 1.0, usual.top_p),
        top_k=fields.whole("top_k", 1, _MOST, usual.top_k),
        window_tokens=fields.whole("window_tokens", 0, _MOST, usual.window_tokens),
        repetition_ratio=fields.number("repetition_ratio", 0.0, 1.0, usual.repetition_ratio),
    )
