"""Abbreviations and Roman numerals in German, French, Spanish, Italian and Russian."""

from __future__ import annotations

from collections.abc import Callable

import regex

from studio.text.language import Language
from studio.text.number_words import roman_value
from studio.text.rules import Rule, rules

_ABBREVIATIONS = {
    Language.GERMAN: "z. B.=zum Beispiel|d. h.=das heißt|u. a.=unter anderem|v. a.=vor allem|i. d. R.=in der Regel|usw.=und so weiter"
    "|bzw.=beziehungsweise|ca.=circa|evtl.=eventuell|ggf.=gegebenenfalls|inkl.=inklusive|vgl.=vergleiche|sog.=sogenannte|Dr.=Doktor"
    "|Prof.=Professor|Hr.=Herr|Fr.=Frau|Nr.=Nummer|Str.=Straße|St.=Sankt|Abb.=Abbildung|Bd.=Band|Kap.=Kapitel|Tel.=Telefon"
    "|v. Chr.=vor Christus|n. Chr.=nach Christus|etc.=et cetera",
    Language.FRENCH: "p. ex.=par exemple|c.-à-d.=c'est-à-dire|av. J.-C.=avant Jésus-Christ|apr. J.-C.=après Jésus-Christ|MM.=messieurs"
    "|Mme=madame|Mlle=mademoiselle|Mmes=mesdames|Dr=docteur|Pr=professeur|M.=monsieur|Ste=sainte|etc.=et cetera|env.=environ"
    "|n°=numéro|tél.=téléphone|chap.=chapitre",
    Language.SPANISH: "p. ej.=por ejemplo|EE. UU.=Estados Unidos|Sra.=señora|Srta.=señorita|Sres.=señores|Sr.=señor|Dra.=doctora"
    "|Dr.=doctor|Dña.=doña|Ud.=usted|Uds.=ustedes|etc.=etcétera|núm.=número|n.º=número|pág.=página|págs.=páginas|cap.=capítulo"
    "|tel.=teléfono|a. C.=antes de Cristo|d. C.=después de Cristo|aprox.=aproximadamente",
    Language.ITALIAN: "p. es.=per esempio|ad es.=ad esempio|Sig.ra=signora|Sig.na=signorina|Sigg.=signori|Sig.=signor"
    "|Dott.ssa=dottoressa|Dott.=dottor|Dr.=dottor|Prof.ssa=professoressa|Prof.=professor|Ing.=ingegner|Avv.=avvocato|ecc.=eccetera"
    "|pag.=pagina|cap.=capitolo|tel.=telefono|a. C.=avanti Cristo|d. C.=dopo Cristo|ca.=circa",
    Language.RUSSIAN: "и т. д.=и так далее|и т. п.=и тому подобное|т. е.=то есть|т. к.=так как|т. н.=так называемый|и др.=и другие"
    "|до н. э.=до нашей эры|н. э.=нашей эры|г-н=господин|г-жа=госпожа|ул.=улица|стр.=страница|см.=смотри|тел.=телефон"
    "|гл.=глава|напр.=например",
}  # fmt: skip
_DIVISIONS = {
    Language.GERMAN: "Kapitel|Teil|Band|Akt|Szene|Buch|Abschnitt",
    Language.FRENCH: "[Cc]hapitre|[Pp]artie|[Tt]ome|[Aa]cte|[Ss]cène|[Ll]ivre|[Vv]olume",
    Language.SPANISH: "[Cc]apítulo|[Pp]arte|[Tt]omo|[Aa]cto|[Ee]scena|[Ll]ibro|[Vv]olumen",
    Language.ITALIAN: "[Cc]apitolo|[Pp]arte|[Tt]omo|[Aa]tto|[Ss]cena|[Ll]ibro|[Vv]olume",
    Language.RUSSIAN: "[Гг]лава|[Чч]асть|[Тт]ом|[Кк]нига|[Аа]кт|[Сс]цена",
}
_CENTURIES = {
    Language.GERMAN: r"(?P<roman>[XVI]{1,5})\.(?= Jahrhundert)",
    Language.FRENCH: r"\b(?P<roman>[IVX]{1,5})er?(?= siècle)",
    Language.SPANISH: r"(?<=\b[Ss]iglos? )(?P<roman>[IVX]{1,5})\b",
    Language.ITALIAN: r"\b(?P<roman>[IVX]{1,5})(?= secolo)",
    Language.RUSSIAN: r"\b(?P<roman>[IVX]{1,5})(?= век(?P<end>ах|ов|а|у|ом|е|)\b)",
}
_ROMAN = r"(?P<roman>(?=[IVXL])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXLC]))"
_QUEENS = (
    "Elisabeth Elisabetta Isabel Isabella Katharina Caterina Catalina Maria María Margarete Margarita Margherita Cristina "
    "Victoria Vittoria Екатерина Елизавета Анна Мария Виктория Изабелла Маргарита"
)
_RUSSIAN_CASES = {"": "n", "а": "g", "у": "d", "ом": "i", "е": "p", "ов": "g", "ах": "p"}
# Names before a single letter that is no number.
_NOT_RULERS = r"(?:Malcolm|Gen\p{L}+|Plan|Planet|Typ|Type|Tipo|Fall|Tag|Windows|Vitamin\p{L}*|Projekt) [IVXL]\b"
# Titles and words before names and numbers, after which a capital letter is no new sentence.
_BEFORE_NAMES = (
    "Doktor Professor Herr Frau Sankt Straße Nummer zum Beispiel monsieur messieurs docteur señor señora señorita señores doctor doctora "
    "doña usted ustedes signor signora signorina signori dottor dottoressa professor professoressa ingegner avvocato улица"
)
Say = Callable[..., str]  # ``numerals.say``


