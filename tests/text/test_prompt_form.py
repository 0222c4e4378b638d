"""Prompt text of each generation, compared with the official front end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from official_faults import is_damaged, without_stray_backslashes
from safetensors.numpy import load_file

from studio.text.segmentation import Sentence, prepare_text
from studio.text.spoken import spoken_transcript
from studio.text.tags import END_OF_PROMPT, TagSupport
from studio.text.tokenizer import PromptForm, TextTokenizer

PREAMBLE = "You are a helpful assistant."


@pytest.fixture
def arrays(reference: Path, family: str) -> dict[str, Any]:
    return load_file(reference / family / "golden" / "frontend.safetensors")


def _official(arrays: dict[str, Any], mode: str, field: str) -> tuple[int, ...]:
    found = arrays.get(f"model_input/{mode}/{field}")
    return () if found is None else tuple(found.flatten().tolist())


def _text(text: str, form: PromptForm, tokenizer: TextTokenizer) -> tuple[int, ...]:
    (sentence,) = prepare_text(text, form=form, tokenizer=tokenizer)
    assert isinstance(sentence, Sentence)
    return sentence.text_tokens


@pytest.mark.reference
@pytest.mark.parametrize("mode", ["zero_shot", "zero_shot_b"])
def test_zero_shot(
    mode: str, form: PromptForm, tokenizer: TextTokenizer, golden: dict[str, Any], arrays: dict[str, Any]
) -> None:
    strings = golden["model_input"][mode]
    transcript = strings["prompt_text"].removeprefix(PREAMBLE + END_OF_PROMPT)
    assert form.zero_shot(transcript, tokenizer) == _official(arrays, mode, "prompt_text")
    assert _text(strings["tts_text"], form, tokenizer) == _official(arrays, mode, "text")


@pytest.mark.reference
def test_cross_lingual_gives_the_official_sequence_with_the_prefix_in_the_prompt(
    form: PromptForm, tokenizer: TextTokenizer, golden: dict[str, Any], arrays: dict[str, Any]
) -> None:
    """Specification J2, row 10: prompt and text together equal the official input."""
    text = golden["model_input"]["cross_lingual"]["tts_text"].removeprefix(PREAMBLE + END_OF_PROMPT)
    official = _official(arrays, "cross_lingual", "prompt_text") + _official(arrays, "cross_lingual", "text")
    assert form.cross_lingual(tokenizer) + _text(text, form, tokenizer) == official


@pytest.mark.reference
def test_instruct(form: PromptForm, tokenizer: TextTokenizer, golden: dict[str, Any], arrays: dict[str, Any]) -> None:
    strings = golden["model_input"]["instruct2"]
    instruction = strings["instruct_text"].removeprefix(PREAMBLE + " ").removesuffix(END_OF_PROMPT)
    assert form.instruct(instruction, tokenizer) == _official(arrays, "instruct2", "prompt_text")
    assert _text(strings["tts_text"], form, tokenizer) == _official(arrays, "instruct2", "text")


def test_empty_instruction_adds_no_space(form3: PromptForm, tokenizer3: TextTokenizer) -> None:
    assert form3.instruct("", tokenizer3) == tokenizer3.encode(PREAMBLE + END_OF_PROMPT, allow_special=True)
    assert form3.instruct(" \n", tokenizer3) == form3.cross_lingual(tokenizer3)


def test_pasted_preamble_and_end_token_are_not_repeated(form3: PromptForm, tokenizer3: TextTokenizer) -> None:
    pasted = f"{PREAMBLE} 请用四川话表达。{END_OF_PROMPT}"
    assert form3.instruct(pasted, tokenizer3) == form3.instruct("请用四川话表达。", tokenizer3)
    assert form3.zero_shot(f"{PREAMBLE}{END_OF_PROMPT}你好。", tokenizer3) == form3.zero_shot("你好。", tokenizer3)


def test_instruction_cannot_contain_control_tokens(form: PromptForm, tokenizer: TextTokenizer) -> None:
    ids = form.instruct("a<|endofprompt|>b<|im_start|>c[breath]", tokenizer)
    assert [token for token in ids if token in set(tokenizer.special_ids.values())] == [
        tokenizer.special_ids[END_OF_PROMPT]
    ]
    assert ids[-1] == tokenizer.special_ids[END_OF_PROMPT]


def test_a_transcript_is_normalised_but_never_split(form: PromptForm, tokenizer: TextTokenizer) -> None:
    long = "他在2024年写了3本书，" * 40
    spoken = "".join(part.text for part in spoken_transcript(long, form.tags))
    assert spoken == "他在二零二四年写了三本书，" * 39 + "他在二零二四年写了三本书。"


def test_lines_of_a_transcript_end_like_sentences_except_the_last(form: PromptForm) -> None:
    def spoken(text: str, *, normalize: bool = True) -> str:
        return "".join(part.text for part in spoken_transcript(text, form.tags, normalize=normalize))

    assert spoken("Chapter 1\nIt was a dark") == "Chapter one. It was a dark"
    assert spoken("第1章\n天黑了") == "第一章。天黑了"
    assert spoken("as is 5,", normalize=False) == "as is 5,"


@pytest.mark.reference
def test_official_unsplit_texts(form: PromptForm, golden: dict[str, Any]) -> None:
    """Transcripts equal those of the official program, except where it damages them."""
    texts = [
        entry
        for entry in golden["text_normalize"]
        if not entry["split"] and entry["normalizer"] == "wetext" and not is_damaged(entry["text"])
    ]
    assert {entry["text"].isascii() for entry in texts} == {True, False}
    for entry in texts:
        spoken = "".join(part.text for part in spoken_transcript(entry["text"], form.tags))
        assert spoken == without_stray_backslashes(entry["result"])


def test_every_tag_has_a_token_and_a_grade(form: PromptForm) -> None:
    tokens = set(form.special_tokens)
    for tag in form.tags.inline:
        assert tag.text in tokens
        assert tag.closing is None or tag.closing in tokens
    assert form.tags.phones <= tokens
    shipped = {tag.text for tag in form.tags.inline if tag.grade is TagSupport.SHIPPED}
    assert {"[breath]", "<strong>"} <= shipped
