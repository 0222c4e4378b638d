"""`timbre export --disclaimer`: an export begins with a sentence in the language of its script."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile
from terminal import Terminal

pytestmark = pytest.mark.timeout(60)


def export(timbre: Terminal, clip: Path, text: str, out: str, *options: str) -> int:
    Path("script.txt").write_text(text, "utf-8")
    words = ("export", "script.txt", "--voice", clip, "--model", "quiet", "--out", out, *options)
    return timbre(*words).status


@pytest.mark.parametrize(
    ("text", "word"), [("One line.\n\nTwo lines.", "synthetic voice"), ("今天天气很好。", "合成语音")]
)
def test_the_first_sentence_is_in_the_language_of_the_script(
    timbre: Terminal, clip: Path, text: str, word: str
) -> None:
    assert export(timbre, clip, text, "plain.wav") == 0
    assert export(timbre, clip, text, "said.wav", "--disclaimer", "--subtitles", "srt") == 0
    spoken = [request.text for request in timbre.opened[-1].requests]
    assert word in spoken[0]
    assert word in Path("said.srt").read_text("utf-8").splitlines()[2]
    assert soundfile.info("said.wav").frames > soundfile.info("plain.wav").frames


def test_lines_at_times_are_not_delayed(timbre: Terminal, clip: Path) -> None:
    Path("film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nOne two.\n", "utf-8")
    words = (
        "export",
        "film.srt",
        "--voice",
        clip,
        "--model",
        "quiet",
        "--at-times",
        "--disclaimer",
        "--out",
        "dub.wav",
    )
    ran = timbre(*words)
    assert "A disclaimer would delay lines that have times." in ran.err
    assert ran.status
    assert not Path("dub.wav").exists()
