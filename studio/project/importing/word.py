"""Visible text of a Word document (.docx).

Deleted text of tracked changes, field codes, alternatives for older programs, and ruby annotations are omitted. The
file is not trusted: external references are not resolved, and its size is limited.
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
# Each compression library has its own errors, and names and offsets in the archive may be invalid.
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(LookupError, ValueError, RuntimeError),
)
# Names without namespace.
_OMITTED = frozenset({"del", "moveFrom", "Fallback", "rt", "instrText", "delText"})
_BLOCK_BYTES = 1 << 16


def paragraphs_of_word(content: bytes, name: str) -> list[str]:
    """Return the paragraphs of a document. ``name`` is that of the file, for errors. Raise ``UnreadableScript``."""
    if content.startswith(_OLD_OFFICE):
        raise UnreadableScript(
            "{name} is password-protected or an old .doc file.",
            remedy="Save it as .docx without a password.",
            name=name,
        )
    reader = _Reader()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(_DOCUMENT) as document:
            num_bytes = 0
            while block := document.read(_BLOCK_BYTES):
                num_bytes += len(block)
                if num_bytes > _MOST_BYTES:
                    raise UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=name)
                reader.feed(block)
            reader.feed(b"", is_last=True)
    except (expat.ExpatError, *_ARCHIVE_ERRORS) as error:
        raise UnreadableScript(
            "{name} is not a readable Word document.", remedy="Save it again as .docx, or as text.", name=name
        ) from error
    return reader.paragraphs


class _Reader:
    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        # A text box contains paragraphs inside a paragraph.
        self._open: list[list[str]] = []
        self._omitted_depth = 0
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
        if self._omitted_depth or name in _OMITTED:
            self._omitted_depth += 1
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
        if self._omitted_depth:
            self._omitted_depth -= 1
            return
        match _local(element):
            case "p" if self._open:
                self.paragraphs.append("".join(self._open.pop()).strip())
            case "t":
                self._is_in_text = False

    def _characters(self, text: str) -> None:
        if self._is_in_text and not self._omitted_depth:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._open:
            self._open[-1].append(text)

    def _refuse_doctype(self, *_: object) -> None:
        raise expat.ExpatError("unexpected document type declaration")


def _local(element: str) -> str:
    return element.rpartition(" ")[2]
