"""Scenes of the script: a manuscript with chapters and notes, the compact table and the filter bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np
from PySide6.QtWidgets import QWidget

from studio.app.checking.consistency_dialog import ConsistencyDialog
from studio.app.script.line_statuses import LineStatus
from studio.app.session import Session
from studio.app.window import MainWindow
from studio.project.changes import AddTake, Change, CompositeChange, InsertLines
from studio.project.lines import Heading, Line, LineState, LineStyle, new_id
from studio.project.takes import Take, TakeParameters
from studio.take_checks.records import TakeCheck, TakeMeasures, Verdict

_MEASURED_LINES = 240
_TEXTS = {
    "en": (
        "Chapter One: The Harbour",
        "Chapter Two: The Letter",
        "He folds the letter and sits down by the window.",
        "“You might have told me,” said Martha.",
        "“I might,” he said, “if there had been anything to tell. There was a letter, and then there was another "
        "letter, and then the letters stopped; that is the whole of the story as far as I know it.”",
        "ask for a longer pause",
    ),
    "zh_CN": (
        "第一章　港口",
        "第二章　信",
        "他把信折好，在窗边坐下。",
        "“你本可以告诉我的。”玛莎说。",
        "“我会的，”他说，“如果真有什么可说的。先来了一封信，又来了一封信，后来就再也没有信了；我所知道的就是这些。”",
        "停顿再长一些",
    ),
}


def script_scenes(
    session: Session, window: MainWindow, language: str, wait_for: Callable[[Callable[[], object]], None]
) -> Iterator[tuple[str, QWidget]]:
    """Yield the window with a longer script, which is undone afterwards."""
    first, second, direction, short, long, note = _TEXTS[language]
    lines = session.editor.script.lines
    voices = [line.voice for line in lines]
    added = (
        Line(id=new_id(), text=second, heading=Heading.CHAPTER, is_spoken=False),
        Line(id=new_id(), text=direction, is_spoken=False),
        Line(id=new_id(), text=short, voice=voices[0], character="Martha", note=note),
        Line(id=new_id(), text=long, voice=voices[1], character="Tom", style=LineStyle(preset="volume.loud")),
    )
    session.editor.push(InsertLines(len(lines), added), "Add lines")
    heading = Line(id=new_id(), text=first, heading=Heading.CHAPTER, is_spoken=False)
    session.editor.push(InsertLines(0, (heading,)), "Add lines")
    session.line_statuses.set(added[2].id, LineStatus(LineState.FAILED))
    window.script.view.go_to(heading.id)
    window.script.view.go_to(lines[2].id)
    yield "manuscript", window
    window.actions_by_id["view.compact"].trigger()
    yield "compact", window
    window.actions_by_id["view.compact"].trigger()
    window.actions_by_id["edit.filter"].trigger()
    window.script.filter_bar.show_text(direction[:2])
    yield "filter", window
    window.script.filter_bar.close_bar()
    yield "consistency", _consistency(session, window, wait_for)
    for _ in range(3):
        session.editor.undo_stack.undo()
    window.script.view.go_to(lines[2].id)


def _consistency(
    session: Session, window: MainWindow, wait_for: Callable[[Callable[[], object]], None]
) -> ConsistencyDialog:
    """The dialog with measured lines: the level falls slowly, and every 23rd line is faster and higher."""
    random = np.random.default_rng(3)
    voice = session.editor.script.lines[1].voice or ""
    changes: list[Change] = []
    lines = tuple(Line(id=new_id(), text=f"{number}", voice=voice) for number in range(_MEASURED_LINES))
    for number, line in enumerate(lines):
        odd = number % 23 == 22
        measures = TakeMeasures(
            float(np.exp(random.normal(0.0, 0.06))) / (1.2 if odd else 1.0),
            float(random.normal(-18.0, 0.7)) - 2.5 * number / _MEASURED_LINES,
            8000.0,
            float(random.normal(0.88, 0.02)),
            165.0 * float(2 ** ((random.normal(0.0, 0.25) + 2.0 * odd) / 12)),
            float(random.normal(4.0, 0.5)),
            float(random.normal(0.2, 0.04)),
        )
        take = Take(
            new_id(),
            line.id,
            1,
            datetime(2026, 1, 1, tzinfo=UTC),
            2.0,
            24_000,
            TakeParameters(line.text, 1, "", "zero-shot", voice, "", "", ""),
            check=TakeCheck(Verdict.GOOD, measures=measures),
        )
        changes.append(AddTake(take))
    insert = InsertLines(len(session.editor.script.lines), lines)
    session.editor.push(CompositeChange((insert, *changes)), "Add lines")
    window.actions_by_id["speak.consistency"].trigger()
    dialog = window.findChildren(ConsistencyDialog)[-1]
    wait_for(lambda: dialog.chart.accessibleDescription() or dialog.chart.go_to_next_drift())
    return dialog
