"""Voices in the whole window: dropped, assigned, prepared, renamed, deleted and restored."""

from __future__ import annotations

from PySide6.QtCore import Qt
from window_bench import Bench

COPY, LEFT, PLAIN = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def names(bench: Bench) -> list[str]:
    return [voice.name for voice in bench.library.voices()]


def test_lines_follow_a_renamed_voice_and_one_undo_reverts_both(bench: Bench) -> None:
    bench.add_voice("Anna")
    window = bench.open_window()
    bench.until(lambda: bench.lines[0].voice == "Anna")
    steps = bench.session.editor.undo_stack.index()
    window.voices._list.rename(bench.library.get("Anna"), "Clara")
    bench.until(lambda: (bench.lines[0].voice, names(bench)) == ("Clara", ["Clara"]))
    bench.trigger("edit.undo")
    bench.until(lambda: (bench.lines[0].voice, names(bench)) == ("Anna", ["Anna"]))
    assert bench.session.editor.undo_stack.index() == steps
    bench.trigger("edit.redo")
    bench.until(lambda: (bench.lines[0].voice, names(bench)) == ("Clara", ["Clara"]))


def test_undo_restores_a_deleted_voice(bench: Bench) -> None:
    for name in ("Anna", "Bert"):
        bench.add_voice(name)
    window = bench.open_window()
    window.voices.select("Bert")
    window.voices._list.actions_by_name["delete"].trigger()
    bench.until(lambda: names(bench) == ["Anna"])
    bench.trigger("edit.undo")
    bench.until(lambda: names(bench) == ["Anna", "Bert"])
    bench.until(lambda: [voice.name for voice in window.voices.voices] == ["Anna", "Bert"])


def test_number_shortcuts_assign_voices(bench: Bench) -> None:
    for name in ("Anna", "Bert"):
        bench.add_voice(name)
    bench.open_window()
    for number, name in ((2, "Bert"), (1, "Anna")):
        bench.trigger(f"voices.assign_{number}")
        assert bench.lines[0].voice == name
