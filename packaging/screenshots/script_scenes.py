"""Scenes of the script: a manuscript with chapters and notes, the compact table and the filter bar."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QWidget

from studio.app.script.line_statuses import LineStatus
from studio.app.session import Session
from studio.app.window import MainWindow
from studio.project.changes import InsertLines
from studio.project.lines import Heading, Line, LineState, LineStyle, new_id

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


def script_scenes(session: Session, window: MainWindow, language: str) -> Iterator[tuple[str, QWidget]]:
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
    for _ in range(2):
        session.editor.undo_stack.undo()
    window.script.view.go_to(lines[2].id)
