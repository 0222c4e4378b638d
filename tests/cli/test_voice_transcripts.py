"""`timbre voices check` with the bundled recogniser in a real check process."""

from __future__ import annotations

import json

import pytest

from studio import paths
from studio.cli.main import main

pytest.importorskip("pocketsphinx", reason="there are no wheels for this version of Python")
pytestmark = pytest.mark.timeout(300)

CLIP = paths.resources() / "voices" / "Miles.wav"
TEXT = CLIP.with_suffix(".txt").read_text("utf-8").strip()


@pytest.fixture(autouse=True)
def folders(timbre: object) -> None:
    """Use the folders of the fixture."""


@pytest.mark.slow
def test_a_right_transcript_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["voices", "add", "Right", str(CLIP), "--transcript", TEXT, "--check"]) == 0
    assert "agrees with its recording" in capsys.readouterr().err


@pytest.mark.slow
def test_a_wrong_transcript_is_shown_where_it_differs(capsys: pytest.CaptureFixture[str]) -> None:
    words = TEXT.rstrip(".").split()
    wrong = " ".join([*words[:2], "hippopotamus umbrella", *words[2:]])
    main(["voices", "add", "Wrong", str(CLIP), "--transcript", wrong])
    capsys.readouterr()
    assert main(["voices", "check", "Wrong", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert "hippopotamus" in " ".join(each["typed"] for each in found["differences"])
    assert found["recognizer"] == "pocketsphinx"


@pytest.mark.slow
def test_a_transcript_is_proposed_when_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    main(["voices", "add", "None", str(CLIP)])
    capsys.readouterr()
    assert main(["voices", "check", "None"]) == 1
    proposed = set(capsys.readouterr().out.lower().split())
    expected = {word.strip(".,").lower() for word in TEXT.split()}
    assert len(proposed & expected) >= 0.5 * len(expected)
