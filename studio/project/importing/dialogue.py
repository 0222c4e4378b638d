"""Scripts with speaker names: tagged dialogue, screenplays in Fountain, and speakers of subtitles.

Source for Fountain: the syntax description at fountain.io/syntax.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import regex

from studio.project.importing.blocks import Block, Book
from studio.project.importing.style_names import style_named
from studio.project.lines import LineStyle
from studio.project.splitting import unwrap
from studio.text.tags import COSYVOICE3_TAGS

# Words in brackets that are tags of the models, neither names nor directions.
_TAG_WORDS = frozenset({"pause", *(tag.text.strip("[]<>").casefold() for tag in COSYVOICE3_TAGS.inline)}) | {
    phone.strip("[]").casefold() for phone in COSYVOICE3_TAGS.phones
}
# ``[Name] text``; a name is not one of the tags of the models, such as [breath].
_BRACKETED = regex.compile(r"\[(?P<name>[\p{L}\p{N}][^\[\]\n]{0,39})\][ \t]*[:：]?[ \t]*(?P<text>\S.*)")
# No time, such as 10:30.
_NAME_ENDS = r"[ \t]*(?!(?<=\d)[:：]\d)[:：][ \t]*"
_COLON = regex.compile(
    r"(?P<name>\p{Lu}[\p{L}\p{N}.'’&\- ]{0,39}|\p{Han}{1,8})"
    rf"(?:[ \t]*[(（\[【](?P<direction>[^()（）\[\]【】]{{1,80}})[)）\]】])?{_NAME_ENDS}(?P<text>\S.*)"
)
_CAPITALS = regex.compile(
    rf"(?P<name>[\p{{Lu}}\p{{N}}][\p{{Lu}}\p{{N}}.'’#\- ]{{0,39}})(?:\[[^\[\]]*\]|\([^()]*\))?{_NAME_ENDS}(?P<text>\S.*)"
)
# A paragraph that begins with such a word and a colon is spoken by the narrator.
_LABELS = regex.compile(
    r"notes?|warning|caution|attention|important|tips?|hint|examples?|summary|update|nb|ps|step|part|chapter|section|figure"
    r"|table|sources?|total|date|time|place|subject|remember|definition|conclusion|results?"
    r"|注意?|提示|警告|备注|说明|例[如子]?|总结|小结|重要|更新|时间|地点|日期|来源|结论|结果|定义|主题"
)
_REPLY = regex.compile(r"(?:^|(?<=\s))(?:[-–—]|>>+)\s?(?=\S)")
_SONG = regex.compile(r"[♪♫🎵🎶]|\A#(?=\s).*\s#\Z", regex.DOTALL)
_SOUND = regex.compile(r"\[[^\[\]]{1,200}\]|【[^【】]{1,200}】|(?m:^)[(（][^()（）]{1,200}[)）][:：]?")
_IN_BRACKETS = regex.compile(r"[\[(](?P<name>[\p{L}][\p{L}\p{N}.'’#&\- ]{0,39})[\])][ \t]*[:：]?[ \t]*(?P<text>\S.*)")
_ROLES = regex.compile(
    r"(?:(?:young |old )?(?:wo)?m[ae]n|boy|girl|child|children|kid|narrator|announcer|reporter|both|all|crowd|voice)[ \d]*",
    regex.IGNORECASE,
)
# Beginnings of words that describe sounds, which may be capitalised like names.
_SOUND_WORDS = regex.compile(
    r"\b(?:applau|bang|bark|beep|bell|breath|buzz|cheer|chime|chuckl|clap|clatter|clear|click|cough|crash|creak|cries|cry"
    r"|distant|door|engine|explo|footstep|gasp|giggl|groan|growl|grunt|gun|horn|howl|inaudible|indistinct|knock|laugh|moan"
    r"|music|murmur|no audio|no sound|pant|phone|playing|rain\b|ring|roar|rumbl|scoff|scream|shout|shriek|sigh|silence|sing"
    r"|siren|snor|snif|sob|song|speak|static|sync|subtitle|thud|thunder|tire|typing|vocaliz|weep|whimper|whisper|whistl|wind\b"
    r"|yawn|yell)|ing\b",
    regex.IGNORECASE,
)
_DIRECTION = regex.compile(
    r"\((?P<words>[^()]{2,80})\)|（(?P<words>[^（）]{1,80})）|\[(?P<words>[^\[\]]{2,80})\]|【(?P<words>[^【】]{1,80})】"
    r"|\*(?P<words>[^*\n]{2,80})\*"
)
_DIRECTION_ZH = regex.compile(
    r"[\p{Han}、，]{0,10}(?:叹|笑|哭|泣|咳|喘|吸气|呼气|沉默|停顿|哼|掌|声|喊|叫|吼|呜|怒|惊|喜|冷|低|轻|心想|旁白|转身)[\p{Han}、，]{0,10}"
)
_VOICE_OVER = regex.compile(r"(?:[VO]\.? ?[OSC]\.?|cont['’.]?d\.?)", regex.IGNORECASE)
_MADE_WITHIN_SPEECH = regex.compile(r"\p{L}+(?:s|ing)\b|\p{Han}{1,4}\Z")
HAN = regex.compile(r"\p{Han}")
_LETTER = regex.compile(r"[\p{L}\p{N}]")
_READ_AROUND = 8  # characters before and after a direction
_SPEECH_ENDS = regex.compile(r"(?:[.!?…。！？—–~～][\"'”’」』]*|\n|:|：|\])\Z")
# Directions that the models were trained to perform.
_PERFORMED = {
    "[laughter]": regex.compile(r"(?:laugh|chuckl|giggl)\w*|\p{Han}{0,2}笑", regex.IGNORECASE),
    "[breath]": regex.compile(r"(?:takes a (?:deep )?breath|inhal\w+|breathes in)|深?吸(?:一口)?气", regex.IGNORECASE),
}
_WRITTEN_SMALL = regex.compile(r"[AEIOUYÀ-ÖØ-Ý]|\A(?:MRS?|MS|DR|ST|SGT|LT|CPT|PROF|JR|SR)\.?\Z")
_WORDS_IN_NAME = 4
_MIN_SPEECHES = 2  # lines of one character
_MIN_NAMED = 0.5  # share of paragraphs with a name

_PLACE = regex.compile(r"(?:INT|EXT|EST|INT\./EXT|INT/EXT|I/E)[. ].*")
_SCENE = regex.compile(rf"{_PLACE.pattern}|\.(?!\.)\S.*", regex.IGNORECASE)
_TRANSITION = regex.compile(r"[^\p{Ll}]+TO:|>(?!.*<\s*\Z).*")
_CUE = regex.compile(
    r"@(?P<forced>[^(^]+?)\s*(?:\(.*\))?\s*\^?|(?P<name>(?=.*\p{Lu})[^\p{Ll}(^]+?)\s*(?:\([^)]*\))?\s*\^?"
)
_TITLE_KEY = regex.compile(r"(?P<key>[\p{L} ]+):[ \t]*(?P<value>.*)")
_TITLE_KEYS = ("title",)
_AUTHOR_KEYS = ("author", "authors")
_BONEYARD = regex.compile(r"/\*(?:(?!/\*|\*/).)*\*/|\[\[(?:(?!\[\[|\]\]).)*\]\]", regex.DOTALL)
_EMPHASIS = regex.compile(r"(?<!\\)(\*{1,3}|_)(?=\S)(?P<words>.{1,200}?)(?<=\S)(?<!\\)\1")


def is_dialogue(text: str) -> bool:
    """Return whether most paragraphs of a plain text begin with a speaker's name, and at least one name recurs."""
    paragraphs = [line for line in text.splitlines() if line.strip()]
    names = Counter(speech["name"].strip() for line in paragraphs if (speech := _speech(line)))
    return max(names.values(), default=0) >= _MIN_SPEECHES and names.total() >= _MIN_NAMED * len(paragraphs)


