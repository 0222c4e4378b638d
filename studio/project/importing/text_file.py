"""Reading of text files in any common encoding, with a size limit."""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    *("gb18030", "big5", "cp949", "cp932", "euc_jp", "cp1252", "cp1251", "cp1250", "cp1253", "koi8_r"),
    *("cp1254", "cp1255", "iso8859_2", "iso8859_7", "cp866", "iso8859_5", "mac_cyrillic"),
)
# Encodings that the user may choose, and that are never guessed.
_RARE = ("mac_roman", "cp1256", "cp874", "cp1257", "cp1258", "cp437")
# Declared encodings of which the files of most programs use an extension.
_EXTENSIONS = {"shift_jis": "cp932", "euc_kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252"}
_USUAL_NAMES = {"cp932": "Shift-JIS", "cp949": "EUC-KR"}
_SHIFTED = {b"\x1b$B": "iso2022_jp_2", b"\x1b$@": "iso2022_jp_2", b"\x1b$)C": "iso2022_kr"}  # by escape sequences
_KANA = regex.compile(r"[\u3040-\u30ff]")
_SYMBOL_IN_WORD = regex.compile(r"\p{L}[¹²³£¥¼½¾¶±º¿¡]\p{L}")
# What shows that a text is not in this encoding.
_STRANGERS = {"cp1252": _SYMBOL_IN_WORD, "cp1254": _SYMBOL_IN_WORD} | {
    "gb18030": _KANA,
    "big5": _KANA,
    "cp949": _KANA,
    "cp1250": regex.compile(r"\p{L}[±¶¦ˇ]"),
    **dict.fromkeys(("cp1251", "cp1253", "cp1255"), regex.compile(r"¶\p{L}")),
}
_CYRILLIC = ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")
_CYRILLIC_LETTER = regex.compile(r"[\p{Cyrillic}&&\p{L}]", regex.V1)
_CAPITAL_IN_WORD = regex.compile(r"(?<=[\p{Cyrillic}&&\p{Ll}])[\p{Cyrillic}&&\p{Lu}]", regex.V1)
_MAX_CAPITALS = 0.02  # within words, as a share of the letters
_FIRST_OF_KOREAN = 0xA1  # the syllables with lower bytes, which EUC-KR does not have, are rare
_MAX_RARE = 0.05
_HALF_WIDTH = regex.compile(r"[\uff61-\uff9f]")
# In two-byte encodings, an accented letter and the next letter look like a character within a Latin word.
_WIDE = ("gb18030", "big5", "cp949", "cp932", "euc_jp")
_CJK = regex.compile(r"[\p{Han}\p{Hangul}]")
_CJK_IN_WORD = regex.compile(
    rf"(?<!{_CJK.pattern})(?:(?<=[a-z]){_CJK.pattern}|{_CJK.pattern}(?=[a-z]))(?!{_CJK.pattern})"
)
_MAX_IN_WORDS = 0.5  # share of the Chinese, Japanese or Korean characters
_PAIR = regex.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]")
_GB_COMMON = range(0xB0, 0xD8)
_BIG5_COMMON = range(0xA4, 0xC7)
_MAX_CHAOS = 0.9
_MAX_SAMPLE = 1 << 16
_MIN_ZEROS = 0.2  # share of the bytes of UTF-16
_REPLACEMENT = "\ufffd"
_MAX_DAMAGED = 0.2  # share of the characters that are not ASCII
_MAX_PREVIEW = 40
_MAX_DOUBT = 0.05  # how much more chaos the text may have in another encoding that is mentioned
_MAX_DOUBTS = 2


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text of a file.

    Attributes:
        encodings: If the file declares no encoding: those that its bytes allow, the guess first, each with a preview.
        notices: The guess and its doubt.
    """

    text: str
    encodings: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Message, ...] = ()


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
    return _decode(read_bytes(path, allows_pipe=allows_pipe), path).text


def read_decoded_text(path: Path, encoding: str | None = None) -> DecodedText:
    """Return the text of a file, with notices if its encoding is a guess.

    ``encoding`` overrides what the file says. Raise ``UnreadableScript``.
    """
    content = read_bytes(path)
    return _decode(content, path) if encoding is None else DecodedText(_decoded(content, encoding, path))


def _decode(content: bytes, path: Path) -> DecodedText:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return DecodedText(_decoded(content, encoding, path))
    if b"\0" in content:
        return DecodedText(_decoded(content, _wide_encoding(content, path), path))
    for mark, encoding in _SHIFTED.items():
        if mark in content and _can_decode(content, encoding):
            return DecodedText(content.decode(encoding))
    try:
        return DecodedText(content.decode("utf-8"))
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
    num_damaged = text.count(_REPLACEMENT) - content.count(_REPLACEMENT.encode())
    if num_damaged > _MAX_DAMAGED * sum(not character.isascii() for character in text):
        return _decode_legacy(content, path)
    notice = message("{file} contains characters that are not UTF-8, and that are left out.", file=path.name)
    return DecodedText(text, notices=(notice,))


def _wide_encoding(content: bytes, path: Path) -> str:
    """Return the encoding of UTF-16 without a byte order mark: every other byte of Latin text is 0."""
    even, odd = content[::2].count(0), content[1::2].count(0)
    if len(content) % 2 or min(even, odd) or max(even, odd) < _MIN_ZEROS * len(content):
        raise _not_text(path)
    return "utf-16-le" if odd else "utf-16-be"


def _decode_legacy(content: bytes, path: Path) -> DecodedText:
    """Return the text in the encoding that is most plausible; in doubt, in the one that is most common."""
    import charset_normalizer  # noqa: PLC0415 - takes 23 ms, and is needed for few files

    sample = content[:_MAX_SAMPLE]
    found = charset_normalizer.from_bytes(
        sample, cp_isolation=list(_LEGACY), threshold=_MAX_CHAOS, enable_fallback=False
    )
    ranks: dict[str, tuple[float, float, int]] = {}
    for match in found:
        for encoding in {match.encoding, *match.could_be_from_charset} & set(_LEGACY):
            if _can_decode(content, encoding):
                penalty = float(_is_strange(sample.decode(encoding, "ignore"), encoding))
                ranks[encoding] = (round(match.chaos + penalty, 2), -match.coherence, _LEGACY.index(encoding))
    ranked = sorted(ranks, key=lambda encoding: ranks[encoding]) or ["cp1252"]
    if (
        ranked[0] == "big5"
        and "gb18030" in ranked
        and _num_common(sample, _GB_COMMON) >= _num_common(sample, _BIG5_COMMON)
    ):
        ranked.remove("gb18030")
        ranked.insert(0, "gb18030")
    best = ranked[0]
    others = [encoding for encoding in (*_LEGACY, *_RARE) if encoding not in ranked and _can_decode(content, encoding)]
    line = next(line.strip() for line in content.splitlines() if not line.isascii())
    previews = {encoding: line.decode(encoding, "replace")[:_MAX_PREVIEW] for encoding in (*ranked, *others)}
    limit = ranks[best][0] + _MAX_DOUBT if ranks else 0.0
    doubts = [
        encoding for encoding in ranked[1:] if ranks[encoding][0] <= limit and previews[encoding] != previews[best]
    ]
    return DecodedText(
        content.decode(best, "replace"),
        {_name(encoding): preview for encoding, preview in previews.items()},
        (_notice(path, best, doubts[:_MAX_DOUBTS], previews),),
    )


def _is_strange(text: str, encoding: str) -> bool:
    """Return whether a text contains what is not written in texts of this encoding."""
    strangers = _STRANGERS.get(encoding)
    if strangers is not None and strangers.search(text):
        return True
    if encoding == "cp932" and len(_HALF_WIDTH.findall(text)) > len(_KANA.findall(text)):
        return True
    if encoding == "cp949":
        pairs = _PAIR.findall(text.encode("cp949", "ignore"))
        if sum(min(pair) < _FIRST_OF_KOREAN for pair in pairs) > _MAX_RARE * len(pairs):
            return True
    if encoding in _CYRILLIC:
        return len(_CAPITAL_IN_WORD.findall(text)) > _MAX_CAPITALS * len(_CYRILLIC_LETTER.findall(text))
    return encoding in _WIDE and len(_CJK_IN_WORD.findall(text)) > _MAX_IN_WORDS * len(_CJK.findall(text))


def _notice(path: Path, guess: str, doubts: Sequence[str], previews: Mapping[str, str]) -> Message:
    if doubts:
        return message(
            "{file} does not declare its encoding. It is probably {encoding} (“{preview}”), but may be {others}. If the"
            " text is wrong, choose another encoding (--encoding), or save the file as UTF-8.",
            file=path.name,
            encoding=_name(guess),
            preview=previews[guess],
            others=[f"{_name(doubt)} (“{previews[doubt]}”)" for doubt in doubts],
        )
    return message(
        "{file} does not declare its encoding and is read as {encoding}, for example “{preview}”. If that is wrong, choose"
        " another encoding (--encoding), or save the file as UTF-8.",
        file=path.name,
        encoding=_name(guess),
        preview=previews[guess],
    )


def _name(encoding: str) -> str:
    """Return the usual name of an encoding, which Python knows too."""
    if encoding in _USUAL_NAMES:
        return _USUAL_NAMES[encoding]
    return f"Windows-{encoding[2:]}" if encoding.startswith("cp1") else encoding.upper().replace("_", "-")


def _can_decode(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _num_common(content: bytes, common: range) -> int:
    """Return how many characters of two bytes are among the common ones, by their first bytes."""
    return sum(pair[0] in common for pair in _PAIR.findall(content))


def decode_declared(content: bytes, encoding: str) -> str:
    """Return the text in a declared encoding. Raise ``LookupError`` and ``UnicodeDecodeError``."""
    name = codecs.lookup(encoding).name
    with contextlib.suppress(UnicodeDecodeError):
        return content.decode(_EXTENSIONS.get(name, name))
    return content.decode(name)


def _decoded(content: bytes, encoding: str, path: Path) -> str:
    try:
        return decode_declared(content, encoding)
    except UnicodeDecodeError as error:
        raise _not_text(path) from error


def _not_text(path: Path) -> UnreadableScript:
    return UnreadableScript(
        "{file} is not a text file.", remedy="Save it as UTF-8 text, or copy and paste the text.", file=path.name
    )
