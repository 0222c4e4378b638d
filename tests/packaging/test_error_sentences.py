"""Every error message is extracted for translation."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_sentences import as_qt_source, sentences_in

CHECKOUT = Path(__file__).resolve().parents[2]


def found_in(folder: Path, code: str) -> tuple[list[str], list[str]]:
    (folder / "package").mkdir()
    (folder / "package" / "module.py").write_text(code, "utf-8")
    return sentences_in(folder / "package")


def test_sentences_remedies_and_their_parts_are_found(tmp_path: Path) -> None:
    code = """
_REMEDY = "Mend it."
raise DiskFull("{path} is full." if path else "It is full.", remedy=_REMEDY, path=path)
raise CannotWrite(message("{path} {what}.", what=message("is a folder")), remedy="Go.")
"""
    assert found_in(tmp_path, code) == (
        ["Go.", "It is full.", "Mend it.", "is a folder", "{path} is full."],
        [],
    )


def test_what_is_put_together_on_the_spot_is_a_fault(tmp_path: Path) -> None:
    code = """
raise DiskFull(f"{path} is full.")
raise DiskFull("Full", remedy="Buy " + name)
raise DiskFull("Full: %s" % path)
raise DiskFull(sentence)
raise type(error)(f"{path} is full.", remedy="Go.")
"""
    _, faults = found_in(tmp_path, code)
    assert [fault.split(" is not a literal template")[0] for fault in faults] == [
        "package/module.py:2: f'{path} is full.'",
        "package/module.py:3: 'Buy ' + name",
        "package/module.py:4: 'Full: %s' % path",
        "package/module.py:5: sentence",
        "package/module.py:6: f'{path} is full.'",
    ]


@pytest.mark.slow
def test_every_error_of_the_program_is_a_template() -> None:
    templates, faults = sentences_in(CHECKOUT / "studio")
    assert faults == []
    assert len(templates) > 300


def test_texts_are_quoted_for_lupdate() -> None:
    assert as_qt_source(['“{name}” is "odd".']) == 'QT_TRANSLATE_NOOP("Errors", "“{name}” is \\"odd\\".")\n'