def dialogue_blocks(text: str) -> Iterator[Block]:
    """Yield the paragraphs of a tagged dialogue. Paragraphs without a name belong to the narrator.

    Stage directions of a speech are blocks that are not spoken. One that names a style is also the style of the speech.
    """
    for line in text.splitlines():
        if line.strip():
            speech = _speech(line)
            name = speech["name"].strip() if speech else None
            said, directions = without_directions(speech["text"]) if speech else (line.strip(), ())
            if speech and (direction := speech.groupdict().get("direction")):
                directions = (direction.strip(), *directions)
            for direction in directions:
                note = f"（{direction}）" if HAN.search(direction) else f"({direction})"
                yield Block(note, is_spoken=False, character=name)
            if said:
                styles = (style for direction in directions if (style := style_named(direction)).preset)
                yield Block(said, character=name, style=next(styles, LineStyle()))


def _speech(line: str) -> regex.Match[str] | None:
    """Match name, text, and perhaps a direction of a paragraph that names its speaker."""
    line = line.strip()
    found = _BRACKETED.fullmatch(line)
    if found and found["name"].split(" ")[0].casefold() not in _TAG_WORDS:
        return found
    found = _COLON.fullmatch(line)
    return found if found and len(found["name"].split()) <= _WORDS_IN_NAME and not _is_label(found["name"]) else None


