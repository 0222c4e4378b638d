"""The real program: a process, a worker, the bundled model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

pytestmark = pytest.mark.timeout(300)
CHECKOUT = Path(__file__).parent.parent.parent
CLIP = CHECKOUT / "tests" / "reference" / "inputs" / "prompt_a.wav"


@pytest.mark.slow
def test_a_text_is_spoken_with_the_bundled_model(tmp_path: Path) -> None:
    places = {f"TIMBRE_{name}": str(tmp_path / name.lower()) for name in ("DATA", "CACHE", "LOGS")}
    words = ["say", "Good morning.", "--voice", CLIP, "-o", tmp_path / "out.wav", "--json", "--precision", "float32"]
    said = subprocess.run(
        [sys.executable, "-m", "studio.cli.main", *words],
        capture_output=True, text=True, check=False, env={**os.environ, **places}, cwd=CHECKOUT,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    values = json.loads(said.stdout)
    sound = soundfile.info(tmp_path / "out.wav")
    assert (sound.samplerate, sound.channels) == (24_000, 1)
    assert sound.frames == round(values["audio_seconds"] * 24_000)
    assert sound.frames > 0
    assert values["sample_rate"] == 24_000
    assert 0.0 < values["first_audio_seconds"] <= values["total_seconds"]
    assert values["real_time_factor"] == pytest.approx(values["total_seconds"] / values["audio_seconds"])
    assert {"text", "voice", "speech_lm", "flow", "vocoder"} <= set(values["stages"])
    assert values["engine"]["speech_lm"].startswith("torch float32")
    assert values["model"]["name"] == "studio-mini"
    assert values["model"]["makes_noise"] is False
    # Two words of the demonstration voice: longer than a breath, over long before a minute.
    assert 0.4 < values["audio_seconds"] < 4.0
    assert list((tmp_path / "logs").glob("worker-*.log"))
    assert "Traceback" not in said.stderr
