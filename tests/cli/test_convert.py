"""`timbre convert`."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile
from fake_model import CHUNK_SAMPLES
from terminal import Terminal

from studio.pipeline.request import ConversionRequest, VoiceReference

pytestmark = pytest.mark.timeout(60)


def test_a_recording_is_converted(timbre: Terminal, clip: Path) -> None:
    ran = timbre(
        "convert", clip, "--voice", clip, "--speed", "0.8", "--seed", "5", "--whole", "-o", "out.wav", "--json"
    )
    assert ran.status == 0
    assert ran.json["mode"] == "voice conversion"
    assert not timbre.opened[0].options.loads_speech_lm
    assert timbre.opened[0].requests == [
        ConversionRequest(clip, VoiceReference(clip, None, "prompt_a"), speed=0.8, seed=5, is_streaming=False)
    ]
    assert soundfile.info("out.wav").frames == 2 * CHUNK_SAMPLES
