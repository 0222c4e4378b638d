"""`timbre characters`, and `timbre export --full-cast`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from book_samples import epub

NOVEL = {
    "c1.xhtml": "<h1>Chapter 1</h1><p>It rained.</p><p>“Come in, Tom,” said Mrs Lane. “You are wet.”</p>"
    "<p>“I am,” Tom replied.</p><p>“Why?”</p><p>“It rains,” he said.</p>",
    "c2.xhtml": "<h1>Chapter 2</h1><p>“So it does,” said Lane.</p>",
}


@pytest.fixture
def book(timbre, clip: Path) -> Path:  # type: ignore[no-untyped-def]
    for name in ("Ada", "Angus", "Linda"):
        timbre.library.add(clip, name, "What is said.")
    path = Path("book.epub")
    path.write_bytes(epub(NOVEL))
    return path


def test_characters_and_quotations_as_json(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    ran = timbre("characters", book, "--json")
    assert ran.status == 0, ran.err
    assert list(ran.json) == ["characters", "quotations"]
    assert ran.json["characters"] == [
        {"name": "Mrs Lane", "aliases": ["Lane"], "lines": 4, "voice": "Ada"},
        {"name": "Tom", "aliases": [], "lines": 2, "voice": "Angus"},
    ]
    found = ran.json["quotations"]
    assert [each["speaker"] for each in found] == ["Mrs Lane", "Mrs Lane", "Tom", "Mrs Lane", "Tom", "Mrs Lane"]
    assert set(found[0]) == {"text", "speaker", "confidence", "reason"}
    assert [each["text"] for each in found[:2]] == ["“Come in, Tom,”", "“You are wet.”"]
    assert found[2]["reason"] == "Tom replied"
    assert found[3]["reason"] == "alternates with line 5"  # its number in the full-cast script
    assert all(0 <= each["confidence"] <= 1 for each in found)


def test_characters_are_listed(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    ran = timbre("characters", book)
    assert ran.out.splitlines()[:2] == ["     4  Mrs Lane  Ada  (Lane)", "     2  Tom       Angus"]
    assert "6 quotations, " in ran.out


def test_subtitles_have_their_characters_already(timbre) -> None:  # type: ignore[no-untyped-def]
    Path("film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nHello.\n", "utf-8")
    ran = timbre("characters", "film.srt")
    assert ran.status != 0
    assert "film.srt is not a novel" in ran.err
    assert timbre("characters", "missing.epub").status != 0


def corrected(timbre, book: Path, **speakers: str | None) -> Path:  # type: ignore[no-untyped-def]
    """Write the quotations of ``book`` with other speakers, by the first word of a quotation."""
    values = timbre("characters", book, "--json").json
    for each in values["quotations"]:
        each["speaker"] = speakers.get(each["text"].strip("“”").split()[0].strip(",?"), each["speaker"])
    path = Path("cast.json")
    path.write_text(json.dumps(values), "utf-8")
    return path


def test_corrections_change_speakers_and_what_follows_from_them(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    cast = corrected(timbre, book, Why="Ned")
    ran = timbre("characters", book, "--corrections", cast, "--json")
    found = ran.json["quotations"]
    assert [each["speaker"] for each in found] == ["Mrs Lane", "Mrs Lane", "Tom", "Ned", "Tom", "Mrs Lane"]
    assert (found[3]["confidence"], found[3]["reason"]) == (1.0, "corrected")
    cast.write_text(ran.out, "utf-8")  # the output with corrections is an input, too
    assert timbre("characters", book, "--corrections", cast, "--json").json["quotations"] == found


def test_the_narrator_reads_a_quotation_without_a_speaker(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    cast = corrected(timbre, book, Why=None)
    names = files(timbre, book, "--voice", "Ada", "--corrections", str(cast))
    assert "008--Ada" in names
    assert "doubtful" in timbre("characters", book, "--corrections", cast).out


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "The corrections cannot be read"),
        ('{"quotations": 1}', "The corrections cannot be read"),
        ('[{"text": "“Why?”", "speaker": ""}]', "The corrections cannot be read"),
        ('[{"text": "“Why?”", "speaker": "Tom"}, {"text": "“I am,”", "speaker": "Tom"}]', "not in this order: “I am,”"),
    ],
)
def test_unusable_corrections_are_named(timbre, book: Path, content: str, sentence: str) -> None:  # type: ignore[no-untyped-def]
    Path("cast.json").write_text(content, "utf-8")
    ran = timbre("characters", book, "--corrections", "cast.json")
    assert ran.status == 2
    assert sentence in ran.err


def test_options_of_a_full_cast_need_one(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    ran = timbre("export", book, "--whole-paragraphs", "--voice", "Ada", "--model", "quiet", "--out", "out")
    assert ran.status == 2
    assert "Add --full-cast" in ran.err


def test_a_character_reads_whole_paragraphs(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    found = files(timbre, book, "--voice", "Ada", "--whole-paragraphs", "--split", "paragraph")
    assert found == [
        "001--Ada", "002--Ada", "003-Mrs Lane-Linda", "004-Tom-Angus", "005-Mrs Lane-Linda", "006-Tom-Angus",
        "007--Ada", "008-Mrs Lane-Linda",
    ]  # fmt: skip


def files(timbre, book: Path, *options: str) -> list[str]:  # type: ignore[no-untyped-def]
    common = ("--full-cast", "--model", "quiet", "--out", "out", "--pattern", "{index}-{character}-{voice}")
    ran = timbre("export", book, *common, *options, "--dry-run", "--json")
    assert ran.status == 0, ran.err
    return [Path(each["file"]).stem for each in json.loads(ran.out)["files"]]


def test_a_full_cast_gives_each_character_a_voice_of_its_gender(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    assert files(timbre, book, "--voice", "Ada") == [
        "001--Ada", "002--Ada", "003-Mrs Lane-Linda", "004--Ada", "005-Mrs Lane-Linda", "006-Tom-Angus", "007--Ada",
        "008-Mrs Lane-Linda", "009-Tom-Angus", "010--Ada", "011--Ada", "012-Mrs Lane-Linda", "013--Ada",
    ]  # fmt: skip


def test_the_cast_names_characters_by_any_of_their_names(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    found = files(timbre, book, "--voice", "Ada", "--cast", "lane=Angus", "--cast", "Tom=Linda")
    assert {name.split("-", 1)[1] for name in found} == {"-Ada", "Mrs Lane-Angus", "Tom-Linda"}


def test_without_full_cast_a_narrator_reads_everything(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    common = ("--voice", "Ada", "--model", "quiet", "--out", "out", "--pattern", "{index}-{character}-{voice}")
    ran = timbre("export", book, *common, "--dry-run", "--json")
    assert {Path(each["file"]).stem.split("-", 1)[1] for each in json.loads(ran.out)["files"]} == {"-Ada"}


@pytest.mark.slow
def test_a_novel_is_exported_with_its_cast(timbre, book: Path) -> None:  # type: ignore[no-untyped-def]
    ran = timbre("export", book, "--full-cast", "--voice", "Ada", "--model", "quiet", "--out", "out", "--manifest")
    assert ran.status == 0, ran.err
    assert len(list(Path("out").glob("*.wav"))) == 13
    (table,) = Path("out").glob("*.csv")
    assert "Mrs Lane" in table.read_text("utf-8")
