"""Second journey: a narrator turns an EPUB of twelve chapters into an audiobook that meets the limits of ACX."""

from __future__ import annotations

from typing import Any

from book_samples import epub
from journey_user import User
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit

from studio.app.audiobook.book_dialog import BookDialog
from studio.app.export_dialog.details_dialog import ExportDetails
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.importing.import_page import ImportPage

TITLE, AUTHOR = "Alice's Adventures in Wonderland", "Lewis Carroll"  # 1865
# The titles of the chapters, and a sentence of each.
CHAPTERS = {
    "Down the Rabbit-Hole": "Alice was beginning to get very tired of sitting by her sister on the bank.",
    "The Pool of Tears": "“Curiouser and curiouser!” cried Alice.",
    "A Caucus-Race and a Long Tale": "They were indeed a queer-looking party that assembled on the bank.",
    "The Rabbit Sends in a Little Bill": "It was the White Rabbit, trotting slowly back again.",
    "Advice from a Caterpillar": "The Caterpillar and Alice looked at each other for some time in silence.",
    "Pig and Pepper": "For a minute or two she stood looking at the house.",
    "A Mad Tea-Party": "There was a table set out under a tree in front of the house.",
    "The Queen's Croquet-Ground": "A large rose-tree stood near the entrance of the garden.",
    "The Mock Turtle's Story": "“You can't think how glad I am to see you again, you dear old thing!”",
    "The Lobster Quadrille": "The Mock Turtle sighed deeply.",
    "Who Stole the Tarts?": "The King and Queen of Hearts were seated on their throne when they arrived.",
    "Alice's Evidence": "“Here!” cried Alice.",
}
NARRATOR = "Linda"


async def journey(user: User) -> dict[str, Any]:
    session = user.session
    book = user.folder / "alice.epub"
    book.write_bytes(_book())

    await user.press("ctrl+o")
    await user.dialog(QFileDialog)
    await user.type(str(book))
    await user.press("Return")
    await user.dialog(ImportPage)
    await user.picture("import")
    await user.press("Return")
    await user.back()
    project = session.editor.project
    await user.until(lambda: len(project.lines) >= 2 * len(CHAPTERS), "the book has been imported")

    await user.press("ctrl+a")
    await user.choose(await user.control(QComboBox, "Voice"), NARRATOR)
    await user.until(lambda: all(line.voice == NARRATOR for line in project.lines), "all lines have the voice")
    await user.choose_in_menu("File", "Book details…")
    await user.dialog(BookDialog)
    await user.click(await user.control(QLineEdit, "Narrator"))
    await user.type(NARRATOR)
    await user.picture("book details")
    await user.press("Return")
    await user.back()
    await user.picture("manuscript")

    await user.press("ctrl+e")
    dialog = await user.dialog(ExportDialog)
    await user.choose(await user.control(QComboBox, "Preset"), "M4B with chapters")
    await user.until(dialog.export_button.isEnabled, "the export can begin")
    await user.picture("export")
    await user.press("Return")
    await user.back()
    await user.until(lambda: session.parts.exports.current is not None, "the export runs")
    assert user.manager.parts is not None
    await user.click(user.manager.parts.exports.chip)
    await user.dialog(ExportDetails)
    await user.picture("progress")
    task = session.parts.exports.current
    assert task is not None
    await user.until(lambda: task.state.is_over, "the book is exported", seconds=1200)
    await user.picture("result")
    levels = (await user.dialog(ExportDetails)).outcome.levels
    assert levels is not None
    await user.until(
        lambda: levels.table.rowCount() == len(CHAPTERS) and not levels.is_busy, "all chapters are measured"
    )
    await user.picture("levels")
    rows = [
        [levels.table.item(row, column).text() for column in range(levels.table.columnCount())]
        for row in range(levels.table.rowCount())
    ]
    summary = levels.summary.text()
    await user.press("Escape")
    await user.back()
    return {"levels": rows, "summary": summary}


def _book() -> bytes:
    pages = {f"{at}.xhtml": f"<h1>{title}</h1><p>{text}</p>" for at, (title, text) in enumerate(CHAPTERS.items())}
    links = "".join(f'<li><a href="{at}.xhtml">{title}</a></li>' for at, title in enumerate(CHAPTERS))
    contents = f'<nav epub:type="toc"><ol>{links}</ol></nav>'
    return epub(pages, contents=contents, title=TITLE, author=AUTHOR, cover=_cover())


def _cover() -> bytes:
    image = QImage(320, 320, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.darkGreen)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "JPG")  # type: ignore[call-overload]  # the stubs want the format as bytes
    return bytes(buffer.data().data())
