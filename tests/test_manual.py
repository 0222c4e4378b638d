"""README and manual: commands parse and run, links and scripts exist, and both stay short."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import soundfile
from book_samples import epub
from float32_model import ENGINE
from sound_card import NoOutputs, SoundCard

import studio
from studio import paths
from studio.cli import main as main_module
from studio.cli.command_context import CommandContext
from studio.manual import TOPICS, read_topics
from studio.worker.process import WorkerProcess

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MANUAL = paths.resources() / "manual"
CHINESE = sorted((MANUAL / "zh_CN").glob("*.md"))
DOCUMENTS = [README, *sorted(MANUAL.glob("*.md")), *CHINESE, paths.resources() / "CHANGES.md"]
MAX_README_WORDS = 1500
# Run with the bundled model, in this order.
RUN = (
    "timbre help audiobooks",
    "timbre styles",
    "timbre models list",
    'timbre voices add Anna narrator.wav --transcript "The words of the recording."',
    "timbre voices list",
    'timbre say "Good evening." --voice Anna -o evening.wav',
    "timbre convert speech.wav --voice Anna -o converted.wav",
    "timbre export film.srt --voice Ada --at-times --fit --out dub.wav",
    "timbre characters book.epub",
    'timbre export book.epub --full-cast --voice Ada --cast "Mr Darcy=Angus" --out cast',
)


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def code_of(text: str) -> list[str]:
    """Return the lines of the code blocks and the spans of code."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [line for block in blocks for line in block.splitlines()] + spans


def commands_of(path: Path) -> list[str]:
    """Return the commands of the program, without those that contain a placeholder, such as COMMAND."""
    code = [line.replace("python3 packaging/run.py", "timbre") for line in code_of(path.read_text("utf-8"))]
    commands = [re.sub(r"^[\w-]+ \| ", "", line) for line in code if re.match(r"(?:[\w-]+ \| )?timbre [a-z]", line)]
    commands = [re.sub(r" (?:\| \w+|> \S+)(?=\s|$)", "", command) for command in commands]  # pipes and redirections
    return [command for command in commands if not re.search(r"timbre (app|test)\b| [A-Z]+$", command)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=ids)
def test_every_command_is_parsed(path: Path) -> None:
    commands = re.findall(r"^    (\w+)(?: |$)", main_module.build_parser().format_help(), re.MULTILINE)
    for command in commands_of(path):
        words = shlex.split(command, comments=True)[1:]
        if len(words) == 1 or words[-1] == "--help":  # the name of a command, or its help
            assert words[0] in commands, command
        else:
            main_module.build_parser(words).parse_args(words)


def test_commands_are_found_in_both() -> None:
    assert len(commands_of(README)) >= 15
    assert len([command for path in DOCUMENTS for command in commands_of(path)]) >= 100


@pytest.mark.slow
def test_commands_run_with_the_bundled_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = [command for path in DOCUMENTS for command in commands_of(path)]
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.chdir(tmp_path)
    recording = (ROOT / "tests" / "reference" / "inputs" / "prompt_a.wav").read_bytes()
    for name in ("narrator.wav", "speech.wav"):
        Path(name).write_bytes(recording)
    Path("film.srt").write_text("1\n00:00:01,000 --> 00:00:02,500\nGood evening.\n", "utf-8")
    Path("book.epub").write_bytes(epub({"one.xhtml": "<h1>One</h1><p>“Good evening,” said Mr Darcy.</p>"}))
    context = CommandContext(start_worker=lambda: WorkerProcess(ENGINE), outputs=NoOutputs(SoundCard()))
    for command in RUN:
        assert any(line.split("#")[0].strip() == command for line in written), command
        assert main_module.main(shlex.split(command)[1:], command_context=context) == 0, capsys.readouterr().err
    for name in ("evening.wav", "converted.wav", "dub.wav"):
        assert soundfile.info(name).duration > 0.3
    assert len(list(Path("cast").glob("*.wav"))) == 3


def test_requests_of_the_service_are_accepted() -> None:
    from studio.serve.schemas import SpeechBody

    bodies = re.findall(r"-d '({.*?})'", (MANUAL / "serving.md").read_text("utf-8"), re.DOTALL)
    assert len(bodies) >= 2
    for body in bodies:
        values = json.loads(body)
        assert set(values) <= set(SpeechBody.model_fields)
        SpeechBody.model_validate(values)


@pytest.mark.parametrize("path", DOCUMENTS, ids=ids)
def test_links_pictures_scripts_and_extras_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    for link in re.findall(r"\]\((?!https?:|#)([^)]+)\)", text):
        assert (path.parent / link).exists(), link
    for named in re.findall(r"\b(?:packaging|resources|studio|tests)/[\w/-]+(?:\.\w+)?", text):
        assert (ROOT / named).exists(), named
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for extras in re.findall(r"'\.\[([\w,]+)\]'", text):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_every_page_of_the_manual_is_a_topic() -> None:
    assert sorted(path.stem for path in MANUAL.glob("*.md")) == sorted(set(TOPICS) - {"changes"})
    for topic in read_topics():
        assert topic.text.startswith("# ")
        assert f"]({topic.path.relative_to(ROOT).as_posix()})" in README.read_text("utf-8"), topic.name


def test_topics_are_chinese_where_they_are_translated() -> None:
    chinese = {topic.name: topic for topic in read_topics("zh_CN")}
    assert {path.stem for path in CHINESE} >= {"window", "voices", "speaking"}
    for path in CHINESE:
        assert chinese[path.stem].path == path
        assert re.match(r"# [\u4e00-\u9fff]", chinese[path.stem].text)
    assert chinese["cluster"].path == MANUAL / "cluster.md"
    assert [topic.path for topic in read_topics("fr_FR")] == [topic.path for topic in read_topics()]


def test_the_readme_is_short_and_undated() -> None:
    text = README.read_text("utf-8")
    assert len(text.split()) <= MAX_README_WORDS
    assert not re.search(
        r"\b\d{1,2} (January|February|March|April|May|June|July|August|September|October|November|December)\b", text
    )


def test_the_newest_change_is_this_version() -> None:
    changes = (paths.resources() / "CHANGES.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == studio.__version__
