"""Language detection, used for reading numbers and for finding text that a model has not learned.

Decision: detect the script, and for Latin script count a few of the most common words. Reason: an error only affects
numbers, or asks once too often, which does not justify a language identification model. Alternative: treat text with a single Chinese
character as Chinese, which reads the years of an English article in Chinese because of one name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import NamedTuple

import regex


class Language(Enum):
    """Languages of the models, whose numbers are spelled out."""

    CHINESE = "zh"
    ENGLISH = "en"
    JAPANESE = "ja"
    KOREAN = "ko"
    RUSSIAN = "ru"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"
    ITALIAN = "it"

    @property
    def writes_without_spaces(self) -> bool:
        return self in (Language.CHINESE, Language.JAPANESE)


_NAMES = {
    "zh": "chinese mandarin cantonese 中文 汉语 普通话 国语 粤语", "en": "english 英语 英文", "ja": "japanese 日语 日文",
    "ko": "korean 韩语 韩文", "ru": "russian 俄语 俄文", "de": "german deutsch 德语 德文", "fr": "french français 法语 法文",
    "es": "spanish español 西班牙语", "it": "italian italiano 意大利语", "": "auto automatic detect 自动",
}  # fmt: skip
_TAGS_OF_NAMES = {name: code for code, names in _NAMES.items() for name in names.split(" ")} | {
    "jp": "ja",
    "kr": "ko",
    "cn": "zh",
}
_LETTER = regex.compile(r"\p{L}")
_NAMED_EMOJI = "-x-emoji"  # a private part of a tag: emoji are spoken by their names
# Emoji with their joiners, skin tones and keycaps; flags are pairs of regional indicators.
EMOJI = regex.compile(
    r"[\p{Extended_Pictographic}\U0001f1e6-\U0001f1ff]"
    r"[\ufe0e\ufe0f\u200d\u20e3\p{EMod}\U000e0020-\U000e007f]*"
)
_MAYBE_DATE = regex.compile(r"\d[/.-]\d")
_HAN = regex.compile(r"\p{Han}")
_HAN_MARKS = regex.compile(r"[，。、；：！？（）]")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_HANGUL = regex.compile(r"\p{Hangul}")
_CYRILLIC_WORD = regex.compile(r"\p{Cyrillic}+")
_LATIN_WORD = regex.compile(r"(?<!\d)\p{Latin}[\p{Latin}\p{Mn}'’]*")
# Sufficient for detection, even in long texts.
_SAMPLED_CHARACTERS = 2000
# Fewer words may be a product name, whose numbers Chinese speakers read in Chinese.
_INSET_WORDS = 3
_COMMON_WORDS = {
    Language.ENGLISH: "the and of to is in it that was for you he she on are with they at be this have from not we "
    "his her by per an or has had will would can my your i a as but all there their what if about who which when our",
    Language.GERMAN: "der die das und ist nicht ein eine ich zu den mit auf sich von dem es im für wir sie er als auch "
    "bei nach wird war sind hat haben aus über noch nur wie aber des einen einer um kein",
    Language.FRENCH: "le la les et est un une des du que qui dans pour pas je il elle nous vous sur avec au ce cette "
    "ne se mais ou où être sont plus par ont été leur aux très",
    Language.SPANISH: "el la los las y es un una que en de no por con para su se del al lo como más pero sus le está "
    "muy son fue hay ya este esta cuando sin",
    Language.ITALIAN: "il la gli e è un una che di non per con sono si del della dei nel alla lo come più ma anche "
    "questo questa ho ha al da le molto perché",
}
# Words and letters that are strong evidence of a language, so that a short line with a number is not read in English.
_SURE = {
    Language.GERMAN: "er ich uhr jahre kostet kaufte mein dein kein habe jahr um wir ihr euro",
    Language.FRENCH: "ans je vous heures j'ai c'est avez coûte le les à il elle",
    Language.SPANISH: "años tiene cuesta tengo horas el los mi euros kilómetros",
    Language.ITALIAN: "anni costa ore ho gli abbiamo alle il euro chilometri",
}
_LETTERS = {
    Language.GERMAN: regex.compile(r"[äöüß]"),
    Language.FRENCH: regex.compile(r"[çœêèâîûë]"),
    Language.SPANISH: regex.compile(r"[ñ¿¡]"),
    Language.ITALIAN: regex.compile(r"[ìò]"),
}
_SURE_SETS = {language: frozenset(words.split()) for language, words in _SURE.items()}
# Scripts of languages that no model supports.
_OTHER_SCRIPTS = {
    "ar": regex.compile(r"\p{Arabic}+"),
    "el": regex.compile(r"\p{Greek}{2,}"),  # a single letter is a symbol
    "he": regex.compile(r"\p{Hebrew}+"),
    "hi": regex.compile(r"\p{Devanagari}+"),
    "th": regex.compile(r"\p{Thai}"),
}
_TAG = regex.compile(r"\[[^\]]*\]|<[^>]*>")  # style tags, which are not in the language of the text
# A text in Latin script with fewer distinct common words than this may be English with foreign names.
_SURE_WORDS = 3
_LANGUAGES_OF_WORD: dict[str, list[Language]] = {}
for _language, _words in _COMMON_WORDS.items():
    for _word in _words.split():
        _LANGUAGES_OF_WORD.setdefault(_word, []).append(_language)


def detect_language(text: str, default: Language = Language.ENGLISH) -> Language:
    """Return the language of ``text``, or ``default`` if it has no letters."""
    sample = text[:_SAMPLED_CHARACTERS]
    num_han = len(_HAN.findall(sample))
    num_kana = len(_KANA.findall(sample))
    num_hangul = len(_HANGUL.findall(sample))
    latin_words = _LATIN_WORD.findall(sample)
    num_cyrillic = len(_CYRILLIC_WORD.findall(sample))
    if not (num_han or num_kana or num_hangul or latin_words or num_cyrillic):
        return default
    # One Chinese character counts as two Latin words, and its punctuation as one.
    num_marks = len(_HAN_MARKS.findall(sample)) if num_han else 0
    weights = {
        Language.CHINESE: 2 * num_han + num_marks if 4 * num_kana < num_han else 0,
        Language.JAPANESE: 2 * (num_han + num_kana) if num_kana and 4 * num_kana >= num_han else 0,
        Language.KOREAN: num_hangul,
        Language.RUSSIAN: num_cyrillic,
        Language.ENGLISH: len(latin_words),
    }
    heaviest = max(weights, key=lambda language: weights[language])
    return _latin_language(latin_words) if heaviest is Language.ENGLISH else heaviest


class Reading(NamedTuple):
    """How the tag of a language says that a text is read. The language is None if it has to be detected."""

    language: Language | None
    day_first: bool
    names_emoji: bool


class ReadingRules(NamedTuple):
    """Settings of how texts are read.

    Attributes:
        day_first: the order of English dates that have two readings.
        names_emoji: emoji are spoken by their names. Otherwise they are silent.
    """

    day_first: bool = False
    names_emoji: bool = False


USUAL_RULES = ReadingRules()


def parse_language(tag: str) -> Reading:
    """Return what a tag such as ``de``, ``en-GB`` or ``zh-x-emoji`` says.

    Cantonese is written like Chinese. An unknown, empty or undetermined language (``und``, as in ``und-GB``) is None.
    """
    plain = tag.casefold().replace("_", "-")
    code, _, region = plain.removesuffix(_NAMED_EMOJI).partition("-")
    known = {language.value: language for language in Language} | {"yue": Language.CHINESE}
    day_first = code not in ("", "en", "und") or region not in ("", "us", "ca", "ph")
    return Reading(known.get(code), day_first, plain.endswith(_NAMED_EMOJI))


def language_of_emoji(tag: str, text: str) -> Language | None:
    """Return the language in which emoji of ``text`` are spoken, or None if they are silent."""
    reading = parse_language(tag)
    return (reading.language or detect_language(text)) if reading.names_emoji else None


def tag_named(name: str) -> str | None:
    """Return the tag of a language given by tag or by name, such as ``de-AT``, German or 德语; None if it is unknown.

    An empty name is an empty tag.
    """
    plain = name.strip().casefold().replace("_", "-")
    tag = _TAGS_OF_NAMES.get(plain, name.strip())
    is_known = tag == "" or plain.partition("-")[0] == "und" or parse_language(tag).language is not None
    return tag if is_known else None


def tag_of_line(text: str, *, tag: str = "", script: str = "", rules: ReadingRules = USUAL_RULES) -> str:
    """Return the tag with which a line is read.

    ``tag`` is the one that the user chose, and ``script`` is the detected language of the script. The tag is empty if the
    line alone is read in the same way, so that most lines have the same request in every script.
    """
    if not tag and script:
        language = language_of_line(text, Language(script))
        tag = "" if language is detect_language(text) else language.value
    if rules.day_first and tag in ("", "en") and _MAYBE_DATE.search(text):
        tag = f"{tag or 'und'}-GB"
    return f"{tag or 'und'}{_NAMED_EMOJI}" if rules.names_emoji and EMOJI.search(text) else tag


def language_of_script(texts: Iterable[str]) -> str:
    """Return the code of the language of most ``texts``, or an empty string if they have no letters.

    It is enough to read the first few thousand characters.
    """
    sample, size = [], 0
    for text in texts:
        sample.append(text)
        size += len(text)
        if size > _SAMPLED_CHARACTERS:
            break
    joined = _TAG.sub(" ", " ".join(sample))
    return detect_language(joined).value if _LETTER.search(joined) else ""


def language_of_line(text: str, script: Language) -> Language:
    """Return the language of a line of a script. A line needs evidence to differ from its script."""
    found = detect_language(text, script)
    if found is script or found not in _COMMON_WORDS:
        return found
    if script in _COMMON_WORDS or (script is Language.CHINESE and _HAN.search(text)):
        return _clear_language(text) or script
    return found


def languages_of_lines(texts: Sequence[str]) -> tuple[Language, ...]:
    """Return the language of each line of a script.

    A line without clear signs of its language, such as “OK.” or “1984”, has the most frequent one of the lines with them.
    """
    found = [_clear_language(text) for text in texts]
    latin = Counter(each for each in found if each in _COMMON_WORDS)
    clear = Counter(each for each in found if each is not None)
    usual_latin = latin.most_common(1)[0][0] if latin else Language.ENGLISH
    usual = clear.most_common(1)[0][0] if clear else usual_latin
    return tuple(
        language or (usual_latin if _LATIN_WORD.search(text) else usual)
        for language, text in zip(found, texts, strict=True)
    )


def _clear_language(text: str) -> Language | None:
    """Return the language of ``text``, or None if neither its letters nor its common words determine it."""
    sample = _TAG.sub(" ", text)[:_SAMPLED_CHARACTERS]
    words = _LATIN_WORD.findall(sample)
    language = detect_language(sample)
    if language not in _COMMON_WORDS:
        return language
    votes = _votes(words)
    first, second = sorted(votes.values(), reverse=True)[:2]
    return max(votes, key=lambda each: votes[each]) if first > second else None


def unsupported_language(text: str, languages: Collection[str]) -> str | None:
    """Return the code of the language of ``text`` if a model for ``languages`` has not learned it, else None.

    The result is None as well for text without letters, and for text in Latin script that may be English.
    """
    sample = _TAG.sub(" ", text)[:_SAMPLED_CHARACTERS]
    if not sample.isascii():
        weights = {code: len(words.findall(sample)) for code, words in _OTHER_SCRIPTS.items()}
        other = max(weights, key=lambda code: weights[code])
        num_known = len(_LATIN_WORD.findall(sample)) + len(_HAN.findall(sample)) + len(_CYRILLIC_WORD.findall(sample))
        if weights[other] > num_known:
            return None if other in languages else other
    language = detect_language(sample)
    if language in _COMMON_WORDS and (
        language is Language.ENGLISH or _votes(_LATIN_WORD.findall(sample))[language] < _SURE_WORDS
    ):
        return None
    # Cantonese is written in Chinese characters.
    codes = {"zh", "yue"} if language is Language.CHINESE else {language.value}
    return None if codes & set(languages) else language.value


def is_english_inset(clause: str) -> bool:
    """Return whether a clause of a Chinese text is English, so that its numbers are read in English."""
    return not (_HAN.search(clause) or _KANA.search(clause)) and len(_LATIN_WORD.findall(clause)) >= _INSET_WORDS


def _latin_language(words: list[str]) -> Language:
    votes = _votes(words)
    plain = {word.lower() for word in words}
    # A capitalised word may be a name; only German writes its nouns so.
    inner = " ".join(word for word in words if word[0].islower())
    for language, sure in _SURE_SETS.items():
        votes[language] += len(plain & sure)
        letters = " ".join(words).lower() if language is Language.GERMAN else inner
        votes[language] += len(plain) > 1 and bool(_LETTERS[language].search(letters))
    best = max(votes, key=lambda language: votes[language])
    # Another language needs two words more than English, because of names and loan words.
    return best if votes[best] >= votes[Language.ENGLISH] + 2 else Language.ENGLISH


def _votes(words: list[str]) -> dict[Language, int]:
    """Return the number of different common words of each language."""
    votes = dict.fromkeys(_COMMON_WORDS, 0)
    for word in {word.lower() for word in words}:
        for language in _LANGUAGES_OF_WORD.get(word, ()):
            votes[language] += 1
    return votes
