"""Help, usage, and the conversion of errors to messages and exit statuses."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import soundfile
from terminal import Terminal

import studio
from studio import start
from studio.cli import main as main_module
from studio.cli.main import main
from studio.voices.library import VoiceLibrary

pytestmark = pytest.mark.timeout(60)
_LONG = 300 * "a"  # longer than any file system allows: asking whether it is there is an error of its own
COMMANDS = ["say", "convert", "voices", "styles", "doctor", "bench"]


def test_without_arguments_the_help_is_printed(timbre: Terminal) -> None:
    ran = timbre()
    assert ran.status == 0
    assert "begin with:" in ran.out
    for command in COMMANDS:
        assert f"    {command} " in ran.out


def test_the_version_is_printed(timbre: Terminal) -> None:
    assert timbre("--version").out == f"Timbre Studio {studio.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sing"], "invalid choice: 'sing'"),
        (["say"], "one of the arguments TEXT --file is required"),
        (["say", "x", "--file", "y"], "not allowed with argument"),
        (["say", "x", "--instruct", "a", "--preset", "b"], "not allowed with argument"),
        (["say", "x", "--speed", "5"], "5 is not between 0.25 and 4"),
        (["say", "x", "--speed", "nan"], "nan is not between 0.25 and 4"),
        (["say", "x", "--speed", "fast"], "invalid"),
        (["say", "x", "--seed", "-1"], "-1 is not between 0 and 2^63"),
        (["say", "x", "--top-p", "0"], "0 is not between 0 and 1"),
        (["say", "x", "--top-k", "0"], "0 is not above 0"),
        (["say", "x", "--precision", "int4"], "invalid choice: 'int4'"),
        (["say", "x", "--laud"], "unrecognized arguments: --laud"),
        (["convert"], "the following arguments are required: RECORDING"),
        (["voices"], "the following arguments are required: ACTION"),
        (["--laud"], "unrecognized arguments: --laud"),
        (["say", "Hello.", "--threads", "100000"], "argument --threads: 100000 is above 1024"),
    ],
)
def test_wrong_usage_exits_with_status_2(timbre: Terminal, arguments: list[str], words: str) -> None:
    ran = timbre(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.parametrize(
    ("arguments", "status", "code", "words"),
    [
        (["say", ""], 6, "nothing-to-speak", "The text is empty. Write at least one word."),
        (["say", " \n"], 6, "nothing-to-speak", "The text is empty."),
        (["say", "nothing"], 6, "nothing-to-speak", "There is nothing to speak. Write a word."),
        (["say", "--file", "no.txt"], 6, "unreadable-script", "There is no file no.txt."),
        (["say", "--file", "."], 6, "unreadable-script", "is a folder"),
        (["say", "--file", "good.wav"], 6, "unreadable-script", "good.wav is not a text file."),
        (["say", "x", "--model", "nowhere/at/all"], 3, "model-not-found", "There is no model nowhere/at/all."),
        (["say", "x", "--model", "noise-cosyvoice4"], 3, "model-not-found", "Did you mean noise-cosyvoice"),
        (["say", "x", "--model", "missing"], 3, "model-not-found", "There is no model folder"),
        (["say", "x", "--model", "no-torch"], 16, "incomplete-installation", "No module named 'torch'"),
        (["say", "x", "--voice", "no.wav"], 4, "unreadable-clip", "There is no file no.wav."),
        (["say", "x", "--voice", "Nobody"], 7, "voice-not-found", "There is no voice named Nobody."),
        (["say", "x", "--play"], 5, "no-audio-device", "No sound card can be used here."),
        (["say", "x", "-o", "no/such/folder.wav"], 10, "cannot-write", "There is no folder"),
        (["say", "x", "-o", "x.docx"], 10, "cannot-write", ".docx is not a supported audio format"),
        (["say", "memory"], 8, "out-of-memory", "There was not enough memory"),
        (["say", "bug"], 70, "internal-error", "ZeroDivisionError: division by zero"),
        (["convert", "no.wav"], 4, "unreadable-clip", "There is no file no.wav."),
        (["styles", "--model", "quiet"], 3, "model-not-found", "is not a CosyVoice model folder"),
        (["voices", "add", "Anna", "no.wav"], 4, "unreadable-clip", "There is no file no.wav."),
        (["voices", "add", "Anna", "silent.wav"], 4, "silent-clip", "silent"),
        (["voices", "add", "a/b", "good.wav"], 7, "bad-voice-name", "is not a valid voice name"),
        (["voices", "show", "Nobody"], 7, "voice-not-found", "There is no voice named Nobody."),
        (["voices", "import", "no.voice"], 7, "bad-voice-file", "There is no file no.voice."),
        (["voices", "import", "good.wav"], 7, "bad-voice-file", "is not a voice file"),
        (["say", "x", "--voice", _LONG], 7, "voice-not-found", "There is no voice named aaa"),
        (["say", "x", "--model", _LONG], 3, "model-not-found", "There is no model aaa"),
        (["convert", _LONG], 4, "unreadable-clip", "There is no file aaa"),
        (["models", "import", _LONG], 3, "model-not-found", "does not exist. Choose a folder"),
        (["models", "export", "studio-mini", _LONG], 10, "cannot-write", "cannot be written (the name is too long)"),
        (["voices", "import", "no.pt"], 3, "model-not-found", "is not in a model folder"),
    ],
)
def test_an_error_has_a_message_a_remedy_a_code_and_a_status(
    timbre: Terminal, clip: Path, arguments: list[str], status: int, code: str, words: str
) -> None:
    Path("good.wav").write_bytes(clip.read_bytes())
    soundfile.write("silent.wav", np.zeros(24_000 * 4), 24_000)
    before = timbre.files()
    if arguments[0] in ("say", "convert"):
        arguments = [*arguments, *(["--voice", str(clip)] if "--voice" not in arguments else [])]
        arguments = [*arguments, *(["-o", "x.wav"] if not {"-o", "--play"} & set(arguments) else [])]
    ran = timbre(*arguments)
    assert (ran.status, ran.out) == (status, "")
    complaint = ran.err.strip().splitlines()[-1]
    assert complaint.startswith("timbre: ")
    assert words in complaint
    assert complaint.endswith(f"({code})")
    assert "Traceback" not in ran.err
    assert timbre.files() == before, "something is left behind"


def test_an_unexpected_exception_is_reported_and_logged(timbre: Terminal) -> None:
    def fail() -> VoiceLibrary:
        raise KeyError("notes")

    timbre.change(open_library=fail)
    ran = timbre("voices", "list")
    assert (ran.status, ran.out) == (70, "")
    assert "An internal error occurred (KeyError: 'notes')" in ran.err
    assert ran.err.endswith("(internal-error)\n")
    assert "Traceback" not in ran.err
    log = (timbre.folder / "logs" / "command.log").read_text()
    assert "Traceback" in log
    assert 'KeyError("notes")' in log


@pytest.mark.slow
def test_the_command_line_imports_no_engine_libraries() -> None:
    engines = "('torch', 'onnxruntime', 'sounddevice')"
    code = f"import sys; from studio.cli.main import main; main([]); sys.exit(any(e in sys.modules for e in {engines}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_only_the_given_command_is_imported() -> None:
    one, every = (
        main_module.build_parser(["doctor"]).format_help(),
        main_module.build_parser(["nonsense"]).format_help(),
    )
    assert "check the installation" in one
    assert "check the installation" in every
    assert "speak a text in a voice" not in one
    assert "speak a text in a voice" in every


def test_ctrl_c_during_the_import_prints_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(ModuleType):
        def __getattr__(self, _name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "studio.cli.main", Interrupted("studio.cli.main"))
    assert start.main(["doctor"]) == 130


@pytest.mark.slow
def test_a_closed_pipe_is_not_an_error() -> None:
    """For example `timbre | head -0`."""
    command = f"{sys.executable} -m studio.cli.main | true; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize("words", [["--model", "studio-mini"], ["--model=studio-mini"]])
def test_bench_accepts_the_name_of_a_model(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Every other command does; this one answered that there is no folder of that name."""
    assert main(["bench", *words, "--only", "nothing"]) != 0
    shown = capfd.readouterr().err
    assert "no model folder" not in shown
    assert "nothing" in shown
    assert main(["bench", *(word.replace("mini", "maxi") for word in words)]) != 0
    assert "There is no model studio-maxi. Did you mean studio-mini?" in capfd.readouterr().err


