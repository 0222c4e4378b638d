"""Import of a script file of any supported format, and reading of text files in any common encoding.

A subtitle becomes a line. The gap to the next subtitle becomes the pause after the line.
"""

from __future__ import annotations

import codecs
from itertools import pairwise
from pathlib import Path

import regex

from studio.errors import UnreadableScript
from studio.messages import wording
from studio.project.importing.documents import paragraphs_of_word, words_of_markdown
from studio.project.importing.tables import read_table
from studio.project.lines import DEFAULT_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, Line, new_id
from studio.project.splitting import SplitMode, split_text, unwrap
from studio.storage.disk import require_regular_file

SCRIPT_SUFFIXES = (".txt", ".md", ".markdown", ".srt", ".csv", ".tsv", ".docx")

_MOST_BYTES = 64 << 20
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HAN = regex.compile(r"\p{Han}")
_NOT_ASCII = regex.compile(r"[^\x00-\x7f]")
_SHARE_OF_HAN = 0.5
_TIME = r"(\d{1,3}):(\d{2}):(\d{2})[,.](\d{1,3})"
_TIMES = regex.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}.*")
_FORMATTING = regex.compile(r"</?(?:i|b|u|s|font|c)\b[^<>]*>|\{\\[^{}]*\}", regex.IGNORECASE)


def read_script(path: Path, breaks: SplitMode = SplitMode.SENTENCE) -> list[Line]:
    """Return the lines of a script in the format of the suffix of ``path``.

    Each table row and each subtitle is a line. Other text is split at ``breaks``. Raise ``UnreadableScript`` for an
    unreadable file or one without text.
    """
    lines = _lines(path, breaks)
    if not lines:
        raise UnreadableScript(
            "{file} contains nothing that can be spoken.", remedy="Choose another file.", file=path.name
        )
    return lines


def _lines(path: Path, breaks: SplitMode) -> list[Line]:
    match path.suffix.lower():
        case ".txt":
            return _plain_lines(read_text(path), breaks)
        case ".md" | ".markdown":
            return _plain_lines(words_of_markdown(read_text(path)), breaks)
        case ".docx":
            return _plain_lines("\n\n".join(paragraphs_of_word(read_bytes(path), path.name)), breaks)
        case ".csv" | ".tsv":
            return read_table(read_text(path), path.name)
        case ".srt":
            return read_subtitles(read_text(path))
    raise UnreadableScript(
        "{suffix} cannot be imported ({file}).",
        remedy="Choose one of {known}, or copy and paste the text.",
        suffix=path.suffix or wording("a file without a suffix"),
        file=path.name,
        known=", ".join(SCRIPT_SUFFIXES),
    )


def _plain_lines(text: str, breaks: SplitMode) -> list[Line]:
    return [Line(id=new_id(), text=words) for words in split_text(text, breaks)]


def read_bytes(path: Path, *, allows_pipe: bool = False) -> bytes:
    """Return the content of ``path``. Raise ``UnreadableScript``. Reading a pipe blocks until its writer closes it."""
    try:
        if not allows_pipe:
            require_regular_file(path)
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except IsADirectoryError as error:
        raise UnreadableScript("{path} is a folder.", remedy="Choose a file in it.", path=path) from error
    except FileNotFoundError as error:
        raise UnreadableScript("There is no file {path}.", remedy="Check its name and folder.", path=path) from error
    except OSError as error:
        raise UnreadableScript(
            "{path} cannot be read ({reason}).", remedy="Check its permissions.", path=path, reason=error
        ) from error
    if len(content) > _MOST_BYTES:
        raise UnreadableScript(
            "{file} is larger than {most} MB.",
            remedy="Import it in parts, for example by chapter.",
            file=path.name,
            most=_MOST_BYTES >> 20,
        )
    return content


def read_text(path: Path, *, allows_pipe: bool = False) -> str:
    """Return the text of a file in UTF-8, UTF-16, UTF-32, GB18030 or Windows-1252. Raise ``UnreadableScript``."""
    content = read_bytes(path, allows_pipe=allows_pipe)
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _decoded(content, encoding, path)
    if b"\0" in content:
        raise _not_text(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_legacy(content)


def _decode_legacy(content: bytes) -> str:
    """Decode as GB18030 if the result is mostly Chinese, else as Windows-1252. Most byte sequences are valid GB18030."""
    try:
        text = content.decode("gb18030")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
    foreign = _NOT_ASCII.findall(text)
    is_chinese = len(_HAN.findall(text)) >= _SHARE_OF_HAN * len(foreign)
    return text if is_chinese else content.decode("cp1252", "replace")


def _decoded(content: bytes, encoding: str, path: Path) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(path) from error


def _not_text(path: Path) -> UnreadableScript:
    return UnreadableScript(
        "{file} is not a text file.", remedy="Save it as UTF-8 text, or copy and paste the text.", file=path.name
    )


def read_subtitles(text: str) -> list[Line]:
    """Return the lines of SubRip subtitles, or no lines if there are no time stamps."""
    cues: list[tuple[float, float, list[str]]] = []  # start and end in seconds, and the lines of text
    for line in text.splitlines():
        times = _TIMES.fullmatch(line)
        if times:
            if cues:
                _drop_number(cues[-1][2])
            cues.append((_seconds(times.groups()[:4]), _seconds(times.groups()[4:]), []))
        elif cues:
            cues[-1][2].append(line)
    shown = [(start, end, words) for start, end, lines in cues if (words := _without_formatting(lines))]
    pauses = [
        min(max(0.0, round(next_start - end, 3)), LONGEST_PAUSE_SECONDS)
        for (_, end, _), (next_start, _, _) in pairwise(shown)
    ]
    return [
        Line(id=new_id(), text=words, pause_after_seconds=pause)
        for (_, _, words), pause in zip(shown, [*pauses, DEFAULT_PAUSE_SECONDS], strict=False)
    ]


def _drop_number(lines: list[str]) -> None:
    """Remove the number of the next cue from the end of ``lines``.

    A number that is the only text of a cue is kept, because some files have no cue numbers.
    """
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) > 1 and lines[-1].strip().isdigit():
        lines.pop()


def _seconds(parts: tuple[str, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _without_formatting(lines: list[str]) -> str:
    return unwrap("\n".join(_FORMATTING.sub("", line).strip() for line in lines))
