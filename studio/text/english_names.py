"""English abbreviations, initials, Roman numerals, addresses of the internet, versions, and text in capitals."""

from __future__ import annotations

import regex

from studio.text.addresses import address_rules
from studio.text.number_words import english_cardinal, english_digits, english_ordinal, english_year, roman_value
from studio.text.rules import rules

_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Dr": "doctor", "Prof": "professor", "Gen": "general",
    "Gov": "governor", "Sgt": "sergeant", "Capt": "captain", "Lt": "lieutenant", "Rev": "reverend", "Col": "colonel",
    "Sen": "senator", "Mt": "Mount", "Maj": "major", "Cmdr": "commander", "Cpl": "corporal", "Pres": "president",
    "Rep": "representative", "Hon": "honorable", "Messrs": "messieurs", "Ft": "Fort", "St": "Saint", "Ste": "Sainte",
    "Supt": "superintendent", "Insp": "inspector", "Fr": "Father", "Br": "Brother", "Adm": "admiral",
}  # fmt: skip
_STREETS = {
    "St": "Street", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Dr": "Drive", "Ln": "Lane", "Ct": "Court",
    "Pl": "Place", "Sq": "Square", "Hwy": "Highway", "Pkwy": "Parkway", "Mt": "Mountain", "Apt": "Apartment",
}  # fmt: skip
_WORDS = {
    "vs": "versus", "etc": "et cetera", "approx": "approximately", "dept": "department", "Dept": "Department",
    "govt": "government", "Govt": "Government", "est": "established", "Est": "Established", "Inc": "Incorporated",
    "Ltd": "Limited", "Co": "Company", "Corp": "Corporation", "Bros": "Brothers", "Jr": "Junior", "Sr": "Senior",
    "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Apt": "Apartment", "Assn": "Association", "Univ": "University",
    "ext": "extension", "ed": "edition", "misc": "miscellaneous", "max": "maximum", "min": "minimum", "cont": "continued",
    "dist": "district", "int'l": "international", "Int'l": "International", "gov't": "government", "tel": "telephone",
    "Tel": "Telephone", "attn": "attention", "Attn": "Attention", "incl": "including", "excl": "excluding",
}  # fmt: skip
_NUMBERED = {
    "No": "number", "no": "number", "Nos": "numbers", "nos": "numbers", "Fig": "figure", "fig": "figure",
    "Figs": "figures", "figs": "figures", "p": "page", "pp": "pages", "Vol": "volume", "vol": "volume", "Sec": "section",
    "sec": "section", "Ch": "chapter", "ch": "chapter", "Eq": "equation", "eq": "equation", "Art": "article",
    "art": "article", "Ex": "example", "Rm": "Room", "rm": "room", "Bldg": "Building", "Vols": "volumes", "vols": "volumes", "para": "paragraph", "Para": "paragraph",
}  # fmt: skip
_SLASHES = {
    "w/": "with",
    "w/o": "without",
    "c/o": "care of",
    "b/c": "because",
    "n/a": "not applicable",
    "N/A": "not applicable",
}
_DIVISIONS = (
    "chapter|book|part|volume|vol\\.|act|scene|section|article|appendix|canto|super bowl|type|phase|stage|"
    "grade|mark|unit|episode|level|table|figure|title|schedule|rocky|apollo|saturn|category|tier|step|round|verse|stanza|"
    "final fantasy|grand theft auto|element|group|amendment|division|class|lesson|plate|psalm|sonnet|symphony"
)
_REGNAL = (
    "Henry|Louis|Elizabeth|George|Charles|James|William|Edward|Richard|Mary|Paul|John Paul|Pius|Benedict|Leo|Gregory|"
    "Innocent|Clement|Alexander|Nicholas|Catherine|Peter|Philip|Ferdinand|Frederick|Napoleon|Wilhelm|Ivan|Ramses|Ramesses|"
    "Ptolemy|Otto|Gustav|Carl|Christian|Francis|Robert|Darius|Thutmose|Amenhotep|Sixtus|Urban|Boniface|Julius|Alfonso|"
    "Pedro|Carlos|Haakon|Olav|Harald|Margaret|Franz|Joseph|Leopold|Albert|Umberto|Selim|Mehmed|Murad|Felipe|Isabella|"
    "Seti|Artaxerxes|Xerxes|Constantine|Justinian|Theodosius|Baldwin|Stephen|Wenceslaus|Sigismund|Casimir|Rudolf|Xavier|John"
)
_ROMAN = r"(?=[IVXL])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXLC])"
# The pronoun: "Part I was", but "Chapter I. The Storm".
_NOT_PRONOUN = r"(?!(?<=\bI)\s+(?!of\b|and\b|to\b|through\b|is\b|was\b|in\b|had\b|died\b|ruled\b|reigned\b|became\b)\p{Ll})(?!(?<=\bI)['’](?!s\b))"
_SIGN_WORDS = {
    ".": "dot", "/": "slash", "-": "dash", "_": "underscore", "?": "question mark", "=": "equals", "&": "and", "#": "hash",
    ":": "colon", "@": "at", "~": "tilde", "%": "percent", "+": "plus", ",": "comma", ";": "semicolon", "!": "exclamation mark",
}  # fmt: skip
_SMALL_WORDS = (
    "a an and as at be but by do for from go had has he her him his how i if in is it its me my no nor not now of "
    "off on one or our out she so that the their them then they this to too two up us was we who why with yes you "
    "your are all can did get let old new day see way may man men end war part"
)
_PLURAL_LETTERS = r"\b((?:\p{Lu}\.){2,})(?=(\s*\S)?)"


