"""Messages keep template and facts apart until they are shown."""

from __future__ import annotations

import errno
import pickle
from pathlib import Path

import numpy as np
import pytest

from studio.errors import CannotWrite, UnreadableScript, from_record
from studio.messages import Message, did_you_mean, listed, message, printable


def test_facts_are_filled_in() -> None:
    said = message(
        "{file} lasts {seconds:.1f} s, {length:,} samples.", file="a.wav", seconds=np.float32(2), length=2000
    )
    assert str(said) == "a.wav lasts 2.0 s, 2,000 samples."


def test_a_fact_is_not_parsed_as_a_template() -> None:
    assert str(message("{path} is a folder.", path=Path("{path}{x}"))) == "{path}{x} is a folder."


def test_braces_without_a_fact_are_kept() -> None:
    assert str(message("Close every { with a }, as in {{field}:20}.", field="text")) == (
        "Close every { with a }, as in {text:20}."
    )


def test_nested_messages_are_translated() -> None:
    chinese = {
        "There is no voice {name}.{did_you_mean}": "没有声音 {name}。{did_you_mean}",
        " Did you mean {names}?": "是 {names}？",
    }
    said = message("There is no voice {name}.{did_you_mean}", name="Ana", did_you_mean=did_you_mean(["Anna"]))
    assert said.text(lambda template: chinese.get(template, template)) == "没有声音 Ana。是 Anna？"
    assert str(said) == "There is no voice Ana. Did you mean Anna?"


def test_did_you_mean() -> None:
    assert did_you_mean([]) == ""
    assert str(did_you_mean(["a", "b", "c"])) == " Did you mean a, b or c?"


def test_names_are_joined_with_the_comma_of_the_language() -> None:
    chinese = {", ": "、", "{before}; {after}": "{before}；{after}", "missing: {names}": "缺少：{names}"}
    said = message("missing: {names}", names=["a.wav", Path("b.wav")])
    assert str(said) == "missing: a.wav, b.wav"
    assert said.text(lambda template: chinese.get(template, template)) == "缺少：a.wav、b.wav"
    assert listed([said, said]).text(lambda template: chinese.get(template, template)) == (
        "缺少：a.wav、b.wav；缺少：a.wav、b.wav"
    )


def test_listed_parts() -> None:
    assert str(listed([message("missing: {names}", names="a"), Message("late")])) == "missing: a; late"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "permission denied"),
        (OSError(errno.EACCES, "the owner is away"), "the owner is away"),
        (OSError("no number at all"), "no number at all"),
        (ValueError("nonsense"), "nonsense"),
        (KeyError(), "KeyError"),
    ],
)
def test_reasons_of_system_errors(error: Exception, said: str) -> None:
    assert str(message("({reason})", reason=error)) == f"({said})"


def test_an_error_as_a_fact_includes_its_remedy() -> None:
    inner = CannotWrite("{path} is write-protected.", remedy="Choose another name.", path="a")
    outer = UnreadableScript("Row {number}: {reason}", number=3, reason=inner)
    assert str(outer) == "Row 3: a is write-protected. Choose another name."
    assert outer.problem.facts["reason"] == inner.message


def test_an_error_can_be_pickled_with_its_facts() -> None:
    error = CannotWrite("{path} cannot be written.", remedy="Look at {path}.", path=Path("a") / "b")
    copy = from_record(pickle.loads(pickle.dumps(error.to_record())))
    assert type(copy) is CannotWrite
    assert (copy.problem, copy.remedy) == (error.problem, error.remedy)
    assert copy.problem.text(lambda template: template.upper().replace("{PATH}", "{path}")) == (
        f"{Path('a') / 'b'} CANNOT BE WRITTEN."
    )


def test_printable_text_is_one_line_without_control_characters() -> None:
    assert printable("a\nb \u202e.wav\x1b[2J\x9b\udcff") == "a\\nb \\u202e.wav\\x1b[2J\\x9b\\udcff"
    assert printable("音色 é \N{GRINNING FACE} א") == "音色 é \N{GRINNING FACE} א"
