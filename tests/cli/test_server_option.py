"""`--server` of `timbre say` and `timbre export`: another computer speaks the same samples."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import running_service
import soundfile
from terminal import Terminal

from studio.serve.running import Address
from studio.storage.token_file import write_token
from studio.voices.library import VoiceLibrary

pytestmark = pytest.mark.timeout(120)


def test_say_and_export_speak_through_another_computer(timbre: Terminal, clip: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    with running_service.serve(Address(port=0, token_file=token), library=VoiceLibrary(tmp_path / "theirs")) as running:
        there = ("--voice", clip, "--server", running.url, "--token-file", token)
        said = timbre("say", "one two three", "-o", "there.wav", "--json", *there)
        assert said.status == 0, said.err
        values = json.loads(said.out)
        assert values["network_seconds"] >= 0
        assert values["network_delay_seconds"] >= 0
        assert values["server_real_time_factor"] <= values["real_time_factor"]
        assert "the network delayed later audio by up to" in said.err
        assert timbre("say", "one two three", "--voice", clip, "-o", "here.wav").status == 0
        assert np.array_equal(soundfile.read("there.wav")[0], soundfile.read("here.wav")[0])
        Path("script.txt").write_text("one two\n\nthree four five\n")
        exported = timbre("export", "script.txt", "--out", "lines", *there)
        assert exported.status == 0, exported.err
        assert len(list(Path("lines").glob("*.wav"))) == 2
        assert running.service.num_served == 3


@pytest.mark.slow
def test_typed_text_is_spoken_by_another_computer_before_it_is_complete(
    timbre: Terminal, clip: Path, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    timbre.change(text_input=reading)
    card = timbre.with_sound_card()

    def type_text() -> None:
        os.write(writing, b"This is the first sentence. And")
        deadline = time.monotonic() + 20
        while card.first_sound is None and time.monotonic() < deadline:
            time.sleep(0.01)
        os.write(writing, b" this is the second." if card.first_sound is not None else b" silence.")
        os.close(writing)

    with running_service.serve(library=VoiceLibrary(tmp_path / "theirs")) as running:
        typing = threading.Thread(target=type_text)
        typing.start()
        ran = timbre("say", "-", "--voice", clip, "--play", "--json", "--server", running.url)
        typing.join()
    os.close(reading)
    assert ran.status == 0, ran.err
    assert "".join(ran.json["spoken_text"]) == "This is the first sentence. And this is the second."


def test_an_unusable_address_is_said(timbre: Terminal, clip: Path) -> None:
    for address, status in (("ftp://host", 2), ("127.0.0.1:9", 15)):
        ran = timbre("say", "one", "--voice", clip, "-o", "out.wav", "--server", address)
        assert ran.status == status
        assert timbre.files() <= {"out.wav"}


def test_say_and_export_speak_through_triton(timbre: Terminal, clip: Path) -> None:
    pytest.importorskip("tritonclient.grpc", reason="the extra triton is not installed")
    from triton_server import triton_server

    with triton_server(models=("cosyvoice2", "cosyvoice3")) as triton:
        there = ("--voice", clip, "--transcript", "Its words.", "--server", triton.url)
        refused = timbre("say", "One two three.", "-o", "there.wav", *there)
        assert (refused.status, "cosyvoice2, cosyvoice3" in refused.err) == (3, True)
        said = timbre("say", "One two three.", "-o", "there.wav", "--json", *there, "--model", "cosyvoice3")
        assert said.status == 0, said.err
        assert "cosyvoice3 at 127.0.0.1" in said.err
        values = json.loads(said.out)
        assert (values["network_seconds"], values["model"]["name"]) == (None, "cosyvoice3")
        assert soundfile.info("there.wav").frames == 3 * 2_400
        Path("script.txt").write_text("One two.\n\nThree four five.\n")
        exported = timbre("export", "script.txt", "--out", "lines", *there, "--model", "cosyvoice2")
        assert exported.status == 0, exported.err
        assert len(list(Path("lines").glob("*.wav"))) == 2
        assert [heard.model for heard in triton.requests] == ["cosyvoice3", "cosyvoice2", "cosyvoice2"]
        styled = timbre("say", "One.", "-o", "out.wav", *there, "--model", "cosyvoice2", "--preset", "volume.loud")
        assert (styled.status, "styles" in styled.err) == (15, True)


def test_a_token_that_is_sent_unencrypted_is_said(
    timbre: Terminal, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.remote.connection._CONNECT_SECONDS", 0.05)
    token = tmp_path / "token"
    write_token(token, "x" * 20)
    for url, is_said in (("http://192.0.2.1:9", True), ("https://192.0.2.1:9", False), ("127.0.0.1:9", False)):
        ran = timbre("say", "one", "--voice", clip, "-o", "out.wav", "--server", url, "--token-file", token)
        assert ran.status == 15
        assert ("not encrypted" in ran.err) == is_said