def _heading(match: regex.Match[str]) -> str:
    is_numeral = regex.fullmatch(_ROMAN, match[1])
    return english_cardinal(str(roman_value(match[1]))) if is_numeral else match.group()


def _cardinal(match: regex.Match[str]) -> str:
    return f"{match[1]}{match[2]}{english_cardinal(str(roman_value(match[3].upper())))}"


def _regnal(match: regex.Match[str]) -> str:
    return f"{match[1]} the {english_ordinal(str(roman_value(match[2])))}"


def _initials(match: regex.Match[str]) -> str:
    return match[1].replace(".", "") + ("" if match[2] else ".")


def _number_of_address(digits: str) -> str:
    return english_cardinal(digits) if len(digits) < 3 and digits[0] != "0" else english_digits(digits)


def _version(match: regex.Match[str]) -> str:
    numbers = [english_cardinal(group) for group in match[2].split(".")]
    return f"{match[1]} {' point '.join(numbers)}"


def _lower(match: regex.Match[str]) -> str:
    """Return words in capitals in small letters. Short ones that are no common words may be abbreviations."""

    def lowered(word: regex.Match[str]) -> str:
        plain = word.group().lower()
        has_vowel = regex.search(r"[aeiouy]", plain) is not None
        return plain if plain in _SMALL_WORDS.split() or (len(plain) > 3 and has_vowel) else word.group()

    words = regex.sub(r"\p{Lu}+", lowered, match.group())
    return words[:1].upper() + words[1:]


def _numeral_sign(match: regex.Match[str]) -> str:
    value = roman_value(match.group())
    return english_year(str(value)) if 1000 < value < 2100 else match.group()


