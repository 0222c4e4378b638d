"""Chinese text normalisation: rules for numbers, and the official rules after them (B1).

Decision: rules instead of wetext's Chinese grammar. Reason: beside other signs the grammar reads many numbers wrongly
(5%-10%, 2次, 110年), and it takes half a millisecond for a digit.
"""

from __future__ import annotations

import unicodedata

import regex

from studio.text.chinese_amounts import CHINESE_AMOUNTS, PHONE_DIGITS
from studio.text.number_words import chinese_cardinal, chinese_count, chinese_digits, chinese_number, english_ordinal
from studio.text.rules import Step, apply_rules, rules

_NUMBER = r"\d+(?:\.\d+)?"
_SCORE_BEFORE = regex.compile(r"(?:比分|以|战胜|击败|打成|负于|不敌|大胜|险胜|逼平|[胜负平])\s*(?:为|是)?\s*\Z")
_YEAR_AFTER = regex.compile(r"\s*(?:年|赛季|财年|学年)")


def normalize_chinese(text: str, steps: list[Step]) -> str:
    """Return ``text``, which has been cleaned, with numbers, dates, units and signs in words."""
    if not _WITHOUT_NUMBERS.fullmatch(text):
        text = apply_rules(text, _RULES, steps)
    # A dash becomes a space, a short pause, after other spaces have been removed.
    return _DASH.sub(" ", drop_blanks(text))


def drop_blanks(text: str) -> str:
    """Remove spaces, except between two ASCII characters: Chinese is written without them.

    A space at either end stays next to an ASCII character, since a tag or another piece may be adjacent.
    """
    text = _BLANKS.sub(" ", text)
    kept: list[str] = []
    for index, character in enumerate(text):
        if character == " ":
            before, after = text[index - 1 : index] or "a", text[index + 1 : index + 2] or "a"
            if not (before.isascii() and after.isascii()) or text.isspace():
                continue
        kept.append(character)
    return "".join(kept)


def _range(match: regex.Match[str]) -> str:
    """Return a range, a score or a subtraction, depending on the context."""
    low, high, dash = match["low"], match["high"], match["dash"]
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :].lstrip()
    if before[-1:] in tuple("=＝+×÷*") or after[:1] in tuple("=＝+×÷*"):
        return match.group()
    if len(low) == len(high) == 4 and _YEAR_AFTER.match(after):
        return f"{chinese_digits(low)}到{chinese_digits(high)}"
    if len(low) == 4 and len(high) == 2 and high > low[2:] and _YEAR_AFTER.match(after):
        return f"{chinese_digits(low)}到{chinese_digits(low[:2] + high)}"
    is_score = dash in "-–—" and (_SCORE_BEFORE.search(before) or float(low) >= float(high))
    if is_score and not match["percent"]:
        return f"{low}比{high}"
    return f"{low}{match['percent'] or ''}到{high}"


def _version(match: regex.Match[str]) -> str:
    return "点".join(chinese_cardinal(group) for group in match.group().split("."))


def _ordinal(match: regex.Match[str]) -> str:
    return f" {english_ordinal(match[1])} "


def _compatible(match: regex.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match.group()).replace("\u2044", "/")


