"""The timeline: slots are moved by mouse and keys, and a guide track is shown and heard with the takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from window_bench import Bench

from studio.app.dubbing.guide_track import RATE, load_guide, mix_block
from studio.app.dubbing.timeline_view import DragMode, TimelineView, label_cues, lanes_of, shifted
from studio.app.widgets.drop_overlay import DraggedFiles
from studio.audio.waveform import Waveform
from studio.errors import UnreadableClip
from studio.project.changes import EditDetails, EditLines, InsertLines
from studio.project.details import ImportSource
from studio.project.lines import Line, Slot
from studio.settings import SHOWS_TIMELINE

SLOTS = (Slot(1.0, 2.0), Slot(3.0, 4.5), Slot(6.0, 7.0))


@pytest.fixture
def dub(bench: Bench) -> Bench:
    bench.add_voice()
    lines = tuple(Line(id=f"cue{n}", text=f"Cue {n}.", voice="Anna", slot=slot) for n, slot in enumerate(SLOTS))
    bench.session.editor.apply(InsertLines(0, lines))
    for n in range(3):
        bench.add_take(np.full(round(1.2 * RATE), 0.1 * (n + 1), np.float32), line=n)
    window = bench.open_window()
    window.resize(1280, 800)
    bench.live(0.05)
    return bench


def view_of(bench: Bench) -> TimelineView:
    assert bench.window is not None
    return bench.window.dubbing.panel.view


def slot(bench: Bench, number: int) -> Slot | None:
    return bench.session.editor.script.line(f"cue{number}").slot


def drag(view: TimelineView, start: QPoint, end: QPoint) -> None:
    port = view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    for part in (0.3, 0.7, 1.0):
        QTest.mouseMove(port, start + QPoint(round((end.x() - start.x()) * part), 0))
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, end)


def middle(view: TimelineView, line_id: str) -> QPoint:
    rect = view.rect_of(line_id)
    assert rect is not None
    return rect.center().toPoint()


def test_the_time_line_is_hidden_without_slots(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    assert not window.dubbing.panel.isVisible()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"slot": SLOTS[0]}}))
    assert window.dubbing.panel.isVisible()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"slot": None}}))
    assert not window.dubbing.panel.isVisible()


def test_overlapping_slots_are_in_lanes_by_character() -> None:
    cast = (("Mira", 0.0, 2.0), ("Tom", 2.0, 4.0), ("Mira", 3.0, 5.0), ("Tom", 5.0, 6.0), ("Mira", 6.0, 7.0))
    lines = [Line(id=str(n), character=name, slot=Slot(start, end)) for n, (name, start, end) in enumerate(cast)]
    assert lanes_of(lines[:2]) == {"0": 0, "1": 0}
    assert lanes_of(lines) == {"0": 0, "1": 0, "2": 1, "3": 0, "4": 1}
    crowd = [Line(id=str(n), character=str(n), slot=Slot(0.0, 1.0)) for n in range(6)]
    assert list(lanes_of(crowd).values()) == [0, 1, 2, 3, 3, 3]


def test_overlapping_slots_are_drawn_and_clicked_one_below_the_other(dub: Bench) -> None:
    view, height = view_of(dub), view_of(dub).sizeHint().height()
    dub.session.editor.apply(EditLines({"cue1": {"slot": Slot(1.5, 2.5), "character": "Tom"}}))
    first, second = view.rect_of("cue0"), view.rect_of("cue1")
    assert first is not None
    assert second is not None
    assert second.top() > first.bottom()
    assert view.sizeHint().height() > height
    for line_id in ("cue1", "cue0"):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, line_id))
        assert dub.window is not None
        assert dub.window.script.view.current_line_id == line_id


def test_a_drag_onto_another_slot_warns_before_the_button_is_released(dub: Bench) -> None:
    view = view_of(dub)
    assert dub.window is not None
    warning = dub.window.dubbing.panel.overlap
    start = middle(view, "cue1")
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    assert warning.text() == ""
    QTest.mouseMove(view.viewport(), start + QPoint(round(2 * view.zoom), 0))  # to 5.0 to 6.5 s
    assert warning.text() == "Overlaps line 3 by 0.50 s"
    assert view.accessibleDescription().endswith("Overlaps line 3 by 0.50 s")
    QTest.mouseMove(view.viewport(), start + QPoint(round(1 * view.zoom), 0))
    assert warning.text() == ""
    end = start + QPoint(round(1 * view.zoom), 0)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, end)
    assert slot(dub, 1) == Slot(4.0, 5.5)


def test_a_line_that_overlaps_many_lines_does_not_widen_the_window(dub: Bench) -> None:
    """The window was wider than the screen, also after an undo."""
    window = dub.window
    assert window is not None
    width, warning = window.minimumSizeHint().width(), window.dubbing.panel.overlap
    slots = {0: Slot(0.0, 20.0), 1: Slot(1.0, 2.5), 2: Slot(6.0, 9.0)}
    dub.session.editor.apply(EditLines({f"cue{n}": {"slot": slot} for n, slot in slots.items()}))
    window.script.view.select_lines(["cue0"])
    dub.live(0.05)
    assert warning.text() == "Overlaps lines 2–3, by up to 3.00 s"
    assert window.minimumSizeHint().width() == width
    warning.setText("Overlaps lines " * 50)
    dub.live(0.05)
    assert window.minimumSizeHint().width() == width


def test_sound_cues_are_markers_that_can_be_selected(dub: Bench) -> None:
    view, height = view_of(dub), view_of(dub).sizeHint().height()
    dub.session.editor.apply(EditLines({"cue1": {"is_spoken": False}}))
    cue, speech = view.rect_of("cue1"), view.rect_of("cue2")
    assert cue is not None
    assert speech is not None
    assert cue.bottom() < speech.top()
    assert view.sizeHint().height() > height
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, "cue1"))
    assert dub.window is not None
    assert dub.window.script.view.current_line_id == "cue1"
    assert dub.window.dubbing.panel.overlap.text() == ""


def test_the_view_menu_hides_the_time_line_until_it_is_shown_again(dub: Bench) -> None:
    assert dub.window is not None
    panel, action = dub.window.dubbing.panel, dub.window.actions_by_id["view.timeline"]
    assert panel.isVisible()
    action.trigger()
    assert not panel.isVisible()
    dub.session.editor.apply(EditLines({"cue0": {"slot": Slot(0.0, 0.5)}}))
    assert not panel.isVisible()
    assert not dub.session.settings[SHOWS_TIMELINE]
    action.trigger()
    assert panel.isVisible()


@pytest.mark.usefixtures("no_spare_silence")
def test_a_click_selects_a_line_and_changes_nothing(dub: Bench) -> None:
    view = view_of(dub)
    before = dub.session.editor.script
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, "cue1"))
    assert dub.window is not None
    assert dub.window.script.view.current_line_id == "cue1"
    assert dub.session.editor.script is before
    assert view.accessibleDescription() == "Line 2: slot 3.00 to 4.50 s, take 1.20 s"
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.accessibleDescription() == "Line 1: slot 1.00 to 2.00 s, take 1.20 s, 0.20 s too long"


def test_a_drag_shifts_a_slot_and_is_undone(dub: Bench) -> None:
    view = view_of(dub)
    start = middle(view, "cue1")
    drag(view, start, start + QPoint(round(2 * view.zoom), 0))
    assert slot(dub, 1) == Slot(5.0, 6.5)
    dub.session.editor.undo_stack.undo()
    assert slot(dub, 1) == SLOTS[1]


def test_the_edges_are_dragged(dub: Bench) -> None:
    view = view_of(dub)
    rect = view.rect_of("cue1")
    assert rect is not None
    right = QPoint(round(rect.right()) - 2, round(rect.center().y()))
    drag(view, right, right + QPoint(round(0.5 * view.zoom), 0))
    assert slot(dub, 1) == Slot(3.0, 5.0)
    left = QPoint(round(rect.left()) + 2, round(rect.center().y()))
    drag(view, left, left - QPoint(round(1 * view.zoom), 0))
    assert slot(dub, 1) == Slot(2.0, 5.0)


def test_arrow_keys_shift_the_current_slot(dub: Bench) -> None:
    view = view_of(dub)
    assert dub.window is not None
    dub.window.script.view.go_to("cue2")
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert slot(dub, 2) == Slot(6.01, 7.01)
    QTest.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert slot(dub, 2) == Slot(5.91, 6.91)
    dub.session.editor.undo_stack.undo()
    assert slot(dub, 2) == SLOTS[2]


def test_locked_lines_are_not_moved(dub: Bench) -> None:
    view = view_of(dub)
    dub.session.editor.apply(EditLines({"cue0": {"is_locked": True}}))
    start = middle(view, "cue0")
    drag(view, start, start + QPoint(80, 0))
    assert slot(dub, 0) == SLOTS[0]


def test_zoom_keeps_the_place_under_the_pointer(dub: Bench) -> None:
    view = view_of(dub)
    zoom = view.zoom
    QTest.keyClick(view, Qt.Key.Key_Plus)
    assert view.zoom > zoom
    view.zoom_to_all()
    rect = view.rect_of("cue2")
    assert rect is not None
    assert 0 < rect.left() < rect.right() < view.viewport().width()


def test_shifted_slots_stay_in_range() -> None:
    assert shifted(Slot(1.0, 2.0), DragMode.MOVE, -5.0) == Slot(0.0, 1.0)
    assert shifted(Slot(1.0, 2.0), DragMode.START, 5.0) == Slot(1.95, 2.0)
    assert shifted(Slot(1.0, 2.0), DragMode.END, -5.0) == Slot(1.0, 1.05)


def guide_file(folder: Path, seconds: float = 10.0, level: float = 0.4) -> Path:
    path = folder / "film.wav"
    soundfile.write(path, np.full(round(seconds * 48_000), level, np.float32), 48_000, subtype="FLOAT")
    return path


def test_a_dropped_guide_track_is_shown_and_remembered(dub: Bench, tmp_path: Path) -> None:
    assert dub.window is not None
    panel = dub.window.dubbing.panel
    path = guide_file(tmp_path)
    held = DraggedFiles((path,), panel.mapTo(dub.window, panel.rect().center()))
    prompt = dub.parts.drops._describe(held)
    assert prompt is not None
    assert prompt.words == "Drop to use film.wav as guide track"
    dub.parts.drops._take(held)
    dub.until(lambda: dub.window is not None and dub.window.dubbing.guide.guide is not None)
    assert panel.guide_name.text() == "film.wav"
    assert dub.session.editor.script.details.guide_track == str(tmp_path / "film.wav")
    panel.remove_button.click()
    assert dub.window.dubbing.guide.guide is None
    dub.session.editor.undo_stack.undo()
    dub.until(lambda: dub.window is not None and dub.window.dubbing.guide.guide is not None)


def test_takes_and_guide_are_mixed_at_their_times(dub: Bench, tmp_path: Path) -> None:
    guide = load_guide(guide_file(tmp_path)).sound
    project = dub.session.editor.project
    block = mix_block(project, guide, round(1.5 * RATE), 2 * RATE, 0.5)
    levels = [float(block[round(seconds * RATE)]) for seconds in (0.2, 0.6, 0.8, 1.4, 1.6, 1.9)]
    assert levels == pytest.approx([0.3, 0.3, 0.2, 0.2, 0.4, 0.4], abs=1e-4)
    alone = mix_block(project, None, 0, 2 * RATE, 0.5)
    assert not alone[: 1 * RATE].any()
    assert alone[1 * RATE :] == pytest.approx(0.1)
    late = Waveform(np.ones(RATE, np.float32), RATE)
    assert mix_block(project, late, 20 * RATE, RATE, 1.0).any() == np.False_


def test_play_with_guide_moves_the_playhead_and_stops(dub: Bench, tmp_path: Path) -> None:
    assert dub.window is not None
    dubbing, view = dub.window.dubbing, view_of(dub)
    dubbing.choose_guide(str(guide_file(tmp_path)))
    dub.until(lambda: dubbing.guide.guide is not None)
    view.show_playhead(3.0)
    dub.loop.call_soon(dubbing.panel.play_button.click)
    dub.until(lambda: dubbing.guide.is_playing and dub.session.playback.player.position_seconds > 0.0)
    dub.until(lambda: (view.playhead_seconds or 0.0) > 3.0)
    assert dubbing.panel.play_button.accessibleName() == "Stop"
    dub.loop.call_soon(dubbing.panel.play_button.click)
    dub.until(lambda: not dubbing.guide.is_playing)
    assert dubbing.panel.play_button.accessibleName() == "Play with guide"


def test_the_guide_track_is_looked_for_beside_the_subtitles(dub: Bench, tmp_path: Path) -> None:
    sources = (ImportSource(id="film", path=str(tmp_path / "film.srt")),)
    details = replace(dub.session.editor.script.details, sources=sources)
    dub.session.editor.apply(EditDetails(details))
    dub.click(dub.window.dubbing.panel.guide_button)
    dialog = dub.dialog(QFileDialog)
    assert Path(dialog.directory().absolutePath()) == tmp_path
    guide = guide_file(tmp_path)
    dialog.fileSelected.emit(str(guide))
    assert dub.session.editor.script.details.guide_track == str(guide)
    dialog.reject()


def test_an_unreadable_guide_track_is_an_error(dub: Bench, tmp_path: Path) -> None:
    assert dub.window is not None
    errors: list[object] = []
    dub.session.failed.connect(errors.append)
    dub.window.dubbing.choose_guide(str(tmp_path / "missing.mp4"))
    dub.until(lambda: errors)
    assert isinstance(errors[0], UnreadableClip)


def test_cues_with_one_start_share_a_marker_and_none_covers_the_next() -> None:
    """The texts of a direction and a sign with one start were drawn over each other."""
    cues = [(QRectF(left, 0, width, 16), text) for left, width, text in ((9, 60, "A"), (9, 40, "B"), (40, 20, "C"))]
    assert [(bar.left(), bar.right(), text) for bar, text in label_cues(cues)] == [(9, 40, "A B"), (40, 60, "C")]