def _is_label(name: str) -> bool:
    """Return whether a name is a label, such as “Note” or “Step 2”."""
    return _LABELS.fullmatch(regex.sub(r"[.\s\d]", "", name).casefold()) is not None


def subtitle_speeches(lines: list[str]) -> list[tuple[str | None, str]]:
    """Return a pair (speaker, text) for each speech in a subtitle, as in ``MARTHA: text`` or ``- Ready? - Ready!``."""
    joined = "\n".join(_with_names(lines))
    if len(_REPLY.findall(joined)) > 1 and _REPLY.match(joined):
        replies = [part.strip() for part in _REPLY.split(joined) if part.strip()]
        return [_named(reply) for reply in replies]
    speeches: list[tuple[str | None, list[str]]] = []
    for line in _REPLY.sub("", joined, count=1).split("\n") if _REPLY.match(joined) else joined.split("\n"):
        name, words = _named(line)
        if name is None and speeches:
            speeches[-1][1].append(words)
        elif words:
            speeches.append((name, [words]))
    return [(name, "\n".join(words)) for name, words in speeches]


def _with_names(lines: list[str]) -> Iterator[str]:
    """Yield the lines that are not empty, each name that stands alone together with the next line."""
    name = ""
    for line in filter(None, map(str.strip, lines)):
        if not name and line[-1] in ":：])" and _named(f"{_REPLY.sub('', line, count=1)} x")[0]:
            name = line
        else:
            yield f"{name} {line}".strip()
            name = ""
    if name:
        yield name


def _named(text: str) -> tuple[str | None, str]:
    first, *rest = text.split("\n")
    found = _CAPITALS.fullmatch(first)
    if found and (not regex.search(r"\p{Lu}", found["name"]) or _is_label(found["name"])):
        return None, text
    if found is None:
        found = _IN_BRACKETS.fullmatch(first)
        if found is None or not _is_name(found["name"]):
            return None, text
    return found["name"].strip(), "\n".join((found["text"], *rest))


def _is_name(words: str) -> bool:
    """Return whether words in brackets before a speech are a name, such as “Anna” or “man”, not a sound."""
    parts = words.split()
    if _ROLES.fullmatch(words):
        return True
    return len(parts) <= _WORDS_IN_NAME and not _SOUND_WORDS.search(words) and all(part[0].isupper() for part in parts)


def without_capitals(name: str) -> str:
    """Return a name in capital letters as it is usually written; abbreviations other than Mr. and Dr. are kept."""
    words = name.split() if name.isupper() else []
    return " ".join(word.title() if _WRITTEN_SMALL.search(word) else word for word in words) or name


def is_song(text: str) -> bool:
    """Return whether a part of a subtitle is sung."""
    return _SONG.search(text.strip()) is not None


