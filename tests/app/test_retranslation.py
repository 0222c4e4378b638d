"""Another language is chosen, and the running window speaks it: as one that was opened in it, word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QAbstractListModel, QLocale, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QTabBar, QTreeWidget, QWidget

from studio.app.main import follow_settings
from studio.app.preferences.dialog import PreferencesDialog
from studio.app.preferences.editors import DeviceEditor
from studio.app.retranslation import TextSources
from studio.app.translation import use_language
from studio.errors import CannotWrite
from studio.paths import resources
from studio.settings import LANGUAGE, OUTPUT_DEVICE

ENGLISH, CHINESE = QLocale("en_US"), QLocale("zh_CN")


@pytest.fixture(autouse=True)
def english_again(qapp: QApplication) -> Iterator[None]:
    yield
    use_language(qapp, ENGLISH)


def words_of(window: QWidget) -> list[str]:
    """All that can be read or heard in it, each with where it stands."""
    return [
        f"{type(part).__name__} {part.objectName()} {what}: {words}"
        for part in (window, *window.findChildren(QObject))
        if isinstance(part, QWidget | QAction)
        for what, words in _words_of(part)
        if words
    ]


def _words_of(part: QWidget | QAction) -> Iterator[tuple[str, str]]:
    for name in ("text", "toolTip", "accessibleName", "windowTitle", "placeholderText", "title", "empty_text"):
        said = getattr(part, name, None)
        if said is not None:
            yield name, str(said() if callable(said) else said)
    if isinstance(part, QComboBox):
        yield from (("item", part.itemText(index)) for index in range(part.count()))
    if isinstance(part, QTabBar):
        yield from (("tab", part.tabText(index)) for index in range(part.count()))
    if isinstance(part, QTreeWidget):
        yield from (("head", part.headerItem().text(column)) for column in range(part.columnCount()))
    if isinstance(part, QAbstractItemView) and part.model() is not None:
        model = part.model()
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount()):
            yield "head", str(model.headerData(column, Qt.Orientation.Horizontal))
            for row in range(model.rowCount()):
                index = model.index(row, column)
                for role in (
                    Qt.ItemDataRole.DisplayRole,
                    Qt.ItemDataRole.ToolTipRole,
                    Qt.ItemDataRole.AccessibleTextRole,
                ):
                    yield f"cell {row} {column}", str(model.data(index, role))


def used_window(make_bench: Callable[..., Any]) -> Any:
    """One with a voice, lines, takes, an undone step and an error."""
    bench = make_bench()
    if not bench.library.voices():
        bench.add_voice()
    window = bench.open_window()
    window.script.paste_text("One line.\n\nAnother line.")
    bench.add_take(np.full(24_000, 0.1, np.float32))
    bench.live(0.3)
    bench.trigger("edit.undo")
    window.tasks.forget()  # which it does by itself in a while, or at once in another language
    window.notices.show_error(
        CannotWrite("{path} cannot be written ({reason}).", remedy="Choose another folder.", path="a", reason="b")
    )
    bench.live(0.3)
    return bench


@pytest.mark.slow
def test_the_running_window_says_what_one_opened_in_that_language_says(
    make_bench: Callable[..., Any], qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = used_window(make_bench)
    before = words_of(bench.window)
    use_language(qapp, CHINESE)
    bench.live(0.1)
    changed = words_of(bench.window)
    use_language(qapp, ENGLISH)
    bench.live(0.1)
    back = words_of(bench.window)
    assert [pair for pair in zip(before, back, strict=True) if pair[0] != pair[1]] == []
    bench.close()
    monkeypatch.setattr("window_bench.use_language", lambda *_: None)
    use_language(qapp, CHINESE)
    opened = words_of(used_window(make_bench).window)
    assert [pair for pair in zip(changed, opened, strict=True) if pair[0] != pair[1]] == []


def test_a_language_chosen_in_the_settings_is_spoken_at_once_by_open_dialogs_too(
    bench: Any, qapp: QApplication
) -> None:
    window = bench.open_window()
    follow_settings(qapp, bench.settings)
    window.pages.open_settings()
    (dialog,) = window.findChildren(PreferencesDialog)
    assert dialog.windowTitle() == "Settings"
    bench.settings[LANGUAGE] = "zh_CN"
    assert dialog.windowTitle() == "设置"
    said = words_of(dialog)
    assert any("菜单和消息的语言。" in words for words in said)
    assert [words for words in said if "Light or dark" in words] == []
    assert window.actions_by_id["speak.line"].text() == "朗读此行"
    assert window.menuBar().actions()[0].text() == "文件(&F)"
    bench.settings[LANGUAGE] = "en"
    assert dialog.windowTitle() == "Settings"
    dialog.close()


def test_what_a_person_wrote_is_left_alone(bench: Any, qapp: QApplication) -> None:
    window = bench.open_window()
    window.script.set_field("text", "Stop", "Edit")
    bench.session.queue.set_paused(True)
    bench.add_voice("Play")
    window.script.assign_voice("Play")
    bench.trigger("speak.line")
    bench.live(0.05)
    use_language(qapp, CHINESE)
    said = words_of(window)
    assert bench.texts == ["Stop"]
    assert [words for words in said if words.startswith("QTreeWidget") and words.endswith("cell 0 2: Stop")]


def test_names_and_texts_of_the_user_are_left_alone_wherever_they_are_shown(bench: Any, qapp: QApplication) -> None:
    """ "My voice" is the name that the recorder proposes, and a text of the window as well."""
    window = bench.open_window()
    bench.add_voice("My voice")
    bench.until(lambda: window.inspector.form._voice.count() == 1)
    window.script.set_field("text", "Stop", "Edit")
    window.script.assign_voice("My voice")
    take = bench.add_take(np.full(24_000, 0.1, np.float32))
    bench.live(0.05)
    window.inspector.show_spoken("Stop")
    use_language(qapp, CHINESE)
    box = window.inspector.form._voice
    assert (box.currentText(), box.itemText(0)) == ("My voice", "My voice")
    box.activated.emit(0)
    assert bench.lines[0].voice == "My voice"
    assert window.waveform_panel._title._text == "第 1 行：Stop"
    assert window.waveform_panel._title.accessibleName() == "第 1 行：Stop"
    item = window.inspector._takes.item(0)
    assert item.text() == f"版本 {take.number}"
    assert "种子：1" in item.toolTip()


def test_names_of_devices_are_left_alone(qapp: QApplication) -> None:
    editor = DeviceEditor(OUTPUT_DEVICE)
    editor.set_names(("Stop", "Play"))
    editor.set_value("Play")
    box = editor.control
    assert isinstance(box, QComboBox)
    box.show()
    before = box.itemText(0)
    use_language(qapp, CHINESE)
    assert [box.itemText(row) for row in (1, 2)] == ["Stop", "Play"]
    assert box.itemText(0) != before
    assert editor.value() == "Play"


def test_texts_put_together_are_said_anew_part_by_part(qapp: QApplication) -> None:
    texts = TextSources()
    use_language(qapp, CHINESE)
    for shown, said in (
        ("Loading noise…", "正在加载 noise…"),
        ("Save (Ctrl+S)", "保存 (Ctrl+S)"),
        ("First sound 0.30 s   RTF –", "首音 0.30 s   RTF –"),
        ("Take 3\nSeed: 7", "版本 3\n种子：7"),
        ("Undo Paste lines", "撤销 粘贴行"),
        ("nothing of ours", "nothing of ours"),
        ("", ""),
    ):
        assert texts.retranslated(shown, ("StatusBar", "TakesList", "UndoActions")) == said


def test_no_two_texts_of_one_part_of_the_window_are_the_same_in_chinese() -> None:
    """Or the way back to English would be a guess."""
    tree = ElementTree.parse(resources() / "translations" / "studio_zh_CN.ts")
    doubles = []
    for context in tree.getroot().iter("context"):
        name = context.findtext("name")
        said = [message.findtext("translation") or "" for message in context.iter("message")]
        if name != "Errors":
            doubles += [(name, words) for words, times in Counter(said).items() if times > 1 and words.strip()]
    assert doubles == []