NAMES = (
    *address_rules(_SIGN_WORDS, _number_of_address, hashtag="hashtag"),
    *rules(
        "sign",
        (r"\b([CF])#(?![\w])", r"\1 sharp"),
        (r"\b(C|g)\+\+(?![\w+])", r"\1 plus plus"),
    ),
    *rules(
        "version",
        (r"\b((?i:python|version|ver\.|ios|ipados|android|macos|ubuntu|kernel|java|node|php|ruby|release|firmware|debian|fedora|"
         r"perl|golang|django|v(?=\d)))\s?(\d+(?:\.\d+)+)(?![\d.]*\d|%)", _version),
        (r"\b([Vv])(\d+)(?![\d.])", lambda match: f"{match[1]} {english_cardinal(match[2])}"),
    ),
    *rules(
        "Roman numeral",
        (r"\b(?:WW|[Ww]orld [Ww]ar )(I{1,3})\b", lambda match: f"World War {english_cardinal(str(len(match[1])))}"),
        (r"\A\s*([IVX]{2,6})(?=\.(?:\s+\p{Lu}|\s*\Z))", _heading),
        (rf"(?i:\b({_DIVISIONS}))([ \t]+)({_ROMAN})\b{_NOT_PRONOUN}(?!\.\p{{L}})(?<!\b(?i:type|class|grade|group|element|category|division|level|mark|unit) [LX])", _cardinal),
        (rf"(?<!question )(?i:\b({_DIVISIONS}))([ \t]+)(ii|iii|iv|vi{{1,3}}|ix|xi{{0,3}}|xi?v)\b(?!\.\p{{L}})", _cardinal),
        (rf"\b({_REGNAL}) ({_ROMAN})\b{_NOT_PRONOUN}(?!\.\p{{Lu}})", _regnal),
        (rf"\b({_ROMAN})(?:th)?([ -])(?=centur(?:y|ies)\b)",
         lambda match: english_ordinal(str(roman_value(match[1]))) + match[2] if match[1] else match.group()),
        (r"(\b\p{Lu}\p{Ll}+)( )((?:X{1,3}(?:IX|IV|V?I{0,3})|IX|IV|VI{1,3}|I{2,3})(?<=[IVX]{2}))\b(?![-.\w]\w)", _cardinal),
        (r"(?<=\b(?:pp?\.|pages?) )([ivxlc]{1,7})(?:(\s?[-–]\s?)([ivxlc]{1,7}))?\b",
         lambda match: " to ".join(english_cardinal(str(roman_value(each.upper()))) for each in (match[1], match[3]) if each)),
        (r"\bM(?:CM|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b(?<=\b\w{4,})", _numeral_sign),
    ),
    *rules(
        "abbreviation",
        (r"(?<!\S)(w/o|w/|c/o|b/c|n/a|N/A)(?=[\s\p{L}]|\Z)", lambda match: _SLASHES[match[1]] + ("" if match[1] != "w/" else " ")),
        (rf"(?<=\b\p{{Lu}}[\p{{Ll}}\d]+(?:st|nd|rd|th|['’]s)? )({'|'.join(_STREETS)})\.(?=[,;:]|\s+(?:\p{{Ll}}|\d|#|Apt)|\s*[\"”)]*\s*\Z)",
         lambda match: _STREETS[match[1]]),
        (rf"(?<=\d+ (?:\p{{Lu}}\p{{Ll}}+ ){{1,2}})({'|'.join(_STREETS)})\.(?=\s+\p{{Lu}})", lambda match: _STREETS[match[1]] + "."),
        (rf"\b({'|'.join(_TITLES)})\.(?=\s+(?:(?:and|or|&)\s+(?:Mr|Mrs|Ms|Miss|Dr)\b|[\p{{Lu}}“\"]))", lambda match: _TITLES[match[1]]),
        (r"\b(Mr|Mrs|Ms|Dr)(?=\s\p{Lu}\p{Ll})", lambda match: _TITLES[match[1]]),
        (r"\b([Vv]ol)\.(?= (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)", lambda match: "Volume" if match[1] == "Vol" else "volume"),
        (rf"\b({'|'.join(_NUMBERED)})\.\s?(?=\(?\d)", lambda match: _NUMBERED[match[1]] + " "),
        (r"(?<=\d\s)ea\.", "each"),
        (rf"(?<![\w.])(?<!\d\s?(?=min\b))({'|'.join(sorted(map(regex.escape, _WORDS), key=len, reverse=True))})\.(?=(\s+\p{{Lu}}|\s*[\"”)]*\s*\Z)?)(?=[\s,;:!?)\"”]|\Z)",
         lambda match: _WORDS[match[1]] + ("." if match[2] is not None and match[1] not in ("vs", "Jr", "Sr", "approx", "Co", "Inc", "Ltd") else "")),
        (r"\b(e|E)\.\s?g\.", lambda match: "For example" if match[1] == "E" else "for example"),
        (r"\b(i|I)\.\s?e\.", lambda match: "That is" if match[1] == "I" else "that is"),
        (r"\ba\.k\.a\.", "also known as"),
        (r"\bvs\b", "versus"),
        (r"(?<=\b(?:[Aa]n?|[Gg]rade|got) [A-D])-(?=\s(?:in|on|for|from|average|student)\b|[,.;)]|\s*\Z)", " minus"),
        (r"\bPh\.\s?D\.?", "P H D"),
        (_PLURAL_LETTERS, _initials),
        (r"\b(\p{Lu})\.(?=\s?(?:\p{Lu}\.\s?)*\p{Lu}\p{Ll})(?<!\bI\.)(?<!(?<![\p{Lu}.]\s)\b[A-H]\.(?=\s\p{Lu}\p{Ll}+\s\p{Ll}))", r"\1"),
    ),
    *rules(
        "capitals",
        (r"\A\W*\p{Lu}{2,}(?:[^\p{Ll}\d]*\p{Lu}){6,}[^\p{Ll}]*\Z", _lower),
    ),
)  # fmt: skip
