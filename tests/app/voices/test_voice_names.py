"""Names of voices in lines follow the library: its case, and the new names of bundled voices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLocale

from studio.app.script.project_editor import LineVoiceUpdater, ProjectEditor
from studio.project.changes import EditDetails, InsertLines
from studio.project.details import CastMember, ProjectDetails
from studio.project.lines import Line
from studio.project.project import Project
from studio.voices.voice import Voice

ADA = Voice("Clara", Path("Ada.wav"), None, 4.0, is_built_in=True, bundled_name="Ada")
BEN = Voice("Ben", Path("Ben.wav"), None, 4.0)


@pytest.fixture
def editor(tmp_path: Path, qapp: Any) -> Iterator[ProjectEditor]:
    """An old project: one line has the original name of a renamed bundled voice, one another case."""
    with Project.create(tmp_path) as project:
        project.apply(InsertLines(0, (Line(id="a", voice="ada"), Line(id="b", voice="BEN"), Line(id="c", voice="Zoe"))))
        project.apply(EditDetails(ProjectDetails(cast={"mira": CastMember("ben"), "tom": CastMember()})))
        yield ProjectEditor(project)


@pytest.fixture
def updater(editor: ProjectEditor) -> LineVoiceUpdater:
    updater = LineVoiceUpdater(editor)
    updater.on_voices_changed([ADA, BEN])
    return updater


def voices(editor: ProjectEditor) -> list[str | None]:
    return [line.voice for line in editor.script.lines]


def test_lines_get_the_names_of_the_library(editor: ProjectEditor, updater: LineVoiceUpdater) -> None:
    assert voices(editor) == ["Clara", "Ben", "Zoe"]
    assert editor.undo_stack.count() == 0


def test_imported_lines_get_the_names_of_the_library(editor: ProjectEditor, updater: LineVoiceUpdater) -> None:
    editor.apply(InsertLines(3, (Line(id="d", voice="ben"), Line(id="e", voice="Ada"))))
    updater.resolve_names()
    assert voices(editor) == ["Clara", "Ben", "Zoe", "Ben", "Clara"]


def test_lines_and_cast_follow_a_renamed_voice(editor: ProjectEditor, updater: LineVoiceUpdater) -> None:
    updater.on_renamed("Ben", "Bert")
    assert voices(editor) == ["Clara", "Bert", "Zoe"]
    assert editor.script.details.cast == {"mira": CastMember("Bert"), "tom": CastMember()}
    updater.on_renamed("Bert", "Ben")
    assert editor.script.details.cast["mira"].voice == "Ben"


@pytest.mark.parametrize(
    ("text", "interface", "name"),
    [("今天天气很好。", "en_US", "Lan"), ("Good morning.", "zh_CN", "Ada"), ("", "zh_CN", "Lan"), ("", "de_DE", "Ada")],
)
def test_a_new_script_gets_a_voice_that_speaks_its_language(
    tmp_path: Path, qapp: Any, text: str, interface: str, name: str
) -> None:
    ada, lan = (
        Voice(name, Path(f"{name}.wav"), None, 4.0, is_built_in=True, language=language)
        for name, language in (("Ada", "en"), ("Lan", "zh"))
    )
    before = QLocale()
    QLocale.setDefault(QLocale(interface))
    try:
        with Project.create(tmp_path) as project:
            project.apply(InsertLines(0, (Line(id="a", text=text),)))
            editor = ProjectEditor(project)
            LineVoiceUpdater(editor).on_voices_changed([ada, lan])
            assert voices(editor) == [name]
    finally:
        QLocale.setDefault(before)