def test_arguments_of_bench_are_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as usage:
        sys.exit(main(["bench", "--random", "cosyvoice4", "--json"]))
    assert usage.value.code == 2
    assert "cosyvoice4" in capfd.readouterr().err
    assert main(["bench", "--help"]) == 0
    assert "usage: timbre bench" in capfd.readouterr().out


def test_damaged_settings_are_reported_once(timbre: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_CONFIG", str(tmp_path))
    (tmp_path / "settings.json").write_text("[" * 200_000)
    ran = timbre("voices", "list")
    assert ran.status == 0
    assert "The settings file is damaged" in ran.err
    assert str(tmp_path / "settings.json.damaged") in ran.err
    assert "settings" not in timbre("voices", "list").err


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands and actions."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield child
                yield from parsers(child)


@pytest.mark.parametrize(
    "parser", [each for each in parsers(main_module.build_parser()) if each.add_help], ids=lambda each: each.prog
)
def test_every_command_and_action_has_an_example(parser: argparse.ArgumentParser) -> None:
    examples = [line.strip() for line in (parser.epilog or "").splitlines()]
    assert [line for line in examples if f"{line} ".startswith(f"{parser.prog} ")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_actions_and_options(timbre: Terminal, shell: str) -> None:
    pytest.importorskip("shtab")
    script = timbre("completion", shell).out
    for word in ("say", "cluster", "install", "metrics-port"):
        assert word in script, word
