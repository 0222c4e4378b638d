"""Scripts with speaker names: tagged dialogue, screenplays in Fountain, and speakers of subtitles.

Source for Fountain: the syntax description at fountain.io/syntax.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import regex

from studio.project.importing.blocks import Block, Book

# ``[Name] text``; a name is not one of the tags of the models, such as [breath].
_BRACKETED = regex.compile(r"\[(?P<name>[\p{L}\p{N}][^\[\]\n]{0,39})\][ \t]*[:：]?[ \t]*(?P<text>\S.*)")
_COLON = regex.compile(r"(?P<name>\p{Lu}[\p{L}\p{N}.'’&\- ]{0,39}|\p{Han}{1,8})[ \t]*[:：][ \t]*(?P<text>\S.*)")
_CAPITALS = regex.compile(r"(?P<name>[\p{Lu}\p{N}][\p{Lu}\p{N}.'’#\- ]{0,39})[:：][ \t]*(?P<text>\S.*)")
_REPLY = regex.compile(r"(?:^|(?<=\s))[-–—]\s?(?=\S)")
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
_BONEYARD = regex.compile(r"/\*.*?\*/|\[\[.*?\]\]", regex.DOTALL)
_EMPHASIS = regex.compile(r"(?<!\\)(\*{1,3}|_)(?=\S)(?P<words>.+?)(?<=\S)(?<!\\)\1")


def is_dialogue(text: str, tags: frozenset[str] = frozenset()) -> bool:
    """Return whether most paragraphs of a plain text begin with a speaker's name, and at least one name recurs."""
    paragraphs = [line for line in text.splitlines() if line.strip()]
    names = Counter(name for line in paragraphs if (name := _speaker(line, tags)[0]))
    return max(names.values(), default=0) >= _MIN_SPEECHES and names.total() >= _MIN_NAMED * len(paragraphs)


def dialogue_blocks(text: str, tags: frozenset[str] = frozenset()) -> Iterator[Block]:
    """Yield the paragraphs of a tagged dialogue. Those without a name belong to the narrator.

    ``tags`` are words in brackets that are not names, such as ``breath``.
    """
    for line in text.splitlines():
        if line.strip():
            name, words = _speaker(line, tags)
            yield Block(words, character=name)


def _speaker(line: str, tags: frozenset[str]) -> tuple[str | None, str]:
    line = line.strip()
    found = _BRACKETED.fullmatch(line)
    if found and found["name"].split(" ")[0].casefold() not in tags:
        return found["name"].strip(), found["text"]
    found = _COLON.fullmatch(line)
    if found and len(found["name"].split()) <= _WORDS_IN_NAME:
        return found["name"].strip(), found["text"]
    return None, line


def subtitle_speeches(lines: list[str]) -> list[tuple[str | None, str]]:
    """Return a pair (speaker, text) for each speech in a subtitle, as in ``MARTHA: text`` or ``- Ready? - Ready!``."""
    joined = "\n".join(line.strip() for line in lines if line.strip())
    if len(_REPLY.findall(joined)) > 1 and _REPLY.match(joined):
        replies = [part.strip() for part in _REPLY.split(joined) if part.strip()]
        return [_named(reply) for reply in replies]
    speeches: list[tuple[str | None, str]] = []
    for line in joined.split("\n"):
        name, words = _named(line)
        if name is None and speeches:
            speeches[-1] = speeches[-1][0], f"{speeches[-1][1]}\n{words}"
        elif words:
            speeches.append((name, words))
    return speeches


def _named(text: str) -> tuple[str | None, str]:
    found = _CAPITALS.fullmatch(text.split("\n", maxsplit=1)[0])
    if not found or not regex.search(r"\p{Lu}", found["name"]):
        return None, text
    rest = text.split("\n")[1:]
    return found["name"].strip(), "\n".join((found["text"], *rest))


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