# No rule concerns such a text.
_WITHOUT_NUMBERS = regex.compile(r"[\p{Han}，。！？、；：“”‘’「」《》…—]*")
_BLANKS = regex.compile(r" {2,}")
_DASH = regex.compile(r"——+")
_BEFORE = rules(
    "number",
    # Signs.
    (r"[\^_]|\*(?!\d)|(?<!\d)\*|#(?!\d)", " "),
    (r"−", "-"),
    (r"\s+[-–—]\s+", "，"),
    (r"(?<=\d)\s?(?=[½⅓⅔¼¾⅛⅜⅝⅞])", "又"),
    (r"[½⅓⅔¼¾⅛⅜⅝⅞Ⅰ-Ⅻ]", _compatible),
    (r"[①-⑳]", lambda match: chinese_cardinal(_compatible(match))),
    (rf"({_NUMBER})‰", r"千分之\1"),
    (r"㎡", "平方米"),
    (r"㎥", "立方米"),
    (r"[㎏㎎㎞㎝㎜㏄]", _compatible),
    (r"#(\d+)", r"\1号"),
    (r"(?:[Nn]o\.?|№)\s?(\d+)", r"\1号"),
    (r"(?<=\d[\p{L}%℃°]{0,2})\s?[~～]\s?(?=-?\d)", "~"),
    (r"(?<=\d\p{Han}{1,2})~(?=\d)", "到"),
    (r"(?<!\d[\p{L}%℃°]{0,2})[~～≈](?=\s?[¥￥$]?\d)", "约"),
    (r"\+(?=\d{1,3}[ -]?\d{6})", "加"),
    # Numbers with commas, points and dashes in them.
    (r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!,?\d)", lambda match: match.group().replace(",", "")),
    (r"(?<![\d.])\d{12,}(?![\d.])", lambda match: chinese_digits(match.group())),
    (r"(?<![\d.])\d+\.\d+\.\d+(?!\.?\d|[日号])(?<!(?:19|20)\d\d\.\d\d?\.\d\d?)", _version),
    (r"(?<![A-Za-z0-9])(\d{1,9})(?:st|nd|rd|th)(?![A-Za-z])", _ordinal),
    (r"(?<=[A-Za-z])-(\d{3,})(?![\d.,]|-\d)", lambda match: " " + chinese_digits(match[1])),  # SHA-256
    (r"(?<=[A-Za-z])-(?=\d)", " "),
    (
        r"(?<=[(（，]\s?)(?:1\d{3}|20\d\d)(?:\s?[-–—~]\s?(1\d{3}|20\d\d))?(?=\s?[，)）])"
        r"|(?<=[(（，]\s?)1\d{3}\s?[-–—~]\s?(1\d{3}|20\d\d)(?=\s?[。；]|\s*\Z)",
        lambda match: (
            chinese_digits(match.group()[:4])
            + (f"到{chinese_digits(match[1] or match[2])}" if match[1] or match[2] else "")
        ),
    ),
    (r"(?<=《)(?:1\d{3}|20\d\d)(?=》)", lambda match: chinese_digits(match.group())),
    (
        rf"(?<![\dA-Za-z.\-–/:])(?P<low>(?=[\d.]{{1,7}}\D){_NUMBER})(?P<percent>%)?\s?(?P<dash>[-–—~])\s?"
        rf"(?P<high>(?!0\d)(?=[\d.]{{1,7}}(?:\D|$)){_NUMBER})(?![\d\-–/:]|\.\d|[A-Za-z]+\d|[月日])",
        _range,
    ),
)
_SIGNED = {None: "", "-": "负", "−": "负", "+": "正"}
# Words after 两 instead of 二. 二 stays in 2月, 2号, 2楼, 2次元 and 2人转.
_MEASURE_WORDS = (
    "个人位名天岁年层米公里斤元块秒分小时周次倍点本张只条件家座场支台辆部篇首句杯瓶碗种类段步口份双对套片颗棵把匹头间栋艘架根道项"
    "轮遍趟回下字吨克升厘毫平亩英星盒袋箱包群排串笔门封枚幅堂节组队任代章集"
)
_NUMBERS = (
    *rules(
        "date",
        (r"(?<![\d.])(?:[12]\d{3}|[6-9][1-9](?<![\d近约第共了满过位达有历时隔续整长足经为]\d\d))(?=年(?!代|级|[之以]?[前后来]|的?历史|[的时]间))", lambda match: chinese_digits(match.group())),
        (r"(?<![\d.])[06-9][05](?=后(?![\d天年]))", lambda match: chinese_digits(match.group())),
        (r"(?<=[年月日号时点分]|周[一二三四五六日天])(?:\s[-~–—]\s|[-~–—])(?=\d|周[一二三四五六日天])", "到"),
        (r"(?<!\d)(?:1[89]|20)\d0(?=年代)", lambda match: chinese_digits(match.group())),
        (r"(?<![\d.-])(\d{1,2})\s?[-–~]\s?(?=\d{1,2}[月日号])", lambda match: chinese_cardinal(match[1]) + "到"),
        (r"\d{1,2}(?=[月日])", lambda match: chinese_cardinal(match.group().lstrip("0") or "0")),
    ),
    *rules(
        "telephone number",
        (r"(?<![\d.])(?:0\d{2,3}-\d{7,8}|[48]00-\d{3,4}-\d{3,4})(?!\d)", lambda match: chinese_digits(match.group().replace("-", ""))),
        (r"(?<![\d-])\d+(?:-\d+){2,}(?![\d-])", lambda match: "杠".join(map(chinese_digits, match.group().split("-")))),
        (r"(?<![\d.])(?:1[3-9]\d{9}|\d{3,5}(?=室|房间))(?![\d.])",
         lambda match: chinese_digits(match.group()).translate(PHONE_DIGITS)),
    ),
    *rules(
        "number",
        (rf"(?<![\d.])(?P<sign>[-−]|(?<![\da-zA-Z)]\s?)\+)?(?P<number>{_NUMBER})\s?%",
         lambda match: f"{_SIGNED[match['sign']]}百分之{chinese_number(match['number'])}"),
        (r"(?<![\d./])(\d{1,4})/(\d{1,4})(?![\d./])", lambda match: f"{chinese_cardinal(match[2])}分之{chinese_cardinal(match[1])}"),
        (r"(?<=\d)\s?[-−–]\s?(?=\d)", "杠"),
        (r"(?<![\da-zA-Z)])[-−](?=\d)", "负"),
        (r"(?<![\w)])\+(?=\d)", "正"),
        (r"(?<=[\p{L}\d²³])\s?\+\s?(?=[\p{L}\d])|(?<=\d\p{Han}?)\+", "加"),
        (r"(?<=[A-Za-z]-?)\d{3,}(?![\d.])", lambda match: chinese_digits(match.group())),
        (rf"(?<![\d.A-Za-z=＝]|等于\s?)2\s?(?=(?:多|来)?[{_MEASURE_WORDS}万亿千百](?!落|于|置|元宇宙|转|级|方|元空|维)(?!(?<=次)元))(?<!第\s?2)", "两"),
        (rf"(?<![\d.])(?<!第\s?){_NUMBER}", lambda match: chinese_count(match.group())),
    ),
)  # fmt: skip
_AFTER = rules(
    "sign",
    (r"²", "平方"),
    (r"³", "立方"),
    (r"(?<=[A-Za-z])\.(?=[A-Za-z])|(?<=[0-9零一二三四五六七八九十])\.(?=[0-9零一二三四五六七八九十])", "点"),
    (r"(?<=\p{Han})\s*\.\s+(?=\p{Han})", "。"),
    (r"\.{2,}", "……"),
    (r"(?<=\w)\s?=\s?(?=[\w-])", "等于"),
    (r"[~～]", ""),
    (r"(?<=\w)\s?/\s?(?=\w)", "、"),
    (r"[<>|{}\\^*_#=`]+", " "),
    (r"[0-9]+", lambda match: chinese_cardinal(match.group())),
    (r"\.(?=\s*[\"”’」』]*\s*\Z)", "。"),
)
_RULES = (*CHINESE_AMOUNTS, *_BEFORE, *_NUMBERS, *_AFTER)
