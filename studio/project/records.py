"""Conversion of lines, takes and dictionary entries to rows of the project file, and back.

``Fields`` replaces invalid values of a damaged file with defaults.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, replace
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from typing import Any, TypeVar

from studio.audio.edits import MAX_FADE_SECONDS, MAX_GAIN_DB, MIN_GAIN_DB
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.errors import BadPronunciation
from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import LengthVerdict, NetworkFigures
from studio.project.check_records import (
    check_from,
    check_json,
    policy_from,
    policy_values,
    target_from,
    target_values,
)
from studio.project.details import CastMember, ImportSource, ProjectDetails, VoiceRole
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.fields import Fields, Row
from studio.project.lines import (
    DEFAULT_PAUSE_SECONDS,
    MAX_PAUSE_SECONDS,
    MAX_SEED,
    Heading,
    Line,
    LineOrigin,
    LineStyle,
    Slot,
)
from studio.project.phones import phone_tokens
from studio.project.takes import Take, TakeParameters

_MAX_SAMPLE_RATE = 1_000_000
_BYTES_PER_SAMPLE = 4
_MAX_SECONDS = 1e7  # four months
_MAX_NUMBER = 1_000_000_000
_MAX_CHECKSUM = 2**32 - 1
_NUM_FIGURES = len(fields_of(NetworkFigures))
_MIN_SHARE = 0.001
_Default = TypeVar("_Default")
_UNKNOWN_TIME = datetime(2000, 1, 1, tzinfo=UTC)
# Fields of lines in the column ``details``.
_LINE_DETAILS = frozenset(
    (
        "character", "heading", "is_spoken", "note", "slot", "gain_db", "fade_in_seconds", "fade_out_seconds",
        "columns", "quality", "origin", "language", "begins_paragraph", "is_speaker_sure",
    )
)  # fmt: skip
# ``asdict`` of a whole line would copy every value, which takes most of the time of a large import.
_LINE_COLUMNS = tuple(each.name for each in fields_of(Line) if each.name not in _LINE_DETAILS | {"style", "sampling"})
_STYLE_COLUMNS = tuple(each.name for each in fields_of(LineStyle))


def line_row(line: Line, rank: int) -> dict[str, Any]:
    row = {name: getattr(line, name) for name in _LINE_COLUMNS} | {"rank": rank}
    row |= {name: getattr(line.style, name) for name in _STYLE_COLUMNS}
    row["sampling"] = None if line.sampling is None else json.dumps(asdict(line.sampling))
    row["details"] = _details(
        character=line.character,
        heading=int(line.heading) or None,
        is_spoken=None if line.is_spoken else False,
        note=line.note or None,
        slot=None if line.slot is None else [line.slot.start_seconds, line.slot.end_seconds],
        gain_db=line.gain_db or None,
        fade_in_seconds=line.fade_in_seconds or None,
        fade_out_seconds=line.fade_out_seconds or None,
        columns=dict(line.columns) or None,
        quality=line.quality and line.quality.value,
        origin=None if line.origin is None else _origin_values(line, line.origin),
        language=line.language or None,
        begins_paragraph=line.begins_paragraph or None,
        is_speaker_sure=line.is_speaker_sure,
    )
    return row


def _origin_values(line: Line, origin: LineOrigin) -> dict[str, object]:
    """Return the row of the file, with those imported values that differ from the line's."""
    values = {name: value for name, value in origin.values.items() if getattr(line, name) != value}
    if (style := values.pop("style", None)) is not None:
        values |= {name: getattr(style, name) for name in _STYLE_COLUMNS}
    if "slot" in values:
        slot = values["slot"]
        values["slot"] = astuple(slot) if isinstance(slot, Slot) else []
    return {
        "source": origin.source,
        "position": origin.position,
        **({"key": origin.key} if origin.key else {}),
        **({"values": values} if values else {}),
        **({"is_removed": True} if origin.is_removed else {}),
    }


def _details(**values: object) -> str:
    """Return the values that are not None as JSON."""
    return json.dumps({name: value for name, value in values.items() if value is not None}, ensure_ascii=False)


