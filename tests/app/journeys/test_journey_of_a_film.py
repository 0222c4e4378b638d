"""An editor imports thirty subtitles, fits the takes to their slots, and exports them at their original times."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from traveller import Traveller, require_effort
from virtual_screen import needs_screen

from studio.audio.waveform import Waveform
from studio.provenance.inspection import inspect_file
from studio.provenance.mark import Marker
from studio.provenance.mark_code import PLAIN_CODE

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1), pytest.mark.timeout(1800), needs_screen]
MAX_OVERRUN_SECONDS = 0.1
TAKE_RATE, VIDEO_RATE = 24_000, 48_000  # a dub track is proposed for a script with times


def test_overruns_are_fitted_or_marked_and_the_export_is_aligned_to_the_sample(traveller: Traveller) -> None:
    from dubbing import NUM_CUES, cues

    report = traveller.take("dubbing")
    require_effort(report, keys=7, clicks=6)
    found = report["found"]
    assert found["has_time_line"]
    assert len(found["before"]) == NUM_CUES
    assert sum(overrun > MAX_OVERRUN_SECONDS for overrun in found["before"]) == NUM_CUES // 3, found["before"]
    after = zip(found["after"], found["marked"], strict=True)
    assert not [overrun for overrun, is_marked in after if overrun > MAX_OVERRUN_SECONDS and not is_marked]
    # Two slots are shorter than any reading. The others must fit, or the limits would have done nothing.
    assert sum(overrun > 0.0 for overrun in found["after"]) <= NUM_CUES // 3 // 2
    assert found["marked"] == [overrun > 0.0 for overrun in found["after"]]

    (file,) = (traveller.folder / "Timbre").rglob("*.wav")
    exported, rate = soundfile.read(file, dtype="float32")
    assert rate == VIDEO_RATE
    code = (inspect_file(file).speech or {}).get("mark_code", PLAIN_CODE)
    starts = [round(start * rate) for start, _, _ in cues()]
    takes = [
        Marker(rate, code=code, start=start)(Waveform(take, TAKE_RATE).resampled(rate).samples)
        for start, take in zip(starts, np.load(traveller.folder / "takes.npz").values(), strict=True)
    ]
    expected = np.zeros(max(len(exported), starts[-1] + len(takes[-1])), np.float32)
    for start, take in zip(starts, takes, strict=True):
        expected[start : start + len(take)] += take
    # Lines are resampled in pieces; a shift by one sample differs by much more.
    np.testing.assert_allclose(exported, expected, atol=1e-3)
    shifted = np.abs(exported[1:] - expected[:-1]).max()
    assert shifted > 2e-2
