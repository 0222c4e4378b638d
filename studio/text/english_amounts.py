"""English amounts in words: money, units, arithmetic, scores, fractions, and suffixes of numbers."""

from __future__ import annotations

import unicodedata

import regex

from studio.text.number_words import english_cardinal, english_digits, english_number, english_ordinal, english_pairs
from studio.text.rules import rules

# Sign or code: unit, its plural, hundredth, its plural.
_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"), "£": ("pound", "pounds", "penny", "pence"),
    "€": ("euro", "euros", "cent", "cents"), "¥": ("yen", "yen", "", ""), "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "", ""), "₽": ("rouble", "roubles", "kopeck", "kopecks"),
    "₿": ("bitcoin", "bitcoins", "", ""), "₺": ("lira", "lira", "", ""), "₫": ("dong", "dong", "", ""),
    "₪": ("shekel", "shekels", "", ""), "₴": ("hryvnia", "hryvnias", "", ""), "¢": ("cent", "cents", "", ""),
    "C$": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "A$": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"),
    "NZ$": ("New Zealand dollar", "New Zealand dollars", "cent", "cents"),
    "R$": ("real", "reais", "centavo", "centavos"), "CHF": ("Swiss franc", "Swiss francs", "centime", "centimes"),
    "CNY": ("yuan", "yuan", "fen", "fen"),
}  # fmt: skip
_CODES = {
    "USD": "$", "US$": "$", "GBP": "£", "EUR": "€", "JPY": "¥", "INR": "₹", "KRW": "₩", "RUB": "₽", "BTC": "₿",
    "Rs.": "₹", "Rs": "₹", "CAD": "C$", "AUD": "A$", "HKD": "HK$", "NZD": "NZ$", "AU$": "A$", "CA$": "C$", "BRL": "R$", "RMB": "CNY", "CN¥": "CNY",
}  # fmt: skip
_SCALES = {
    "k": "thousand", "thousand": "thousand", "m": "million", "mn": "million", "mm": "million", "mil": "million",
    "million": "million", "b": "billion", "bn": "billion", "billion": "billion", "t": "trillion", "tn": "trillion",
    "trillion": "trillion", "lakh": "lakh", "crore": "crore",
}  # fmt: skip
_SIGNS = "|".join(map(regex.escape, sorted({*_CURRENCIES, *_CODES}, key=len, reverse=True)))
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_AMOUNT = r"(?:\d{1,3}(?:\.\d{3})+,\d{2}|\d+,\d{2}(?!\d)|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_SCALE = r"(?:[ -]?(?P<scale>(?i:thousand|million|billion|trillion|lakh|crore|mn|bn|tn|mil)|[kKmMbBtT])(?![\p{L}\d]))?"
_PER = r"(?:\s?/\s?(?P<per>hour|hr|h|day|d|week|wk|month|mo|year|yr|y|person|night|share|unit|kg|lb|sq\.?\s?ft|GB|kWh|m²))?(?!/)"
_PER_WORDS = {
    "hr": "hour", "h": "hour", "d": "day", "wk": "week", "mo": "month", "yr": "year", "y": "year", "kg": "kilogram",
    "lb": "pound", "GB": "gigabyte", "kWh": "kilowatt hour", "m²": "square meter",
}  # fmt: skip

