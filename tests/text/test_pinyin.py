"""Chinese in the phone tokens of the models, for vocabularies with respellings."""

from __future__ import annotations

from studio.text.pinyin import syllable_tokens, syllables_of_tokens, with_tone_mark
from studio.text.respellings import Respellings
from studio.text.segmentation import Sentence, prepare_text
from studio.text.tags import PHONES
from studio.text.tokenizer import COSYVOICE3_TEXT, TextTokenizer


def test_syllables_are_phones_of_the_models() -> None:
    assert syllable_tokens("hao3") == ("[h]", "[ǎo]")
    assert syllable_tokens("nü3") == ("[n]", "[ǚ]")
    assert syllable_tokens("lüe4") == ("[l]", "[vè]")
    assert syllable_tokens("ju2") == ("[j]", "[ú]")
    assert syllable_tokens("er2") == ("[ér]",)
    assert syllable_tokens("de5") == ("[d]", "[e]")


def test_tokens_are_syllables_without_tones() -> None:
    assert syllables_of_tokens("[zh][ǎng][d][à]") == ["zhang", "da"]
    assert syllables_of_tokens("[l][vè][n][ǚ][ér]") == ["lüe", "nü", "er"]
    assert syllables_of_tokens("[M][IY1][j][ú]") == ["ju"]


def test_a_tone_without_a_token_is_replaced() -> None:
    assert syllable_tokens("jie5") == ("[j]", "[iè]")


def test_tone_marks_are_on_the_main_vowel() -> None:
    written = {"hao3": "hǎo", "liu2": "liú", "gui4": "guì", "nü3": "nǚ", "de5": "de", "hng5": "hng", "x": "x"}
    assert {syllable: with_tone_mark(syllable) for syllable in written} == written


def test_an_interjection_without_a_vowel_has_no_phones() -> None:
    assert syllable_tokens("hng5") == ()
    assert syllable_tokens("x") == ()


def _tokenizer(respellings: Respellings | None) -> TextTokenizer:
    from tokenizers.pre_tokenizers import ByteLevel

    alphabet = sorted(ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(alphabet)}
    special = {token: len(alphabet) + number for number, token in enumerate(PHONES)}
    return TextTokenizer(vocabulary, [], special, respellings)


def test_chinese_is_pinyin_for_a_model_with_respellings_only() -> None:
    tokenizer = _tokenizer(Respellings({"ok": "KO"}))
    text = "OK，你好。"
    ids = tokenizer.encode_speech(text)
    special = [tokenizer.special_ids[token] for token in ("[n]", "[í]", "[h]", "[ǎo]")]
    assert list(ids) == [
        *tokenizer.encode("KO，", allow_special=False), *special, *tokenizer.encode("。", allow_special=False)
    ]  # fmt: skip
    assert "".join(tokenizer.pieces(text, ids)) == text
    plain = _tokenizer(None)
    assert plain.encode_speech(text) == plain.encode(text, allow_special=False)


def test_typed_tags_stay_text_beside_chinese() -> None:
    tokenizer = _tokenizer(Respellings({}))
    assert tokenizer.special_ids["[B]"] not in tokenizer.encode_speech("[B]好")


def test_long_sentences_are_divided_by_their_tokens() -> None:
    text = "那天傍晚我们沿着河边慢慢走回家，天上的云被夕阳照得通红，远处传来孩子们的笑声，" * 2 + "谁也不想说话。"
    items = prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=_tokenizer(Respellings({})))
    assert "".join(item.written for item in items) == text
    sentences = [item for item in items if isinstance(item, Sentence)]
    assert len(sentences) == 2
    assert all(len(sentence.written) < 55 for sentence in sentences)
    assert len(prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=_tokenizer(None))) == 1