def line_from(row: Row, replaced: list[str]) -> Line:
    """Return the line of ``row``, and append the names of values that were replaced with defaults to ``replaced``.

    Raise ``LookupError`` or ``ValueError``.
    """
    fields = Fields(dict(row), "lines", replaced)
    details = fields.json_object("details") or Fields({}, "lines.details", replaced)
    imported = _imported_from(fields, details)
    origin = details.object("origin")
    return Line(
        id=fields.required_text("id"),
        seed=fields.whole("seed", 0, MAX_SEED, None),
        sampling=_sampling_from(fields.json_object("sampling")),
        is_locked=fields.truth("is_locked", default=False),
        chosen_take=fields.optional_text("chosen_take"),
        gain_db=details.number("gain_db", MIN_GAIN_DB, MAX_GAIN_DB, 0.0),
        fade_in_seconds=details.number("fade_in_seconds", 0.0, MAX_FADE_SECONDS, 0.0),
        fade_out_seconds=details.number("fade_out_seconds", 0.0, MAX_FADE_SECONDS, 0.0),
        columns=details.texts("columns"),
        quality=_quality_from(details, None),
        origin=None if origin is None else _origin_from(origin, imported),
        begins_paragraph=details.truth("begins_paragraph", default=False),
        is_speaker_sure=details.optional_truth("is_speaker_sure"),
        **imported,
    )


def _imported_from(fields: Fields, details: Fields) -> dict[str, Any]:
    """Return the values that an import sets."""
    return {
        "text": fields.text("text"),
        "voice": fields.optional_text("voice"),
        "style": _style_from(fields),
        "speed": fields.number("speed", MIN_SPEED, MAX_SPEED, 1.0),
        "pause_after_seconds": fields.number("pause_after_seconds", 0.0, MAX_PAUSE_SECONDS, DEFAULT_PAUSE_SECONDS),
        "file_name": fields.optional_text("file_name"),
        "character": details.optional_text("character"),
        "heading": Heading(details.whole("heading", 0, max(Heading), 0)),
        "is_spoken": details.truth("is_spoken", default=True),
        "note": details.text("note"),
        "slot": _slot_from(details),
        "language": details.text("language"),
    }


def _origin_from(fields: Fields, imported: Mapping[str, object]) -> LineOrigin:
    """Return the origin of a line whose present values are ``imported``."""
    values = dict(imported)
    if (stored := fields.object("values")) is not None:
        former = _imported_from(stored, stored)
        values |= {name: value for name, value in former.items() if stored.has("preset" if name == "style" else name)}
    return LineOrigin(
        source=fields.text("source"),
        position=fields.whole("position", -1, _MAX_NUMBER, 0),
        key=fields.text("key"),
        values=values,
        is_removed=fields.truth("is_removed", default=False),
    )


def _slot_from(details: Fields) -> Slot | None:
    times = details.numbers("slot", 0.0, _MAX_SECONDS)
    if not times:
        return None
    return Slot(*times) if len(times) == 2 and times[0] <= times[1] else details.replace("slot", None)


def take_row(take: Take) -> dict[str, Any]:
    row = asdict(replace(take, check=None)) | {"created": take.created.isoformat()}
    parameters = row.pop("parameters")
    if take.parameters.odd_length is not None:
        parameters["odd_length"] = take.parameters.odd_length.value
    parameters["quality"] = take.parameters.quality.value
    row["recipe"] = json.dumps(parameters, ensure_ascii=False)
    trims = {name: row.pop(name) or None for name in ("trim_start_seconds", "trim_end_seconds")}
    network = row.pop("network")
    row["details"] = _details(
        **trims, retry_of=row.pop("retry_of"), network=None if network is None else [*network.values()]
    )
    row["check_result"] = check_json(take.check)
    del row["check"]
    return row


