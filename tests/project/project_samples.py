"""Lines and takes for the tests of a project, and a Hypothesis strategy for changes of a script."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from hypothesis import strategies as st

from studio.model.options import SamplingOptions
from studio.pipeline.request import LengthVerdict
from studio.project.changes import (
    AcceptTakes,
    AddTake,
    Change,
    ChooseTake,
    CompositeChange,
    EditDictionary,
    EditLines,
    EditTakes,
    InsertLines,
    MoveLines,
    RemoveLines,
    RemoveTakes,
    RenameProject,
    ReorderLines,
    SetTakeChecks,
)
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.lines import Line, LineStyle, new_id
from studio.project.project import Project
from studio.project.script import Script
from studio.project.takes import Take, TakeParameters
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict, WordTime

RATE = 24_000


def parameters(fingerprint: str = "", **values: object) -> TakeParameters:
    plain = TakeParameters(
        text="Hello.",
        seed=7,
        line_fingerprint=fingerprint,
        mode="zero-shot",
        voice_name="Ann",
        voice_sha256="ab" * 32,
        model_name="noise-cosyvoice3",
        model_key="key",
    )
    return replace(plain, **values)  # type: ignore[arg-type]


def sound(seconds: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, round(seconds * RATE)).astype(np.float32)


def insert(project: Project, *texts: str) -> list[str]:
    """Append lines with ``texts`` and return their ids."""
    lines = tuple(Line(id=f"line{len(project.lines) + number}", text=text) for number, text in enumerate(texts))
    project.apply(InsertLines(len(project.lines), lines))
    return [line.id for line in lines]


def speak(project: Project, line_id: str, seconds: float = 0.5, seed: int = 0) -> Take:
    """Record a take of a line and add it to the project."""
    recorder = project.begin_take(
        line_id, parameters(project.fingerprint_of(line_id), voice_name=project.line(line_id).voice or ""), RATE
    )
    samples = sound(seconds, seed)
    for block in np.array_split(samples, 4):
        recorder.append(block)
    take = recorder.finish()
    project.apply(AddTake(take))
    return take


texts = st.text(max_size=40)
names = st.none() | st.text(min_size=1, max_size=10)
styles = st.one_of(
    st.just(LineStyle()),
    st.builds(LineStyle, preset=st.sampled_from(["dialect.sichuan", "emotion.happy"])),
    st.builds(LineStyle, instruct=st.text(min_size=1, max_size=20)),
)
odd_lengths = st.none() | st.sampled_from(LengthVerdict)
samplings = st.none() | st.builds(SamplingOptions, top_p=st.floats(0.1, 1.0), top_k=st.integers(1, 100))
field_values = {
    "text": texts,
    "voice": names,
    "style": styles,
    "speed": st.floats(0.25, 4.0),
    "seed": st.none() | st.integers(0, 2**63 - 1),
    "sampling": samplings,
    "pause_after_seconds": st.floats(0.0, 60.0),
    "is_locked": st.booleans(),
    "file_name": names,
}
some_lines = st.lists(
    st.builds(lambda values: Line(id=new_id(), **values), st.fixed_dictionaries(field_values)), min_size=1, max_size=4
)
edits = st.fixed_dictionaries({}, optional=field_values)
dictionaries = st.lists(
    st.sampled_from(
        [
            DictionaryEntry("重庆", pronunciation="chong2 qing4"),
            DictionaryEntry("SQL", alias="sequel", is_case_sensitive=True),
            DictionaryEntry("wind", alias="wynd", pronunciation="W AY1 N D"),
        ]
    ),
    unique=True,
).map(lambda entries: PronunciationDictionary(tuple(entries)))

seconds = st.floats(0.0, 100.0)
some_problems = st.builds(
    lambda kind, start, length, text: Problem(kind, start, start + length, text, 0.5, 0, len(text)),
    st.sampled_from(ProblemKind),
    seconds,
    seconds,
    texts,
)
checks = st.builds(
    TakeCheck,
    verdict=st.sampled_from(Verdict),
    problems=st.lists(some_problems, max_size=2).map(tuple),
    similarity=st.none() | st.floats(-1.0, 1.0),
    word_error_rate=st.none() | st.floats(0.0, 2.0),
    words=st.lists(
        st.builds(lambda text, start: WordTime(text, start, start + 0.5, 0, 1), texts, seconds), max_size=2
    ).map(tuple),
    recognizer=st.sampled_from(["", "embedded-en"]),
    error_code=st.sampled_from(["", "recognizer-died"]),
    is_accepted=st.booleans(),
)


def draw_take(draw: st.DrawFn, script: Script, line_id: str) -> Take:
    number = max((take.number for take in script.takes_of(line_id)), default=0) + 1
    return Take(
        id=new_id(),
        line_id=line_id,
        number=number,
        created=datetime.now(UTC),
        audio_seconds=draw(st.floats(0.1, 100.0)),
        sample_rate=RATE,
        parameters=parameters(
            sampling=draw(samplings), style=draw(styles), engine={"flow": "torch"}, odd_length=draw(odd_lengths)
        ),
        is_kept=draw(st.booleans()),
        is_complete=draw(st.booleans()),
        first_audio_seconds=draw(st.none() | st.floats(0.0, 9.0)),
        num_underruns=draw(st.none() | st.integers(0, 9)),
        check=draw(st.none() | checks),
        retry_of=draw(st.none() | st.just("first")),
    )


@st.composite
def changes(draw: st.DrawFn, script: Script, depth: int = 0) -> Change:
    """Draw a change that is valid for ``script``."""
    line_ids = [line.id for line in script.lines]
    take_ids = sorted(script.line_of_take)
    kinds = ["insert", "dictionary", "rename"]
    kinds += ["remove", "edit", "move", "reorder", "add take"] * bool(line_ids) + [
        "choose take",
        "remove takes",
        "keep takes",
        "check takes",
        "accept takes",
    ] * bool(take_ids)
    kinds += ["composite"] * (depth == 0)
    match draw(st.sampled_from(kinds)):
        case "insert":
            return InsertLines(draw(st.integers(0, len(line_ids))), tuple(draw(some_lines)))
        case "dictionary":
            return EditDictionary(draw(dictionaries))
        case "rename":
            return RenameProject(draw(texts))
        case "remove":
            return RemoveLines(tuple(draw(subsets(line_ids))))
        case "edit":
            return EditLines({line_id: draw(edits) for line_id in draw(subsets(line_ids))})
        case "move":
            return MoveLines(tuple(draw(subsets(line_ids))), draw(st.integers(0, len(line_ids))))
        case "reorder":
            return ReorderLines(tuple(draw(st.permutations(line_ids))))
        case "add take":
            line_id = draw(st.sampled_from(line_ids))
            return AddTake(draw_take(draw, script, line_id), is_chosen=draw(st.booleans()))
        case "choose take":
            take_id = draw(st.sampled_from(take_ids))
            return ChooseTake(script.line_of_take[take_id], draw(st.sampled_from([take_id, None])))
        case "remove takes":
            return RemoveTakes(tuple(draw(subsets(take_ids))))
        case "check takes":
            return SetTakeChecks({take_id: draw(st.none() | checks) for take_id in draw(subsets(take_ids))})
        case "accept takes":
            ids = [take_id for take_id in take_ids if script.take(take_id).check is not None]
            return AcceptTakes({take_id: draw(st.booleans()) for take_id in ids})
        case "keep takes":
            return EditTakes({take_id: {"is_kept": draw(st.booleans())} for take_id in draw(subsets(take_ids))})
    parts: list[Change] = []
    for _ in range(draw(st.integers(0, 3))):
        change = draw(changes(script, depth=1))
        script, _ = change.apply(script)
        parts.append(change)
    return CompositeChange(tuple(parts))


def subsets(ids: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(ids), unique=True, min_size=1)