# Symbol: singular and plural. A prefix of powers and a division are read by rules.
_UNIT_WORDS = """
km kilometer kilometers|m meter meters|cm centimeter centimeters|mm millimeter millimeters|nm nanometer nanometers
µm micrometer micrometers|μm micrometer micrometers|mi mile miles|ft foot feet|yd yard yards|yds yard yards
kg kilogram kilograms|kgs kilogram kilograms|g gram grams|mg milligram milligrams|µg microgram micrograms
μg microgram micrograms|mcg microgram micrograms|lb pound pounds|lbs pound pounds|oz ounce ounces
l liter liters|L liter liters|ml milliliter milliliters|mL milliliter milliliters|cl centiliter centiliters|dL deciliter deciliters|dl deciliter deciliters
gal gallon gallons|qt quart quarts|pt pint pints|tbsp tablespoon tablespoons|Tbsp tablespoon tablespoons|Tsp teaspoon teaspoons|tsp teaspoon teaspoons
ha hectare hectares|ac acre acres|mph mile_per_hour miles_per_hour|kmh kilometer_per_hour kilometers_per_hour
kph kilometer_per_hour kilometers_per_hour|kph kilometer_per_hour kilometers_per_hour|kn knot knots
mpg mile_per_gallon miles_per_gallon|rpm revolution_per_minute revolutions_per_minute
bpm beat_per_minute beats_per_minute|fps frame_per_second frames_per_second|dpi dot_per_inch dots_per_inch
ppm part_per_million parts_per_million|psi pound_per_square_inch pounds_per_square_inch
Hz hertz hertz|kHz kilohertz kilohertz|MHz megahertz megahertz|GHz gigahertz gigahertz
kB kilobyte kilobytes|kb kilobyte kilobytes|KB kilobyte kilobytes|MB megabyte megabytes|GB gigabyte gigabytes|Mb megabit megabits|Gb gigabit gigabits|MiB mebibyte mebibytes|GiB gibibyte gibibytes
TB terabyte terabytes
PB petabyte petabytes|Kbps kilobit_per_second kilobits_per_second|kbps kilobit_per_second kilobits_per_second
Mbps megabit_per_second megabits_per_second|Gbps gigabit_per_second gigabits_per_second
W watt watts|kW kilowatt kilowatts|MW megawatt megawatts|GW gigawatt gigawatts|mW milliwatt milliwatts
Wh watt_hour watt_hours|kWh kilowatt_hour kilowatt_hours|MWh megawatt_hour megawatt_hours
V volt volts|kV kilovolt kilovolts|mV millivolt millivolts|mA milliamp milliamps|mAh milliamp_hour milliamp_hours
Ah amp_hour amp_hours|Ω ohm ohms|kΩ kilohm kilohms|J joule joules|kJ kilojoule kilojoules|MJ megajoule megajoules
cal calorie calories|kcal kilocalorie kilocalories|N newton newtons|Nm newton_meter newton_meters
Pa pascal pascals|hPa hectopascal hectopascals|kPa kilopascal kilopascals|MPa megapascal megapascals|mbar millibar millibars
mmHg millimeter_of_mercury millimeters_of_mercury|dB decibel decibels|lm lumen lumens|lx lux lux
mol mole moles|mmol millimole millimoles|hp horsepower horsepower|px pixel pixels|MP megapixel megapixels
s second seconds|sec second seconds|secs second seconds|ms millisecond milliseconds|µs microsecond microseconds
μs microsecond microseconds|ns nanosecond nanoseconds|min minute minutes|mins minute minutes|h hour hours
hr hour hours|hrs hour hours|wks week weeks|yr year years|yrs year years|mo month months|mos month months
°C degree_Celsius degrees_Celsius|°F degree_Fahrenheit degrees_Fahrenheit|℃ degree_Celsius degrees_Celsius
℉ degree_Fahrenheit degrees_Fahrenheit|° degree degrees
"""
_UNITS: dict[str, tuple[str, str]] = {}
for _entry in _UNIT_WORDS.replace("\n", "|").split("|"):
    if _entry:
        _symbol, _one, _many = _entry.split()
        _UNITS[_symbol] = (_one.replace("_", " "), _many.replace("_", " "))
