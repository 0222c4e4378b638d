"""Scripts with speaker names: tagged dialogue, screenplays in Fountain, and speakers of subtitles.

Source for Fountain: the syntax description at fountain.io/syntax.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import regex

from studio.project.importing.blocks import Block

# ``[Name] text``; a name is not one of the tags of the models, such as [breath].
_BRACKETED = regex.compile(r"\[(?P<name>[\p{L}\p{N}][^\[\]\n]{0,39})\][ \t]*[:：]?[ \t]*(?P<text>\S.*)")
_COLON = regex.compile(r"(?P<name>\p{Lu}[\p{L}\p{N}.'’&\- ]{0,39}|\p{Han}{1,8})[ \t]*[:：][ \t]*(?P<text>\S.*)")
_CAPITALS = regex.compile(r"(?P<name>[\p{Lu}\p{N}][\p{Lu}\p{N}.'’#\- ]{0,39})[:：][ \t]*(?P<text>\S.*)")
_REPLY = regex.compile(r"(?:^|(?<=\s))[-–—]\s?(?=\S)")
_WORDS_IN_NAME = 4
_FEWEST_SPEECHES = 2  # lines of one character
_FEWEST_NAMED = 0.5  # share of paragraphs with a name

_SCENE = regex.compile(r"(?:INT|EXT|EST|INT\./EXT|INT/EXT|I/E)[. ].*|\.(?!\.)\S.*", regex.IGNORECASE)
_TRANSITION = regex.compile(r"[^\p{Ll}]+TO:|>(?!.*<\s*\Z).*")
_CUE = regex.compile(
    r"@(?P<forced>[^(^]+?)\s*(?:\(.*\))?\s*\^?|(?P<name>(?=.*\p{Lu})[^\p{Ll}(^]+?)\s*(?:\([^)]*\))?\s*\^?"
)
_TITLE_KEY = regex.compile(r"(?P<key>[\p{L} ]+):(?P<value>.*)")
_BONEYARD = regex.compile(r"/\*.*?\*/|\[\[.*?\]\]", regex.DOTALL)
_EMPHASIS = regex.compile(r"(?<!\\)(\*{1,3}|_)(?=\S)(?P<words>.+?)(?<=\S)(?<!\\)\1")


def is_dialogue(text: str, tags: frozenset[str] = frozenset()) -> bool:
    """Return whether most paragraphs of a plain text begin with a speaker's name, and at least one name recurs."""
    paragraphs = [line for line in text.splitlines() if line.strip()]
    names = Counter(name for line in paragraphs if (name := _speaker(line, tags)[0]))
    return max(names.values(), default=0) >= _FEWEST_SPEECHES and names.total() >= _FEWEST_NAMED * len(paragraphs)


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


def fountain_blocks(text: str) -> Iterator[Block]:
    """Yield scenes, directions and speeches of a screenplay. Directions and transitions are not spoken."""
    paragraphs = _BONEYARD.sub("", text.replace("\r\n", "\n")).split("\n\n")
    if (
        paragraphs
        and _TITLE_KEY.match(paragraphs[0].strip())
        and not _CUE.fullmatch(paragraphs[0].strip().split("\n")[0])
    ):
        paragraphs = paragraphs[1:]
    for paragraph in paragraphs:
        lines = [line.strip() for line in paragraph.strip("\n").split("\n") if line.strip()]
        if not lines or lines[0].startswith("==="):
            continue
        yield from _fountain_paragraph(lines)


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
