"""A game writer exports 32 lines of six characters. The program is killed in the middle, and resumes."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
import soundfile
from traveller import Traveller, require_effort
from virtual_screen import needs_screen

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1), pytest.mark.timeout(2400), needs_screen]


def test_all_lines_are_exported_although_the_program_is_killed(traveller: Traveller) -> None:
    from game_lines import CHARACTERS, NUM_LINES, NUM_TAKES_BEFORE_KILL, READY_TO_BE_KILLED, VOICES, rows

    program = traveller.start("game_lines")
    try:
        while program.poll() is None and not (traveller.folder / READY_TO_BE_KILLED).is_file():
            time.sleep(0.1)
        assert program.poll() is None, program.communicate()[0]
    finally:
        os.killpg(program.pid, signal.SIGKILL)  # with its worker
        program.communicate()

    report = traveller.take("game_lines_resumed")
    require_effort(report, keys=2, clicks=1)
    found = report["found"]
    assert found["num_recovered"] >= NUM_TAKES_BEFORE_KILL
    before_kill = json.loads((traveller.folder / READY_TO_BE_KILLED).read_text("utf-8"))
    require_effort({"effort": before_kill}, keys=5, clicks=7)
    # Every line has been spoken once, or twice where the kill interrupted it.
    assert NUM_LINES <= found["num_takes"] <= NUM_LINES + 1
    voice_of = dict(zip(CHARACTERS, VOICES, strict=True))
    assert found["voices"] == [voice_of[row["Character"]] for row in rows()]
    folder = traveller.folder / "Timbre"
    files = {path.relative_to(found["folder"]).as_posix(): path for path in folder.rglob("*.wav")}
    assert set(files) == {f"{row['File']}.wav" for row in rows()}
    assert all(soundfile.info(path).frames > 2_400 for path in files.values())
