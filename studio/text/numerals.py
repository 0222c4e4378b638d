"""Numbers, dates, times, money and units in German, French, Spanish, Italian, Russian and Korean, and in Japanese.

Number words are those of ``num2words``; the tables and rules around them are in this file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import regex

from studio.text.abbreviations import abbreviation_rules
from studio.text.addresses import address_rules
from studio.text.language import Language
from studio.text.rules import Rule, Step, apply_rules, rules


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of a language. Units and currencies are singular|plural, Russian ones one|few|many."""

    code: str
    point: str
    minus: str
    to: str
    percent: str
    plus: str
    equals: str
    times: str
    months: str
    currencies: str
    units: str
    clock: Callable[[str, str], str]
    date: Callable[[str, str, str], str]
    ordinal_marks: str = r"(?!)"
    hundredth_join: str = " "
    comma_is_decimal: bool = True


_MAX_DIGITS = 15  # longer numbers are read digit by digit


@lru_cache(maxsize=4096)
def _say(number: str, code: str, **options: object) -> str:
    spoken = str(_num2words()(int(number), lang=code, **options))
    return spoken[:-1] + "é" if code == "it" and spoken.endswith("tre") and len(spoken) > len("tre") else spoken


@cache
def _num2words() -> Callable[..., str]:
    # The import takes 0.2 seconds.
    from num2words import CONVERTER_CLASSES, num2words  # noqa: PLC0415

    # WORKAROUND for num2words 0.5, which tries all names of numbers, up to centillions, for each part of a number.
    for code in ("de", "fr"):
        cards = CONVERTER_CLASSES[code].cards
        for number in [each for each in cards if each >= 10 ** (_MAX_DIGITS + 3)]:
            del cards[number]
    spell: Callable[..., str] = num2words
    return spell


def _fraction(digits: str, code: str) -> str:
    return " ".join(_say(digit, code) for digit in digits)


