"""Chinese amounts in words: money, units, scores, fractions, telephone numbers and addresses.

Numbers of these rules are cardinals: 五毫安时 of 5mAh, 一千九百九十九元 of ¥1999元.
"""

from __future__ import annotations

import unicodedata

import regex

from studio.text.addresses import address_rules
from studio.text.number_words import chinese_cardinal, chinese_count, chinese_digits, chinese_number, roman_value
from studio.text.rules import rules

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)(?:\.\d+)?"
_SCALE = r"(?P<scale>[万亿千百]+(?![\p{Han}]*年代)|k|K|M|B|bn|m)?"
_ZEROS = {"k": 3, "K": 3, "w": 4, "W": 4, "M": 6, "m": 6, "B": 9, "bn": 9}  # 10w is 十万
_CURRENCIES = {
    "¥": "元", "￥": "元", "$": "美元", "＄": "美元", "US$": "美元", "€": "欧元", "£": "英镑", "HK$": "港元",
    "NT$": "新台币", "A$": "澳元", "C$": "加元", "₩": "韩元", "₽": "卢布", "₹": "卢比", "₿": "比特币", "CNY": "元",
    "RMB": "元", "USD": "美元", "EUR": "欧元", "GBP": "英镑", "JPY": "日元", "HKD": "港元", "JP¥": "日元",
}  # fmt: skip
_SIGNS = "|".join(map(regex.escape, sorted(_CURRENCIES, key=len, reverse=True)))
_UNIT_WORDS = """
km/s 公里每秒|m/s 米每秒|m/s² 米每二次方秒|g/cm³ 克每立方厘米|mg/L 毫克每升|mg/dL 毫克每分升|mmol/L 毫摩尔每升
kg/m³ 千克每立方米|L/min 升每分钟|次/分 次每分|元/kg 元每千克
mAh 毫安时|Ah 安时|kWh 千瓦时|Wh 瓦时|kW·h 千瓦时|mmHg 毫米汞柱|Hz 赫兹|kHz 千赫兹|MHz 兆赫兹|GHz 吉赫兹
km 公里|cm 厘米|mm 毫米|nm 纳米|μm 微米|µm 微米|dm 分米|m 米|km² 平方公里|cm² 平方厘米|mm² 平方毫米|m² 平方米
m³ 立方米|cm³ 立方厘米|dm³ 立方分米|㎡ 平方米|㎥ 立方米|㎞ 公里|㎝ 厘米|㎜ 毫米|㎏ 千克|㎎ 毫克|㏄ 毫升
kg 千克|g 克|mg 毫克|μg 微克|µg 微克|t 吨|L 升|l 升|ml 毫升|mL 毫升|cc 毫升|oz 盎司|lb 磅|lbs 磅
KB KB|MB MB|GB GB|TB TB|kB KB|Mbps 兆比特每秒|Gbps 吉比特每秒|kbps 千比特每秒|fps 帧每秒|rpm 转每分|dpi dpi
W 瓦|kW 千瓦|MW 兆瓦|GW 吉瓦|V 伏|kV 千伏|mV 毫伏|mA 毫安|Ω 欧姆|kΩ 千欧|J 焦耳|kJ 千焦|kcal 千卡|cal 卡
N 牛|Pa 帕|kPa 千帕|MPa 兆帕|hPa 百帕|dB 分贝|ha 公顷|mol 摩尔|ppm ppm|lm 流明|mph 英里每小时|ft 英尺|in 英寸|mi 英里
s 秒|ms 毫秒|min 分钟|h 小时|℃ 摄氏度|°C 摄氏度|℉ 华氏度|°F 华氏度|° 度|″ 英寸|px 像素
"""
_UNITS = dict(entry.split() for entry in _UNIT_WORDS.replace("\n", "|").split("|") if entry)
_SYMBOLS = "|".join(map(regex.escape, sorted(_UNITS, key=len, reverse=True)))
_OPERATORS = {
    "+": "加", "＋": "加", "-": "减", "−": "减", "–": "减", "×": "乘以", "x": "乘以", "*": "乘以", "÷": "除以", "/": "除以",
    "=": "等于", "＝": "等于", "≈": "约等于", "≠": "不等于", "<": "小于", ">": "大于", "＜": "小于", "＞": "大于",
    "≤": "小于等于", "≥": "大于等于",
}  # fmt: skip
_OPERATOR_SET = r"+＋\-−–×x*÷/=＝≈≠<>＜＞≤≥"
_TERM = r"(?:[-−]?\d[\d,]*+(?:\.\d+)?%?|(?<![a-zA-Z])[a-zA-Z](?![a-zA-Z]))[²³]?"
_SIGN_WORDS = {
    ".": "点", "/": "斜杠", "-": "杠", "_": "下划线", "@": "艾特", ":": "冒号", "?": "问号", "=": "等于", "&": "和", "#": "井号",
}  # fmt: skip
PHONE_DIGITS = str.maketrans("一", "幺")