def abbreviation_rules(language: Language, say: Say) -> tuple[Rule, ...]:
    """Return the rules of ``language``, which are none for Korean. ``say`` returns a number in words."""
    if language not in _ABBREVIATIONS:
        return ()
    code = language.value
    words = dict(entry.split("=") for entry in _ABBREVIATIONS[language].split("|"))
    of_abbreviation = {short.replace(" ", ""): long for short, long in words.items()}
    pattern = "|".join(
        regex.escape(short, literal_spaces=True).replace(" ", r"\s?") for short in sorted(words, key=len, reverse=True)
    )

    def expanded(match: regex.Match[str]) -> str:
        long = of_abbreviation[regex.sub(r"\s", "", match[1])]
        ends = match[1][-1] == "." and match["end"] is not None
        return long + ("." if ends and long.split()[0] not in _BEFORE_NAMES.split() else "")

    def number(match: regex.Match[str]) -> str:
        return f"{match[1]} {say(str(roman_value(match['roman'])), code)}"

    def century(match: regex.Match[str]) -> str:
        value = str(roman_value(match["roman"]))
        if language is Language.SPANISH:
            return say(value, code)
        options = {"case": _RUSSIAN_CASES[match["end"]]} if language is Language.RUSSIAN else {}
        return say(value, code, to="ordinal", **options) + ("r" if language is Language.GERMAN else "")

    def regnal(match: regex.Match[str]) -> str:
        return f"{match['name']} {_regnal(match['name'], roman_value(match['roman']), language, say)}"

    point = r"\." if language is Language.GERMAN else "(?:er)?" if language is Language.FRENCH else ""
    last = r"\b" if not point else r"(?!\w)"
    return (
        *rules(
            "abbreviation", (rf"(?<![\p{{L}}.]|\d\s?)({pattern})(?!\p{{L}})(?=(?P<end>\s+\p{{Lu}}|\s*\Z))?", expanded)
        ),
        *rules(
            "Roman numeral",
            (_CENTURIES[language], century),
            (rf"\b({_DIVISIONS[language]}) {_ROMAN}\b(?!\.\p{{L}})", number),
            (rf"\b(?P<name>(?!{_NOT_RULERS})\p{{Lu}}\p{{Ll}}+) {_ROMAN}{point}{last}(?!['’.-]\p{{L}})", regnal),
        ),
    )


def _regnal(name: str, value: int, language: Language, say: Say) -> str:
    """Return the number of a ruler: der Vierzehnte, quatorze, segundo, seconda, второй."""
    digits, code = str(value), language.value
    is_queen = name in _QUEENS.split()
    match language:
        case Language.GERMAN:
            return f"{'die' if is_queen else 'der'} {say(digits, code, to='ordinal').capitalize()}"
        case Language.FRENCH:
            return "premier" if value == 1 else say(digits, code)
        case Language.RUSSIAN:
            if is_queen:
                return say(digits, code, to="ordinal", gender="f")
            return say(digits, code, to="ordinal", case="g" if name[-1] in "ая" else "n")
        case Language.SPANISH if value > 10:
            return say(digits, code)
    ordinal = say(digits, code, to="ordinal")
    return ordinal[:-1] + "a" if is_queen else ordinal
