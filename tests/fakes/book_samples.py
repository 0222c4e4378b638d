"""Small EPUB and PDF files for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def epub(
    chapters: Mapping[str, str],
    *,
    contents: str = "",
    title: str = "A Book",
    author: str = "Jane Writer",
    cover: bytes = b"",
    extra: Mapping[str, str] = {},
) -> bytes:
    """Return an EPUB 3 file. ``chapters`` are bodies by file name, ``contents`` the body of the table of contents."""
    items = [f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>' for at, name in enumerate(chapters)]
    items.append('<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>')
    if cover:
        items.append('<item id="cover" href="cover.jpg" media-type="image/jpeg" properties="cover-image"/>')
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = f"""<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"
        xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>{title}</dc:title>
        <dc:creator>{author}</dc:creator></metadata><manifest>{"".join(items)}</manifest><spine>{spine}</spine></package>"""
    files = {"META-INF/container.xml": _CONTAINER, "OEBPS/book.opf": package, "OEBPS/nav.xhtml": page(contents)}
    files |= {f"OEBPS/{name}": page(body) for name, body in chapters.items()} | dict(extra)
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, text in files.items():
            archive.writestr(name, text)
        if cover:
            archive.writestr("OEBPS/cover.jpg", cover)
    return output.getvalue()


def toc(*entries: str) -> str:
    """Return the body of a table of contents. Entries contain those below them."""
    return f'<nav epub:type="toc"><ol>{"".join(entries)}</ol></nav>'


def entry(target: str, title: str, *below: str) -> str:
    children = f"<ol>{''.join(below)}</ol>" if below else ""
    return f'<li><a href="{target}">{title}</a>{children}</li>'


def page(body: str) -> str:
    return f"""<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>
        <html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">
        <head><title>not spoken</title><style>p {{ color: red }}</style></head><body>{body}</body></html>"""


def pdf(pages: Sequence[Sequence[str]], *, outline: Mapping[str, int] = {}) -> bytes:
    """Return a PDF file with these lines on its pages, and an outline of titles and page numbers, from 0."""
    import pypdf
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for lines in pages:
        sheet = writer.add_blank_page(595, 842)
        words = "".join(f"({line}) Tj T* " for line in lines)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 14 TL 72 770 Td {words} ET".encode("latin-1"))
        sheet[NameObject("/Contents")] = writer._add_object(stream)
        sheet[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    for title, number in outline.items():
        writer.add_outline_item(title=title, page_number=number)
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()
