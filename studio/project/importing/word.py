"""The words of a Word document (.docx): its paragraphs as a reader sees them.

Deleted words of tracked changes, field codes, the doubles that Word keeps for older programs, and the
small readings above ruby text are left out. The file comes from anywhere: it is read without resolving
anything it refers to, and not beyond a bearable size.
"""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from xml.parsers import expat

from studio.errors import UnreadableScript

_MOST_BYTES = 128 << 20
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_DOCUMENT = "word/document.xml"
# Each library of compression has errors of its own, and names and places in the archive may be nonsense.
_OF_DAMAGED_ARCHIVES = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(LookupError, ValueError, RuntimeError),
)
# Local names: prefixes are the author's choice.
_LEFT_OUT = frozenset({"del", "moveFrom", "Fallback", "rt", "instrText", "delText"})
_BLOCK_BYTES = 1 << 16


def paragraphs_of_word(content: bytes, name: str) -> list[str]:
    """``name`` is the file's, for complaints. Raises ``UnreadableScript``."""
    if content.startswith(_OLD_OFFICE):
        raise UnreadableScript(
            "{name} is protected by a password, or an old .doc.",
            remedy="Save it as an ordinary .docx without password.",
            name=name,
        )
    reader = _Reader()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(_DOCUMENT) as document:
            num_bytes = 0
            while block := document.read(_BLOCK_BYTES):
                num_bytes += len(block)
                if num_bytes > _MOST_BYTES:
                    raise UnreadableScript("{name} is too large to be true.", remedy="Import it in parts.", name=name)
                reader.feed(block)
            reader.feed(b"", is_last=True)
    except (expat.ExpatError, *_OF_DAMAGED_ARCHIVES) as error:
        raise UnreadableScript(
            "{name} is not a Word document we can read.", remedy="Save it again as .docx, or as text.", name=name
        ) from error
    return reader.paragraphs


class _Reader:
    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        # A text box holds paragraphs inside a paragraph.
        self._open: list[list[str]] = []
        self._depth_left_out = 0
        self._is_in_text = False
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        self._parser.Parse(block, is_last)

    def _start(self, element: str, _attributes: dict[str, str]) -> None:
        name = _local(element)
        if self._depth_left_out or name in _LEFT_OUT:
            self._depth_left_out += 1
            return
        match name:
            case "p":
                self._open.append([])
            case "t":
                self._is_in_text = True
            case "tab":
                self._add(" ")
            case "br" | "cr":
                self._add("\n")
            case "noBreakHyphen":
                self._add("-")

    def _end(self, element: str) -> None:
        if self._depth_left_out:
            self._depth_left_out -= 1
            return
        match _local(element):
            case "p" if self._open:
                self.paragraphs.append("".join(self._open.pop()).strip())
            case "t":
                self._is_in_text = False

    def _characters(self, text: str) -> None:
        if self._is_in_text and not self._depth_left_out:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._open:
            self._open[-1].append(text)

    def _refuse_doctype(self, *_: object) -> None:
        raise expat.ExpatError("a document type, which Word never writes")


def _local(element: str) -> str:
    return element.rpartition(" ")[2]