def _money(match: regex.Match[str]) -> str:
    scale = match["scale"] or ""
    amount = match["amount"].replace(",", "")
    if scale in _ZEROS:
        amount, scale = _multiplied(amount, _ZEROS[scale]), ""
    if regex.fullmatch(r"\d+\.00", amount):
        amount = amount[:-3]
    minus = "负" if match["minus"] else ""
    # 元 may be written, too: ¥1999元.
    unit = match["written"] or _CURRENCIES[match["sign"]]
    return f"{minus}{chinese_count(amount, is_counted=True)}{scale}{unit}"


def _measure(match: regex.Match[str]) -> str:
    number = chinese_count(match["number"], is_counted=True)
    minus = "零下" if match["minus"] and match["unit"] in ("℃", "°C", "℉", "°F") else "负" if match["minus"] else ""
    return f"{minus}{number}{match['scale'] or ''}{_UNITS[match['unit']]}"


_CALCULATED = regex.compile(r"\s?[=＝≈+×÷]")


def _power(match: regex.Match[str]) -> str:
    if match.group() in ("²", "³"):
        is_calculated = match.string[match.start() - 1].isdigit() and _CALCULATED.match(match.string, match.end())
        return ("的平方" if match.group() == "²" else "的立方") if is_calculated else match.group()
    exponent = unicodedata.normalize("NFKC", match.group())
    return f"的{chinese_cardinal(exponent)}次方"


def _pressure(match: regex.Match[str]) -> str:
    return f"{chinese_number(match[1])}、{chinese_number(match[2])}{_UNITS[match[3]]}"


def _expression(match: regex.Match[str]) -> str:
    if not regex.search("[=＝≈≠]", match.group()):
        return match.group()
    return regex.sub(
        rf"(?<=[\w%²³])\s*[{_OPERATOR_SET}]\s*(?=[\w−-])",
        lambda operator: _OPERATORS[operator.group().strip()],
        match.group(),
    )


def _thousands(match: regex.Match[str]) -> str:
    return chinese_number(_multiplied(match["number"].replace(",", ""), _ZEROS[match["scale"]]))


def _multiplied(number: str, zeros: int) -> str:
    """Return ``number`` times a power of ten."""
    whole, _, decimals = number.partition(".")
    shifted = decimals[:zeros].ljust(zeros, "0")
    rest = decimals[zeros:]
    return (whole + shifted).lstrip("0") + (f".{rest}" if rest else "") or "0"


def _phone(match: regex.Match[str]) -> str:
    plus = "加" if match.group().startswith("+") else ""
    return plus + "，".join(
        chinese_digits(group).translate(PHONE_DIGITS) for group in regex.findall(r"\d+", match.group())
    )


def _date(match: regex.Match[str]) -> str:
    year = chinese_digits(match["year"]) + "年" if match["year"] else ""
    return f"{year}{chinese_cardinal(match['month'].lstrip('0'))}月{chinese_cardinal(match['day'].lstrip('0'))}日"


