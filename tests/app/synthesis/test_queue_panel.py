"""The queue panel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QProgressBar, QWidget
from window_bench import Bench

from studio.app.synthesis.queue import JobState, SynthesisJob, SynthesisQueue
from studio.app.synthesis.queue_panel import QueuePanel
from studio.app.synthesis.take_synthesis import SpeechRateEstimator
from studio.app.window import MainWindow
from studio.errors import NoSpeechMade, VoiceNotFound
from studio.pipeline.request import Mode, SynthesisReport
from studio.project.changes import InsertLines
from studio.project.lines import Line


def test_a_failed_job_has_a_report(bench: Bench, report_of: Callable[[QWidget], str]) -> None:
    queue = bench.session.queue
    panel = QueuePanel(queue)
    panel.show()
    done = SynthesisJob("a", "Good morning.", 1, state=JobState.DONE)
    no_speech = SynthesisJob("b", "Good night.", 1, state=JobState.FAILED, error=NoSpeechMade("Nothing was said."))
    no_voice = SynthesisJob("c", "Good day.", 1, state=JobState.FAILED, error=VoiceNotFound("There is no voice."))
    queue._jobs += [done, no_speech, no_voice]
    queue.jobs_added.emit([done, no_speech, no_voice], 0)
    panel._list.setCurrentItem(panel._items[done])
    assert panel._copy.isHidden()
    panel._list.setCurrentItem(panel._items[no_speech])
    assert report_of(panel).startswith("error: no-speech-made\n")
    queue.job_changed.emit(no_speech)
    assert panel._copy.text() == "Copied"  # the selection is the same
    panel._list.setCurrentItem(panel._items[no_voice])
    assert report_of(panel).startswith("error: voice-not-found\n")
    panel.close()


def test_a_narrow_panel_shows_the_summary_beside_icons(bench: Bench) -> None:
    panel = QueuePanel(bench.session.queue)
    panel.resize(900, 200)
    panel.show()
    assert panel._clear.text() == "Clear finished"
    panel.resize(300, 200)
    assert (panel._clear.text(), panel._clear.toolTip(), panel._clear.accessibleName()) == ("", *["Clear finished"] * 2)
    assert panel._summary.text() == "The queue is empty."
    bench.until(lambda: panel._summary.shown_text.startswith("The"))
    panel.close()


def script_of(bench: Bench, num_lines: int) -> MainWindow:
    bench.add_voice()
    lines = tuple(Line(f"line-{number}", text=f"word number {number}", voice="Anna") for number in range(num_lines))
    bench.session.editor.apply(InsertLines(0, lines))
    return bench.open_window()


@pytest.mark.slow
def test_a_long_script_is_not_scanned_for_each_line(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    seconds = SynthesisQueue.remaining_seconds.fget
    assert seconds is not None
    monkeypatch.setattr(SynthesisQueue, "remaining_seconds", property(lambda queue: calls.append(1) or seconds(queue)))
    window = script_of(bench, 200)
    queue, panel = bench.session.queue, window.queue_panel
    queue.set_paused(True)
    bench.trigger("speak.stale")
    bench.until(lambda: panel._summary.text().startswith("200 lines"))
    assert not panel._list.findChildren(QProgressBar), "creating and laying out thousands takes seconds"
    bench.trigger("speak.cancel")
    bench.until(lambda: panel._summary.text().startswith("The queue"))
    panel._clear.click()
    bench.until(lambda: panel._list.topLevelItemCount() == 0)
    assert len(calls) < 20
    assert all(bench.session.line_statuses.of(line.id) is None for line in bench.lines)


def test_retried_jobs_keep_their_order(bench: Bench) -> None:
    """The order of selection does not matter."""
    window = script_of(bench, 4)
    queue, panel = bench.session.queue, window.queue_panel
    queue.set_paused(True)
    bench.trigger("speak.stale")
    bench.trigger("speak.cancel")
    bench.until(lambda: all(job.state is JobState.CANCELLED for job in queue.jobs))
    for row in (3, 0, 2):
        panel._list.topLevelItem(row).setSelected(True)
    panel._retry.click()
    assert [job.line_id for job in queue.jobs] == ["line-1", "line-0", "line-2", "line-3"]
    assert [panel._list.topLevelItem(row).text(2)[-1] for row in range(4)] == ["1", "0", "2", "3"]


@pytest.mark.slow
def test_the_running_job_is_scrolled_into_view(bench: Bench) -> None:
    window = script_of(bench, 30)
    window.resize(1200, 700)
    window.docks.tabs.setCurrentWidget(window.queue_panel)
    panel, queue = window.queue_panel, bench.session.queue
    bench.trigger("speak.stale")

    def is_running_job_visible() -> bool:
        visible = panel._list.viewport().rect()
        num_done = sum(job.state is JobState.DONE for job in queue.jobs)
        return num_done >= 8 and any(
            visible.intersects(panel._list.visualItemRect(panel._items[job])) for job in queue.running
        )

    bench.until(is_running_job_visible)
    queue.cancel_all()
    bench.until(lambda: not queue.running)


@pytest.mark.slow
def test_saved_audio_is_released(bench: Bench) -> None:
    script_of(bench, 2)
    queue = bench.session.queue
    bench.trigger("speak.line")
    bench.until(lambda: bench.session.playback.player.is_playing)
    bench.until(lambda: not queue.running and not bench.session.playback.player.is_playing)
    (job,) = queue.jobs
    assert job.state is JobState.DONE
    assert job.synthesis is not None
    assert job.synthesis.audio is None
    assert len(bench.card.heard) > 0


def test_one_line_does_not_distort_the_rate_estimate() -> None:
    estimator = SpeechRateEstimator()
    assert estimator.work_seconds("word") is None
    for _ in range(10):
        estimator.add(40 * "x", report(4.0))
    assert estimator.work_seconds(100 * "x") == pytest.approx(5.0)
    estimator.add("x", report(2.0))
    assert estimator.work_seconds(100 * "x") == pytest.approx(5.0, rel=0.15)


def report(audio_seconds: float) -> SynthesisReport:
    """Return a report with a real-time factor of 0.5."""
    return SynthesisReport(0.5, audio_seconds, audio_seconds / 2, 24_000, Mode.ZERO_SHOT, 50, {}, {})
