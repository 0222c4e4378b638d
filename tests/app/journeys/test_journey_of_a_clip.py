"""A first-time user drops a clip, speaks a line in two styles and exports it."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from traveller import Traveller, require_effort
from virtual_screen import needs_screen

from studio.provenance.mark import Marker

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1), pytest.mark.timeout(1800), needs_screen]


def test_a_dropped_clip_is_spoken_in_styles_and_exported(traveller: Traveller) -> None:
    report = traveller.take("clip_to_export")
    require_effort(report, keys=5, clicks=2, drags=1)
    found = report["found"]
    assert len(found["problems"]) == 2
    assert all("cut-end" not in kinds and "missing-words" not in kinds for kinds in found["problems"])
    (file,) = (traveller.folder / "Timbre").rglob("*.wav")
    exported, rate = soundfile.read(file, dtype="float32")
    marked = Marker(rate)(np.load(traveller.folder / "take.npy"))
    np.testing.assert_allclose(exported, marked, atol=1.1 / 32_768)
