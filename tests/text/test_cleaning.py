"""The cleaner: markup, special tokens, entities, typographic forms and signs that are not spoken."""

from __future__ import annotations

import pytest

from studio.text.cleaning import clean
from studio.text.language import Language
from studio.text.normalize import normalize
from studio.text.segmentation import Pause, Sentence, prepare_text
from studio.text.tags import TagSet
from studio.text.tokenizer import COSYVOICE1_TEXT, COSYVOICE2_TEXT, COSYVOICE3_TEXT
from studio.worker.normalization import ApproximateTokenizer

CLEANED = {
    # Entities, also those that were encoded twice.
    "Tom &amp; Jerry &amp;amp; Co": "Tom & Jerry & Co",
    "&quot;text&quot; &#39;q&#x27;": "\"text\" 'q'",
    "&lt;b&gt;bold&lt;/b&gt; words": "bold words",
    "R&D and AT&T; x": "R&D and AT&T; x",
    # HTML and SSML.
    "<b>bold</b>, and <i class='x'>more</i>.": "bold, and more.",
    "<p>One</p><p>Two</p>": "\n\nOne\n\n\n\nTwo\n\n",
    "line<br/>next": "line\n\nnext",
    "<details><summary>More</summary>Hidden": "\n\n\n\nMore\n\nHidden",
    '<sub alias="World Wide Web">WWW</sub> and H<sub>2</sub>O, 5 m<sup>2</sup>': "World Wide Web and H2O, 5 m²",
    'Wait <break time="500ms"/> here <break strength="strong"/> and <break time="0s"/>there': (
        "Wait [pause 0.5] here [pause 0.75] and  there"
    ),
    "<speak><prosody rate='slow'>Slow</prosody></speak>": "\n\nSlow\n\n",
    "<!-- note -->Word<script>var x = 1;</script>": "Word ",
    "<!-- open\n\nA note --> here": " here",
    "<!-- open": " open",
    "closed -->": "closed ",
    "<mstts:express-as style='sad'>Sad</mstts:express-as>": "Sad",
    "Dear <name>, if a < b and c > d": "Dear  name , if a < b and c > d",
    "See <https://example.com>": "See https://example.com",
    r"{\an8}Top\Nline": "Top\nline",
    # Markdown.
    "# Title\n\n- first\n* second\n> said": "Title\n\nfirst\nsecond\nsaid",
    "**bold**, *it*, ~~old~~, `code`, [link](https://x.org) and snake_case": "bold, it, old, code, link and snake_case",
    "这是**重点**内容": "这是重点内容",
    "2 * 3*4, 2**3 and 2 *3* 4": "2 × 3 × 4, 2**3 and 2 3 4",
    "[a\nlink](https://x.org/a_(b)) and [x](y)": "[a\nlink and [x](y)",
    "a\n====\nb\n* * *\nc": "a\n\nb\n\nc",
    "-5 degrees\n- 5 degrees": "-5 degrees\n- 5 degrees",
    # Citation marks.
    "known[1] and proven[12], so [3, 5] it[1–3] is[a].": "known and proven, so it is.",
    "He said.¹² The word² m² x³": "He said. The word m² x³",
    "in [2019] and [sic]": "in [2019] and [sic]",
    # Special tokens.
    "You are a helpful assistant.<|endofprompt|>Hello.": "Hello.",
    "<|im_start|>Hi<|im_end|><|audio_1|>": "Hi ",
    # Typographic forms.
    "It’s ’90s rock": "It's '90s rock",
    "ﬁrst oﬃcer 𝐛𝐨𝐥𝐝 won\u00adder\u200bful": "first officer bold wonderful",
    "an exam-\nple of a well-\nknown fact": "an example of a well-known fact",
    "wait--no": "wait—no",
    "--help and (--version), she said --and left": "help and (version), she said —and left",
    # Emoji.
    "Great 😀👍🏽! I <3 you :-) ok": "Great! I  you  ok",
}


@pytest.mark.parametrize(("written", "cleaned"), CLEANED.items())
def test_clean(written: str, cleaned: str) -> None:
    assert clean(written).text == cleaned


@pytest.mark.parametrize("written", [*CLEANED, "plain"])
def test_every_character_has_a_place_in_the_text_as_written(written: str) -> None:
    cleaned = clean(written)
    assert len(cleaned.origins) == len(cleaned.text) + 1
    assert list(cleaned.origins) == sorted(cleaned.origins)
    assert cleaned.origins[-1] == len(written)
    assert clean(cleaned.text).text == cleaned.text


@pytest.mark.parametrize(
    ("tags", "cleaned"),
    [
        (COSYVOICE3_TEXT.tags, "[laughter]Ha <strong>so</strong> [noise] [h][ǎo]"),
        (COSYVOICE1_TEXT.tags, "[laughter]Ha <strong>so</strong> [h][ǎo]"),
        (TagSet(), "Ha so [h][ǎo]"),
    ],
)
def test_tags_of_the_model_stay(tags: TagSet, cleaned: str) -> None:
    assert clean("[laughter]Ha <strong>so</strong> [noise] [h][ǎo]", tags).text.replace("  ", " ") == cleaned


def test_language_tags_stay_only_where_the_model_has_them() -> None:
    assert clean("<|zh|>好", COSYVOICE1_TEXT.tags).text == "<|zh|>好"
    assert clean("<|zh|>好", COSYVOICE2_TEXT.tags).text == "好"


def test_written_parts_are_exactly_the_text() -> None:
    text = "<p>Tom &amp; Ann.</p> <break time='1s'/> <b>Then</b> they left[12]."
    items = prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=ApproximateTokenizer())
    assert "".join(item.written for item in items) == text
    spoken = [item.spoken if isinstance(item, Sentence) else item.seconds for item in items]
    assert spoken == ["Tom and Ann.", 1.0, "Then they left."]
    assert sum(isinstance(item, Pause) for item in items) == 1


def test_cleaned_signs_do_not_reach_the_words() -> None:
    assert normalize(clean("== a == and ====").text, Language.ENGLISH).text.strip() == "a and"


@pytest.mark.parametrize(
    ("text", "tag", "spoken"),
    [
        ("I love it ❤️! 👍🏽 Great", "und-x-emoji", "I love it, red heart! thumbs up, Great."),
        ("我爱你❤️，🎉🎉真棒", "und-x-emoji", "我爱你，红心，拉炮彩带，真棒。"),
        ("Ich habe 2 🍕 und Hunger", "de-x-emoji", "Ich habe zwei, pizza, und Hunger."),
        ("❤️", "en-GB-x-emoji", "red heart."),
        ("I love it ❤️!", "en", "I love it!"),
    ],
)
def test_emoji_are_named_on_request(text: str, tag: str, spoken: str) -> None:
    (sentence,) = prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=ApproximateTokenizer(), language=tag)
    assert isinstance(sentence, Sentence)
    assert sentence.spoken == spoken
    assert sentence.written == text