_SYMBOLS = "|".join(map(regex.escape, sorted(_UNITS, key=len, reverse=True)))
_UNIT = rf"(?P<squared>sq\.?\s|cu\.?\s)?(?P<unit>{_SYMBOLS})(?P<power>[²³]|\^[23]|(?<=m|ft)[23](?!\d))?"
_DIVISOR = (
    rf"(?:/(?P<divisor>{_SYMBOLS}|day|week|month|year|hour|minute|second|person|serving|dose)(?P<power2>[²³]|\^[23])?)?"
)
# After these letters alone, a number is more often something else: 5 m is a length, but "Model 3 s" is not.
_END = r"(?![\p{L}\p{N}'’])"
_POWERS = {"2": "square ", "3": "cubic ", "²": "square ", "³": "cubic "}
_OPERATORS = {"+": "plus", "-": "minus", "−": "minus", "–": "minus", "×": "times", "x": "times", "*": "times",
              "÷": "divided by", "/": "divided by", "=": "equals", "≈": "is about", "≠": "is not equal to",
              "<": "is less than", ">": "is greater than", "≤": "is at most", "≥": "is at least"}  # fmt: skip


def _plain(amount: str) -> str:
    """Return ``amount`` with a decimal point and without separators. ``3,50`` and ``1.234,56`` are European."""
    if regex.fullmatch(r"[\d.]*\d,\d{2}", amount):
        return amount.replace(".", "").replace(",", ".")
    return amount.replace(",", "")


def _money(match: regex.Match[str]) -> str:
    sign = match["sign"].strip()
    one, many, hundredth, hundredths = _CURRENCIES[_CODES.get(sign, sign)]
    number = _plain(match["amount"])
    whole, _, decimals = number.partition(".")
    scale = match["scale"]
    minus = "minus " if match["minus"] else ""
    is_adjective = _is_adjective(match) or (scale is not None and "-" + scale in match.group())
    if scale is not None:
        words = f"{_decimal(number)} {_SCALES[scale.lower()]} {one if is_adjective else many}"
    elif len(decimals) == 2 and hundredth:
        cents, units = int(decimals), int(whole)
        unit_words = f"{english_cardinal(whole)} {one if units == 1 else many}" if units else ""
        cent_words = english_cardinal(str(cents))
        named = f"{cent_words} {hundredth if cents == 1 else hundredths}"
        if not cents:
            words = unit_words or f"zero {many}"
        elif not units:
            words = named
        else:
            words = f"{unit_words} and {named}" if cents < 10 else f"{unit_words} {cent_words}"
    else:
        words = f"{_decimal(number)} {one if number == '1' or is_adjective else many}"
    if (per := match.groupdict().get("per")) is not None:
        words += f" per {'square foot' if per.startswith('sq') else _PER_WORDS.get(per, per)}"
    return f"{minus}{words}"


