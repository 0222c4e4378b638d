"""Texts of the rows in the list of takes, and names of qualities."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from studio.app.checking.verdicts import VerdictMark, verdict_mark
from studio.app.script.line_statuses import odd_length_warning
from studio.app.translation import QT_TRANSLATE_NOOP as _T
from studio.app.translation import join_phrases, with_label
from studio.model.options import Quality
from studio.pipeline.request import LengthVerdict
from studio.project.project import Project
from studio.project.take_match import TakeMatch, compare_take
from studio.project.takes import Take, can_stretch
from studio.take_checks.policy import quality_key
from studio.take_checks.records import Verdict

translate = QCoreApplication.translate

_TEXT_LETTERS = 200  # number of characters of the text in the tool tip
_SEED_DIGITS = 6  # number of digits of the seed in the row
_MATCH_NAMES = {
    TakeMatch.OLDER_TEXT: _T("Takes", "Older text"),
    TakeMatch.OTHER_SETTINGS: _T("Takes", "Other settings"),
}
_VERDICT_NAMES = {LengthVerdict.TOO_LONG: _T("Takes", "Too long"), LengthVerdict.TOO_SHORT: _T("Takes", "Too short")}
_QUALITY_NAMES = {
    Quality.EXACT: _T("Qualities", "Exact"),
    Quality.FAST: _T("Qualities", "Fast"),
    Quality.DRAFT: _T("Qualities", "Draft"),
}
_QUALITY_DESCRIPTIONS = {
    Quality.EXACT: _T("Qualities", "As the model was released."),
    Quality.FAST: _T("Qualities", "Less work: within 0.6 dB of exact in a short test, which is hard to hear."),
    Quality.DRAFT: _T("Qualities", "Least work: within 1.6 dB of exact in a short test. For trying out readings."),
}


@dataclass(frozen=True, slots=True)
class TakeRow:
    """A take, and how it is played in its line.

    Attributes:
        seconds: The length after edits.
        speed: The speaking rate at which it is played.
        rank: The place of the take among the checked takes of its line, from 1, or None with fewer than two of them.
        has_line_speed: False if it cannot be stretched to the speed of the line.
    """

    take: Take
    seconds: float
    speed: float
    has_line_speed: bool
    match: TakeMatch
    verdict: VerdictMark | None = None
    rank: int | None = None


def take_rows(project: Project, line_id: str) -> tuple[TakeRow, ...]:
    """Return the takes of a line in order of number."""
    line, takes = project.line(line_id), project.takes_of(line_id)
    checked = sorted((take for take in takes if is_ranked(take)), key=lambda take: quality_key(take.check))
    ranks = {take.id: place for place, take in enumerate(checked, 1)} if len(checked) > 1 else {}
    return tuple(
        TakeRow(
            take,
            project.seconds_of(take),
            take.parameters.speed * project.edits_of(take).speed,
            can_stretch(take, line),
            compare_take(project, take),
            verdict_mark(take),
            ranks.get(take.id),
        )
        for take in takes
    )


def is_ranked(take: Take) -> bool:
    return take.check is not None and take.check.verdict is not Verdict.NOT_CHECKED


def verdict_text(row: TakeRow) -> str:
    """Return the verdict and the rank of a take, or an empty text if it was not checked."""
    if row.verdict is None:
        return ""
    if row.rank is None:
        return row.verdict.name
    words = {
        1: translate("Takes", "{verdict} · best"),
        2: translate("Takes", "{verdict} · 2nd"),
        3: translate("Takes", "{verdict} · 3rd"),
    }.get(row.rank) or translate("Takes", "{verdict} · {rank}th")
    return words.format(verdict=row.verdict.name, rank=row.rank)


def ranking_reasons(row: TakeRow) -> list[str]:
    """Return why a take has its verdict and rank."""
    check, mark = row.take.check, row.verdict
    if check is None or mark is None:
        return []
    reasons = [translate("Takes", "Check: {verdict}. {reason}").format(verdict=verdict_text(row), reason=mark.reason)]
    if check.word_error_rate is not None:
        words = translate("Takes", "Wrong words: {share:.0%}")
        reasons.append(words.format(share=check.word_error_rate))
    if check.similarity is not None:
        words = translate("Takes", "Similarity of the voice: {similarity:.2f}")
        reasons.append(words.format(similarity=check.similarity))
    if row.take.retry_of is not None:
        reasons.append(translate("Takes", "Spoken again automatically, because a take had problems."))
    return reasons


def take_name(take: Take) -> str:
    return translate("Takes", "Take {number}").format(number=take.number)


def age_text(created: datetime, now: datetime | None = None) -> str:
    """Return the time of a take of today, "yesterday", or the date."""
    local = created.astimezone()
    today = (now or datetime.now().astimezone()).date()
    if local.date() == today:
        return f"{local:%H:%M}"
    if local.date() == today - timedelta(days=1):
        return translate("Takes", "yesterday")
    date = QDate(local.year, local.month, local.day)
    return QLocale().toString(date, QLocale.FormatType.ShortFormat)


def mark_texts(row: TakeRow) -> list[str]:
    """Return the unusual properties of a take, the most important first."""
    marks = []
    if row.match in _MATCH_NAMES:
        marks.append(translate("Takes", _MATCH_NAMES[row.match]))
    if not row.take.is_complete:
        marks.append(translate("Takes", "Stopped"))
    elif row.take.parameters.odd_length is not None and row.verdict is None:
        marks.append(translate("Takes", _VERDICT_NAMES[row.take.parameters.odd_length]))
    if row.take.is_recording:
        marks.append(translate("Takes", "Recording"))
    if row.take.is_draft:
        marks.append(quality_name(row.take.parameters.quality))
    if row.take.parameters.omitted_style is not None:
        marks.append(translate("Takes", "Without style"))
    if not row.has_line_speed:
        marks.append(translate("Takes", "Cannot be stretched"))
    return marks


def length_text(row: TakeRow) -> str:
    return translate("Takes", "{seconds:.1f} s").format(seconds=row.seconds)


def details_text(row: TakeRow) -> str:
    """Return the second line of a row: speed, age and seed, of which only the end is shown if it is long."""
    seed = str(row.take.seed)
    shown = seed if len(seed) <= _SEED_DIGITS else f"…{seed[-_SEED_DIGITS:]}"
    return " · ".join(
        [f"{row.speed:.2f}×", age_text(row.take.created), translate("Takes", "seed {seed}").format(seed=shown)]
    )


def accessible_text(row: TakeRow, *, is_chosen: bool) -> str:
    take = row.take
    return join_phrases(
        [
            take_name(take),
            *([translate("Takes", "chosen")] if is_chosen else []),
            *([translate("Takes", "kept")] if take.is_kept else []),
            *([with_label(verdict_text(row), row.verdict.reason)] if row.verdict is not None else []),
            *mark_texts(row),
            length_text(row),
            details_text(row),
        ]
    )


def tool_tip(row: TakeRow) -> str:
    take, parameters = row.take, row.take.parameters
    created = QLocale().toString(take.created.astimezone(), QLocale.FormatType.ShortFormat)  # type: ignore[call-overload]
    spoken = parameters.text if len(parameters.text) <= _TEXT_LETTERS else parameters.text[:_TEXT_LETTERS] + "…"
    rows = [
        translate("Takes", "Length: {seconds:.1f} s").format(seconds=row.seconds),
        translate("Takes", "Seed: {seed}").format(seed=take.seed),
        translate("Takes", "Voice: {voice}").format(voice=parameters.voice_name),
        translate("Takes", "Model: {model}").format(model=parameters.model_name),
        translate("Takes", "Spoken: {when}").format(when=created),
        translate("Takes", "Text: {text}").format(text=spoken),
    ]
    if not row.has_line_speed:
        words = translate(
            "Takes", "Spoken at {speed:.2f}×, which cannot be stretched to the speed of the line. Speak again."
        )
        rows.append(words.format(speed=parameters.speed))
    if parameters.omitted_style is not None:
        words = translate("Takes", "Spoken without the style of the line, which {model} does not have.")
        rows.append(words.format(model=parameters.model_name))
    if take.is_draft:
        words = translate(
            "Takes", "Quality: {quality}, {distance:.2f} dB from exact. Make it final to speak it exactly."
        )
        name = quality_name(parameters.quality)
        rows.append(words.format(quality=name, distance=parameters.quality_distortion_db))
    if parameters.odd_length is not None and take.check is None:
        rows.append(odd_length_warning(take))
    rows += ranking_reasons(row)
    if take.first_audio_seconds is not None:
        rows.append(translate("Takes", "Latency: {seconds:.2f} s").format(seconds=take.first_audio_seconds))
    if take.real_time_factor is not None:
        rows.append(translate("Takes", "Real-time factor: {factor:.2f}").format(factor=take.real_time_factor))
    if take.network is not None:
        words = translate(
            "Takes",
            "Another computer: network {latency:.3f} s and queue {queue:.3f} s of the latency, real-time factor there "
            "{factor:.2f}, network delays of later audio up to {delay:.3f} s",
        )
        network = take.network
        rows.append(
            words.format(
                latency=network.latency_seconds,
                queue=network.queue_seconds,
                factor=network.real_time_factor,
                delay=network.delay_seconds,
            )
        )
    if take.num_underruns is not None:
        rows.append(translate("Takes", "Dropouts: {count}").format(count=take.num_underruns))
    return "\n".join(rows)


def quality_name(quality: Quality) -> str:
    return translate("Qualities", _QUALITY_NAMES[quality])


def quality_description(quality: Quality) -> str:
    return translate("Qualities", _QUALITY_DESCRIPTIONS[quality])
