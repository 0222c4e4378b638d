"""Report of the checks of a script's takes, as an HTML page or a CSV table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from studio.export.target_folder import writing
from studio.messages import Message, message
from studio.project.csv_table import csv_table
from studio.project.project import Project
from studio.project.takes import Take
from studio.storage.atomic_file import atomic_write
from studio.take_checks.sentences import problem_phrase, verdict_name, worst_first

_STYLE = """
body { font-family: sans-serif; margin: 2em; color: #1b1c22; background: #ffffff; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: 0.4em 0.8em; }
tr { border-bottom: 1px solid #dfe0e6; } .review { background: #fff3e6; }
@media (prefers-color-scheme: dark) {
  body { color: #e8e9ee; background: #16171b; } tr { border-color: #363944; } .review { background: #3a2e1c; }
}
"""
_HEADINGS = (
    Message("Line"), Message("Text"), Message("Voice"), Message("Take"), Message("Verdict"), Message("Problems"),
    Message("Similarity of the voice"), Message("Share of wrong words"),
)  # fmt: skip
_COLUMNS = ("line", "text", "voice", "take", "verdict", "problems", "similarity", "word_error_rate")
Translate = Callable[[Message], str]


@dataclass(frozen=True, slots=True)
class ReportRow:
    """The chosen take of a spoken line; None if there is none."""

    number: int
    text: str
    voice: str
    take: Take | None


def report_rows(project: Project) -> list[ReportRow]:
    return [
        ReportRow(number, line.text, line.voice or "", project.chosen_take(line.id))
        for number, line in enumerate(project.lines, 1)
        if line.is_spoken and line.text.strip()
    ]


def write_report(path: Path, project: Project, title: str, translate: Translate = str) -> None:
    """Write a CSV table, or an HTML page for any other suffix. Raise ``DiskFull`` or ``CannotWrite``."""
    rows = report_rows(project)
    is_table = path.suffix.lower() == ".csv"
    content = as_csv(rows).encode("utf-8-sig") if is_table else as_html(rows, title, translate).encode("utf-8")
    with writing(path):
        atomic_write(path, content)


def as_csv(rows: Iterable[ReportRow]) -> str:
    """Return a table with English names, for other programs."""
    return csv_table([_COLUMNS, *(_cells(row, str) for row in rows)])


def as_html(rows: Iterable[ReportRow], title: str, translate: Translate = str) -> str:
    """Return a page with a table. Lines to review are coloured, and also marked in words."""
    rows = list(rows)
    num_review = sum(row.take is not None and row.take.needs_review for row in rows)
    summary = translate(message("{count} of {total} lines need review.", count=num_review, total=len(rows)))
    headings = "".join(f"<th>{escape(translate(heading))}</th>" for heading in _HEADINGS)
    body = "".join(_html_row(row, translate) for row in rows)
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1><p>{escape(summary)}</p>"
        f"<table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table></body></html>\n"
    )


def _html_row(row: ReportRow, translate: Translate) -> str:
    mark = ' class="review"' if row.take is not None and row.take.needs_review else ""
    return f"<tr{mark}>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(row, translate)) + "</tr>\n"


def _cells(row: ReportRow, translate: Translate) -> Iterator[str]:
    check = None if row.take is None else row.take.check
    yield from (str(row.number), row.text, row.voice, "" if row.take is None else str(row.take.number))
    if check is None:
        yield from ("", "", "", "")
        return
    yield translate(verdict_name(check))
    yield "; ".join(
        translate(message("{seconds:.1f} s: {problem}", seconds=problem.from_seconds, problem=problem_phrase(problem)))
        for problem in worst_first(check.problems)
    )
    yield "" if check.similarity is None else f"{check.similarity:.3f}"
    yield "" if check.word_error_rate is None else f"{check.word_error_rate:.3f}"