def without_sounds(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a subtitle, and whether each describes a sound, such as “[door slams]”, or how a line is said."""
    at = 0
    for found in _SOUND.finditer(text):
        yield text[at : found.start()].strip(), False
        yield found[0], True
        at = found.end()
    yield text[at:].strip(), False


def without_directions(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what is said, which may be nothing, and the stage directions, such as “(sighs)”, without their brackets.

    Directions that models perform become their tags.
    """
    said = ""
    at = 0
    directions: list[str] = []
    performed: list[str] = []
    for found in _DIRECTION.finditer(text):
        before = (said[-_READ_AROUND:] + text[max(at, found.start() - _READ_AROUND) : found.start()]).strip(" ")
        after = text[found.end() : found.end() + _READ_AROUND].strip()
        if not _is_direction(found, before, after):
            continue
        words = found["words"].strip()
        tag = next((tag for tag, pattern in _PERFORMED.items() if pattern.fullmatch(words.strip(".!。"))), "")
        said += f"{text[at : found.start()].rstrip(' ')}\n{tag}\n"
        (performed if tag else directions).append(words)
        at = found.end()
    said = regex.sub(r"\n(?=[.,;:!?…。，；：！？])", "", regex.sub(r"\n[ \n]*", "\n", said + text[at:]))
    if (directions or performed) and not _LETTER.search(regex.sub(r"\[\w+\]", "", said)):
        return "", (*directions, *performed)
    return unwrap(said), tuple(directions)


def _is_direction(found: regex.Match[str], before: str, after: str) -> bool:
    words = found["words"].strip()
    first = words.split(" ")[0].casefold() if words else ""
    if not words or first in _TAG_WORDS or not words[0].isalpha() or "_" in words:
        return False
    is_sound = _SOUND_WORDS.match(words) is not None or _DIRECTION_ZH.fullmatch(words) is not None
    follows_speech = not before or _SPEECH_ENDS.search(before) is not None
    if _VOICE_OVER.fullmatch(words):
        return True
    if is_sound:
        return follows_speech or _MADE_WITHIN_SPEECH.match(words) is not None
    if found[0][0] == "*" or not follows_speech or regex.search(r"[.!?…。！？]\Z", words):
        return False
    if not before and not after:
        return words[0].islower()
    is_name = found[0][0] == "[" and " " not in words and words[0].isupper()  # of a variable, such as [PLAYER]
    return not is_name and (not after or found.string[found.end()] in " \n\"“‘'「『" or words[0] >= "\u2e80")


def is_screenplay(text: str) -> bool:
    """Return whether a plain text contains scene headings, such as ``INT. OFFICE - NIGHT``, and several speeches."""
    paragraphs = list(_paragraphs(text))
    has_scenes = any(len(lines) == 1 and _PLACE.fullmatch(lines[0]) for lines in paragraphs)
    num_speeches = sum(len(lines) > 1 and _CUE.fullmatch(lines[0]) is not None for lines in paragraphs)
    return has_scenes and num_speeches >= _MIN_SPEECHES


def read_fountain(text: str) -> Book:
    """Return scenes, directions and speeches of a screenplay, with title and author of its title page.

    Directions and transitions are not spoken.
    """
    book = Book()
    paragraphs = list(_paragraphs(_BONEYARD.sub("", text)))
    if paragraphs and _TITLE_KEY.match(paragraphs[0][0]) and not _CUE.fullmatch(paragraphs[0][0]):
        facts = _title_page(paragraphs.pop(0))
        book.title = next((facts[key] for key in _TITLE_KEYS if key in facts), "")
        book.author = next((facts[key] for key in _AUTHOR_KEYS if key in facts), "")
    for lines in paragraphs:
        if not lines[0].startswith("==="):
            book.blocks += _fountain_paragraph(lines)
    return book


def _paragraphs(text: str) -> Iterator[list[str]]:
    """Yield the lines of each paragraph, without spaces around them."""
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
        if lines:
            yield lines


def _title_page(lines: list[str]) -> dict[str, str]:
    """Return the values of a title page by lower-case key. A value may continue on the lines below its key."""
    values: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if found := _TITLE_KEY.fullmatch(line):
            key = found["key"].strip().casefold()
        values.setdefault(key, []).append(_plain(found["value"] if found else line))
    return {key: " ".join(filter(None, words)) for key, words in values.items()}


def _fountain_paragraph(lines: list[str]) -> Iterator[Block]:
    first = lines[0]
    if first.startswith("#"):
        yield Block(first.lstrip("# "), level=1, is_spoken=False)
    elif _PLACE.fullmatch(first) and len(lines) > 1:
        yield Block(first, level=2, is_spoken=False)
        yield from _fountain_paragraph(lines[1:])
    elif _SCENE.fullmatch(first) and len(lines) == 1:
        yield Block(first.removeprefix("."), level=2, is_spoken=False)
    elif first.startswith("=") or _TRANSITION.fullmatch(first):
        yield Block(_plain(" ".join(lines)).lstrip("=> "), is_spoken=False)
    elif len(lines) > 1 and not first.startswith("!") and (cue := _CUE.fullmatch(first)):
        yield from _speeches((cue["forced"] or cue["name"]).strip(), lines[1:])
    else:
        yield Block(_plain("\n".join(lines)).removeprefix("!"), is_spoken=False)


def _speeches(name: str, lines: list[str]) -> Iterator[Block]:
    """Yield what a character says. Directions in parentheses are not spoken."""
    words: list[str] = []
    for line in lines:
        if line.startswith("(") and line.endswith(")"):
            if words:
                yield Block(_plain(" ".join(words)), character=name)
                words = []
            yield Block(line, is_spoken=False, character=name)
        else:
            words.append(line.removeprefix("~"))
    if words:
        yield Block(_plain(" ".join(words)), character=name)


def _plain(text: str) -> str:
    """Return the text without emphasis marks."""
    return _EMPHASIS.sub(lambda match: match["words"], _EMPHASIS.sub(lambda match: match["words"], text))
