"""Properties that hold for any text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.errors import NothingToSpeak, StyleNotSupported
from studio.text.segmentation import Pause, Sentence, prepare_text
from studio.text.split import IncrementalSplitter
from studio.text.tags import find_marks
from studio.text.tokenizer import COSYVOICE1_TEXT, COSYVOICE3_TEXT, PromptForm, TextTokenizer

LANGUAGES = ["<|zh|>", "<|ja|>", "<|jp|>", "<|yue|>"]
TAGS = ["[breath]", "[laughter]", "<strong>", "</strong>", "[j][ǐ]", "[W][AY1][N][D]"]
_BITS = [
    *TAGS, *LANGUAGES, "[pause 1]", "<|endofprompt|>", "<|im_start|>", "<|startoftranscript|>", "<|0.00|>", "Dr. ", "U.S. ", "3.14", "$1,234.56", "1-3", "2024-05-01",
    "10:30", " hello", " the", " May ", "\n", "\n\n", "\r\n", "。", "！", "，", "、", "……", "——", "（", "）", "【", '"',
    "'", "”", "“", ".", "!", "?", ",", ";", ":", " ", "  ", "你好", "第", "章", "个", "年", "5", "12", "1998", "%", "~",
    "-", "–", "@", "#", "&", "*", "_", "/", "\\", "|", "^", "`", "=", "+", "<", ">", "[", "]", "{", "}", "😀", "\u200b",
    "\x00", "\ud800", "e\u0301", "カナ", "안녕", "Привет", "½", "²", "①", "㎡", "°", "€", "\ue000", "a" * 40, "好" * 40,
    "v2.5.1", "1st", "5kg", "+86 13800138000",
]  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(_BITS), max_size=40).map("".join),
    st.text(st.characters(exclude_categories=()), max_size=80),
)
Reading = tuple[PromptForm, TextTokenizer]
_few = settings(max_examples=120)


@pytest.fixture(params=["cosyvoice1", "cosyvoice3"])
def reading(request: pytest.FixtureRequest) -> Reading:
    if request.param == "cosyvoice1":
        return COSYVOICE1_TEXT, request.getfixturevalue("whisper_tokenizer")
    return COSYVOICE3_TEXT, request.getfixturevalue("tokenizer3")


@pytest.mark.slow
@_few
@given(text=texts, normalize=st.booleans())
def test_any_text_becomes_sentences_or_a_known_error(text: str, normalize: bool, reading: Reading) -> None:
    """Of the control tokens, only the languages of CosyVoice-300M can be typed."""
    form, tokenizer = reading
    try:
        items = prepare_text(text, form=form, tokenizer=tokenizer, normalize=normalize)
    except (NothingToSpeak, StyleNotSupported):
        return
    assert "".join(item.written for item in items) == text
    allowed = {tokenizer.special_ids[language] for language in form.tags.languages}
    control_ids = {token_id for token, token_id in tokenizer.special_ids.items() if token.startswith("<|")} - allowed
    for item in items:
        if isinstance(item, Sentence):
            assert item.text_tokens
            assert not control_ids & set(item.text_tokens)


@_few
@given(bits=st.lists(st.sampled_from([*TAGS, "你好", " hello ", "5", "。", ". ", "，"]), min_size=1, max_size=30))
def test_tags_survive_in_order(bits: list[str], tokenizer3: TextTokenizer) -> None:
    text = "好" + "".join(bits) + "好"
    items = prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=tokenizer3)
    expected = [tokenizer3.special_ids[mark.token] for mark in find_marks(text, COSYVOICE3_TEXT.tags)]
    special_ids = set(tokenizer3.special_ids.values())
    spoken = [token for item in items if isinstance(item, Sentence) for token in item.text_tokens]
    assert [token for token in spoken if token in special_ids] == expected


@pytest.mark.slow
@_few
@given(bits=st.lists(st.sampled_from([*LANGUAGES, "你好", " hello ", "5", "。", ". ", "，"]), min_size=1, max_size=30))
def test_languages_survive_in_order(bits: list[str], whisper_tokenizer: TextTokenizer) -> None:
    items = prepare_text("好" + "".join(bits) + "好", form=COSYVOICE1_TEXT, tokenizer=whisper_tokenizer)
    special_ids = set(whisper_tokenizer.special_ids.values())
    spoken = [token for item in items if isinstance(item, Sentence) for token in item.text_tokens]
    expected = [whisper_tokenizer.special_ids[bit] for bit in bits if bit in LANGUAGES]
    assert [token for token in spoken if token in special_ids] == expected


@_few
@given(text=texts, cuts=st.lists(st.integers(0, 200), max_size=20))
def test_incremental_splitter_returns_all_its_input(text: str, cuts: list[int]) -> None:
    splitter = IncrementalSplitter(COSYVOICE3_TEXT.tags)
    borders = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    returned = [part for start, end in pairwise(borders) for part in splitter.feed(text[start:end])]
    returned += splitter.finish()
    assert "".join("".join(returned).split()) == "".join(text.split())
    assert all(returned)


@pytest.mark.slow
@_few
@given(text=texts)
def test_pauses_are_never_spoken(text: str, reading: Reading) -> None:
    form, tokenizer = reading
    items = prepare_text(f"hello [pause 2]{text.replace('[', '')}[pause 3] you", form=form, tokenizer=tokenizer)
    assert [item.seconds for item in items if isinstance(item, Pause)] == [2.0, 3.0]
    assert not any("pause 2" in item.spoken or "pause 3" in item.spoken for item in items if isinstance(item, Sentence))
