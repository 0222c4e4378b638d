"""Text of a PDF file: paragraphs composed of the lines on its pages, and chapters from its outline.

A PDF has no paragraphs, only text at positions on pages. Page numbers and headers that repeat on most pages are
omitted, and words hyphenated at the end of a line are joined.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pypdf
import regex
from pypdf.errors import DependencyError, PyPdfError

from studio.errors import UnreadableScript
from studio.project.importing.blocks import Block, Book
from studio.project.splitting import unwrap

_MAX_PAGES = 5_000
_EDGE_LINES = 2
_REPEATED_SHARE = 0.4
_MIN_PAGES_WITH_HEADERS = 4
_NUMBER = regex.compile(
    r"[\s\-–—|]*(?:(?:page|p\.|seite|第)\s*)?(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:/|of|页)\s*\d*)?[\s\-–—|]*",
    regex.IGNORECASE,
)
_HYPHEN = regex.compile(r"(?<=\p{Ll})[-\u00ad\u2010]\Z")
_ENDS_SENTENCE = regex.compile(r"[.!?…:;。！？：；”’\"'»」』)]\s*\Z")
# A line shorter than this share of the usual length ends a paragraph if a sentence ends there.
_SHORT_LINE = 0.8


def read_pdf(content: bytes, name: str) -> Book:
    """Return the text of a PDF file. ``name`` is the file name, for errors. Raise ``UnreadableScript``."""
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableScript("{name} is password-protected.", remedy="Save a copy without a password.", name=name)
        if len(reader.pages) > _MAX_PAGES:
            raise UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=name)
        pages = [(page.extract_text() or "").splitlines() for page in reader.pages]
        chapters = _chapters(reader)
        facts: Mapping[str, object] = reader.metadata or {}
        book = Book(title=str(facts.get("/Title") or ""), author=str(facts.get("/Author") or ""))
    except DependencyError as error:
        raise UnreadableScript(
            "{name} is encrypted, with AES.",
            remedy="Open it in a PDF viewer, and print it to a file without encryption.",
            name=name,
        ) from error
    except (PyPdfError, RecursionError, *_FAULTS) as error:
        raise UnreadableScript(
            "{name} is not a readable PDF file.", remedy="Save it again as PDF, or copy and paste the text.", name=name
        ) from error
    if not any("".join(page).strip() for page in pages):
        raise UnreadableScript(
            "{name} contains images of text only.", remedy="Recognise its text with an OCR program first.", name=name
        )
    book.blocks = list(_blocks(_without_headers(pages), chapters))
    return book


# Exceptions of pypdf for damaged files, besides its own.
_FAULTS = (LookupError, ValueError, TypeError, AttributeError, OSError, EOFError, NotImplementedError, OverflowError)


def _chapters(reader: pypdf.PdfReader) -> dict[int, list[str]]:
    """Return the top-level titles of the outline by page number, from 0."""
    found: dict[int, list[str]] = {}
    for entry in reader.outline:
        if isinstance(entry, list):
            continue
        page = reader.get_destination_page_number(entry)
        if page is not None and entry.title:
            found.setdefault(page, []).append(unwrap(str(entry.title)))
    return found


def _without_headers(pages: list[list[str]]) -> list[list[str]]:
    """Remove page numbers, and lines at the top or bottom that repeat on many pages."""
    edges = Counter(_signature(line) for page in pages for line in {*page[:_EDGE_LINES], *page[-_EDGE_LINES:]})
    is_long = len(pages) >= _MIN_PAGES_WITH_HEADERS
    repeated = {line for line, count in edges.items() if is_long and count >= _REPEATED_SHARE * len(pages)}

    def is_kept(page: list[str], at: int) -> bool:
        is_edge = at < _EDGE_LINES or at >= len(page) - _EDGE_LINES
        return not is_edge or not (_NUMBER.fullmatch(page[at]) or _signature(page[at]) in repeated)

    return [[line for at, line in enumerate(page) if is_kept(page, at)] for page in pages]


def _signature(line: str) -> str:
    return regex.sub(r"\d+", "#", line.strip().casefold())


def _blocks(pages: list[list[str]], chapters: dict[int, list[str]]) -> Iterable[Block]:
    usual = _usual_length(pages)
    paragraph: list[str] = []  # its lines
    for number, page in enumerate(pages):
        titles = chapters.get(number, [])
        if titles and paragraph:
            yield Block(_joined(paragraph))
            paragraph = []
        for title in titles:
            yield Block(title, level=1)
        for line in _without_titles(page, titles):
            text = line.strip()
            if text:
                paragraph.append(text)
            is_end = len(text) < _SHORT_LINE * usual and (not text or _ENDS_SENTENCE.search(text))
            if is_end and paragraph:
                yield Block(_joined(paragraph))
                paragraph = []
    if paragraph:
        yield Block(_joined(paragraph))


def _without_titles(page: list[str], titles: list[str]) -> list[str]:
    """Remove the titles of the outline where the page repeats them."""
    wanted = {title.casefold() for title in titles}
    return [line for line in page if unwrap(line).casefold() not in wanted]


def _joined(lines: Sequence[str]) -> str:
    """Return the lines of a paragraph as one, with the words that are hyphenated at their ends."""
    parts = [lines[0]]
    for line in lines[1:]:
        if _HYPHEN.search(parts[-1]) and line[:1].islower():
            parts[-1] = parts[-1][:-1]
        else:
            parts.append("\n")
        parts.append(line)
    return unwrap("".join(parts))


def _usual_length(pages: list[list[str]]) -> int:
    lengths = sorted(len(line.strip()) for page in pages for line in page if line.strip())
    return lengths[int(0.9 * (len(lengths) - 1))] if lengths else 0
