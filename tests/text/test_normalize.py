"""Normalisation of numbers, dates, units and signs in Chinese, English and Japanese."""

from __future__ import annotations

import pytest

from studio.text.cleaning import clean
from studio.text.language import Language
from studio.text.normalize import normalize

ENGLISH = {
    # Errors of wetext 0.1.8.
    "It was $1,234.56.": "It was one thousand two hundred and thirty four dollars fifty six.",
    "1,234 cats": "one thousand two hundred and thirty four cats",
    "1,234 kg": "one thousand two hundred and thirty four kilograms",
    "€1,999": "one thousand nine hundred and ninety nine euros",
    "$1,000,000": "one million dollars",
    "v2.5.1": "v two point five point one",
    "Python 3.11.4 is out": "Python three point eleven point four is out",
    'He said "hi" 2 times': 'He said "hi" two times',
    "back\\slash": "back slash",
    "The ~ sign": "The sign",
    "~5 km": "about five kilometers",
    "+1 555 123 4567": "plus one, five five five, one two three, four five six seven",
    "call 555-1234": "call five five five, one two three four",
    "#5": "number five",
    "PR#5": "PR number five",
    "5 ₹": "five rupees",
    "5¥": "five yen",
    "±5": "plus or minus five",
    "≥ 5": "at least five",
    "5×3": "five by three",
    "10⁵": "ten to the power of five",
    "x²": "x squared",
    "5 m²": "five square meters",
    "1½ cups": "one and a half cups",
    "the 1980s": "the nineteen eighties",
    "in the 1800s": "in the eighteen hundreds",
    "the 2000s": "the two thousands",
    "24/7": "twenty four seven",
    "50/50": "fifty fifty",
    "3/4 cup": "three quarters of a cup",
    "5-10%": "five to ten percent",
    "$5-$10": "five dollars to ten dollars",
    "$1-2 million": "one to two million dollars",
    "1990–2000": "nineteen ninety to two thousand",
    "1990-95": "nineteen ninety to nineteen ninety five",
    "7-8 p.m. today": "seven to eight PM today",
    "May 1, 2024": "May first, twenty twenty four",
    "1 000 000 people": "one million people",
    "$5k": "five thousand dollars",
    "US$5": "five dollars",
    "No. 5, p. 7, pp. 8-9": "number five, page seven, pages eight to nine",
    "I'm 5'3\" tall": "I'm five foot three tall",
    "12345678901234567890": "one two three four five six seven eight nine zero " * 2,
    "§5": "section five",
    "−5": "minus five",
    "3-0": "three to zero",
    # Words that the grammar would change.
    "The Sun sat on the TV": "The Sun sat on the TV",
    "Mrs. Lee and Ms. Wu met Dr. No": "Missus Lee and Miz Wu met doctor No",
    "Cats vs. dogs, e.g. Rex": "Cats versus dogs, for example Rex",
    "the U.S. Army": "the US Army",
    "see example.com": "see example dot com",
    "**bold** and _this_ `code`": " bold and this code ",
    "it’s 5": "it's five",
    # Correct results of wetext.
    "It costs $3.50, 25% off": "It costs three dollars fifty, twenty five percent off",
    "10:30 on 2024-05-01": "ten thirty on May first, twenty twenty four",
    "3rd of 21": "third of twenty one",
    "192.168.1.1": "one nine two dot one six eight dot one dot one",
    "A & B": "A and B",
    "100 in 1998": "one hundred in nineteen ninety eight",
}

CHINESE = {
    # Errors of wetext 0.1.8.
    "第1-3章": "第一到三章",
    "第1－3章": "第一到三章",
    "1～3章": "一到三章",
    "１０：３０有５０％": "十点三十分有百分之五十",
    "约10%-20%": "约百分之十到百分之二十",
    "比分是3-2": "比分是三比二",
    "以1-2负于": "以一比二负于",
    "他们3-1获胜": "他们三比一获胜",
    "5-3=2": "五减三等于二",
    "1,234,567人": "一百二十三万四千五百六十七人",
    "$1,234.56": "一千二百三十四点五六美元",
    "版本v2.5.1": "版本v二点五点一",
    '他说"好"2次': '他说"好"两次',
    "GPT-4很好": "GPT四很好",
    "21st世纪": "twenty first世纪",
    "5‰": "千分之五",
    "①是": "一是",
    "½杯": "二分之一杯",
    "100㎡": "一百平方米",
    "No.5": "五号",
    "身份证110101199003070011": "身份证一一零一零一一九九零零三零七零零一一",
    "~5个": "约五个",
    "好的～": "好的",
    "二○二四年": "二〇二四年",
    "看example.com吧": "看example点com吧",
    "x=5": "x等于五",
    # Correct results of wetext.
    "2024年5月1日25.5度": "二零二四年五月一日二十五点五度",
    "2022-2023赛季": "二零二二到二零二三赛季",
    "1990-95年": "一九九零到一九九五年",
    "周一9:00-17:00": "周一九点到十七点",
    "010-12345678": "零一零一二三四五六七八",
    "400-800-1234": "四零零八零零一二三四",
    "13800138000": "幺三八零零幺三八零零零",
    "2个200": "两个两百",
    "5km/h": "每小时五公里",
    "1/2": "二分之一",
}


