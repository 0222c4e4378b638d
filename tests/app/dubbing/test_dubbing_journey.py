"""From subtitles to a dub at their original times, as a dubbing editor would do it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from window_bench import Bench

from studio import settings as declared
from studio.app.dubbing.fit_dialog import FitDialog
from studio.app.export_dialog.dialog import ExportDialog
from studio.audio.resampling import Samples
from studio.project.dubbing import plan_fit, take_seconds

pytestmark = pytest.mark.usefixtures("no_spare_silence")

RATE = 24_000
NUM_CUES = 60
FIRST_SECONDS = 1.234


def subtitles() -> str:
    def time(seconds: float) -> str:
        return f"00:{int(seconds // 60):02}:{seconds % 60:06.3f}".replace(".", ",")

    starts = [FIRST_SECONDS + 2.5 * n for n in range(NUM_CUES)]
    return "\n".join(
        f"{n + 1}\n{time(start)} --> {time(start + 1.0)}\nCue number {n}.\n" for n, start in enumerate(starts)
    )


def speech(seconds: float) -> Samples:
    """Return audio without silence, so that its start is found exactly."""
    return np.full(round(seconds * RATE), 0.25, np.float32)


@pytest.mark.slow
def test_60_cues_with_20_overruns_are_dubbed_to_the_sample(bench: Bench, tmp_path: Path) -> None:
    """Three actions: open the subtitles, fit all, export. Speaking is replaced by takes of known lengths."""
    bench.add_voice()
    window = bench.open_window()
    (tmp_path / "film.srt").write_text(subtitles(), "utf-8")
    window.documents.open_files(tmp_path / "film.srt")
    bench.until(lambda: len(bench.lines) == NUM_CUES)
    for n in range(NUM_CUES):
        bench.add_take(speech(0.8 if n % 3 else 1.1 + 0.01 * n), line=n)
    assert window.dubbing.panel.isVisible()

    bench.trigger("speak.fit_all")
    dialog = bench.dialog(FitDialog)
    assert dialog.summary.text() == "Longer than their slots: 20 of 60 takes."
    dialog.retakes.setCurrentIndex(0)
    bench.click(dialog.apply_button)
    script = bench.session.editor.script
    marked = {
        fit.line.id
        for fit in plan_fit(script, [line.id for line in script.lines], dialog.options)
        if fit.still_overruns
    }
    over = {
        line.id for line in script.lines if line.slot and (take_seconds(script, line) or 0) - line.slot.seconds > 0.1
    }
    assert over <= marked
    assert 0 < len(marked) < 20
    bench.click(dialog.cancel_button)

    bench.settings[declared.EXPORT_FOLDER] = str(tmp_path / "out")
    bench.settings[declared.EXPORT_FILES] = "joined"
    bench.settings[declared.EXPORT_PLACEMENT] = "times"
    bench.settings[declared.EXPORT_ENCODING] = "wav32f"
    bench.settings[declared.MARKS_FILES] = False  # the file equals the takes
    bench.trigger("file.export")
    export = bench.dialog(ExportDialog)
    bench.until(export.export_button.isEnabled)
    bench.click(export.export_button)
    bench.until(lambda: list((tmp_path / "out").glob("*.wav")))
    (file,) = (tmp_path / "out").glob("*.wav")
    samples, rate = soundfile.read(file, dtype="float32")
    assert rate == RATE
    project = bench.session.editor.project
    expected = np.zeros(len(samples), np.float32)
    for line in project.lines:
        assert line.slot is not None
        heard = project.samples_of(line.chosen_take or "")
        start = round(line.slot.start_seconds * RATE)
        expected[start : start + len(heard)] = heard
    np.testing.assert_array_equal(samples, expected)
    assert not samples[: round(FIRST_SECONDS * RATE)].any()
    assert samples[round(FIRST_SECONDS * RATE)]