def take_from(row: Row, replaced: list[str], num_sound_bytes: Callable[[str], int]) -> Take:
    """Return the take of ``row``, as ``line_from`` does. An invalid length is computed from the stored audio."""
    fields = Fields(dict(row), "takes", replaced)
    take_id = fields.required_text("id")
    sample_rate = fields.required_whole("sample_rate", 1, _MAX_SAMPLE_RATE)
    audio_seconds = fields.number("audio_seconds", 0.0, _MAX_SECONDS, None)
    details = fields.json_object("details") or Fields({}, "takes.details", replaced)
    if audio_seconds is None:
        audio_seconds = num_sound_bytes(take_id) / _BYTES_PER_SAMPLE / sample_rate
    return Take(
        id=take_id,
        line_id=fields.required_text("line_id"),
        number=fields.whole("number", 1, _MAX_NUMBER, 1),
        created=fields.moment("created", _UNKNOWN_TIME),
        audio_seconds=audio_seconds,
        sample_rate=sample_rate,
        parameters=_parameters_from(fields.json_object("recipe") or Fields({}, "takes.recipe", replaced)),
        is_kept=fields.truth("is_kept", default=False),
        is_complete=fields.truth("is_complete", default=True),
        first_audio_seconds=fields.number("first_audio_seconds", 0.0, _MAX_SECONDS, None),
        real_time_factor=fields.number("real_time_factor", 0.0, _MAX_NUMBER, None),
        num_underruns=fields.whole("num_underruns", 0, _MAX_NUMBER, None),
        network=_network_from(details),
        trim_start_seconds=details.number("trim_start_seconds", 0.0, _MAX_SECONDS, 0.0),
        trim_end_seconds=details.number("trim_end_seconds", 0.0, _MAX_SECONDS, 0.0),
        check=check_from(fields.json_object("check_result")),
        retry_of=details.optional_text("retry_of"),
    )


def _network_from(details: Fields) -> NetworkFigures | None:
    figures = details.numbers("network", 0.0, _MAX_SECONDS)
    if not figures:
        return None
    return NetworkFigures(*figures) if len(figures) == _NUM_FIGURES else details.replace("network", None)


def project_row(details: ProjectDetails) -> dict[str, Any]:
    """Return the values of the ``project`` table that hold ``details``."""
    cast = {
        key: {"voice": member.voice, "preset": member.style.preset, "instruct": member.style.instruct}
        for key, member in details.cast.items()
    }
    text = _details(
        title=details.title or None,
        author=details.author or None,
        narrator=details.narrator or None,
        cast=cast or None,
        columns=list(details.columns) or None,
        guide_track=details.guide_track,
        checks=policy_values(details.checks) or None,
        quality=None if details.quality is Quality.EXACT else details.quality.value,
        sources=[asdict(source) for source in details.sources] or None,
        targets=[
            {"character": role.character, "voice": role.voice, **asdict(role.style), "spans": target_values(target)}
            for role, target in details.targets.items()
        ]
        or None,
    )
    return {"details": text, "cover": details.cover}


def project_details_from(row: Row, replaced: list[str]) -> ProjectDetails:
    fields = Fields(dict(row), "project", replaced)
    details = fields.json_object("details") or Fields({}, "project.details", replaced)
    return ProjectDetails(
        title=details.text("title"),
        author=details.text("author"),
        narrator=details.text("narrator"),
        cover=fields.optional_bytes("cover"),
        cast={
            key: CastMember(member.optional_text("voice"), _style_from(member))
            for key, member in details.objects("cast").items()
        },
        columns=details.text_list("columns"),
        guide_track=details.optional_text("guide_track"),
        checks=policy_from(details.object("checks")),
        quality=_quality_from(details, Quality.EXACT),
        sources=tuple(map(_source_from, details.object_list("sources"))),
        targets={
            VoiceRole(target.text("character"), target.text("voice"), _style_from(target)): target_from(target)
            for target in details.object_list("targets")
        },
    )


def _source_from(fields: Fields) -> ImportSource:
    sheet = fields.optional_text("sheet")  # of earlier versions, which spoke the stage directions of tables
    return ImportSource(
        id=fields.text("id"),
        path=fields.text("path"),
        digest=fields.text("digest"),
        sheets=(sheet,) if sheet else fields.text_list("sheets"),
        columns=fields.texts("columns"),
        has_names=fields.optional_truth("has_names"),
        breaks=fields.text("breaks"),
        finds_speakers=fields.optional_truth("finds_speakers"),
        speaks_notes=bool(sheet) or fields.truth("speaks_notes", default=False),
        left_out=fields.text_list("left_out"),
        chapter_level=fields.whole("chapter_level", 0, _MAX_NUMBER, None),
        encoding=fields.optional_text("encoding"),
        rows=fields.whole_list("rows", _MAX_CHECKSUM),
    )


