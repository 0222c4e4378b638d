"""`timbre check` in the command's own process, with the bundled recogniser in a real check process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from studio import paths
from studio.cli.main import main

pytest.importorskip("pocketsphinx", reason="there are no wheels for this version of Python")
pytestmark = pytest.mark.timeout(300)

VOICES = paths.resources() / "voices"
TEXT = (VOICES / "Ada.txt").read_text("utf-8").strip()


@pytest.mark.slow
def test_a_good_recording_is_good(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(VOICES / "Ada.wav"), "--text", TEXT, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"verdict", "problems", "similarity", "word_error_rate", "words"}
    assert found["verdict"] == "good"
    assert found["word_error_rate"] == 0.0
    assert found["recognizer"] == "pocketsphinx"
    assert " ".join(word["text"] for word in found["words"]).startswith(TEXT.split()[0])


@pytest.mark.slow
def test_other_words_are_bad_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "Seven elephants crossed the frozen river before anybody noticed."
    assert main(["check", str(VOICES / "Ada.wav"), "--text", wrong, "--json"]) == 2
    problem = json.loads(capsys.readouterr().out)["problems"][0]
    assert set(problem) == {"kind", "from_seconds", "to_seconds", "text", "confidence"}


@pytest.mark.slow
def test_a_folder_and_a_table_give_one_line_for_each_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["file,text"]
    for name in ("Ada", "Miles"):
        (tmp_path / f"{name}.wav").write_bytes((VOICES / f"{name}.wav").read_bytes())
        (tmp_path / f"{name}.txt").write_bytes((VOICES / f"{name}.txt").read_bytes())
        rows.append(f'{name}.wav,"{(VOICES / f"{name}.txt").read_text("utf-8").strip()}"')
    (tmp_path / "lines.csv").write_text("\n".join(rows), "utf-8")
    for source in (tmp_path, tmp_path / "lines.csv"):
        assert main(["check", str(source), "--json"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [Path(line["file"]).name for line in lines] == ["Ada.wav", "Miles.wav"]


@pytest.mark.slow
def test_a_language_without_a_recogniser_is_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soundfile.write(tmp_path / "a.wav", 0.1 * np.sin(np.arange(24_000) / 20), 24_000)
    assert main(["check", str(tmp_path / "a.wav"), "--text", "你好，世界。"]) in (1, 2)
    shown = capsys.readouterr()
    assert "recognizer-not-found" in shown.err
    assert "good" not in shown.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["missing.wav", "--text", "a"], "unreadable-clip"),
        (["."], "unreadable-text"),
        (["missing.wav"], "unreadable-text"),
    ],
)
def test_bad_input_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", *arguments]) > 2
    assert code in capsys.readouterr().err
