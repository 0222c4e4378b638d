"""ID3 tags of version 2.3 in UTF-16, which every player reads.

libsndfile passes tags to its MP3 encoder as Latin-1, which corrupts Chinese titles.
"""

from __future__ import annotations

from collections.abc import Mapping

_FRAME_OF_NAME = {"title": b"TIT2", "artist": b"TPE1", "album": b"TALB", "software": b"TENC"}
_UTF_16_WITH_MARK = b"\x01"
_END = "\0".encode("utf-16")


def id3_tag(tags: Mapping[str, str]) -> bytes:
    """Return the tag that precedes the audio; ``tags`` by libsndfile's names, unknown ones are omitted."""
    frames = b"".join(
        _frame(_FRAME_OF_NAME[name], value.encode("utf-16")) for name, value in tags.items() if name in _FRAME_OF_NAME
    )
    if "comment" in tags:
        frames += _frame(b"COMM", b"eng" + _END + tags["comment"].encode("utf-16"))
    return b"ID3\x03\x00\x00" + _seven_bits_a_byte(len(frames)) + frames if frames else b""


def _frame(name: bytes, content: bytes) -> bytes:
    # The first byte of the content is the text encoding; the language of a comment follows it.
    return name + (len(content) + 1).to_bytes(4, "big") + b"\0\0" + _UTF_16_WITH_MARK + content


def _seven_bits_a_byte(size: int) -> bytes:
    """Encode a size without a byte that looks like the start of an MP3 frame."""
    return bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
