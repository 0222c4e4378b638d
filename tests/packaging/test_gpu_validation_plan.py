"""The steps of the GPU check: order, time limit, and crashes of their processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from measurements.gpu.fastest import fastest_in_words
from measurements.gpu.json_process import Entry, JsonProcess, ProcessLost
from measurements.gpu.plan import CheckRun, Form, Notes, Step, early, late, preparing

ECHO = """
import json, sys
print(json.dumps({"torch": "9.9"}), flush=True)
for line in sys.stdin:
    order = json.loads(line)
    if order["measure"] == "die":
        sys.exit("no more memory")
    if order["measure"] == "partly":
        print(json.dumps({"so_far": {"half": 1}}), flush=True)
        sys.exit("in the middle")
    if order["measure"] == "hang":
        import time
        time.sleep(600)
    if order["measure"] == "start another":
        import subprocess
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(json.dumps({"pid": other.pid}), flush=True)
        continue
    print(json.dumps({"heard": order["measure"]}), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    script = tmp_path / "echo.py"
    script.write_text(ECHO, "utf-8")
    return [sys.executable, str(script)]


def asked(program: list[str], folder: Path) -> JsonProcess:
    return JsonProcess(program, log=folder / "log", most_seconds=60)


def answers(process: JsonProcess, measure: str, most_seconds: float = 60) -> list[Entry]:
    return list(process.ask({"measure": measure}, most_seconds=most_seconds))


def test_a_process_greets_and_answers(program: list[str], tmp_path: Path) -> None:
    with asked(program, tmp_path) as process:
        assert process.greeting == {"torch": "9.9"}
        assert answers(process, "one") == [{"heard": "one"}]
        assert answers(process, "two") == [{"heard": "two"}]


def test_a_process_that_dies_says_its_last_words(program: list[str], tmp_path: Path) -> None:
    with asked(program, tmp_path) as process, pytest.raises(ProcessLost, match="died with 1: no more memory"):
        answers(process, "die")


@pytest.mark.slow
def test_a_process_that_hangs_is_ended(program: list[str], tmp_path: Path) -> None:
    with asked(program, tmp_path) as process, pytest.raises(ProcessLost, match="ended after 1 s"):
        answers(process, "hang", most_seconds=1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no groups of processes to end as one")
def test_what_it_has_started_ends_with_it(program: list[str], tmp_path: Path) -> None:
    with asked(program, tmp_path) as process:
        ((answer),) = answers(process, "start another")
        other = psutil.Process(answer["pid"])
        assert other.is_running()
    psutil.wait_procs([other], timeout=60)
    assert not other.is_running() or other.status() == psutil.STATUS_ZOMBIE


def test_what_was_found_before_a_death_is_kept(program: list[str], tmp_path: Path) -> None:
    notes = Notes(tmp_path / "check.json", {})
    check_run = CheckRun(notes, lambda model, seconds: asked(program, tmp_path), most_seconds=100)
    check_run.take("a model", [Step("x", "x", "partly"), Step("y", "y", "fine")])
    check_run.close()
    first, second = notes.of("a model").values()
    assert first["half"] == 1
    assert "in the middle" in first["error"]["message"]
    assert second["heard"] == "fine", "by another process"
    assert notes.machine == {"torch": "9.9"}


@dataclass
class Script:
    """Processes that answer as written: an entry, or an exception; each measure takes ten seconds."""

    says: dict[str, Entry | Exception]
    seconds: float = 0.0
    num_started: int = 0
    asked: list[str] = field(default_factory=list)

    def start(self, model: str, seconds: float) -> Script:
        self.num_started += 1
        return self

    greeting: Entry = field(default_factory=dict)

    def ask(self, order: Entry, *, most_seconds: float) -> Iterator[Entry]:
        self.asked.append(order["measure"])
        self.seconds += 10
        said = self.says.get(order["measure"], {"ok": True})
        if isinstance(said, Exception):
            raise said
        yield said

    def close(self) -> None:
        pass

    def check_run(self, notes: Notes, most_seconds: float = 1000.0) -> CheckRun:
        return CheckRun(notes, self.start, most_seconds=most_seconds, now=lambda: self.seconds)


def steps(*names: str, **options: Any) -> list[Step]:
    return [Step("list[]", name, name, **options) for name in names]


def test_each_step_is_written_down_before_the_next_begins(tmp_path: Path) -> None:
    path = tmp_path / "check.json"
    seen = []
    script = Script({})
    check_run = CheckRun(
        Notes(path, {}),
        script.start,
        most_seconds=1000,
        now=lambda: script.seconds,
        on_change=lambda: seen.append(list(json.loads(path.read_text())["found"]["m"])),
    )
    check_run.take("m", steps("a", "b"))
    assert seen == [["a"], ["a", "b"]]


def test_a_failure_costs_its_own_step(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "check.json", {})
    script = Script({"b": ProcessLost("died with -11"), "c": {"error": {"message": "no such thing"}}})
    script.check_run(notes).take("m", steps("a", "b", "c", "d"))
    assert script.asked == ["a", "b", "c", "d"]
    assert script.num_started == 2, "a death wants another process, an exception does not"
    found = notes.result()["models"]["m"]["list"]
    assert ["error" in entry for entry in found] == [False, True, True, False]


def test_a_card_that_was_spoilt_wants_another_process(tmp_path: Path) -> None:
    script = Script({"a": {"error": {"message": "CUDA error: an illegal memory access was encountered"}}})
    script.check_run(Notes(tmp_path / "check.json", {})).take("m", steps("a", "b"))
    assert script.num_started == 2


def test_when_time_runs_out_the_same_command_goes_on(tmp_path: Path) -> None:
    """A step that was left out or failed is taken up; what is known is not asked again."""
    path, wanted = tmp_path / "check.json", steps("a", "b", "c", least_seconds=8.0)
    first = Script({"a": {"error": {"message": "busy"}}})
    first.check_run(Notes(path, {"small": True}), most_seconds=25.0).take("m", wanted)
    assert first.asked == ["a", "b"]
    assert "left_out" in Notes(path, {"small": True}).of("m")["c"]
    second = Script({})
    second.check_run(Notes(path, {"small": True})).take("m", wanted)
    assert second.asked == ["a", "c"]
    other = Script({})
    other.check_run(Notes(path, {"small": False})).take("m", wanted)
    assert other.asked == ["a", "b", "c"], "another check begins anew"


def test_a_damaged_file_of_notes_is_no_notes(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text('{"facts": {', "utf-8")
    assert Notes(tmp_path / "check.json", {}).of("m") == {}


def form(stage: str, name: str, precision: str, *, is_built: bool = False) -> Form:
    return Form(stage, name, precision, is_built)


FORMS = [
    form("flow", "torch-float32", "float32"),
    form("speech-lm", "torch-float32", "float32"),
    form("speech-lm", "torch-bfloat16", "bfloat16"),
    form("speech-lm", "cuda-graph-float32", "float32"),
    form("speech-lm", "cuda-graph-bfloat16", "bfloat16"),
    form("speech-lm", "cuda-graph-int8", "int8"),
    form("flow", "cuda-graph-bfloat16", "bfloat16"),
    form("flow", "tensorrt-float16", "float16", is_built=True),
    form("vocoder", "torch-float32", "float32"),
]


def test_what_is_worth_most_comes_first() -> None:
    names = [step.name for step in early(FORMS, ["float32"])]
    assert names[:4] == [
        "speech-lm cuda-graph-bfloat16",
        "speech-lm cuda-graph-int8",
        "speech-lm cuda-graph-float32",
        "speech-lm torch-float32",
    ]
    assert names[4:10] == [
        "flow cuda-graph-bfloat16",
        "flow torch-float32",
        "vocoder torch-float32",
        "R13",
        "requests",
        "E9 cuda-graph-bfloat16",
    ]
    assert {name.partition(" ")[0] for name in names[10:]} >= {"R1", "R3", "R4", "R5", "R8", "R12"}
    rest = [step.name for step in late(FORMS)]
    assert rest == [
        "speech-lm torch-bfloat16",
        "flow tensorrt-float16",
        "E9 tensorrt-float16",
    ]
    assert len({*names, *rest}) == len(names) + len(rest)


def test_a_model_that_is_there_is_not_written() -> None:
    assert [step.measure for step in preparing(None, for_official=False)] == ["forms", "recording"]
    assert next(preparing("cosyvoice3", for_official=True)).arguments == {
        "generation": "cosyvoice3",
        "for_official": True,
    }


def test_a_check_continued_with_the_official_program_writes_its_text_model(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "check.json", {})
    first, *_ = preparing("cosyvoice3", for_official=False)
    notes.put("cosyvoice3", first, {"bytes": 1})
    assert notes.is_known("cosyvoice3", first)
    assert not notes.is_known("cosyvoice3", next(preparing("cosyvoice3", for_official=True)))


def tried(name: str, seconds: float, *, complaint: str | None = None, is_reference: bool = False) -> Entry:
    return {
        "stage": "flow",
        "name": name,
        "is_reference": is_reference,
        "timing": {"seconds_per_audio_second": seconds},
        "verification": {"complaint": complaint},
    }


def test_the_fastest_is_right_and_its_speed_is_told_against_plain_float32(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "check.json", {})
    entries = [
        tried("plain", 0.4, is_reference=True),
        tried("quick", 0.1),
        tried("wrong", 0.01, complaint="noise"),
        tried("late", 0.001) | {"error": {"message": "it died when it was verified"}},
        {"stage": "flow", "name": "elsewhere", "unusable": "there is none"},
    ]
    for entry in entries:
        notes.put("m", Step("candidates[]", entry["name"], "candidate"), entry)
    assert fastest_in_words(notes.candidates("m")) == {"flow": "quick"}
    told = {entry["name"]: entry for entry in notes.result()["models"]["m"]["candidates"]}
    assert told["quick"]["timing"]["times_float32"] == pytest.approx(4.0)
    assert "timing" not in told["elsewhere"]
