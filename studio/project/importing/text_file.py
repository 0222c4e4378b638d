"""Reading of text files in any common encoding, with a size limit."""

from __future__ import annotations

import codecs
from pathlib import Path

import regex

from studio.errors import UnreadableScript
from studio.messages import Message, message
from studio.storage.disk import require_regular_file

_MAX_BYTES = 64 << 20
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
_MIN_ZEROS = 0.2  # share of the bytes of UTF-16
_MAX_PREVIEW = 40


def read_bytes(path: Path, *, allows_pipe: bool = False) -> bytes:
    """Return the content of ``path``. Raise ``UnreadableScript``. Reading a pipe blocks until its writer closes it."""
    try:
        if not allows_pipe:
            require_regular_file(path)
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except IsADirectoryError as error:
        raise UnreadableScript("{path} is a folder.", remedy="Choose a file in it.", path=path) from error
    except FileNotFoundError as error:
        raise UnreadableScript("There is no file {path}.", remedy="Check its name and folder.", path=path) from error
    except OSError as error:
        raise UnreadableScript(
            "{path} cannot be read ({reason}).", remedy="Check its permissions.", path=path, reason=error
        ) from error
    if len(content) > _MAX_BYTES:
        raise UnreadableScript(
            "{file} is larger than {most} MB.",
            remedy="Import it in parts, for example by chapter.",
            file=path.name,
            most=_MAX_BYTES >> 20,
        )
    return content


def read_text(path: Path, *, allows_pipe: bool = False) -> str:
    """Return the text of a file in UTF-8, UTF-16, UTF-32, GB18030 or Windows-1252. Raise ``UnreadableScript``."""
    return _decode(read_bytes(path, allows_pipe=allows_pipe), path)[0]


def read_text_with_notice(path: Path, encoding: str | None = None) -> tuple[str, tuple[Message, ...]]:
    """Return the text of a file, and a notice with its beginning if its encoding is a guess.

    ``encoding`` overrides what the file says. Raise ``UnreadableScript``.
    """
    content = read_bytes(path)
    if encoding is not None:
        return _decoded(content, encoding, path), ()
    text, guess = _decode(content, path)
    if guess is None:
        return text, ()
    foreign = next(line.strip() for line in text.splitlines() if _NOT_ASCII.search(line))
    return text, (
        message(
            "{file} does not declare its encoding and is read as {encoding}, for example “{preview}”. If that is wrong, save"
            " it as UTF-8, or use --encoding.",
            file=path.name,
            encoding=guess,
            preview=foreign[:_MAX_PREVIEW],
        ),
    )


def _decode(content: bytes, path: Path) -> tuple[str, str | None]:
    """Return the text, and its encoding if that is a guess."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _decoded(content, encoding, path), None
    if b"\0" in content:
        return _decoded(content, _wide_encoding(content, path), path), None
    try:
        return content.decode("utf-8"), None
    except UnicodeDecodeError:
        return _decode_legacy(content)


def _wide_encoding(content: bytes, path: Path) -> str:
    """Return the encoding of UTF-16 without a byte order mark: every other byte of Latin text is 0."""
    even, odd = content[::2].count(0), content[1::2].count(0)
    if len(content) % 2 or min(even, odd) or max(even, odd) < _MIN_ZEROS * len(content):
        raise _not_text(path)
    return "utf-16-le" if odd else "utf-16-be"


def _decode_legacy(content: bytes) -> tuple[str, str]:
    """Return the text and its encoding. Decode as GB18030 if the result is mostly Chinese, else as Windows-1252. Most byte sequences are valid GB18030."""
    try:
        text = content.decode("gb18030")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), "Windows-1252"
    foreign = _NOT_ASCII.findall(text)
    is_chinese = len(_HAN.findall(text)) >= _SHARE_OF_HAN * len(foreign)
    return (text, "GB18030") if is_chinese else (content.decode("cp1252", "replace"), "Windows-1252")


def _decoded(content: bytes, encoding: str, path: Path) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(path) from error


def _not_text(path: Path) -> UnreadableScript:
    return UnreadableScript(
        "{file} is not a text file.", remedy="Save it as UTF-8 text, or copy and paste the text.", file=path.name
    )