def dictionary_rows(dictionary: PronunciationDictionary) -> list[tuple[Any, ...]]:
    return [(position, *astuple(entry)) for position, entry in enumerate(dictionary.entries)]


def dictionary_from(rows: list[Row], replaced: list[str]) -> PronunciationDictionary:
    """Return the dictionary in ``rows``, as ``line_from`` does, without invalid entries."""
    entries = []
    for row in rows:
        fields = Fields(dict(row), "dictionary", replaced)
        try:
            entries.append(
                DictionaryEntry(
                    fields.text("written"),
                    fields.optional_text("alias"),
                    _pronunciation_from(fields),
                    fields.truth("is_case_sensitive", default=False),
                )
            )
        except BadPronunciation:
            fields.replace("written")
    return PronunciationDictionary(tuple(entries))


def _pronunciation_from(fields: Fields) -> str | None:
    pronunciation = fields.optional_text("pronunciation")
    if pronunciation is not None:
        try:
            phone_tokens(pronunciation)
        except BadPronunciation:
            return fields.replace("pronunciation", None)
    return pronunciation


def _parameters_from(fields: Fields) -> TakeParameters:
    style = fields.object("style")
    return TakeParameters(
        text=fields.text("text"),
        seed=fields.whole("seed", 0, MAX_SEED, 0),
        line_fingerprint=fields.text("line_fingerprint"),
        mode=fields.text("mode"),
        voice_name=fields.text("voice_name"),
        voice_sha256=fields.text("voice_sha256"),
        model_name=fields.text("model_name"),
        model_key=fields.text("model_key"),
        voice_key=fields.text("voice_key"),
        language=fields.text("language"),
        spoken_text=fields.text("spoken_text"),
        style=LineStyle() if style is None else _style_from(style),
        omitted_style=fields.optional_text("omitted_style"),
        speed=fields.number("speed", MIN_SPEED, MAX_SPEED, 1.0),
        sampling=_sampling_from(fields.object("sampling")),
        odd_length=_odd_length_from(fields),
        quality=_quality_from(fields, Quality.EXACT),
        quality_distortion_db=fields.number(
            # Earlier versions stored the distance in half the usual scale.
            "quality_distortion_db",
            0.0,
            _MAX_NUMBER,
            2 * fields.number("quality_distance_db", 0.0, _MAX_NUMBER, 0.0),
        ),
        engine=fields.texts("engine"),
        versions=fields.texts("versions"),
    )


def _odd_length_from(fields: Fields) -> LengthVerdict | None:
    value = fields.optional_text("odd_length")
    try:
        return None if value is None else LengthVerdict(value)
    except ValueError:
        return fields.replace("odd_length", None)


def _quality_from(fields: Fields, default: _Default) -> Quality | _Default:
    value = fields.optional_text("quality")
    try:
        return default if value is None else Quality(value)
    except ValueError:
        return fields.replace("quality", default)


def _style_from(fields: Fields) -> LineStyle:
    """Return the style. If both a preset and an instruction are stored, the instruction is used."""
    preset, instruct = fields.optional_text("preset"), fields.optional_text("instruct")
    return LineStyle(fields.replace("preset", None) if preset and instruct else preset, instruct)


def _sampling_from(fields: Fields | None) -> SamplingOptions | None:
    if fields is None:
        return None
    usual = SamplingOptions()
    return SamplingOptions(
        top_p=fields.number("top_p", _MIN_SHARE, 1.0, usual.top_p),
        top_k=fields.whole("top_k", 1, _MAX_NUMBER, usual.top_k),
        window_tokens=fields.whole("window_tokens", 0, _MAX_NUMBER, usual.window_tokens),
        repetition_ratio=fields.number("repetition_ratio", 0.0, 1.0, usual.repetition_ratio),
    )