def _is_adjective(match: regex.Match[str]) -> bool:
    """Return whether an amount belongs to a noun: a $5 bill, an 8 kg dog, the 100 m sprint."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    has_article = _ARTICLE.search(before) is not None
    return (has_article and _NOUN.match(after) is not None) or _QUALIFIED.match(after) is not None


_ARTICLE = regex.compile(r"(?i)\b(?:an?|another|every|each) \Z")
_NOUN = regex.compile(
    r"[ -](?!(?:in|of|on|to|for|from|by|per|and|or|at|with|each|is|was|more|less|long|wide|high|tall|deep)\b)\p{Ll}"
)
# Nouns that follow an amount directly, with or without an article.
_QUALIFIED = regex.compile(
    r" (?:sprint|dash|relay|hurdles|freestyle|backstroke|breaststroke|butterfly|(?:bill|banknote|coin|deal|prize)s?)\b"
)


def _decimal(number: str) -> str:
    whole, _, decimals = number.partition(".")
    return english_cardinal(whole) + (f" point {english_digits(decimals)}" if decimals else "")


def _measure(match: regex.Match[str]) -> str:
    number = match["number"].replace(",", "")
    after = match.string[match.end() :]
    words = _decimal(number)
    unit = match["unit"]
    if (numerator := match["over"]) is not None:
        over = numerator.replace("/", "").strip()
        if number.isdigit() and 0 < int(over) < int(number) <= _MAX_DENOMINATOR:
            one = _UNITS[unit][0]
            return f"{fraction_of(over, number)} {'an' if one[0] in 'aeio' else 'a'} {one}"
        words = f"{english_cardinal(over)} over {words}"
    if unit == "s" and match.group().endswith("s") and match.group()[-2].isdigit():
        return match.group()  # in the 60s
    is_one = number == "1" and match["over"] is None
    power = _POWERS.get((match["power"] or "").lstrip("^"), "")
    if match["squared"]:
        power = "square " if match["squared"].startswith("sq") else "cubic "
    words += f" {power}{_UNITS[unit][0 if is_one or match['hyphen'] or _is_adjective(match) else 1]}"
    if match["divisor"]:
        words += f" per {_POWERS.get((match['power2'] or '').lstrip('^'), '')}{_UNITS.get(match['divisor'], (match['divisor'],))[0]}"
    # The point of an abbreviation, unless it ends the sentence.
    point = "." if match["point"] and (not after.strip(' "”’)') or regex.match(r"\s+\p{Lu}", after)) else ""
    return ("minus " if match["minus"] else "") + words + point


_MAX_DENOMINATOR = 16


def fraction_of(over: str, under: str) -> str:
    """Return a fraction of something below one: half, a quarter of, three quarters of, two thirds of."""
    if under == "2":
        return "half"
    name = "quarter" if under == "4" else english_ordinal(under)
    return f"a {name} of" if over == "1" else f"{english_cardinal(over)} {name}s of"


def _expression(match: regex.Match[str]) -> str:
    if not _EQUALITY.search(match.group()):
        return match.group()

    def words(operator: regex.Match[str]) -> str:
        return f" {_OPERATORS[operator.group().strip()]} "

    return regex.sub(rf"(?<=[\p{{L}}\p{{N}})])\s*[{_OPERATOR_SET}]\s*(?=[\p{{L}}\p{{N}}(−-])", words, match.group())


_EQUALITY = regex.compile(r"[=≈≠]")
_OPERATOR_SET = r"+\-−–×x*÷/=≈≠<>≤≥"
_TERM = r"(?:[-−]?\d[\d,]*+(?:\.\d+)?|\b[a-zA-Z]\b)"


POWER = r"(?:(⁻)?([⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\^(-)?(\d+))"


def power(match: regex.Match[str]) -> str:
    """Return the exponent of a match of ``POWER`` in words and digits."""
    exponent = match[4] or unicodedata.normalize("NFKC", match[2])
    if exponent in ("2", "3") and not (match[1] or match[3]):
        return " squared" if exponent == "2" else " cubed"
    return f" to the power of {'minus ' if match[1] or match[3] else ''}{exponent}"


def _difference(match: regex.Match[str]) -> str:
    low, high = float(match[1].replace(",", "")), float(match[2].replace(",", ""))
    is_asked = regex.search(
        r"(?i)\b(?:is|are|equals?|calculate|compute|minus|solve|what's)\s*\Z", match.string[: match.start()]
    )
    return f"{match[1]} minus {match[2]}" if is_asked or low > high else match.group()


def _multiplied(match: regex.Match[str]) -> str:
    number, scale = match["number"].replace(",", ""), match["scale"]
    if (
        scale == "B"
        and number.isdigit()
        and not regex.match(r"\s(?:people|in|\p{Ll}+s)\b", match.string[match.end() :])
    ):
        return match.group()  # 221B Baker Street, room 204B
    if match.group() == "3M" and not regex.match(
        r"\s\p{Ll}+(?<!tape|product|mask)s\b|\s(?:people|in|of)\b", match.string[match.end() :]
    ):
        return "three M"  # the company
    if scale.lower() == "k" and number in ("2", "4", "5", "8", "10"):
        run = regex.match(
            r"\s?(?:run|race|video|TV|display|screen|resolution|monitor|footage)", match.string[match.end() :]
        )
        if run or (number in ("4", "8") and scale == "K"):
            return f"{_decimal(number)} K"
    return f"{_decimal(number)} {_SCALES[scale.lower()]}"


_QUOTE = regex.compile(r'(?<!\d)"')


def _inches(match: regex.Match[str]) -> str:
    if match["mark"] == '"' and len(_QUOTE.findall(match.string, 0, match.start())) % 2:
        return match.group()  # a closing quotation mark
    return f"{english_number(match['number'])} {'inch' if match['number'] == '1' else 'inches'}"


def _ordinal(match: regex.Match[str]) -> str:
    return english_ordinal(match[1].replace(",", ""))


def _rating(match: regex.Match[str]) -> str:
    return f"{_decimal(match[1])} out of {english_cardinal(match[2])}"


def _coordinate(match: regex.Match[str]) -> str:
    seconds = f" {_decimal(match[3])} seconds" if match[3] else ""
    direction = {"N": " north", "S": " south", "E": " east", "W": " west", None: ""}[match[4]]
    return f"{english_cardinal(match[1])} degrees {english_cardinal(match[2])} minutes{seconds}{direction}"


def _score(match: regex.Match[str]) -> str:
    return f"{english_cardinal(match[1])} to {english_cardinal(match[2])}"


AMOUNTS = (
    *rules(
        "money",
        (rf"(?<![\p{{L}}\d.,])(?P<minus>[-−])?(?P<sign>{_SIGNS})\s?(?P<amount>{_AMOUNT}){_SCALE}(?:\s(?:US )?(?:dollars?|pounds?|euros?)\b)?{_PER}(?![\d%])", _money),
        (
            rf"(?<![\p{{L}}\d.,$£€])(?<!\b[Tt]he (?=\d Rs))(?P<minus>[-−])?(?P<amount>{_AMOUNT}){_SCALE}\s?(?P<sign>{_SIGNS})(?![\p{{L}}\d])",
            _money,
        ),
        (
            r"(?<![\d.,])(\d+)[.,](\d{2})(?= (?:euros?|dollars|pounds)\b)",
            lambda match: f"{match[1]}" if match[2] == "00" else f"{match[1]}.{match[2]}",
        ),
    ),
    *rules(
        "arithmetic",
        (rf"(?<![\w.]){_TERM}(?:\s?[{_OPERATOR_SET}]\s?{_TERM})++(?!\w)", _expression),
        (r"(?<![\w.,/-])(\d[\d,]*(?:\.\d+)?) [-−–] (\d[\d,]*(?:\.\d+)?)(?=\s*[?.!=,;]|\s*\Z)", _difference),
        (r"(?<=\d)\s?[x×*]\s?(?=10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻^])", " times "),
        (rf"(?<=\d){POWER}", power),
        (r"(?<=[\p{L}\d)])\s?≈\s?(?=[\p{L}\d])", " is about "),
        (r"(?<=[\p{L}\d)]) ?([<>≤≥]) ?(?=[\d-]|[a-zA-Z]\b)(?<=\d ?[<>≤≥] ?|\b[a-zA-Z] ?[<>≤≥] ?|(?:p|value|is|if) ?[<>≤≥] ?)",
         lambda match: f" {_OPERATORS[match[1]]} "),
        (r"(?<!\S)[<＜] ?(?=[$£€]?\d)", "less than "),
        (r"(?<!\S)[>＞] ?(?=[$£€]?\d)", "more than "),
        (r"(?<=\d)\s?±\s?(?=\d)", " plus or minus "),
        (r"(?<![\d,.])(\d[\d,]*+(?:\.\d+)?)[x×](?=[\s.,;!?)]|\Z)", lambda match: f"{_decimal(match[1].replace(',', ''))} times"),
    ),
    *rules(
        "score",
        (r"(?<![\w.,/:-])(\d{1,3})[-–](\d{1,3})(?=\s(?:win|victory|defeat|loss|lead|draw|tie|record|vote|decision|score)\b)",
         _score),
        (r"(?<=\b(?:won|lost|lead|led|leads|beat|scored|drew|score|score of|score was|by|finished|ended) )(\d{1,3})[-–](\d{1,3})(?![\d/:-])",
         _score),
        (r"(?i)(?<=\b(?:ratio|ratio of|odds of|ratio is|scale of|odds) )(\d+):(\d+)(?!\d)", _score),
        (r"(?<![\d:])(\d{1,3}):(\d)(?![\d:]|\s?[ap]\.?m)", _score),
        (r"(?<![\d:])(16):(9)|(?<![\d:])(21):(9)", lambda match: f"{english_cardinal(match[1] or match[3])} to nine"),
    ),
    *rules(
        "score",
        (r"(?<=\b(?:scored|score of|rated|rating of|rating|got|gets|earned) )(\d+(?:\.\d+)?)/(\d+)(?![\d/])", _rating),
        (r"(?<![\w./])(\d\.\d)/(5|10)(?![\d/.])", _rating),
        (r"(?i)(?<=\b(?:BP|blood pressure)(?: is| was| of|:)? )(\d{2,3})/(\d{2,3})(?![\d/]|\s?mmHg)",
         lambda match: f"{english_pairs(match[1])} over {english_cardinal(match[2])}"),
        (r"(?<![\d.,])(480|720|1080|1440|2160)(?=[pi]\b)", lambda match: f"{english_pairs(match[1])} "),
        (r"(?<![\w.,-])50-50(?![\w-])", "fifty fifty"),
    ),
    *rules(
        "coordinate",
        (r"(?<![\d.])(\d{1,3})°\s?(\d{1,2})['’′](?:\s?(\d{1,2}(?:\.\d+)?)[\"”″])?(?:\s?([NSEW])\b)?", _coordinate),
    ),
    *rules(
        "inches",
        (r"(?<![\d.])(\d{1,2})['’′]\s?(\d{1,2})(?!\d)(?:[\"”″]|''|(?!\w))",
         lambda match: f"{english_cardinal(match[1])} foot {english_cardinal(match[2])}"),
        (r"(?<![\d.])(\d+)′(?!\w)", lambda match: f"{english_cardinal(match[1])} feet"),
        (r"(?:(?<![\w.\"“])|(?<=[\"″]\s?[x×]))(?P<number>\d+(?:\.\d+)?)(?P<mark>[\"″]|in\.)(?=[\s,.;:)x×-]|\Z)", _inches),
        (r"(?<=inches)\s?[x×]\s?(?=\d|\w+ inch)", " by "),
    ),
    *rules(
        "unit",
        (
            rf"(?<![\w.,$£€–-])(?P<minus>[-−](?=\d))?(?P<over>\d{{1,3}}\s?/\s?)?(?P<number>{_NUMBER})(?:\s?|(?P<hyphen>-)){_UNIT}"
            rf"{_DIVISOR}{_END}(?P<point>\.(?!\d))?",
            _measure,
        ),
        (r"(?<=f(?:oo|ee)t )(\d{1,2}) ?in\b\.?", lambda match: f"{english_cardinal(match[1])} inches"),
        (rf"(?<=\d[-–]\d+ ?|to \d+ ?)(?P<unit>{_SYMBOLS}){_END}", lambda match: " " + _UNITS[match["unit"]][1]),
    ),
    *rules(
        "number",
        (rf"(?<![\w.,$£€-])(?P<number>{_NUMBER})(?P<scale>[kKmMbB]|bn|mn|tn)(?![\p{{L}}\d-])", _multiplied),
        (r"(?<![\d,.])1,000s\b", "thousands"),
        (r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)(?![\p{L}\d])", _ordinal),
        (r"(?<![\w.,])(\d{1,3})-(?=[a-z]{3,})", lambda match: f"{english_cardinal(match[1])}-"),
        (r"(?<![\d.,])(\d{3,}) / (\d{2,})(?![\d/])",
         lambda match: f"{english_cardinal(match[1])} over {english_cardinal(match[2])}"),
    ),
)  # fmt: skip
