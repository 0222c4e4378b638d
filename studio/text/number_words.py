"""English and Chinese numbers in words, as cardinals or digit by digit, for cases in which the grammars fail."""

from __future__ import annotations

_ONES_IN_ORDER = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS_IN_ORDER = "- - twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = _ONES_IN_ORDER.split()
_TENS = _TENS_IN_ORDER.split()
_SCALES = ("", " thousand", " million", " billion", " trillion", " quadrillion")
_CHINESE_DIGITS = "零一二三四五六七八九"
_CHINESE_PLACES = ("", "十", "百", "千")


def english_cardinal(digits: str) -> str:
    """Return ``1234`` as "one thousand two hundred and thirty four"; digit by digit beyond quadrillions."""
    if len(digits) > 3 * len(_SCALES):
        return english_digits(digits)
    number = int(digits)
    if number == 0:
        return "zero"
    groups: list[str] = []
    rest, scale = number, 0
    while rest:
        rest, group = divmod(rest, 1000)
        if group:
            is_tail = scale == 0 and rest and group < 100
            groups.append(("and " if is_tail else "") + _below_thousand(group) + _SCALES[scale])
        scale += 1
    return " ".join(reversed(groups))


def english_digits(digits: str) -> str:
    return " ".join(_ONES[int(digit)] for digit in digits)


def english_number(text: str) -> str:
    """Return a number with an optional decimal part, which is read digit by digit."""
    whole, _, decimals = text.partition(".")
    spoken = english_cardinal(whole)
    decimals = decimals.rstrip("0")
    return f"{spoken} point {english_digits(decimals)}" if decimals else spoken


def english_ordinal(number: int) -> str:
    """Return ``1`` as "1st", which the grammar reads as "first"."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def english_decade(century: str, tens: str) -> str:
    """Return ``19``, ``8`` as "nineteen eighties"; decade 0 as "hundreds" or "thousands"."""
    if tens == "0":
        return "two thousands" if century == "20" else f"{english_cardinal(century)} hundreds"
    plural = "tens" if tens == "1" else _TENS[int(tens)][:-1] + "ies"
    return f"{english_cardinal(century)} {plural}"


def chinese_digits(digits: str) -> str:
    return "".join(_CHINESE_DIGITS[int(digit)] for digit in digits)


def chinese_cardinal(digits: str) -> str:
    """Return ``110`` as 一百一十; digit by digit with more than four digits or a leading zero."""
    if len(digits) > 4 or (len(digits) > 1 and digits.startswith("0")):
        return chinese_digits(digits)
    spoken, gap = "", False
    for place, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True):
        if digit == "0":
            gap = True
            continue
        spoken += ("零" if gap and spoken else "") + _CHINESE_DIGITS[int(digit)] + _CHINESE_PLACES[place]
        gap = False
    spoken = spoken or "零"
    return spoken[1:] if spoken.startswith("一十") else spoken


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{_ONES[hundreds]} hundred"] if hundreds else []
    if rest:
        tens, ones = divmod(rest, 10)
        below = _ONES[rest] if rest < 20 else _TENS[tens] + (f" {_ONES[ones]}" if ones else "")
        words.append(f"and {below}" if hundreds else below)
    return " ".join(words)
