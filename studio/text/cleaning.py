"""The cleaner: text of every source, before tags are found and words are normalised.

It removes what cannot be spoken (markup, special tokens, citation marks, control characters), removes or names emoji,
decodes entities and typographic forms of letters, and turns ``<br>`` into a line break and ``<break>`` into a pause. Inline tags of the
model and pauses stay. Each character keeps its place in the text as written.

Decision: unknown tags such as ``<name>`` lose their brackets but not their word. Reason: only markup is silent.
"""

from __future__ import annotations

import html
import unicodedata
from functools import cache

import regex

from studio.text.language import EMOJI, Language
from studio.text.rules import Replacement, Rewritten, Rule, rewrite, rules
from studio.text.tags import KNOWN_TAGS, MAX_PAUSE_SECONDS, TagSet

_EMOJI = EMOJI.pattern
# A text of words and plain punctuation, without the emoticon xD.
_CLEAN = regex.compile(r"(?:[\p{Han}，。！？A-WYZa-wyz0-9 ,.!?'\"]|[xX](?!D))*")
# Arrows, box drawing and bullets, but not the circle used for zero in Chinese years.
_ORNAMENTS = r"[\u2190-\u21ff\u2500-\u25ca\u25cc-\u27bf\u2022\u2023\u2043\ufffc\ufffd†‡¶]"
# Zero-width joiners, which some scripts need, stay.
CONTROLS = r"[\p{Cs}\p{Co}\p{Cn}]|(?![\t\n\r\v\f\x1c-\x1e\x85])\p{Cc}|(?![\u200c\u200d])\p{Cf}|[\ufe00-\ufe0f\u20e3]"

