"""Special tokens of the generations, and their use in a text: inline tags, pronunciation tokens, and pauses.

Tags are found before all other processing, so that rules for words cannot damage them. Only what is found here can
become a special token.

Decision: a single token without tone, such as ``[a]`` or ``[B]``, is text. Two in a row, or one with a tone or a
stress digit, are pronunciation. Reason: footnotes and multiple-choice answers look the same.
Decision: pronunciation tokens are an error in a generation that does not have them. Reason: reading "j i" aloud
within a sentence is never intended.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

import regex

from studio.errors import StyleNotSupported

END_OF_PROMPT = "<|endofprompt|>"
MAX_PAUSE_SECONDS = 30.0
MAX_SPAN_CHARACTERS = 200

_ENGLISH_PHONES = (
    "AA AA0 AA1 AA2 AE AE0 AE1 AE2 AH AH0 AH1 AH2 AO AO0 AO1 AO2 AW AW0 AW1 AW2 AY AY0 AY1 AY2 B CH D DH "
    "EH EH0 EH1 EH2 ER ER0 ER1 ER2 EY EY0 EY1 EY2 F G HH IH IH0 IH1 IH2 IY IY0 IY1 IY2 JH K L M N NG "
    "OW OW0 OW1 OW2 OY OY0 OY1 OY2 P R S SH T TH UH UH0 UH1 UH2 UW UW0 UW1 UW2 V W Y Z ZH"
)
_PINYIN_PARTS = (
    "a ai an ang ao b c ch d e ei en eng f g h i ian in ing iu ià iàn iàng iào iá ián iáng iáo iè ié iòng ióng iù iú "
    "iā iān iāng iāo iē iě iōng iū iǎ iǎn iǎng iǎo iǒng iǔ j k l m n o ong ou p q r s sh t u uang ue un uo "
    "uà uài uàn uàng uá uái uán uáng uè ué uì uí uò uó uā uāi uān uāng uē uě uī uō uǎ uǎi uǎn uǎng uǐ uǒ "
    "vè w x y z zh à ài àn àng ào á ái án áng áo è èi èn èng èr é éi én éng ér ì ìn ìng í ín íng ò òng òu ó óng óu "
    "ù ùn ú ún ā āi ān āng āo ē ēi ēn ēng ě ěi ěn ěng ěr ī īn īng ō ōng ōu ū ūn ǎ ǎi ǎn ǎng ǎo ǐ ǐn ǐng ǒ ǒng ǒu "
    "ǔ ǔn ǘ ǚ ǜ"
)


# English phones with stress, and Mandarin initials and toned finals: 84 + 176 tokens.
PHONES: tuple[str, ...] = tuple(f"[{name}]" for name in f"{_ENGLISH_PHONES} {_PINYIN_PARTS}".split())

# Tokens that a generation adds to the base vocabulary, in the order of their ids (specification B5).
COSYVOICE2_SPECIAL_TOKENS: tuple[str, ...] = (
    "<|im_start|>", "<|im_end|>", END_OF_PROMPT, "[breath]", "<strong>", "</strong>", "[noise]", "[laughter]",
    "[cough]", "[clucking]", "[accent]", "[quick_breath]", "<laughter>", "</laughter>", "[hissing]", "[sigh]",
    "[vocalized-noise]", "[lipsmack]", "[mn]",
)  # fmt: skip

COSYVOICE3_SPECIAL_TOKENS: tuple[str, ...] = (*COSYVOICE2_SPECIAL_TOKENS, "<|endofsystem|>", *PHONES)

_PAUSE = regex.compile(r"\[pause[ \t]+(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})[ \t]*(ms|s)?\]", regex.IGNORECASE)
_BRACKETED = regex.compile(r"\[[\p{Latin}\p{Mn}0-2]{1,10}\]")
# A stress digit, or a letter with a tone mark.
_HAS_TONE = regex.compile(r"\d|[^\x00-\x7f]")
_ALL_PHONES = frozenset(PHONES)


class TagSupport(Enum):
    """Whether the released model was trained with a tag, or only has a token for it."""

    SHIPPED = "shipped"
    EXPERIMENTAL = "experimental"


@dataclass(frozen=True, slots=True)
class InlineTag:
    """A tag in the text: a sound (``[laughter]``), or the opening tag of a span (``<strong>``)."""

    text: str
    grade: TagSupport

    @property
    def closing(self) -> str | None:
        """The closing tag of a span, or None for a sound."""
        return f"</{self.text[1:]}" if self.text.startswith("<") else None


@dataclass(frozen=True, slots=True)
class TagSet:
    """Tags of a generation.

    Attributes:
        inline: Sounds and spans.
        phones: Pronunciation tokens.
        languages: Marks of the language of the text that follows, such as ``<|yue|>``.
    """

    inline: tuple[InlineTag, ...] = ()
    phones: frozenset[str] = frozenset()
    languages: tuple[str, ...] = ()


class MarkKind(Enum):
    SOUND = "sound"
    OPENING = "opening"
    CLOSING = "closing"
    PHONE = "phone"
    PAUSE = "pause"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True)
class TagSpan:
    """A tag at ``text[start:end]``."""

    start: int
    end: int
    kind: MarkKind
    token: str = ""  # special token; empty for a pause
    seconds: float = 0.0  # duration of a pause


def find_marks(text: str, tags: TagSet) -> tuple[TagSpan, ...]:
    """Return all tags of ``text``, in order and not overlapping.

    Raise ``StyleNotSupported`` for a pause longer than 30 s, and for pronunciation tokens that the generation does
    not have.
    """
    marks = sorted([*_pauses(text), *_inline(text, tags), *_phones(text, tags)], key=lambda mark: mark.start)
    return tuple(marks)


def spans(marks: tuple[TagSpan, ...]) -> list[tuple[int, int]]:
    """Return the ranges of spans such as ``<strong>…</strong>``. Unclosed and very long spans are omitted."""
    found: list[tuple[int, int]] = []
    opened: TagSpan | None = None
    for mark in marks:
        if mark.kind is MarkKind.OPENING:
            opened = mark
        elif mark.kind is MarkKind.CLOSING and opened is not None:
            if mark.token == f"</{opened.token[1:]}" and mark.end - opened.start <= MAX_SPAN_CHARACTERS:
                found.append((opened.start, mark.end))
            opened = None
        elif mark.kind is MarkKind.PAUSE:
            opened = None
    return found


def _pauses(text: str) -> Iterator[TagSpan]:
    for match in _PAUSE.finditer(text):
        seconds = float(match[1]) / (1000 if (match[2] or "").lower() == "ms" else 1)
        if seconds > MAX_PAUSE_SECONDS:
            raise StyleNotSupported(
                "{tag} is too long: a pause lasts at most {longest:g} seconds.",
                remedy="Write a shorter pause, or several in a row.",
                tag=match.group(),
                longest=MAX_PAUSE_SECONDS,
            )
        yield TagSpan(match.start(), match.end(), MarkKind.PAUSE, seconds=seconds)


def _inline(text: str, tags: TagSet) -> Iterator[TagSpan]:
    kinds, pattern = _recogniser(tags)
    for match in pattern.finditer(text) if pattern else ():
        yield TagSpan(match.start(), match.end(), kinds[match.group()], match.group())


@cache
def _recogniser(tags: TagSet) -> tuple[dict[str, MarkKind], regex.Pattern[str] | None]:
    kinds: dict[str, MarkKind] = {}
    for tag in tags.inline:
        kinds[tag.text] = MarkKind.OPENING if tag.closing else MarkKind.SOUND
        if tag.closing:
            kinds[tag.closing] = MarkKind.CLOSING
    kinds |= dict.fromkeys(tags.languages, MarkKind.LANGUAGE)
    longest_first = sorted(kinds, key=len, reverse=True)
    return kinds, regex.compile("|".join(map(regex.escape, longest_first))) if kinds else None


def _phones(text: str, tags: TagSet) -> Iterator[TagSpan]:
    run: list[TagSpan] = []
    for match in _BRACKETED.finditer(text):
        # Some systems produce decomposed characters.
        token = unicodedata.normalize("NFC", match.group())
        if token not in _ALL_PHONES:
            continue
        if run and run[-1].end != match.start():
            yield from _checked_run(run, tags)
            run = []
        run.append(TagSpan(match.start(), match.end(), MarkKind.PHONE, token))
    yield from _checked_run(run, tags)


def _checked_run(run: list[TagSpan], tags: TagSet) -> list[TagSpan]:
    is_pronunciation = len(run) > 1 or any(_HAS_TONE.search(mark.token) for mark in run)
    if not is_pronunciation:
        return []
    if any(mark.token not in tags.phones for mark in run):
        raise StyleNotSupported(
            "The loaded model does not support pronunciation tokens such as {tokens}.",
            remedy="Spell the word phonetically, or load a Fun-CosyVoice3 model.",
            tokens="".join(mark.token for mark in run),
        )
    return run


_UNTRAINED = "[cough] [sigh] [quick_breath] [hissing] [clucking] [lipsmack] [mn] [vocalized-noise] [noise] [accent]"


def _tags(*, shipped: str, experimental: str) -> tuple[InlineTag, ...]:
    return (
        *(InlineTag(tag, TagSupport.SHIPPED) for tag in shipped.split()),
        *(InlineTag(tag, TagSupport.EXPERIMENTAL) for tag in experimental.split()),
    )


# Tags of sounds in any generation. Where a generation lacks one, it is silent.
KNOWN_TAGS = ("[breath]", "[laughter]", *_UNTRAINED.split())

# These tags are ordinary text for the tokenizer of CosyVoice-300M, except for the languages.
COSYVOICE1_TAGS = TagSet(
    _tags(shipped="[breath] [laughter] <laughter> <strong>", experimental=""),
    languages=("<|zh|>", "<|en|>", "<|ja|>", "<|jp|>", "<|yue|>", "<|ko|>"),
)
COSYVOICE2_TAGS = TagSet(_tags(shipped="[breath] [laughter] <laughter> <strong>", experimental=_UNTRAINED))
COSYVOICE3_TAGS = TagSet(
    _tags(shipped="[breath] <strong>", experimental=f"[laughter] {_UNTRAINED} <laughter>"),
    phones=frozenset(PHONES),
)
