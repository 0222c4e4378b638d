"""Program that exports until a test kills it: ``python export_child.py TARGET JOURNALS SECONDS_PER_LINE [joined]``."""

from __future__ import annotations

import sys
from pathlib import Path

from speech_fakes import FakeSpeechSource, items_of

from studio.audio.encoding import FLAC_16
from studio.export.exporter import Exporter
from studio.export.mastering import LoudnessTarget
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.subtitles import SubtitleFormat

TEXTS = [f"Line number {number} of this story." for number in range(1, 13)]


def plan(target: Path, *, is_joined: bool) -> ExportPlan:
    settings = ExportSettings(
        encoding=FLAC_16,
        sample_rate=48_000,
        has_line_files=not is_joined,
        joined_name="story" if is_joined else None,
        loudness=LoudnessTarget(-16, -1),
        subtitles=frozenset({SubtitleFormat.SRT, SubtitleFormat.VTT}),
        has_manifest=True,
    )
    return ExportPlan.make(items_of(TEXTS), target, settings)


if __name__ == "__main__":
    source = FakeSpeechSource(seconds_per_line=float(sys.argv[3]))
    Exporter(
        plan(Path(sys.argv[1]), is_joined="joined" in sys.argv),
        source,
        journals=Path(sys.argv[2]),
        on_progress=lambda progress: print(progress.num_done, flush=True),  # noqa: T201 - read by the test
    ).run()