_BLOCK_TAGS = (
    "article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p par paragraph pre section speak summary table tbody "
    "tfoot thead title tr ul voice"
)
_INLINE_TAGS = (
    "a abbr acronym amazon:effect audio b bdi bdo big bookmark bos button c cite code data del dfn em emphasis eos "
    "eps font google:style i img input ins kbd label lang laughter lexicon link lookup mark media meta metadata mstts:express-as "
    "object pad phoneme prosody q rp rt ruby s samp say-as seq small span strike strong sub sup svg td th time token tt "
    "u unk v var video w wbr"
)
_SILENT_ELEMENTS = "script style head svg math template noscript"
# Markup within which text is not cut while it arrives: all of it is needed to read it. It may still be open at the end.
MARKUP = regex.compile(
    rf"(?is)<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<({'|'.join(_SILENT_ELEMENTS.split())}|sub|say-as)\b.*?(?:</\1\s*>|\Z)"
    r"|<(?:[\p{L}/!?|]|\Z)[^<>\n]*(?:>|\Z)|\[[^\[\]\n]{1,200}(?:\Z|\](?:\Z|\([^()\n]*(?:\)|\Z)))|&[#\w]{0,31}(?:;|\Z)"
)
_ATTRIBUTES = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))+"""
_STRENGTHS = {"x-weak": 0.1, "weak": 0.25, "medium": 0.5, "strong": 0.75, "x-strong": 1.0}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# Words before a hyphen that stays at the end of a line: well-known, twenty-one.
_HYPHENATED = (
    "well self non ex half all mid pre post semi anti co re two three four five six seven eight nine ten twenty "
    "thirty forty fifty sixty seventy eighty ninety first second third old new long short high low far so mother "
    "father brother sister great"
)


def clean(text: str, tags: TagSet | None = None, *, emoji_language: Language | None = None) -> Rewritten:
    """Return ``text`` without anything that is neither spoken nor one of ``tags``.

    Emoji are replaced by their names in ``emoji_language``, and removed if it is None.
    """
    if _CLEAN.fullmatch(text):
        return Rewritten(text, range(len(text) + 1))
    return rewrite(text, _table(tags or TagSet(), emoji_language))


def _entity(match: regex.Match[str]) -> str:
    return html.unescape(match.group()).replace("\xa0", " ")


def _pause(match: regex.Match[str]) -> str:
    time = regex.search(r"time\s*=\s*[\"']?\s*([\d.]+)\s*(ms|s)?", match.group(), regex.IGNORECASE)
    strength = regex.search(r"strength\s*=\s*[\"']?\s*([\w-]+)", match.group(), regex.IGNORECASE)
    if time is not None:
        number = time[1].strip(".") or "0"
        seconds = float(number) / (1000 if (time[2] or "").lower() == "ms" else 1) if number.count(".") < 2 else 0.0
    else:
        seconds = _STRENGTHS.get(strength[1].lower(), 0.0) if strength is not None else _STRENGTHS["medium"]
    return f"[pause {min(seconds, MAX_PAUSE_SECONDS):.6g}]" if seconds else " "


def _gap(match: regex.Match[str]) -> str:
    """Return a space for something removed, but not before punctuation and beside spaces."""
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    return "" if before.isspace() or not before or not after or after in " \n\t,.;:!?)”’»" else " "


def _unknown_tag(match: regex.Match[str]) -> str:
    name = match["name"]
    if match["closing"] or match["end"] or f"</{name}" in match.string[match.end() :]:
        return _gap(match)
    return f" {name} "


def _end_of_line(match: regex.Match[str]) -> str:
    keeps = match["left"].lower() in _HYPHENATED.split() or match["right"][0].isupper()
    return f"{match['left']}{'-' if keeps else ''}{match['right']}"


_COMPARISONS = {">=": "≥", "<=": "≤", "!=": "≠", "==": "="}


def _comparison(match: regex.Match[str]) -> str:
    return f" {_COMPARISONS[match[1]]} "


def _named(match: regex.Match[str], language: Language) -> str:
    """Return the names of adjacent emoji as an aside, each once."""
    import emoji  # noqa: PLC0415 - 0.1 seconds, and used only on request

    plain = regex.sub(r"\p{EMod}", "", match.group())
    names = emoji.demojize(plain, delimiters=("\0", "\0"), language=language.value).split("\0")[1::2]
    if not names:
        return " "
    comma = {Language.CHINESE: "，", Language.JAPANESE: "、"}.get(language, ", ")
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :].lstrip()
    start = comma if regex.search(r"[\p{L}\p{N}]\Z", before) else " "
    end = comma if regex.match(r"[\p{L}\p{N}]", after) else ""
    return start + comma.join(dict.fromkeys(name.replace("_", " ") for name in names)) + end


def _compatible(match: regex.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match.group())


def _half_width(match: regex.Match[str]) -> str:
    return "".join(chr(ord(character) - 0xFEE0) for character in match.group())


def _names(names: str) -> str:
    return "|".join(map(regex.escape, sorted(names.split(), key=len, reverse=True)))


def _unless(kept: frozenset[str], replacement: Replacement) -> Replacement:
    """Return ``replacement``, except for the tags in ``kept``, whose attributes are removed."""

    def replace(match: regex.Match[str]) -> str:
        bare = regex.sub(r"\A(</?[\w-]+)\s[^<>]*>\Z", r"\1>", match.group())
        if bare in kept:
            return bare
        return match.expand(replacement) if isinstance(replacement, str) else replacement(match)

    return replace


@cache
def _table(tags: TagSet, emoji_language: Language | None) -> tuple[Rule, ...]:
    own = {tag.text for tag in tags.inline} | {tag.closing for tag in tags.inline if tag.closing}
    kept = frozenset(own | set(tags.languages))
    sounds = "|".join(map(regex.escape, sorted(KNOWN_TAGS, key=len, reverse=True)))
    return (
        *_BEFORE_TAGS,
        *rules(
            "special token",
            (rf"<\|[^|<>\n]{{0,40}}\|>|{sounds}", _unless(kept, _gap)),
            (r"<\|[^|<>\n]{0,40}\|>|<\||\|>|</?s>|\[/?INST\]|<</?SYS>>|</?[a-z]+_\d+>", _unless(kept, " ")),
        ),
        *rules(
            "markup",
            (rf"</?(?:{_names(_BLOCK_TAGS)})(?:\s[^<>]*)?/?>", "\n\n"),
            (rf"</?(?:{_names(_INLINE_TAGS)})(?:\s[^<>]*)?/?>", _unless(kept, _gap)),
            (
                rf"<(?P<closing>/?)(?P<name>\p{{L}}[\w:.-]*)(?P<end>{_ATTRIBUTES})?\s*/?>",
                _unless(kept, _unknown_tag),
            ),
        ),
        *(_names_of_emoji(emoji_language) if emoji_language is not None else ()),
        *_AFTER_TAGS,
    )


def _names_of_emoji(language: Language) -> tuple[Rule, ...]:
    return rules("emoji", (rf"\s*{_EMOJI}(?:\s*{_EMOJI})*\s*", lambda match: _named(match, language)))


_BEFORE_TAGS = (
    *rules("entity", *[(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});", _entity)] * 2),
    *rules("special token", (r"\A\s*You are a helpful assistant\.[^\n<\[\]]{0,300}<\|endofprompt\|>", "")),
    *rules(
        "markup",
        (r"(?is)<!\[CDATA\[(.*?)\]\]>", r"\1"),
        (r"(?s)<!--.*?-->|<!--|-->|<![A-Za-z][^<>]*>|<\?[^<>]*\?>", _gap),
        (rf"(?is)<({_names(_SILENT_ELEMENTS)})\b[^<>]*>.*?</\1\s*>", " "),
        (r"(?i)<break\b[^<>]*>(?:\s*</break\s*>)?", _pause),
        (r"(?is)<sub\b[^<>]*?\balias\s*=\s*([\"'])(.*?)\1[^<>]*>.*?</sub\s*>", r"\2"),
        (
            r"(?is)<say-as\b[^<>]*(?:characters|spell-out)[^<>]*>([^<>]*)</say-as\s*>",
            lambda match: " ".join(match[1].replace(" ", "")),
        ),
        (r"(?i)<sup>\s*(\d{1,3})\s*</sup>", lambda match: match[1].translate(_SUPERSCRIPTS)),
        (r"(?i)<sub>\s*(\d{1,3})\s*</sub>", r"\1"),
        (r"(?i)<wbr\s*/?>", ""),
        (r"<((?:https?|ftp|mailto):[^\s<>]+|[\w.+-]+@[\w-]+\.[\w.-]+)>", r"\1"),
        (r"\{\\[^{}]*\}|\{[a-zA-Z]:[^{}\s]*\}", ""),
        (r"(?<!:)(?:\\r)?(?:\\N|\\n(?![\p{Ll}\d]))", "\n"),
    ),
)
_AFTER_TAGS = (
    *rules(
        "markup",
        (r"(?<![*#\d.,])(\d+(?:[.,]\d+)*)(\s?)\*\2(?=\d+(?![\d*]*#))", r"\1 × "),
        (r"(?m)^([ \t]*)--(?=\p{L})", r"\1"),
        (r"(?<=\s)--(?=\p{L})", "—"),
        (r"(?<=[(\[\"'“‘`])--(?=\p{L})", ""),
        (r"(?<=[\w)\]])\s?(>=|<=|!=|==(?=\s?\d|[\w(]))(?=\s?[\w([$£€-])", _comparison),
        (r"(?m)^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*$", ""),
        (r"(?m)^[ \t]{0,3}\[\^?[^\[\]\n]{1,40}\]:[ \t]+<?(?:https?:|www\.|/)\S*.*$", ""),
        (r"!\[[^\[\]]*\]\([^()\n]*\)", " "),
        (r"\[([^\[\]\n]{1,200})\]\((?:[a-z]+:|www\.|[./#])[^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)", r"\1"),
        (r"\]\((?:https?:|www\.|mailto:)[^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)", ""),
        (r"(?m)^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t]*(?::?-{2,}:?)?[ \t]*$", ""),
        (r"(?m)^[ \t]*(?:[-=*_~#+·•—–][ \t]*){3,}$", ""),
        (r"(?m)^[ \t]{0,3}(?:#{1,6}|-{2,}|={2,})[ \t]+(?=\S)", ""),
        (r"(?m)(?<=\S)[ \t]+#{1,6}[ \t]*$", ""),
        (r"(?m)^[ \t]{0,3}(?:>[ \t]+)+(?=\S)", ""),
        (r"(?m)^[ \t]*(?:[•‣◦▪●■*]|[-+–](?=[ \t]+\D))[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)", ""),
        (r"(?<!\d)(\*{2,3}|~~|__)(?=\S)([^\n*~]{1,400}?)(?<=\S)\1", r"\2"),
        (r"(?<![\p{Latin}\p{N}*])\*(?=[^\s*])([^*\n]{1,400}?)(?<=\S)\*(?![\p{Latin}\p{N}*])", r"\1"),
        (r"(?<![\p{L}\p{N}_])_(?=[^\s_])([^_\n]{1,400}?)(?<=\S)_(?![\p{L}\p{N}_])", r"\1"),
        (r"`+", ""),
        (r"\\([!-/:-@\[-_{-~])", r"\1"),
        (r"\\+|(?<!<)\|+(?!>)|_{2,}|(?<!\w\s?)={2,}|={2,}(?!\s?\w)|={3,}|~{2,}|#{2,}|\*{3,}|\+{3,}", " "),
    ),
    *rules(
        "citation mark",
        (r"\s?\[\^[^\[\]\s]{1,20}\]", ""),
        (r"\s?\[(?!\d{4}\])\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*\]", ""),
        (r"(?<=[\p{L}\p{N}.,;:!?”\"])\[(?:[a-z]|(?:note|nb|n) \d+|citation needed|edit)\](?![\[(])", ""),
        (r"(?<=\p{L}{4}|[.,;:!?”\"’)])[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}(?![\p{L}\d])|(?<=\p{L}{2})¹(?![\p{L}\d])", ""),
    ),
    *rules(
        "typography",
        (r"(?:\u00ad|¬)[ \t]*\r?\n[ \t]*", ""),
    ),
    *rules("unspeakable", (CONTROLS, "")),
    *rules(
        "typography",
        (r"(?<!\p{L})(?P<left>\p{L}*\p{Ll})[-‐][ \t]*\r?\n[ \t]*(?P<right>\p{L}{2,})", _end_of_line),
        (r"[^\S \t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", " "),
        (r"[\ufb00-\ufb06ſĲĳ\u01c4-\u01cc\U0001d400-\U0001d7ffⒶ-ⓩⅠ-ⅿ₀-₉]", _compatible),
        (r"[０-９Ａ-Ｚａ-ｚ]+|(?<=[\d０-９])[－．／：](?=[\d０-９])|(?<=[\d０-９])％|[＄＋＝＆＠]", _half_width),
        (r"(?![0-9])\p{Nd}", lambda match: str(unicodedata.decimal(match.group(), " "))),
        (r"(?<=[\p{Latin}\p{Cyrillic}\d])[’ʼ‛＇´ʹ](?=[\p{Latin}\p{Cyrillic}])", "'"),
        (r"(?<![\p{L}\d])[’‘](?=\d0s\b|(?:tis|twas|em|til|cause|bout|round|n|cos)\b)", "'"),
        (r"(?<!\w)[’‘']n[’'](?!\w)", "'n'"),
        (r"[‐‑﹣]", "-"),
        (r"―|(?<=\w)--(?=\w)|(?<=\S )-{2,3}(?= \S)", "—"),
        (r"(?<=[\p{Han}○])○|○(?=[\p{Han}○])", "〇"),
        (r"‼", "!!"),
        (r"⁉", "!?"),
        (r"⁈", "?!"),
        (r"⁇", "??"),
    ),
    *rules(
        "emoji",
        (rf"\s*(?:{_EMOJI}\s*)+(?=[.,;:!?…])", ""),
        (_EMOJI, _gap),
        (r"(?<!\S)(?:<3+|[:;=]['-]?[()DPp]+|\^_?\^|[xX]D)(?![^\s.,!?])", ""),
    ),
    *rules("unspeakable", (_ORNAMENTS, " ")),
    *rules("typography", (r"\P{M}\p{M}+|[\u1100-\u11ff]{2,}|[\u2126\u212a\u212b]",
                          lambda match: unicodedata.normalize("NFC", match.group()))),
)  # fmt: skip
