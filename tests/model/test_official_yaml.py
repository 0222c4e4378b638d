"""The official yaml is read as data. Tags are not executed, and wrong values are reported."""

from pathlib import Path

import pytest

from studio.errors import BadModelSettings, MissingModelFile
from studio.model.official_yaml import Document


def document(folder: Path, text: str) -> Document:
    path = folder / "cosyvoice3.yaml"
    path.write_text(text, "utf-8")
    return Document(path)


def test_tags_are_never_executed(tmp_path: Path) -> None:
    proof = tmp_path / "executed"
    doc = document(
        tmp_path,
        f"a: !apply:os.mkdir ['{proof}']\nb: !new:subprocess.Popen\n  args: ['touch', '{proof}']\n",
    )
    assert not proof.exists()
    assert doc.root.class_name("b") == "Popen"


def test_python_tag_is_refused_with_an_error_message(tmp_path: Path) -> None:
    with pytest.raises(BadModelSettings, match="not readable"):
        document(tmp_path, "c: !!python/object/apply:os.getcwd []\n")
    assert BadModelSettings.code == "bad-model-settings"


def test_references_and_products_are_resolved(tmp_path: Path) -> None:
    doc = document(tmp_path, "chunk: 25\nratio: 2\nother: !ref <chunk>\nframes: !ref <other> * <ratio>\n")
    assert doc.root.integer("frames") == 50


@pytest.mark.parametrize("arithmetic", ["<chunk> + 1", "<missing>", "chunk", "<chunk> * 2", "<loop>"])
def test_other_arithmetic_is_refused(tmp_path: Path, arithmetic: str) -> None:
    doc = document(tmp_path, f"chunk: 25\nloop: !ref <loop>\nvalue: !ref {arithmetic}\n")
    with pytest.raises(BadModelSettings, match="value"):
        doc.root.integer("value")


@pytest.mark.parametrize("value", ["-3", "0", "1e-06", "true", "[1]", "99999999", "abc", ".nan"])
def test_integers_out_of_range_are_refused(tmp_path: Path, value: str) -> None:
    doc = document(tmp_path, f"llm: !new:x.Y\n  size: {value}\n")
    with pytest.raises(BadModelSettings, match=r"llm\.size"):
        doc.root.section("llm").integer("size")


def test_a_missing_value_is_named_with_its_path(tmp_path: Path) -> None:
    doc = document(tmp_path, "flow: !new:x.Y\n  decoder: !new:x.Z\n    a: 1\n")
    with pytest.raises(BadModelSettings, match=r"flow\.decoder\.b"):
        doc.root.section("flow").section("decoder").integer("b")


@pytest.mark.parametrize("text", ["", "- 1\n", "a: [", "\x00", "a: &x [*x, *x]\nb: {"])
def test_file_without_settings_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadModelSettings):
        document(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingModelFile, match=r"cosyvoice3\.yaml"):
        Document(tmp_path / "cosyvoice3.yaml")
