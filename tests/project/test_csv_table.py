"""Cells of CSV tables are never formulas, and are read again as they were."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.project.csv_table import csv_table
from studio.project.importing.tables import read_csv

FORMULAS = ['=HYPERLINK("http://evil")', "@SUM(1)", "+1+cmd|' /C calc'!A0", "-2+3", "-Hello", "\t=1", "--1+cmd|x"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text(text: str) -> None:
    ((cell,),) = csv.reader(io.StringIO(csv_table([[text]]), newline=""))
    assert cell == f"'{text}"


@pytest.mark.parametrize("text", ["- Hello", "-- no", "–", "-19.20", "+49 171 123", "'tis", "a=b", "", "-"])
def test_other_texts_are_written_as_they_are(text: str) -> None:
    ((cell, _),) = csv.reader(io.StringIO(csv_table([[text, 1]]), newline=""))
    assert cell == text


@given(st.text(st.sampled_from("='@+-\t a1.|"), min_size=1).filter(str.strip))
def test_cells_are_read_as_they_were(text: str) -> None:
    (row,) = read_csv(csv_table([["id", "text"], ["1", text]]), "a.csv").rows
    assert row[1].strip() == text.strip()
