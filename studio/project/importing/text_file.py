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
# Encodings of texts from before UTF-8, the common ones first.
_LEGACY = (
    *("gb18030", "big5", "euc_kr", "shift_jis", "euc_jp", "cp1252", "cp1251", "cp1250", "cp1253", "koi8_r"),
    *("cp1254", "cp1255"),
)
_KANA = regex.compile(r"[\u3040-\u30ff]")
_SYMBOL_IN_WORD = regex.compile(r"\p{L}[¹²³£¥¼½¾¶±º¿¡]\p{L}")
# What shows that a text is not in this encoding.
_STRANGERS = {"cp1252": _SYMBOL_IN_WORD, "cp1254": _SYMBOL_IN_WORD} | {
    "gb18030": _KANA,
    "big5": _KANA,
    "euc_kr": _KANA,
    "shift_jis": regex.compile(r"[\uff61-\uff9f]"),
}
_PAIR = regex.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]")
_GB_COMMON = range(0xB0, 0xD8)
_BIG5_COMMON = range(0xA4, 0xC7)
_MAX_CHAOS = 0.9
_MAX_SAMPLE = 1 << 16
_NOT_ASCII = regex.compile(r"[^\x00-\x7f]")
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
    """Return the text of a file in UTF-8, UTF-16, UTF-32 or an encoding of before Unicode. Raise ``UnreadableScript``."""
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
    """Return the text and the name of the encoding that is most plausible; in doubt, the one that is most common."""
    import charset_normalizer  # noqa: PLC0415 - takes 23 ms, and is needed for few files

    sample = content[:_MAX_SAMPLE]
    found = charset_normalizer.from_bytes(
        sample, cp_isolation=list(_LEGACY), threshold=_MAX_CHAOS, enable_fallback=False
    )
    ranks: dict[str, tuple[float, float, int]] = {}
    texts: dict[str, str] = {}
    for match in found:
        for encoding in {match.encoding, *match.could_be_from_charset} & set(_LEGACY):
            try:
                texts[encoding] = content.decode(encoding)
            except UnicodeDecodeError:
                continue
            strangers = _STRANGERS.get(encoding)
            penalty = float(strangers is not None and strangers.search(texts[encoding]) is not None)
            ranks[encoding] = (round(match.chaos + penalty, 2), -match.coherence, _LEGACY.index(encoding))
    best = min(ranks, key=lambda encoding: ranks[encoding], default="cp1252")
    if best == "big5" and "gb18030" in texts and _num_common(sample, _GB_COMMON) >= _num_common(sample, _BIG5_COMMON):
        best = "gb18030"
    name = f"Windows-{best[2:]}" if best.startswith("cp") else best.upper().replace("_", "-")
    return texts.get(best) or content.decode(best, "replace"), name


def _num_common(content: bytes, common: range) -> int:
    """Return how many characters of two bytes are among the common ones, by their first bytes."""
    return sum(pair[0] in common for pair in _PAIR.findall(content))


def _decoded(content: bytes, encoding: str, path: Path) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(path) from error


def _not_text(path: Path) -> UnreadableScript:
    return UnreadableScript(
        "{file} is not a text file.", remedy="Save it as UTF-8 text, or copy and paste the text.", file=path.name
    )
