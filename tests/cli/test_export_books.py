"""`timbre export` of books: chapter files, audiobooks, title and cover."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile
from book_samples import epub

av = pytest.importorskip("av")
RATE = 24_000
CHAPTERS = {f"c{number}.xhtml": f"<h1>Chapter {number}</h1><p>All slept. It rained.</p>" for number in range(1, 13)}


@pytest.fixture
def book(timbre, clip: Path) -> Path:  # type: ignore[no-untyped-def]
    timbre.library.add(clip, "Anna", "What is said.")
    path = Path("rain.epub")
    path.write_bytes(epub(CHAPTERS, title="The Rain"))
    return path


@pytest.mark.slow
def test_an_epub_becomes_chapter_files_and_an_audiobook(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    options = ("--voice", "Anna", "--model", "quiet", "--files", "chapters", "m4b", "--book", "narrator=Anna")
    ran = timbre("export", str(book), "-o", "out", *options)
    assert ran.status == 0, ran.err
    names = sorted(path.name for path in Path("out").iterdir())
    assert names == [*(f"{number:02} Chapter {number}.wav" for number in range(1, 13)), "rain.m4b"]
    with av.open("out/rain.m4b") as audiobook:
        assert [each["metadata"]["title"] for each in audiobook.chapters()] == [f"Chapter {n}" for n in range(1, 13)]
        metadata = audiobook.metadata
        assert (metadata["title"], metadata["artist"], metadata["composer"]) == ("The Rain", "Jane Writer", "Anna")
    with soundfile.SoundFile("out/03 Chapter 3.wav") as file:
        assert (file.title, file.album) == ("Chapter 3", "The Rain")
    again = timbre("export", str(book), "-o", "out", *options)
    assert "wrote 0 files" in again.err


def test_options_replace_the_title_and_the_pattern(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    options = (
        "--voice",
        "Anna",
        "--model",
        "quiet",
        "--files",
        "chapters",
        "--book",
        "title=Rain",
        "--book",
        "author=J. W.",
    )
    ran = timbre(
        "export", str(book), "-o", "out", *options, "--pattern", "{project} {chapter_number:1}", "--lines", "1-6"
    )
    assert ran.status == 0, ran.err
    assert sorted(path.name for path in Path("out").iterdir()) == ["Rain 1.wav", "Rain 2.wav"]
    with soundfile.SoundFile("out/Rain 2.wav") as file:
        assert (file.artist, file.album) == ("J. W.", "Rain")


def test_a_cover_must_be_an_image(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    Path("cover.gif").write_bytes(b"GIF89a")
    options = ("--voice", "Anna", "--model", "quiet", "--files", "m4b", "--book")
    ran = timbre("export", str(book), "-o", "out", *options, "cover=cover.gif")
    assert (ran.status, "cover.gif is not a readable JPEG or PNG image" in ran.err) == (2, True)
    assert "cannot be read" in timbre("export", str(book), "-o", "out", *options, "cover=missing.png").err
    Path("damaged.png").write_bytes(b"\x89PNG<svg/>")
    ran = timbre("export", str(book), "-o", "out", *options, "cover=damaged.png")
    assert (ran.status, "damaged.png is not a readable JPEG or PNG image" in ran.err) == (2, True)
    assert not Path("out").exists()