_TABLES = {
    Language.GERMAN: _Words(
        "de", "Komma", "minus", "bis", "Prozent", "plus", "gleich", "mal",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "€ Euro Euro|$ Dollar Dollar|£ Pfund Pfund|CHF Franken Franken|EUR Euro Euro|USD Dollar Dollar",
        "km/h Kilometer_pro_Stunde|km Kilometer|m Meter|cm Zentimeter|mm Millimeter|kg Kilogramm|g Gramm|mg Milligramm"
        "|l Liter|ml Milliliter|t Tonnen|°C Grad_Celsius|° Grad|m² Quadratmeter|km² Quadratkilometer|m³ Kubikmeter"
        "|GB Gigabyte|MB Megabyte|kWh Kilowattstunden|kW Kilowatt|W Watt|Hz Hertz|min Minuten|h Stunden|s Sekunden|GHz Gigahertz|MHz Megahertz|TB Terabyte|mAh Milliamperestunden|V Volt|ha Hektar|Std. Stunden|Mio. Millionen"
        "|Mrd. Milliarden",
        clock=lambda hour, minute: f"{hour.replace('eins', 'ein')} Uhr{' ' + minute if minute else ''}",
        date=lambda day, month, year: f"{day} {month}{' ' + year if year else ''}",
        ordinal_marks=r"(?<!\A\s*\d+)\.(?=\s+\p{L})(?!\s+(?:Er|Sie|Es|Der|Die|Das|Dem|Den|Ich|Wir|Ihr|Ein|Eine|Dann|Und|Aber|Da|In|Im|Am|Wenn|Als|Auch"
        r"|Dort|Hier|Mein|Was|Wer|Wie|Wo|So|Nun|Jetzt|Danach|Doch|Denn|Man|Kein|Keine|Diese|Dieser|Dieses|Nach|Vor|Mit|Bei|Nur|Noch)\b)",
    ),
    Language.FRENCH: _Words(
        "fr", "virgule", "moins", "à", "pour cent", "plus", "égale", "fois",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "€ euro euros|$ dollar dollars|£ livre livres|EUR euro euros|USD dollar dollars",
        "km/h kilomètres_heure|km kilomètres|m mètres|cm centimètres|mm millimètres|kg kilogrammes|g grammes"
        "|mg milligrammes|l litres|L litres|ml millilitres|t tonnes|°C degrés_Celsius|° degrés|m² mètres_carrés"
        "|km² kilomètres_carrés|m³ mètres_cubes|Go gigaoctets|Mo mégaoctets|kW kilowatts|kWh kilowattheures|W watts|Hz hertz"
        "|min minutes|s secondes|GHz gigahertz|MHz mégahertz|To téraoctets|mAh milliampères_heure|V volts|ha hectares",
        clock=lambda hour, minute: f"{'une heure' if hour == 'un' else hour + ' heures'}{' ' + minute if minute else ''}",
        date=lambda day, month, year: f"{day} {month}{' ' + year if year else ''}",
        ordinal_marks=r"(?:er|re|ère|e|ème|ième|nd|nde)\b",
    ),
    Language.SPANISH: _Words(
        "es", "coma", "menos", "a", "por ciento", "más", "igual a", "por",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "€ euro euros|$ dólar dólares|£ libra libras|EUR euro euros|USD dólar dólares",
        "km/h kilómetros_por_hora|km kilómetros|m metros|cm centímetros|mm milímetros|kg kilogramos|g gramos|mg miligramos"
        "|l litros|L litros|ml mililitros|t toneladas|°C grados_Celsius|° grados|m² metros_cuadrados"
        "|km² kilómetros_cuadrados|m³ metros_cúbicos|GB gigabytes|MB megabytes|kW kilovatios|W vatios|Hz hercios|min minutos|h horas"
        "|s segundos|GHz gigahercios|MHz megahercios|TB terabytes|mAh miliamperios_hora|V voltios|ha hectáreas",
        clock=lambda hour, minute: f"{'una' if hour == 'uno' else hour}{' y ' + minute if minute else ''}",
        date=lambda day, month, year: f"{day} de {month}{' de ' + year if year else ''}",
        ordinal_marks=r"[ºª]|\.[ºª]",
        hundredth_join=" con ",
    ),
    Language.ITALIAN: _Words(
        "it", "virgola", "meno", "a", "per cento", "più", "uguale", "per",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "€ euro euro|$ dollaro dollari|£ sterlina sterline|EUR euro euro|USD dollaro dollari",
        "km/h chilometri_all'ora|km chilometri|m metri|cm centimetri|mm millimetri|kg chilogrammi|g grammi|mg milligrammi"
        "|l litri|L litri|ml millilitri|t tonnellate|°C gradi_Celsius|° gradi|m² metri_quadrati|km² chilometri_quadrati"
        "|m³ metri_cubi|GB gigabyte|MB megabyte|kW chilowatt|W watt|Hz hertz|min minuti|h ore"
        "|s secondi|GHz gigahertz|MHz megahertz|TB terabyte|mAh milliampere_ora|V volt|ha ettari",
        clock=lambda hour, minute: f"{'una' if hour == 'uno' else hour}{' e ' + minute if minute else ''}",
        date=lambda day, month, year: f"{day} {month}{' ' + year if year else ''}",
        ordinal_marks=r"[°ºª](?!C)(?=\s+(?!(?:di|a|e|in|nord|sud|est|ovest)\b)\p{L})",
        hundredth_join=" e ",
    ),
    Language.RUSSIAN: _Words(
        "ru", "запятая", "минус", "до", "процент процента процентов", "плюс", "равно", "умножить на",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
        "€ евро евро евро|$ доллар доллара долларов|£ фунт фунта фунтов|₽ рубль рубля рублей|руб. рубль рубля рублей"
        "|р. рубль рубля рублей",
        "км/ч километр_в_час километра_в_час километров_в_час|км километр километра километров|м метр метра метров"
        "|см сантиметр сантиметра сантиметров|мм миллиметр миллиметра миллиметров|кг килограмм килограмма килограммов"
        "|г грамм грамма граммов|л литр литра литров|мл миллилитр миллилитра миллилитров|т тонна тонны тонн"
        "|°C градус_Цельсия градуса_Цельсия градусов_Цельсия|° градус градуса градусов|мин минута минуты минут"
        "|ч час часа часов|м² квадратный_метр квадратных_метра квадратных_метров|ГБ гигабайт гигабайта гигабайтов"
        "|кВт киловатт киловатта киловатт|Гц герц герца герц|млн миллион миллиона миллионов|млрд миллиард миллиарда миллиардов"
        "|тыс. тысяча тысячи тысяч",
        clock=lambda hour, minute: f"{hour} {minute or 'ноль ноль'}",
        date=lambda day, month, year: f"{day} {month}{' ' + year + ' года' if year else ''}",
        ordinal_marks=r"-?(?P<ending>[оыи]?й|а?я|о?е|о?го|о?му|о?м|ы?х)\b",
    ),
    Language.KOREAN: _Words(
        "ko", "점", "마이너스", "에서", "퍼센트", "더하기", "은", "곱하기",
        "1월 2월 3월 4월 5월 6월 7월 8월 9월 10월 11월 12월",
        "€ 유로 유로|$ 달러 달러|£ 파운드 파운드|₩ 원 원|¥ 엔 엔",
        "km/h 킬로미터_매시|km 킬로미터|m 미터|cm 센티미터|mm 밀리미터|kg 킬로그램|g 그램|mg 밀리그램|L 리터|l 리터|ml 밀리리터"
        "|t 톤|°C 도|℃ 도|° 도|m² 제곱미터|㎡ 제곱미터|km² 제곱킬로미터|GB 기가바이트|MB 메가바이트|kW 킬로와트|W 와트|Hz 헤르츠",
        clock=lambda hour, minute: f"{hour}시{' ' + minute + '분' if minute else ''}",
        date=lambda day, month, year: f"{year + '년 ' if year else ''}{month}월 {day}일",
        comma_is_decimal=False,
    ),
}  # fmt: skip
# Korean counts of these words are native: 세 시, 다섯 살.
_KOREAN_COUNTERS = r"시(?!간대|대)|시간|살|명|개|마리|권|병|잔|장|대|번(?!호|지)|곳|달|그루|켤레|송이|벌|자루|사람|가지"
_KOREAN_ONES = ["", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉"]
_KOREAN_TENS = ["", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"]


# Gender and case by the ending of an ordinal: 3-й, 3-я, 3-е, 3-го, 3-му, 3-м, 20-х.
_RUSSIAN_ORDINALS: dict[str, dict[str, object]] = {
    "й": {"gender": "m"}, "я": {"gender": "f"}, "е": {"gender": "n"}, "го": {"case": "g"}, "му": {"case": "d"}, "м": {"case": "p"},
    "х": {"case": "g", "plural": True},
}  # fmt: skip


def spell_out(text: str, language: Language, steps: list[Step]) -> str:
    """Return ``text``, which has been cleaned, with numbers and signs in words of ``language``."""
    return apply_rules(text, _rules(language), steps)


@cache
def _rules(language: Language) -> tuple[Rule, ...]:
    return _JAPANESE if language is Language.JAPANESE else _Numerals(language).rules()


class _Numerals:
    """Words for the numbers of one language, and the rules that find them."""

    def __init__(self, language: Language) -> None:
        self._language = language
        words = self._words = _TABLES[language]
        self._code = words.code
        self._point = words.point if words.code == "ko" else f" {words.point} "
        self._months = words.months.split()
        self._units = {key: forms for key, *forms in (entry.split() for entry in words.units.split("|"))}
        self._currencies = {key: forms for key, *forms in (entry.split() for entry in words.currencies.split("|"))}
        self._mark, self._group = (",", r"[. '’\u202f]") if words.comma_is_decimal else (r"\.", ",")
        self._number = (
            rf"(?:\d+\.\d{{1,2}}(?![\d.,])|(?:\d{{1,3}}(?:{self._group}\d{{3}})+(?!\d)|\d+)(?:{self._mark}\d+)?)"
        )

    def cardinal(self, digits: str) -> str:
        digits = regex.sub(r"\D", "", digits)
        if len(digits) > _MAX_DIGITS or (len(digits) > 1 and digits[0] == "0"):
            return _fraction(digits, self._code)
        return _say(digits, self._code)

    def amount(self, text: str) -> str:
        if regex.fullmatch(r"\d+\.\d{1,2}", text):
            whole, _, decimals = text.partition(".")
        else:
            whole, _, decimals = text.partition(self._mark.strip("\\"))
        return self.cardinal(whole) + (self._point + _decimals(decimals, self._code) if decimals else "")

    def form(self, forms: list[str], text: str) -> str:
        digits = regex.sub(r"\D", "", text) if regex.fullmatch(rf"\d+|\d{{1,3}}(?:{self._group}\d{{3}})+", text) else ""
        return forms[_plural(digits, len(forms))].replace("_", " ")

    def money(self, match: regex.Match[str]) -> str:
        forms = self._currencies[match["sign"]]
        whole, _, cents = match["amount"].replace(".", ",").rpartition(",")
        minus = f"{self._words.minus} " if match["minus"] else ""
        if whole and len(cents) == 2:
            first = f"{_counted(self.cardinal(whole), whole, self._code)} {self.form(forms, regex.sub(r'[^0-9]', '', whole))}"
            return (
                minus + first + (self._words.hundredth_join + self.cardinal(cents.lstrip("0")) if cents != "00" else "")
            )
        blank = "" if self._code == "ko" else " "
        return (
            minus
            + _counted(self.amount(match["amount"]), match["amount"], self._code)
            + blank
            + self.form(forms, match["amount"])
        )

    def measure(self, match: regex.Match[str]) -> str:
        minus = f"{self._words.minus} " if match["minus"] else ""
        blank = "" if self._code == "ko" else " "
        return f"{minus}{_counted(self.amount(match['amount']), match['amount'], self._code)}{blank}{self.form(self._units[match['unit']], match['amount'])}"

    def percent(self, match: regex.Match[str]) -> str:
        minus = f"{self._words.minus} " if match["minus"] else ""
        forms = self._words.percent.split() if self._code == "ru" else [self._words.percent]
        blank = "" if self._code == "ko" else " "
        return f"{minus}{self.amount(match['amount'])}{blank}{self.form(forms, match['amount'])}"

    def year(self, digits: str) -> str:
        if self._code == "ru":
            return _say(digits, self._code, to="ordinal", case="g")
        if self._code == "de" and digits[0] == "1" and digits[1] != "0":
            return _say(digits, self._code, to="year")
        return _say(digits, self._code)

    def day(self, digits: str) -> str:
        if self._code == "de":
            return _say(digits, self._code, to="ordinal") + "r"
        if self._code == "ru":
            return _say(digits, self._code, to="ordinal", gender="n")
        if self._code in ("fr", "it") and digits == "1":
            return "premier" if self._code == "fr" else "primo"
        return _say(digits, self._code)

    def date(self, match: regex.Match[str]) -> str:
        month = match["month"].lstrip("0")
        if month.isdigit() and not 1 <= int(month) <= 12:
            return match.group()
        name = (
            _korean_month(month) if self._code == "ko" else self._months[int(month) - 1] if month.isdigit() else month
        )
        spoken_day = self.day(match["day"].lstrip("0"))
        if self._code == "de" and regex.search(
            r"(?i)\b(?:am|vom|zum|dem|den|im|bis|seit|beim)\s+\Z", match.string[: match.start()]
        ):
            spoken_day = spoken_day[:-1] + "n"
        elif self._code == "de" and regex.search(r"\b[Dd]er\s+\Z", match.string[: match.start()]):
            spoken_day = spoken_day[:-1]
        return self._words.date(spoken_day, name, self.year(match["year"]) if match["year"] else "")

    def clock(self, match: regex.Match[str]) -> str:
        hour = (
            _native(match["hour"])
            if self._code == "ko" and 0 < int(match["hour"]) <= 12
            else self.cardinal(match["hour"].lstrip("0") or "0")
        )
        minute = match["minute"]
        if self._code == "ru" and minute.startswith("0") and minute != "00":
            return self._words.clock(hour, "ноль " + self.cardinal(minute[1]))
        return self._words.clock(hour, self.cardinal(minute.lstrip("0")) if minute != "00" else "")

    def ordinal(self, match: regex.Match[str]) -> str:
        if self._code == "ru":
            return _say(match[1], self._code, to="ordinal", **_RUSSIAN_ORDINALS[match["ending"].lstrip("оыиа")])
        spoken = _say(match[1], self._code, to="ordinal")
        if self._code == "de":
            article = regex.search(r"(?i)\b(am|im|vom|zum|dem|den|des|der|die|das)\s+\Z", match.string[: match.start()])
            return spoken + (
                "r"
                if article is None
                else "n"
                if article[1].lower() in ("am", "im", "vom", "zum", "dem", "den", "des")
                else ""
            )
        if self._code == "es" and match.group().endswith("ª"):
            return spoken[:-1] + "a"
        if self._code == "it" and match.group().endswith("ª"):
            return spoken[:-1] + "a"
        if self._code == "fr" and match.group().endswith(("re", "ère")):
            return "première"
        return spoken

    def rules(self) -> tuple[Rule, ...]:
        words, code, months, number = self._words, self._code, self._months, self._number
        unit, sign = _alternatives(self._units), _alternatives(self._currencies)
        named_months = "|".join(months) if code != "ko" else "(?!)"
        of = {"es": r"\s+de\s+", "ru": r"\s+"}.get(code, r"\s+")
        return (
            *address_rules(_ADDRESS_SIGNS[code], self.cardinal, hashtag=_HASHTAGS[code]),
            *abbreviation_rules(self._language, _say),
            *rules(
                "arithmetic",
                (r"(?<=\d)\s[-−–]\s(?=\d[\d.,]*\s?=)", f" {'빼기' if code == 'ko' else words.minus} "),
                (r"(?<![\d/.,])(\d{1,3})/(\d{1,3})(?![\d/])", lambda match: _part(match[1], match[2], code) or match.group()),
                (r"(?<![\p{L}\d.,])(\d+)\s?x(?![\p{L}\d])(?!\s?\d)", lambda match: _times(match[1], code)),
            ),
            *rules(
                "date",
                *(
                    [
                        (rf"(?<!\d)(?P<day>\d{{1,2}})\.?{of}(?P<month>{named_months})\b(?:(?:\s+de(?:l)?)?\s+(?P<year>[12]\d{{3}})(?!\d)(?:\s+(?:года|г\.))?)?", self.date),
                        (r"(?<![\d.])(?P<day>3[01]|[12]\d|0?[1-9])(?P<mark>[./-])(?P<month>1[0-2]|0?[1-9])(?P=mark)(?P<year>[12]\d{3})(?!\d)", self.date),
                    ]
                    if code != "ko"
                    else [(r"(?<!\d)(?P<year>[12]\d{3})년\s?(?P<month>\d{1,2})월\s?(?P<day>\d{1,2})일", self.date),
                          (r"(?<!\d)(?P<year>)(?P<month>\d{1,2})월\s?(?P<day>\d{1,2})일", self.date)]
                ),
                (r"(?<!\d)(?P<year>[12]\d{3})(?P<mark>[-/.])(?P<month>1[0-2]|0?[1-9])(?P=mark)(?P<day>3[01]|[12]\d|0?[1-9])(?!\d)", self.date),
                *([(r"(?<!\d)(1?\d)월", lambda match: _korean_month(match[1]) + "월")] if code == "ko" else []),
                *([(r"(?<![\d.,])(?<!Nummer )(1[1-9]\d{2})(?![\d.,]\d|\d|\s?[%€$])", lambda match: self.year(match[1]))] if code == "de" else []),
                *([(r"(?<![\d.,])([12]\d{3})(?:-?м|-?й|-?го)? (?=год[ау]?\b|г\.)", _russian_year)] if code == "ru" else []),
            ),
            *rules(
                "time",
                (r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?::|(?<=\d)h(?=\d\d))(?P<minute>[0-5]\d)(?![\d:])(?:\s?Uhr|\s?h\b|\s?heures)?", self.clock),
                *([(r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])\.(?P<minute>[0-5]\d) Uhr", self.clock),
                   (r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?P<minute>(?<=\d))(?: Uhr)(?: (?P<late>[0-5]\d)\b)?",
                    lambda match: words.clock(self.cardinal(match["hour"]), self.cardinal(match["late"]) if match["late"] else ""))] if code == "de" else []),
                *([(r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4]) ?h(?![\p{L}\d])", lambda match: words.clock(self.cardinal(match["hour"]), ""))] if code == "fr" else []),
            ),
            *rules("score", (r"(?<![\d:])(\d{1,3}):(\d{1,3})(?![\d:])", rf"\1 {_AGAINST[code]} \2")),
            *rules(
                "money",
                (rf"(?<![\p{{L}}\d.,])(?P<minus>[-−])?(?P<sign>{sign})\s?(?P<amount>{number})(?!\d)", self.money),
                (rf"(?<![\p{{L}}\d.,])(?P<minus>[-−])?(?P<amount>{number})\s?(?P<sign>{sign})(?!\p{{L}})", self.money),
                (r"(?<![\p{L}\d.,])(?P<amount>\d+[,.]00)(?= (?:[Ee]uros?|dollars|Dollar)\b)", lambda match: self.cardinal(match["amount"][:-3])),
            ),
            *rules("ordinal", (rf"(?<![\p{{L}}\d.,])(\d{{1,4}})(?:{words.ordinal_marks})", self.ordinal)),
            *rules(
                "unit",
                (rf"(?<![\p{{L}}\d.,])(?P<minus>[-−])?(?P<amount>{number})\s?%", self.percent),
                (rf"(?<![\p{{L}}\d.,])(?P<minus>[-−])?(?P<amount>{number})\s?(?P<unit>{unit})(?![\p{{Latin}}\p{{Cyrillic}}\d²³])", self.measure),
            ),
            *rules(
                "range",
                (r"(?<=\d)\s?[–~～]\s?(?=\d)|(?<![\d-]\d{0,6})(?<=\d)-(?=\d+(?![\d-]))|(?<=\d)-(?=\d+(?![\d-]))(?<!-\d+-)", f" {words.to} " if code != "ko" else "에서 "),
            ),
            *(rules("ordinal", (r"(?<!\d)(\d+)번째", lambda match: _say(match[1], code, to="ordinal"))) if code == "ko" else ()),
            *(rules("number", (rf"(?<![\d.,])([1-9]\d?)\s?(?=(?:{_KOREAN_COUNTERS}))", lambda match: _native(match[1]) + " ")) if code == "ko" else ()),
            *rules(
                "number",
                (r"\+\d[\d ()./-]{5,18}\d|(?<![\d.,])0\d[\d /-]{5,14}\d", lambda match: ("plus " if match.group()[0] == "+" and code == "de" else "") + ", ".join(_fraction(each, code) for each in regex.findall(r"\d+", match.group()))),
                (_POWER, lambda match: _power(match, code)),
                (r"(?<=\d)\s?\+\s?(?=\d)", f" {words.plus} "),
                (r"(?<=[\d\p{L}])\s?=\s?(?=[\d\p{L}])", f" {words.equals} "),
                (r"(?<=\d)\s?[×x*]\s?(?=\d)", f" {words.times} "),
                (r"(?<![\p{L}\d.,])[-−](?=\d)", f"{words.minus} "),
                *([(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?!\d|\.\d)", lambda match: self.cardinal(match.group()))] if words.comma_is_decimal else []),
                (r"(?<![\d.,])\d+(?:\.\d+){2,}(?![\d.])", lambda match: f" {'점' if code == 'ko' else _point(code)} ".join(self.cardinal(each) for each in match.group().split("."))),
                (r"(?<=[\p{Latin}\p{Cyrillic}])(?=\d)|(?<=\d)(?=[\p{Latin}\p{Cyrillic}])(?!er\b)", " "),
                (number, lambda match: self.amount(match.group())),
                (r"\d+", lambda match: self.cardinal(match.group())),
                (r"(?<=\p{L})(?=\p{Nd})|(?<=\p{Nd})(?=\p{L})", " "),
                (r"\s?&\s?", {"de": " und ", "fr": " et ", "es": " y ", "it": " e ", "ru": " и ", "ko": " 그리고 "}[code]),
                (r"[\^*_#~～=+<>|\\{}²³%]+", " "),
            ),
        )  # fmt: skip


def _alternatives(symbols: dict[str, list[str]]) -> str:
    return "|".join(map(regex.escape, sorted(symbols, key=len, reverse=True)))


def _point(code: str) -> str:
    return {"de": "Punkt", "fr": "point", "es": "punto", "it": "punto", "ru": "точка"}[code]


def _decimals(digits: str, code: str) -> str:
    """Return decimals: digit by digit, but as one number where that is usual."""
    if code in ("de", "ru", "ko") or digits.startswith("0") or len(digits) > 2:
        spoken = _fraction(digits, code)
        return spoken.replace(" ", "") if code == "ko" else spoken
    return _say(digits, code)


def _counted(spoken: str, digits: str, code: str) -> str:
    """Return a number before a noun: ein Euro, un euro, uno before nouns."""
    if digits == "1":
        return {"de": "ein", "es": "un", "it": "un"}.get(code, spoken)
    if code == "es" and spoken.endswith("uno"):
        return spoken[:-1] if not spoken.endswith("veintiuno") else spoken[:-3] + "ún"
    if code in ("de",) and spoken.endswith("hunderteins"):
        return spoken[:-1]
    million = regex.search(r"(?:millón|millones|million|millions|milioni|milione)\Z", spoken)
    return f"{spoken} {'di' if code == 'it' else 'de'}" if million and code in ("es", "fr", "it") else spoken


def _plural(digits: str, num_forms: int) -> int:
    """Return the index of the form after a number: Russian has three, most languages two."""
    if num_forms < 3:
        return 0 if num_forms == 1 or digits == "1" else 1
    if not digits:
        return 1
    last, teens = int(digits[-1]), len(digits) > 1 and digits[-2] == "1"
    return 2 if teens or last == 0 or last > 4 else 0 if last == 1 else 1


def _native(digits: str) -> str:
    tens, ones = divmod(int(digits), 10)
    if tens == 2 and not ones:
        return "스무"
    return _KOREAN_TENS[tens] + _KOREAN_ONES[ones]


def _korean_month(digits: str) -> str:
    return {"6": "유", "10": "시"}.get(digits, _say(digits, "ko"))


def _russian_year(match: regex.Match[str]) -> str:
    following = match.string[match.end() :]
    case = "p" if following.startswith("году") else "g" if following.startswith("года") else "n"
    return _say(match[1], "ru", to="ordinal", case=case) + " "


_AGAINST = {"de": "zu", "fr": "à", "es": "a", "it": "a", "ru": "", "ko": "대"}
_HASHTAGS = {
    "de": "Hashtag",
    "fr": "hashtag",
    "es": "hashtag",
    "it": "hashtag",
    "ru": "хештег",
    "ko": "해시태그",
    "ja": "ハッシュタグ",
}
_SIGNS_OF_ADDRESSES = ".@/-_:?="
_ADDRESS_SIGNS = {
    code: dict(zip(_SIGNS_OF_ADDRESSES, names.split("|"), strict=True))
    for code, names in {
        "de": "Punkt|at|Schrägstrich|Bindestrich|Unterstrich|Doppelpunkt|Fragezeichen|gleich",
        "fr": "point|arobase|barre oblique|tiret|tiret bas|deux points|point d'interrogation|égale",
        "es": "punto|arroba|barra|guion|guion bajo|dos puntos|signo de interrogación|igual",
        "it": "punto|chiocciola|barra|trattino|trattino basso|due punti|punto interrogativo|uguale",
        "ru": "точка|собака|слэш|дефис|подчёркивание|двоеточие|вопросительный знак|равно",
        "ko": "점|골뱅이|슬래시|하이픈|밑줄|콜론|물음표|등호",
        "ja": "ドット|アットマーク|スラッシュ|ハイフン|アンダーバー|コロン|クエスチョンマーク|イコール",
    }.items()
}
_HALVES = {
    "de": {"2": "halb"}, "fr": {"2": "demi", "3": "tiers", "4": "quart"}, "es": {"2": "medio", "3": "tercio"}, "it": {"2": "mezzo"},
}  # fmt: skip
_MAX_PART = 20


def _part(over: str, under: str, code: str) -> str | None:
    """Return a fraction below one in words; None if the numbers are no usual fraction."""
    if not 0 < int(over) < int(under) or (int(under) > _MAX_PART and under != "100"):
        return None
    if code == "ko":
        return f"{_say(under, code)}분의 {_say(over, code)}"
    if code == "ru":
        form: dict[str, object] = {"gender": "f"} if over == "1" else {"case": "g", "plural": True}
        return f"{_say(over, code, gender='f')} {_say(under, code, to='ordinal', **form)}"
    name = _HALVES[code].get(under)
    if name is None:
        name = _say(under, code, to="ordinal")
        name = name.capitalize() + "l" if code == "de" else name
    count = (
        "ein" if code == "de" and over == "1" else "un" if code in ("es", "it") and over == "1" else _say(over, code)
    )
    if over != "1" and code != "de":
        name = name[:-1] + "i" if code == "it" else name if name.endswith("s") else name + "s"
    return f"{count} {name}"


def _times(digits: str, code: str) -> str:
    spoken = {"es": {"1": "una"}, "it": {"1": "una"}, "fr": {"1": "une"}, "de": {"1": "ein"}}.get(code, {}).get(
        digits
    ) or _say(digits, code)
    return spoken + {"de": "mal", "fr": " fois", "es": " veces", "it": " volte", "ru": " раза", "ko": "배"}[code]


_POWERS = {
    "de": " hoch {}", "fr": " puissance {}", "es": " elevado a {}", "it": " alla {}", "ru": " в степени {}",
    "ko": "의 {}제곱", "ja": "の{}乗",
}  # fmt: skip
_POWER = r"(?<=[\p{L}\d])[⁰¹²³⁴⁵⁶⁷⁸⁹]+"


def _power(match: regex.Match[str], code: str) -> str:
    return _POWERS[code].format(unicodedata.normalize("NFKC", match.group()))


_JAPANESE_DIGITS = "〇一二三四五六七八九"


def _japanese_digits(digits: str) -> str:
    return "".join(_JAPANESE_DIGITS[int(digit)] for digit in digits)


def _japanese_cardinal(digits: str) -> str:
    if len(digits) > _MAX_DIGITS or (len(digits) > 1 and digits[0] == "0"):
        return _japanese_digits(digits)
    return _say(digits, "ja") if digits != "0" else "〇"


def _japanese_number(number: str) -> str:
    whole, _, decimals = number.partition(".")
    return _japanese_cardinal(whole) + (f"点{_japanese_digits(decimals)}" if decimals else "")


_JAPANESE = (*address_rules(_ADDRESS_SIGNS["ja"], _japanese_digits, hashtag=_HASHTAGS["ja"], separator=""), *rules(
    "number",
    (r"(?<=\d)\s[-−–]\s(?=\d+\s?=)", "引く"),
    (r"(?<![\d/.,])(\d{1,3})/(\d{1,3})(?![\d/])", lambda match: f"{_japanese_cardinal(match[2])}分の{_japanese_cardinal(match[1])}"),
    (r"(?<![A-Za-z\d.])(\d+)\s?x(?![A-Za-z\d])", r"\1倍"),
    (_POWER, lambda match: _power(match, "ja")),
    (r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!,?\d)", lambda match: match.group().replace(",", "")),
    (r"(?<!\d)(\d+(?:\.\d+)?)\s?(?:%|％)", r"\1パーセント"),
    (r"[¥￥]\s?(\d+(?:\.\d+)?)(?:円)?", r"\1円"),
    (r"\$\s?(\d+(?:\.\d+)?)", r"\1ドル"),
    (r"€\s?(\d+(?:\.\d+)?)", r"\1ユーロ"),
    (r"(?<=\d)\s?(?:km/h)", "キロメートル毎時"),
    (r"(?<=\d)\s?km(?![\p{Latin}])", "キロメートル"),
    (r"(?<=\d)\s?cm(?![\p{Latin}])", "センチメートル"),
    (r"(?<=\d)\s?mm(?![\p{Latin}])", "ミリメートル"),
    (r"(?<=\d)\s?(?:m²|㎡)", "平方メートル"),
    (r"(?<=\d)\s?m(?![\p{Latin}²])", "メートル"),
    (r"(?<=\d)\s?kg(?![\p{Latin}])", "キログラム"),
    (r"(?<=\d)\s?g(?![\p{Latin}])", "グラム"),
    (r"(?<=\d)\s?(?:ml|mL)(?![\p{Latin}])", "ミリリットル"),
    (r"(?<=\d)\s?[lL](?![\p{Latin}])", "リットル"),
    (r"(?<=\d)\s?(?:°C|℃)", "度"),
    (r"(?<=\d)\s?GB(?![\p{Latin}])", "ギガバイト"),
    (r"(?<![\d:])([01]?\d|2[0-4])[:：]00(?![\d:])", r"\1時"),
    (r"(?<![\d:])([01]?\d|2[0-4])[:：]0?([1-5]?\d)(?![\d:])", r"\1時\2分"),
    (r"(?<!\d)([12]\d{3})[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?!\d)",
     lambda match: f"{match[1]}年{int(match[2])}月{int(match[3])}日"),
    (r"(?<=\d)\s?[-–~～〜]\s?(?=\d+(?![\d-]))(?<!\d-\d+-)(?<!0\d+-)", "から"),
    (r"(?<![\d.])0\d+(?:-\d+)+", lambda match: "の".join(_japanese_digits(each).replace("〇", "ゼロ") for each in match.group().split("-"))),
    (r"(?<=\d)\s?\+\s?(?=\d)", "足す"),
    (r"(?<=[\d\p{L}])\s?=\s?(?=[\d\p{L}])", "は"),
    (r"(?<![\d\p{Latin}])-(?=\d)", "マイナス"),
    (r"\d+(?:\.\d+){2,}", lambda match: "点".join(_japanese_cardinal(each) for each in match.group().split("."))),
    (r"(?<=[A-Za-z])-(?=\d)", " "),
    (r"\d+(?:\.\d+)?", lambda match: _japanese_number(match.group())),
    (r"[\^*_#~～<>|{}\\=`]+", " "),
))  # fmt: skip
