"""On a full disk edits stay in memory, one notice is shown, and all are written when space is free."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QPushButton
from window_bench import Bench, write_on

from studio.app.notifications import UnwrittenBar
from studio.app.window import MainWindow
from studio.errors import DiskFull, StudioError
from studio.project.changes import EditLines
from studio.project.storage import Storage


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    return bench.open_window()


class Disk:
    """Disk that refuses all writes while it is full."""

    def __init__(self) -> None:
        self.is_full = False
        self._write = Storage.write

    def write(self, storage: Storage, *arguments: object, **options: object) -> None:
        if self.is_full:
            raise DiskFull("The disk is full.", remedy="Free some space.")
        self._write(storage, *arguments, **options)  # type: ignore[arg-type]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()

    def write(self: Storage, *arguments: object, **options: object) -> None:
        disk.write(self, *arguments, **options)

    monkeypatch.setattr(Storage, "write", write)
    return disk


def bar_of(window: MainWindow) -> UnwrittenBar:
    (bar,) = window.findChildren(UnwrittenBar)
    return bar


def write(bench: Bench, text: str) -> None:
    bench.session.editor.push(EditLines({bench.lines[0].id: {"text": text}}), "Edit")


def type_line(window: MainWindow, text: str) -> None:
    field = write_on(window)
    field.setPlainText(text)
    field.document().setModified(True)
    window.script.view.commit_text()


@pytest.mark.slow
def test_no_edit_is_lost_on_a_full_disk(bench: Bench, window: MainWindow, disk: Disk) -> None:
    shown: list[StudioError] = []
    bench.session.editor.failed.connect(shown.append)
    disk.is_full = True
    for text in ("first words", "second words", "third words"):
        type_line(window, text)
        assert bench.texts == [text]
        assert "Your changes are not being saved. The disk is full." in bar_of(window).words
    assert shown == []  # only one notice, regardless of the number of edits
    assert bench.session.editor.project._storage.read().lines[0].text == ""
    disk.is_full = False
    bar_of(window)._retry.setInterval(10)
    bench.until(lambda: not bar_of(window).words)
    assert bench.session.editor.project._storage.read().lines[0].text == "third words"
    bench.trigger("edit.undo")
    assert bench.texts == ["second words"]


def test_a_closed_notice_reappears_with_the_next_edit(
    bench: Bench, window: MainWindow, disk: Disk, report_of: Callable[[object], str]
) -> None:
    disk.is_full = True
    write(bench, "first words")
    assert report_of(bar_of(window)).startswith("error: disk-full")
    bar_of(window).hide()
    bar_of(window)._retry.setInterval(10)
    bench.live(0.1)
    assert not bar_of(window).words  # nothing new happened
    write(bench, "second words")
    assert "only in memory: 1" in bar_of(window).words
    bench.trigger("edit.new_line")
    assert "only in memory: 2" in bar_of(window).words


def test_the_notice_offers_to_save_elsewhere(
    bench: Bench, window: MainWindow, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(window.documents, "save_as", lambda: asked.append(True))
    disk.is_full = True
    write(bench, "first words")
    (offer,) = (each for each in bar_of(window).findChildren(QPushButton) if each.text() == "Save elsewhere…")
    offer.click()
    assert asked == [True]


def test_notices_are_shown_one_after_the_other(bench: Bench, window: MainWindow) -> None:
    notices = window.notices
    notices.show_hint("Something short.")
    notices.show_error(DiskFull("The disk is full.", remedy="Free some space."))
    assert notices.words == "The disk is full. Free some space.", "a hint without a button gives way"
    for _ in range(2):
        notices.show_hint("A new model is installed.", offer="Use")
    notices.show_hint("Playback stuttered.")
    assert notices.words == "The disk is full. Free some space."
    assert notices._more.text() == "2 more"
    notices._close.click()
    bench.until(lambda: notices.words == "A new model is installed.")
    assert notices._more.text() == "1 more"
    notices._close.click()
    bench.until(lambda: notices.words == "Playback stuttered.")
    assert notices._more.isHidden()


def test_the_latest_hint_is_shown_at_once_and_one_with_a_button_returns(bench: Bench, window: MainWindow) -> None:
    notices = window.notices
    notices.show_hint("25 files exported.", offer="Show folder")
    notices.show_hint("studio-mini speaks English only.", offer="Download", others=[("Speak anyway", lambda: None)])
    assert notices.words == "studio-mini speaks English only."
    assert notices._more.text() == "1 more"
    notices._close.click()
    bench.until(lambda: notices.words == "25 files exported.")
    assert notices._more.isHidden()


def test_a_waiting_notice_can_be_withdrawn(bench: Bench, window: MainWindow) -> None:
    notices = window.notices
    notices.show_error(DiskFull("The disk is full.", remedy="Free some space."))
    notices.show_hint("A line was not spoken.", offer="Speak anyway")
    notices.withdraw("A line was not spoken.")
    assert notices._more.isHidden()
    notices._close.click()
    bench.live(0.05)
    assert notices.words == ""


def test_notices_about_the_old_script_go_with_it(bench: Bench, window: MainWindow) -> None:
    notices = window.notices
    notices.show_error(DiskFull("The disk is full.", remedy="Free some space."))
    notices.show_hint("A line is long.", offer="Speak again", is_about_script=True)
    notices.show_hint("A model is installed.", offer="Use")
    window.actions_by_id["file.new"].trigger()
    bench.run(window.documents.finished())
    assert notices.words.startswith("The disk is full.")
    notices._close.click()
    bench.until(lambda: notices.words == "A model is installed.")
    notices.show_hint("3 files exported.", offer="Show folder", is_about_script=True)
    window.actions_by_id["file.new"].trigger()
    bench.run(window.documents.finished())
    bench.until(lambda: notices.words == "A model is installed.")
    assert notices._more.isHidden()


def test_a_notice_with_three_buttons_keeps_its_text_readable(bench: Bench, window: MainWindow) -> None:
    window.resize(1100, 700)
    window.show()
    bench.live(0.05)
    width = window.script.view.width()
    window.notices.show_hint(
        "studio-mini speaks English only. 1 line not spoken.",
        offer="Download CosyVoice2-0.5B (3.09 GB)",
        others=[("Speak anyway", lambda: None), ("Always speak", lambda: None)],
    )
    bench.live(0.1)
    words = window.notices._words
    assert words.heightForWidth(words.width()) <= 2 * words.fontMetrics().lineSpacing(), "at most two lines"
    assert window.script.view.width() == width, "the docks keep their widths"


def test_a_chinese_notice_that_returns_keeps_its_text_readable(bench: Bench, window: MainWindow) -> None:
    """It was squeezed to two lines of nine characters."""
    window.resize(1280, 760)
    window.show()
    bench.live(0.05)
    notices, words = window.notices, "studio-mini 仅支持中文、英语，有 3 行未朗读，因为其中的语言此模型没有学过。"
    others = [("仍然朗读", lambda: None), ("始终朗读", lambda: None)]
    notices.show_hint(words, offer="下载 CosyVoice2-0.5B（3.09 GB）", others=others)
    notices.show_error(DiskFull("The disk is full.", remedy="Free some space."))
    notices.show_hint("已导出 25 个文件。", offer="显示文件夹")
    notices._close.click()
    bench.until(lambda: notices.words == words)
    bench.live(0.1)
    assert not notices._more.isHidden()
    label = notices._words
    assert not notices._text_area.is_long
    assert label.width() >= 30 * label.fontMetrics().horizontalAdvance("字")


def test_a_notice_does_not_move_the_lines(bench: Bench, window: MainWindow) -> None:
    window.show()
    view = window.script.view
    bench.live(0.05)
    before = view.mapToGlobal(view.visualRect(view.currentIndex()).topLeft())
    window.notices.show_hint("Playback stopped: no output device is available. The take is kept.")
    bench.live(0.1)
    assert view.mapToGlobal(view.visualRect(view.currentIndex()).topLeft()) == before


def test_a_long_notice_is_folded_to_two_lines(bench: Bench, window: MainWindow) -> None:
    window.show()
    notices, line = window.notices, window.notices.fontMetrics().lineSpacing()
    notices.show_hint("\n".join(f"Columns kept but not used: {name}." for name in "ABCDE"))
    bench.until(lambda: notices._text_area.height() == 2 * line and notices._unfold and notices._unfold.isVisible())
    bench.click(notices._unfold)
    bench.until(lambda: notices._text_area.height() >= 5 * line)
    assert notices._unfold.text() == "Less"
    notices.show_hint("A model is installed.")
    bench.until(lambda: notices._text_area.height() <= 2 * line and not notices._unfold.isVisible())
