"""Scenes of the import of scripts: its page for tables and dialogues, and the casting table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from PySide6.QtWidgets import QWidget

from studio.app.importing.cast_dialog import CastDialog
from studio.app.importing.import_page import ImportPage
from studio.app.importing.speakers_dialog import SpeakersDialog
from studio.app.importing.update_dialog import UpdateDialog
from studio.app.window import MainWindow
from studio.project.casting import LibraryNames, collect_roles, with_suggestions
from studio.project.details import ProjectDetails
from studio.project.full_cast import Dialogue
from studio.project.importing.merging import merged_details
from studio.project.importing.script_file import ImportOptions, ScriptFile, ScriptKind, read_file
from studio.project.importing.tables import read_csv
from studio.project.lines import Line, new_id
from studio.project.script import Script
from studio.project.updating import plan_update, read_update

_SCENES = {
    "en": (
        ("Mira", "The harbour is quiet tonight."),
        ("Tom", "Too quiet, if you ask me."),
        ("Mira", "Listen to that bell. It rings every quarter of an hour, and nobody has seen who rings it."),
        ("Bandit", "Stand and deliver!"),
        ("Mira", "Run!"),
        ("Old Captain", "Nobody runs on my ship."),
    ),
    "zh_CN": (
        ("小美", "今晚的港口真安静。"),
        ("阿强", "要我说，太安静了。"),
        ("小美", "你听那钟声。每一刻钟响一次，可谁也没见过敲钟的人。"),
        ("强盗", "站住，把钱交出来！"),
        ("小美", "快跑！"),
        ("老船长", "在我的船上，谁也不许跑。"),
    ),
}


def import_scenes(
    window: MainWindow, language: str, wait_for: Callable[[Callable[[], object]], None]
) -> Iterator[tuple[str, QWidget]]:
    """Yield the pages with their names."""
    session = window.session
    lines = [Line(id=new_id(), text=text, character=name) for name, text in _SCENES[language]]
    wait_for(lambda: window.voices.voices)
    names = LibraryNames(voice.name for voice in window.voices.voices)
    roles = with_suggestions(
        collect_roles(lines, {}, names), {role.key for role in collect_roles(lines, {}, names)}, names
    )
    styles = session.model_selection.styles.styles
    player = session.playback.make_player(window)
    dialog = CastDialog(roles, window.voices.voices, session.model_selection.styles, player, window)
    dialog.style_boxes[1].setCurrentIndex(min(1, len(styles)))
    dialog.show()
    yield "cast", dialog
    yield "speakers", _speakers_dialog(window, language)
    yield from _import_pages(window, language, wait_for)
    yield "update", _update_dialog(window, language, names)


_NOVEL = {
    "en": (
        "“Come in, Tom, and shut the door,” said Martha. “You are letting in the whole of November.”",
        "“I can't stay,” the boy replied.",
        "Two figures stood in the hall.",
        "“Very cold,” someone answered from the stairs.",
    ),
    "zh_CN": (
        "“你怎么来了？”李梅问。",
        "“来送伞。”王强笑着说，“天黑以前还要下。”",
        "桥上站着两个人。",
        "“谁说的？”有人在远处喊。",
    ),
}


def _speakers_dialog(window: MainWindow, language: str) -> SpeakersDialog:
    dialogue = Dialogue(Line(id=new_id(), text=text) for text in _NOVEL[language])
    dialog = SpeakersDialog(dialogue, dialogue.attribution(), {}, window)
    dialog.show()
    return dialog


_TABLE = {
    "en": "ID,File,Character,Line,Emotion,Notes\n"
    "d0001,vo/mira/d0001.wav,Mira,The harbour is quiet tonight.,happy,softly\n"
    'd0002,vo/tom/d0002.wav,Tom,"Too quiet, if you ask me.",,\n'
    "d0003,vo/mira/d0003.wav,Mira,Listen to that bell.,sad,the bell is added later\n",
    "zh_CN": "编号,文件名,角色,台词,情感,备忘\n"
    "d0001,vo/mei/d0001.wav,小美,今晚的港口真安静。,高兴,轻声\n"
    "d0002,vo/qiang/d0002.wav,阿强,要我说，太安静了。,,\n"
    "d0003,vo/mei/d0003.wav,小美,你听那钟声。,悲伤,钟声后期添加\n",
}


def _import_pages(
    window: MainWindow, language: str, wait_for: Callable[[Callable[[], object]], None]
) -> Iterator[tuple[str, QWidget]]:
    dialogue = "\n".join(f"{name}: {text}" for name, text in _SCENES[language])
    table = read_csv(_TABLE[language], "lines.csv")
    for scene, file in (
        ("import-table", ScriptFile("lines.csv", ScriptKind.TABLE, tables={"lines": table})),
        ("import-dialogue", ScriptFile("scene.txt", ScriptKind.TEXT, text=dialogue)),
    ):
        page = ImportPage(Path(file.name), file, ImportOptions(), window.session.settings, window)
        page.show()
        wait_for(partial(_is_made, page))
        yield scene, page


def _update_dialog(window: MainWindow, language: str, names: LibraryNames) -> UpdateDialog:
    """Return the preview of an update of the table: a new, two changed and a removed line."""
    title, *rows = _TABLE[language].splitlines()
    later = _NEW_ROWS[language]
    options = ImportOptions()
    path = Path(mkdtemp()) / "lines.csv"
    path.write_text("\n".join([title, *rows]))
    imported = read_update(path, read_file(path), None, options)
    script = Script(lines=imported.lines, details=merged_details(ProjectDetails(), imported))
    path.write_text("\n".join([title, rows[0], *later]))
    again = read_update(path, read_file(path), imported.source, options)
    styles = window.session.model_selection.styles
    dialog = UpdateDialog(path.name, plan_update(script, again, names), styles.label, window)
    dialog.show()
    return dialog


# Rows of a later version of the table, which replace all but the first row.
_NEW_ROWS = {
    "en": (
        "d0004,vo/tom/d0004.wav,Tom,Who is there?,,",
        'd0002,vo/tom/d0002.wav,Old Captain,"Much too quiet, if you ask me.",,',
    ),
    "zh_CN": ("d0004,vo/qiang/d0004.wav,阿强,是谁？,,", "d0002,vo/qiang/d0002.wav,老船长,要我说，安静得可怕。,,"),
}


def _is_made(page: ImportPage) -> bool:
    return page.imported is not None
