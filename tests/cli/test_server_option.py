"""`--server` of `timbre say` and `timbre export`: another computer speaks the same samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import running_service
import soundfile
from terminal import Terminal

from studio.serve.running import Address
from studio.voices.library import VoiceLibrary

pytestmark = pytest.mark.timeout(120)


def test_say_and_export_speak_through_another_computer(timbre: Terminal, clip: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    with running_service.serve(Address(port=0, token_file=token), library=VoiceLibrary(tmp_path / "theirs")) as running:
        there = ("--voice", clip, "--server", running.url, "--token-file", token)
        said = timbre("say", "one two three", "-o", "there.wav", "--json", *there)
        assert said.status == 0, said.err
        assert json.loads(said.out)["network_seconds"] >= 0
        assert timbre("say", "one two three", "--voice", clip, "-o", "here.wav").status == 0
        assert np.array_equal(soundfile.read("there.wav")[0], soundfile.read("here.wav")[0])
        Path("script.txt").write_text("one two\n\nthree four five\n")
        exported = timbre("export", "script.txt", "--out", "lines", *there)
        assert exported.status == 0, exported.err
        assert len(list(Path("lines").glob("*.wav"))) == 2
        assert running.service.num_served == 3


def test_an_unusable_address_is_said(timbre: Terminal, clip: Path) -> None:
    for address, status in (("ftp://host", 2), ("127.0.0.1:9", 15)):
        ran = timbre("say", "one", "--voice", clip, "-o", "out.wav", "--server", address)
        assert ran.status == status
        assert timbre.files() <= {"out.wav"}
