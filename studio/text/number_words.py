"""English and Chinese numbers in words, as cardinals or digit by digit."""

from __future__ import annotations

_ONES_IN_ORDER = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS_IN_ORDER = "- - twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = _ONES_IN_ORDER.split()
_TENS = _TENS_IN_ORDER.split()
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
_SCALES = ("", " thousand", " million", " billion", " trillion", " quadrillion")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
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
    return f"{spoken} point {english_digits(decimals)}" if decimals else spoken


def english_ordinal(digits: str) -> str:
    """Return ``21`` as "twenty first"."""
    before, _, last = english_cardinal(digits).rpartition(" ")
    ordinal = _ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return f"{before} {ordinal}".strip()


def english_year(digits: str) -> str:
    """Return ``1905`` as "nineteen oh five". Years of other lengths are cardinals."""
    if len(digits) != 4 or digits.startswith("0") or digits[1:3] == "00":
        return english_cardinal(digits)
    century, rest = digits[:2], digits[2:]
    if rest == "00":
        return f"{english_cardinal(century)} hundred"
    return f"{english_cardinal(century)} {'oh ' + _ONES[int(rest)] if rest[0] == '0' else english_cardinal(rest)}"


def english_pairs(digits: str) -> str:
    """Return ``370`` as "three seventy" and ``101`` as "one oh one", as rooms and flights are read."""
    if len(digits) not in (3, 4) or digits.startswith("0"):
        return english_digits(digits) if len(digits) > 2 or digits.startswith("0") else english_cardinal(digits)
    head, rest = digits[:-2], digits[-2:]
    if rest == "00":
        return f"{english_cardinal(head)} hundred"
    return f"{english_cardinal(head)} {'oh ' + _ONES[int(rest)] if rest[0] == '0' else english_cardinal(rest)}"


def english_decade(century: str, tens: str) -> str:
    """Return ``19``, ``8`` as "nineteen eighties"; decade 0 as "hundreds" or "thousands"."""
    if tens == "0":
        return "two thousands" if century == "20" else f"{english_cardinal(century)} hundreds"
    plural = "tens" if tens == "1" else _TENS[int(tens)][:-1] + "ies"
    return f"{english_cardinal(century)} {plural}"


def roman_value(numeral: str) -> int:
    """Return ``XIV`` as 14."""
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def chinese_digits(digits: str) -> str:
    return "".join(_CHINESE_DIGITS[int(digit)] for digit in digits)


def chinese_cardinal(digits: str) -> str:
    """Return ``110`` as 一百一十; digit by digit beyond 16 digits or with a leading zero."""
    if len(digits) > 16 or (len(digits) > 1 and digits.startswith("0")):
        return chinese_digits(digits)
    for length, scale in ((12, "万亿"), (8, "亿"), (4, "万")):
        if len(digits) > length:
            high, low = digits[:-length], digits[-length:]
            rest = chinese_cardinal(str(int(low))) if int(low) else ""
            zero = "零" if rest and low.startswith("0") else ""
            rest = "一" + rest if rest.startswith("十") else rest
            return chinese_cardinal(high) + scale + zero + rest
    spoken, gap = "", False
    for place, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True):
        if digit == "0":
            gap = True
            continue
        spoken += ("零" if gap and spoken else "") + _CHINESE_DIGITS[int(digit)] + _CHINESE_PLACES[place]
        gap = False
    spoken = spoken or "零"
    return spoken[1:] if spoken.startswith("一十") else spoken


def chinese_number(text: str) -> str:
    """Return a number with an optional decimal part, which is read digit by digit."""
    whole, _, decimals = text.replace(",", "").partition(".")
    return chinese_cardinal(whole) + (f"点{chinese_digits(decimals)}" if decimals else "")


def chinese_count(text: str, *, is_counted: bool = False) -> str:
    """Return a number as it is said of things: 两百, 两万, and if it is before a unit, 两."""
    spoken = chinese_number(text)
    is_two = spoken[0] == "二" and (spoken[1:2] in tuple("百千万亿") or (is_counted and spoken == "二"))
    return "两" + spoken[1:] if is_two else spoken


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{_ONES[hundreds]} hundred"] if hundreds else []
    if rest:
        tens, ones = divmod(rest, 10)
        below = _ONES[rest] if rest < 20 else _TENS[tens] + (f" {_ONES[ones]}" if ones else "")
        words.append(f"and {below}" if hundreds else below)
    return " ".join(words)
