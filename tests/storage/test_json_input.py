"""Reading any input as JSON gives a value that can be encoded again, or raises ValueError."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import studio
from studio.storage.json_input import parse_json, read_json

HOSTILE = [
    b"",
    b"{",
    b"\xff\xfe{}",
    b"[" * 200_000,
    b"[" * 200_000 + b"]" * 200_000,
    b'{"a":' * 100 + b"1" + b"}" * 100,
    b'"\\ud800"',
    b'{"\\uDFFF": 1}',
    b'["\xed\xa0\x80"]',
    b"1e999",
    b"[-1e999]",
    b"NaN",
    b"Infinity",
    b"9" * 5000,
]


@pytest.mark.parametrize("content", HOSTILE, ids=lambda content: repr(content[:16]))
def test_malformed_json_raises_value_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(ValueError):  # noqa: PT011 - any message
        read_json(path)
    with pytest.raises(ValueError):  # noqa: PT011
        parse_json(content)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_and_a_folder_raise_os_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "missing"):
        with pytest.raises(OSError):  # noqa: PT011
            read_json(tmp_path / name)


def test_escaped_pairs_of_surrogates_and_a_byte_order_mark_are_read() -> None:
    assert parse_json('["\\ud83d\\ude00"]') == ["\N{GRINNING FACE}"]
    assert parse_json(b"\xef\xbb\xbf[1.5]") == [1.5]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(values)
def test_encoding_and_parsing_round_trips(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


def test_no_module_reads_json_in_another_way() -> None:
    folder = Path(studio.__file__).parent
    others = [
        path.name
        for path in folder.rglob("*.py")
        if path.name != "json_input.py"
        and re.search(r"json\.load|(?<!parse_json\(reader)\.json\(\)", path.read_text("utf-8"))
    ]
    assert others == []