def _read(written: str, language: Language) -> str:
    return normalize(clean(written).text, language).text.strip()


@pytest.mark.parametrize(("written", "spoken"), ENGLISH.items())
def test_english(written: str, spoken: str) -> None:
    assert _read(written, Language.ENGLISH) == spoken.strip()


@pytest.mark.parametrize(("written", "spoken"), CHINESE.items())
def test_chinese(written: str, spoken: str) -> None:
    assert _read(written, Language.CHINESE) == spoken


def test_japanese_numbers_are_spelled_out() -> None:
    assert _read("2024年に1,234円です", Language.JAPANESE) == "二千二十四年に千二百三十四円です"


OTHERS = [
    (Language.GERMAN, "Am 3. Mai 2024 um 14:30 Uhr: 10 Äpfel für 12,50 €", "Am dritten Mai zweitausendvierundzwanzig um vierzehn Uhr dreißig: zehn Äpfel für zwölf Euro fünfzig"),
    (Language.FRENCH, "Il a 25 ans et 1 234 km", "Il a vingt-cinq ans et mille deux cent trente-quatre kilomètres"),
    (Language.SPANISH, "Tiene 30 años, 25%", "Tiene treinta años, veinticinco por ciento"),
    (Language.ITALIAN, "Il 1 maggio alle 15:45", "Il primo maggio alle quindici e quarantacinque"),
    (Language.RUSSIAN, "21 рубль, 5 ₽, 3 км", "двадцать один рубль, пять рублей, три километра"),
    (Language.KOREAN, "오후 3시, 6월, 10,000원", "오후 세 시, 유월, 만원"),
    (Language.JAPANESE, "10:30に3kg", "十時三十分に三キログラム"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "written", "spoken"), OTHERS)
def test_other_languages(language: Language, written: str, spoken: str) -> None:
    pytest.importorskip("num2words")
    assert _read(written, language) == spoken


def test_dates_in_both_orders() -> None:
    assert normalize("on 3/4/2024", Language.ENGLISH).text == "on March fourth, twenty twenty four"
    day_first = normalize("on 3/4/2024", Language.ENGLISH, day_first=True)
    assert day_first.text == "on the third of April twenty twenty four"


def test_spaces_are_removed_except_between_english_words() -> None:
    assert _read("他说 hello world 然后 走了 ok", Language.CHINESE) == "他说hello world然后走了ok"


@pytest.mark.parametrize(
    ("written", "language", "spoken"),
    [
        ("他（小王）来了。", Language.CHINESE, "他，小王，来了。"),
        ("（低声）我不去！", Language.CHINESE, "低声，我不去！"),
        ("【注】完了（真的）。", Language.CHINESE, "注，完了，真的。"),
        ("空（）的", Language.CHINESE, "空，的"),
        ("this [sic] word", Language.ENGLISH, "this, sic, word"),
        ("the end [really].", Language.ENGLISH, "the end, really."),
        ("the end (really).", Language.ENGLISH, "the end (really)."),
    ],
)
def test_brackets_are_asides(written: str, language: Language, spoken: str) -> None:
    """The official program removes the brackets and joins the words."""
    assert _read(written, language) == spoken


@pytest.mark.parametrize(
    ("written", "cleaned"),
    [
        ("a😀b👩‍👧‍👦c🇩🇪d1️⃣", "a b   c  d1"),
        ("a\x00b\x7fc\u200bd\ufeffe\xadf", "abcdef"),
        ("a\t\n \u3000b", "a\t\n  b"),
        ("\ud800x", "x"),
        ("Ｆｕｌｌ１２３，", "Full123，"),
        ("e\u0301", "é"),
        ("★ a → b ■", "  a   b  "),
        ("‼⁉", "!!!?"),
        ("<|en|>hi", "hi"),
    ],
)
def test_clean(written: str, cleaned: str) -> None:
    assert clean(written).text == cleaned


def test_results_are_cached() -> None:
    text = "Sentence number 5000 of the cache test costs $17.50."
    first = normalize(text, Language.ENGLISH)
    hits = normalize.cache_info().hits
    assert normalize(text, Language.ENGLISH) == first
    assert normalize.cache_info().hits == hits + 1
