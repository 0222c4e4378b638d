"""Properties of cleaning and normalisation that hold for any text in any language."""

from __future__ import annotations

import random
import re
import sys

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.text import chinese, cleaning, english, english_dates
from studio.text.chinese import normalize_chinese
from studio.text.cleaning import clean
from studio.text.english import normalize_english
from studio.text.language import Language
from studio.text.normalize import normalize
from studio.text.rules import apply_rules, rewrite
from studio.text.tags import TagSet

_BITS = [
    "<b>", "</b>", "<br/>", "<i class='x'>", "&amp;", "&lt;", "<|endofprompt|>", "<|im_start|>", "[12]", "**", "__", "# ",
    "====", "`", "😀", "$12.50", "€3,50", "7 - 2 = 5", "12/25", "14/3/24", "10:30", "5 km", "60 km/h", "19th", "3-2",
    "100k", "2x", "25%", "±5", "v2.5.1", "192.168.1.1", "IV", "No. ", "\n", " ", ". ", ", ", "(", ")", "“", "”", "—",
    "1,234", "0.5", "-7", "10⁸", "½", "№", "#5", "٣", "~", "00", "1e5", "1990s", "'90s", "6'2\"", "¥1999元",
]  # fmt: skip
_WORDS = ["harbour", "quiet", "lantern", "morning", "window", "garden", "purple", "summer"]
LANGUAGES = st.sampled_from(list(Language))
_mixed = st.lists(st.sampled_from([*_BITS, *_WORDS, "好", "天", "안녕", "Привет", "カナ"]), max_size=25).map(" ".join)
_any_text = st.one_of(_mixed, st.text(st.characters(exclude_categories=()), max_size=120))
_few = settings(max_examples=150, deadline=None)


def read(text: str, language: Language) -> str:
    return normalize(clean(text).text, language).text


@_few
@given(text=_any_text, language=LANGUAGES)
def test_no_digit_markup_or_special_token_survives(text: str, language: Language) -> None:
    spoken = read(text, language)
    assert not re.search(r"[0-9<>|{}\\^*_#=~`]", spoken), spoken


@_few
@given(text=_any_text, language=LANGUAGES)
def test_normalising_twice_changes_nothing(text: str, language: Language) -> None:
    spoken = read(text, language).strip()
    assert read(spoken, language).strip() == spoken


@_few
@given(bits=st.lists(st.sampled_from([*_BITS, *_WORDS]), max_size=25), language=LANGUAGES)
def test_words_are_not_lost(bits: list[str], language: Language) -> None:
    spoken = read(" ".join(bits), language)
    for word in _WORDS:
        assert spoken.count(word) == bits.count(word), word


_ENGLISH = (*english._SIGNS, *english.NAMES, *english._numbers_and_signs(day_first=False))
# All words and abbreviations that occur in the rules.
_RULE_WORDS = sorted(set(regex.findall(r"(?<![\\\p{L}])\p{L}{2,}\p{L}*", " ".join(rule.pattern for rule in _ENGLISH))))


@pytest.mark.parametrize("form", ["{0}", "{0}.", "a {0}. House", "House {0}, so", "{0}-{1}", "{0} {1}", "{0}, {1}."])
def test_texts_without_numbers_need_no_rules_of_numbers(form: str) -> None:
    draw = random.Random(9)
    pairs = [(word, word) for word in _RULE_WORDS]
    pairs += [(draw.choice(_RULE_WORDS), draw.choice(_RULE_WORDS)) for _ in range(1000)]
    pairs += [(first, second) for first in english_dates._SHORT_DAYS for second in english_dates._SHORT_DAYS]
    for pair in pairs:
        text = form.format(*pair)
        assert normalize_english(text, []) == english._BLANKS.sub(" ", apply_rules(text, _ENGLISH, [])), text


@_few
@given(text=st.text(alphabet="港口很安静。，！？、；：“”《》…—一百", max_size=30))
def test_chinese_texts_without_numbers_need_no_rules(text: str) -> None:
    assert normalize_chinese(text, []) == chinese._DASH.sub(
        " ", chinese.drop_blanks(apply_rules(text, chinese._RULES, []))
    )


@_few
@given(text=st.text(alphabet="港口，。！？aXxDbn0129 ,.!?'\"", max_size=30))
def test_a_clean_text_stays(text: str) -> None:
    assert clean(text).text == rewrite(text, cleaning._table(TagSet(), None)).text


def _num_calls(text: str, language: Language) -> int:
    """Return how many functions are called while ``text`` is read, those in C included."""
    num_calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal num_calls
        num_calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        read(text, language)
    finally:
        sys.setprofile(None)
    return num_calls


@pytest.mark.parametrize("language", Language)
def test_work_grows_with_the_length_of_dense_numbers(language: Language) -> None:
    draw = random.Random(31)
    for mark in (" ", "-", ",", ".", "/", ":", " $", "x", "(", "=", "%"):
        numbers = [str(draw.randrange(10 ** draw.randrange(1, 12))) for _ in range(20)]
        read(mark.join(reversed(numbers)), language)  # compiles the rules; texts that were read are cached
        once, four_times = (_num_calls(mark.join(numbers * times), language) for times in (1, 4))
        assert four_times < 6 * once, mark


@pytest.mark.slow
@pytest.mark.timeout(120)  # of rules that look back and ahead without limit it takes many minutes
@pytest.mark.parametrize("language", Language)
def test_long_texts_without_sense_are_read(language: Language) -> None:
    draw = random.Random(31)
    read("".join(chr(draw.randrange(sys.maxunicode + 1)) for _ in range(20_000)), language)
    for alphabet in ("0123456789", "0123456789,.", "(1 ", "ab-", "<a ", "一二三"):
        read("".join(draw.choice(alphabet) for _ in range(5_000)), language)