def _coordinate(match: regex.Match[str]) -> str:
    seconds = f"{chinese_number(match[3])}秒" if match[3] else ""
    return f"{chinese_cardinal(match[1])}度{chinese_cardinal(str(int(match[2])))}分{seconds}"


def _clock(match: regex.Match[str]) -> str:
    hour, minute, second = int(match["hour"]), match["minute"], match.groupdict().get("second")
    words = f"{'两' if hour == 2 else chinese_cardinal(str(hour))}点"
    if minute != "00" or second:
        words += (
            "零" + chinese_cardinal(minute[1]) + "分"
            if minute[0] == "0" and minute != "00"
            else ("整" if minute == "00" else chinese_cardinal(minute) + "分")
        )
    if second:
        words += chinese_cardinal(str(int(second))) + "秒"
    return words


CHINESE_AMOUNTS = (
    *address_rules(_SIGN_WORDS, chinese_digits, hashtag="话题", separator=""),
    *rules(
        "sign",
        (r"\b(C|g)\+\+(?!\w)", r"\1加加"),
    ),
    *rules(
        "money",
        (rf"(?<=(?:{_SIGNS})\s?\d+),(?=\d\d(?!\d))", "."),
        (rf"(?<![\p{{Latin}}\d.])(?P<minus>[-−])?(?P<sign>{_SIGNS})\s?(?P<amount>{_NUMBER}){_SCALE}(?P<written>元整|元|块钱|块|美元|美金|欧元|英镑|日元|港币|港元|人民币)?(?!\s?[-~～–]\s?\d|\d)",
         _money),
        (rf"(?<![\p{{Latin}}\d.])(?P<minus>[-−])?(?P<amount>{_NUMBER}){_SCALE}\s?(?P<sign>{_SIGNS})(?P<written>(?!))?(?![\p{{Latin}}\d])", _money),
        (rf"(?<![\p{{Latin}}\d.])(?P<sign>{_SIGNS})\s?(?P<low>{_NUMBER})\s?[-~～–]\s?(?:{_SIGNS})?(?P<high>{_NUMBER})(?P<written>元)?",
         lambda match: f"{chinese_number(match['low'])}到{chinese_number(match['high'])}{_CURRENCIES[match['sign']]}"),
    ),
    *rules(
        "arithmetic",
        (r"(?<=[\dA-Za-z])[⁰¹²³⁴⁵⁶⁷⁸⁹]+", _power),
        (rf"(?<![\w.]){_TERM}(?:\s?[{_OPERATOR_SET}]\s?{_TERM})++(?![a-zA-Z\d])", _expression),
        (r"(?<=\d)\s?±\s?(?=\d)|±(?=\d)", "正负"),
        (r"(?<=[\p{Han}\w])\s?[≥]\s?(?=\d)", "大于等于"),
        (r"(?<=[\p{Han}\w])\s?[≤]\s?(?=\d)", "小于等于"),
        (r"(?<=[\p{Han}\w])\s?≠\s?(?=[\d\p{L}])", "不等于"),
        (r"(?<=[\p{Han}\w])\s?[>＞]\s?(?=[\d\p{Han}])", "大于"),
        (r"(?<=[\p{Han}\w])\s?[<＜]\s?(?=[\d\p{Han}])", "小于"),
        (r"(?<=(?<![a-zA-Z])[a-zA-Z])\s?[>＞]\s?(?=[a-zA-Z](?![a-zA-Z]))", "大于"),
        (r"(?<=(?<![a-zA-Z])[a-zA-Z])\s?[<＜]\s?(?=[a-zA-Z](?![a-zA-Z]))", "小于"),
        (r"[≥]\s?(?=\d)", "大于等于"),
        (r"[≤]\s?(?=\d)", "小于等于"),
        (r"[>＞]\s?(?=\d)", "大于"),
        (r"[<＜]\s?(?=\d)", "小于"),
        (r"(?<=\d)\s?[x×*]\s?(?=\d)", "乘"),
        (r"(?<=(?<![A-Za-z\d.])\d+(?:\.\d+)?)\s?[xX×](?![a-zA-Z\d])", "倍"),
        (r"≈", "约等于"),
    ),
    *rules(
        "telephone number",
        (r"\+\d{1,3}[- ]?\d{2,4}(?:[- ]?\d{3,4}){1,3}(?!\d)", _phone),
        (r"(?<![\d.])1[3-9]\d[- ]\d{4}[- ]\d{4}(?!\d)", _phone),
        (r"(?<=(?:拨打|打|拨|热线|电话|报警|急救)[:：是为了]?\s?)(?:1\d{2}|1\d{4}|9\d{4})(?![\d.,\p{Latin}]|[元块个人次年月号日万])", _phone),
        (r"\A(?:110|119|120)(?=[。！!]*\Z)", _phone),
        (r"(?<![\d.])(?:12306|12315|10086|10010)(?=[\p{Han}，。、！？；]|\Z)(?![元块个人次年月号日万])", _phone),
        (r"(?<![\d.])(?:110|119|120|12306|12345|12315|10086|10010|10000|911)(?=电话|热线|报警|急救|客服|网站|平台)", _phone),
    ),
    *rules(
        "date",
        (r"(?<!\d)([12]\d{2}0)s(?![\p{Latin}\d])", lambda match: chinese_digits(match[1]) + "年代"),
        (r"(?<![\d./-])(?P<year>[12]\d{3})(?P<mark>[./-])(?P<month>0?[1-9]|1[0-2])(?P=mark)(?P<day>3[01]|[12]\d|0?[1-9])(?:日|号)?(?![\d./-]?\d)", _date),
        (r"(?<![\d./-])(?P<year>)(?P<month>0?[1-9]|1[0-2])/(?P<day>3[01]|[12]\d|0?[1-9])(?=日|号|（周|\(周|周|星期|前|后|晚|早|上午|下午|截止|到期|开始|发售|上映|出生|放假|假期|活动|起|开学|开幕|当天|之前|之后)(?:日|号)?", _date),
        (r"(?<![\d./-])(?P<month>0?[1-9]|1[0-2])/(?P<day>3[01]|[12]\d|0?[1-9])/(?P<year>(?:19|20)\d\d)(?![\d/])", _date),
        (r"(?<=(?:截止到?|于|在|日期[:：]?|到|从|自)\s?)(?P<year>)(?P<month>0?[1-9]|1[0-2])/(?P<day>3[01]|2\d|1[1-9])(?![\d/])", _date),
    ),
    *rules(
        "time",
        (r"(?<=\d:[0-5]\d)\s?[-~～–—]\s?(?=\d{1,2}:[0-5]\d)", "到"),
        (r"(?<![\d:.]|\d\s?[-~～–]\s?)(?P<hour>[01]?\d|2[0-4])[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d))?(?![\d:：]|\s?[-~～–]\s?\d)(?<!比分\D{0,3}[\d:：]+)", _clock),
    ),
    *rules(
        "score",
        (r"(?<![\d:：.]|[-~～–]\s?)(\d{1,3})\s?[:：]\s?(\d{1,3})(?![\d:：]|\s?[-~～–]\s?\d)", lambda match: f"{chinese_cardinal(str(int(match[1])))}比{chinese_cardinal(str(int(match[2])))}"),
    ),
    *rules(
        "coordinate",
        (r"(?<![\d.])(\d{1,3})°\s?(\d{1,2})['’′](?:\s?(\d{1,2}(?:\.\d+)?)[\"”″])?", _coordinate),
    ),
    *rules(
        "unit",
        (rf"(?<=\d\s?(?:{_SYMBOLS}))\s?[-~～–—]\s?(?=\d[\d.]*\s?(?:{_SYMBOLS})(?![\p{{Latin}}\d]))", "到"),
        (rf"(?<=\d)\s?[-~～–—]\s?(?=\d[\d.]*\s?(?:{_SYMBOLS})(?![\p{{Latin}}\d]))", "到"),
        (rf"(?<![\d.])({_NUMBER})\s?(?:km/h|KM/H|公里/小?时|千米/小?时)(?!\p{{Latin}})", lambda match: f"每小时{chinese_count(match[1], is_counted=True)}公里"),
        (r"(?<=\p{Han})/(?=天|年|月|周|人|次|小时|分钟|秒)|(?<=[元块镑])/(?=\p{Han})", "每"),
        (r"(?<![\d./])(\d{1,3})\s?/\s?(\d{1,3})\s?(mmHg)(?![\p{Latin}])", _pressure),
        (rf"(?<![\p{{Latin}}\d.,-])(?P<minus>[-−])?(?P<number>{_NUMBER})\s?(?P<scale>[万亿千百])?(?P<unit>{_SYMBOLS})(?![\p{{Latin}}\d²³/])", _measure),
        (rf"(?<=次方)\s?({_SYMBOLS})(?![\p{{Latin}}\d²³])", lambda match: _UNITS[match[1]]),
        (rf"(?<=\d\s?[-~～–到至]\s?\d[\d.]*\s?)({_SYMBOLS})(?![\p{{Latin}}\d²³])", lambda match: _UNITS[match[1]]),
    ),
    *rules(
        "number",
        (r"(?<!\d)([1-9])([1-9])折", lambda match: chinese_digits(match[1] + match[2]) + "折"),
        (r"(?<=\d)\+(?=\p{Han})", "多"),
        (r"(?<=第)\d{1,8}(?![\d.,]|\s?[-~～–]\s?\d)", lambda match: chinese_cardinal(match.group())),
        (rf"(?<![\p{{Latin}}\d.,-])(?P<number>{_NUMBER})(?P<scale>[kKwWM])(?![\p{{Latin}}\d])", _thousands),
        (r"(?<=第)(I{1,3}|IV|VI{0,3}|IX|XI{0,2})(?=[章节卷部篇回幕季集期])", lambda match: chinese_cardinal(str(roman_value(match[1])))),
        (r"(?<=世界大战|二战|一战|Chapter|Part)\s?(I{1,3}|IV|VI{0,3}|IX|X)\b", lambda match: chinese_cardinal(str(roman_value(match[1])))),
        (r"(?<=[“\"])\d{3,}(?=[”\"])|(?<![\d.])(?:6{3,}|23{3,})(?=[，。！!、；～]|\s*\Z)", lambda match: chinese_digits(match.group())),
        (r"(?<=\p{Han}[A-Z])\s?[·•]\s?(?=[A-Z\d]{5})", ""),  # 京A·12345
        (r"(?<=\p{L}号码?[:：是为]?\s?)\d{5,}(?!\d|\.\d)", lambda match: chinese_digits(match.group()).translate(PHONE_DIGITS)),
        (r"(?<=[\d，,、]\s?转|分机号?[:：是]?\s?)\d{2,6}(?![\d.]|[元块个圈次天年月])",
         lambda match: chinese_digits(match.group()).translate(PHONE_DIGITS)),
        (r"(?<=(?:房间?|车牌|航班|车次|编号|邮编|密码|验证码|尾号|工号|学号|QQ|(?<![A-Za-z])[GDCTKZ])[:：是为]?\s?)\d{3,}(?!\d|\.\d|[元块个人次年月%])",
         lambda match: chinese_digits(match.group()).translate(PHONE_DIGITS)),
        (r"(?<=航班[A-Z\d]{2}|(?<![A-Z])[A-Z]{2})\d{3,4}(?=航班|次|号|班)", lambda match: chinese_digits(match.group()).translate(PHONE_DIGITS)),
    ),
)  # fmt: skip
