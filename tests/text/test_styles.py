"""Lists of styles: the strings used in training, found by any of their names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from studio import paths
from studio.errors import DamagedModelFile, MissingModelFile, UnknownPreset
from studio.text.styles import load_styles
from studio.text.tokenizer import COSYVOICE1_TEXT, PromptForm

# The official list of Fun-CosyVoice3 (specification B7), byte for byte.
OFFICIAL3 = {
    *(f"请用{dialect}表达。" for dialect in ["广东话", "东北话", "甘肃话", "贵州话", "河南话", "湖北话", "湖南话", "江西话", "闽南话", "宁夏话", "山西话", "陕西话", "山东话", "上海话", "四川话", "天津话", "云南话"]),
    "Please say a sentence as loudly as possible.",
    "Please say a sentence in a very soft voice.",
    "请用尽可能慢地语速说一句话。",
    "请用尽可能快地语速说一句话。",
    "请非常开心地说一句话。",
    "请非常伤心地说一句话。",
    "请非常生气地说一句话。",
    "我想体验一下小猪佩奇风格，可以吗？",
    "你可以尝试用机器人的方式解答吗？",
}  # fmt: skip


def test_cosyvoice3_has_the_official_list_and_nothing_else() -> None:
    presets = load_styles("cosyvoice3").presets
    assert {preset.instruction for preset in presets} == OFFICIAL3
    assert {preset.grade for preset in presets} == {"A"}


def test_cosyvoice2_strings() -> None:
    styles = load_styles("cosyvoice2")
    assert styles.preset("v2.dialect.sichuan").instruction == "用四川话说这句话"
    assert styles.preset("emotion.happy").instruction == "用开心的语气说"
    assert styles.preset("emotion.fear").instruction == "用恐惧的情感表达"
    assert styles.preset("speed.very_slow").instruction == "非常慢速"
    assert styles.preset("role.robot").instruction == "模仿机器人风格"


def test_lists_are_consistent(family: str, form: PromptForm) -> None:
    styles = load_styles(family)
    prefix = "v" + family[-1]
    assert len({preset.id for preset in styles.presets}) == len(styles.presets)
    for preset in styles.presets:
        assert preset.id == f"{prefix}.{preset.family}"
        assert preset.grade in ("A", "B", "C")
        assert preset.label_zh
        assert preset.label_en
        assert "<|" not in preset.instruction
        assert "佩奇" not in preset.label_zh, "a label contains no brand"
        if preset.family.startswith("dialect."):
            assert "dialect" in preset.note
    assert {(label.tag, label.grade) for label in styles.tags} == {(tag.text, tag.grade) for tag in form.tags.inline}


def test_a_preset_is_found_by_id_family_or_the_id_of_another_generation() -> None:
    styles = load_styles("cosyvoice3")
    assert styles.preset("v3.dialect.sichuan") is styles.preset("dialect.sichuan")
    assert styles.preset("v2.dialect.sichuan") is styles.preset(" Dialect.Sichuan ")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("dialect.sichaun", "dialect.sichuan"), ("sichuan", "dialect.sichuan"), ("v2.emotion.hapy", "emotion.happy")],
)
def test_error_for_an_unknown_preset_suggests_similar_names(wrong: str, meant: str) -> None:
    with pytest.raises(UnknownPreset, match=f"Did you mean .*{meant}") as caught:
        load_styles("cosyvoice3").preset(wrong)
    assert str(caught.value.remedy)


def test_unknown_preset_without_similar_names() -> None:
    with pytest.raises(UnknownPreset) as caught:
        load_styles("cosyvoice3").preset("zzz")
    assert "Did you mean" not in str(caught.value.problem)


def test_styles_of_the_model_folder_replace_the_default_list(tmp_path: Path) -> None:
    assert load_styles("cosyvoice3", tmp_path) == load_styles("cosyvoice3")
    shutil.copyfile(paths.resources() / "styles" / "cosyvoice2.json", tmp_path / "styles.json")
    assert load_styles("cosyvoice3", tmp_path) == load_styles("cosyvoice2")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "[" * 200_000, '{"presets": [{}]}', '{"presets": [[]]}', '{"presets": [], "tags": [{"tag": 1}]}',
     '{"presets": [], "tags": [{"tag": "x", "label_zh": "x", "label_en": "x", "grade": "best"}]}', "\udcff"],
)  # fmt: skip
def test_damaged_styles_file_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "styles.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(DamagedModelFile, match=r"styles\.json"):
        load_styles("cosyvoice3", tmp_path)


def test_a_note_must_be_text(tmp_path: Path) -> None:
    names = ("id", "family", "label_zh", "label_en", "instruction", "grade")
    preset = {**dict.fromkeys(names, "x"), "note": 5}
    (tmp_path / "styles.json").write_text(json.dumps({"presets": [preset]}))
    with pytest.raises(DamagedModelFile):
        load_styles("cosyvoice3", tmp_path)


def test_missing_list_of_a_generation_is_reported() -> None:
    with pytest.raises(MissingModelFile, match="cosyvoice9"):
        load_styles("cosyvoice9")


def test_only_the_instruct_model_of_the_first_generation_has_styles(tmp_path: Path) -> None:
    instruct = load_styles("cosyvoice1", tmp_path / "CosyVoice-300M-Instruct")
    assert {preset.id for preset in instruct.presets} >= {"v1.persona.rebel", "v1.emotion.happy"}
    assert {label.tag for label in instruct.tags} == {tag.text for tag in COSYVOICE1_TEXT.tags.inline}
    assert all("<|" not in preset.instruction for preset in instruct.presets)
    for name in ("CosyVoice-300M", "CosyVoice-300M-SFT"):
        styles = load_styles("cosyvoice1", tmp_path / name)
        assert (styles.presets, styles.tags) == ((), ())
