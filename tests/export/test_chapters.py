"""Exports by chapter: one file per chapter, and audiobooks with chapters, tags and cover."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
import soundfile
from speech_fakes import RATE, FakeSpeechSource, is_met, items_of

from studio.audio import m4b
from studio.audio.encoding import MP3_192
from studio.audio.m4b import BookFacts
from studio.errors import NoSpeechMade, UnusableSetting
from studio.export.book import BookDetails, lines_with_chapters
from studio.export.exporter import Exporter, ExportResult
from studio.export.levels import measure_file
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.speech_source import ScriptChapter
from studio.export.standards import ACX, EBU_R128
from studio.export.subtitles import SubtitleFormat
from studio.export.target_folder import Journal, Origin, TargetFolder
from studio.project.lines import Heading, Line

av = pytest.importorskip("av")
TEXTS = ("A title.", "One.", "It rained.", "It stopped.", "Two: the / end", "All slept.")
CHAPTERS = (
    ScriptChapter(),
    *[ScriptChapter(1, "One")] * 3,
    *[ScriptChapter(2, "Two: the / end")] * 2,
)
BOOK = BookDetails("The Rain", "Jane Writer", "Anna")


class BookExport:
    def __init__(self, folder: Path) -> None:
        self.target = folder / "target"
        self.journals = folder / "journals"
        self.items = [replace(item, chapter=chapter) for item, chapter in zip(items_of(TEXTS), CHAPTERS, strict=True)]
        self.source = FakeSpeechSource()

    def __call__(self, **options: object) -> ExportResult:
        settings = {"has_line_files": False, "book": BOOK, "project": "rain", **options}
        plan = ExportPlan.make(self.items, self.target, ExportSettings(**settings))
        return Exporter(plan, self.source, journals=self.journals).run()

    def names(self) -> list[str]:
        return sorted(path.name for path in self.target.iterdir())


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BookExport:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "cache"))
    return BookExport(tmp_path)


def seconds_of(*texts: str) -> float:
    """Return the length of the joined lines: 0.1 s per letter, and 0.3 s between lines."""
    return sum(0.1 * len(text) for text in texts) + 0.3 * (len(texts) - 1)


def test_lines_belong_to_the_chapter_above_them() -> None:
    lines = [
        Line("a", "Title page"),
        Line("b", "One", heading=Heading.CHAPTER),
        Line("c", "A scene", heading=Heading.SCENE),
        Line("d", "[laughter] Two", heading=Heading.CHAPTER, is_spoken=False),
        Line("e", "Words"),
    ]
    assert [(chapter.number, chapter.title) for _, chapter in lines_with_chapters(lines)] == [
        (0, ""),
        (1, "One"),
        (1, "One"),
        (2, "Two"),
        (2, "Two"),
    ]


def test_one_file_per_chapter(export: BookExport) -> None:
    result = export(has_chapter_files=True)
    assert export.names() == ["00 The Rain.wav", "01 One.wav", "02 Two the end.wav"]
    assert [path.name for path in result.files] == export.names()
    lengths = [soundfile.info(path).duration for path in result.files]
    assert lengths == pytest.approx(
        [seconds_of(*TEXTS[:1]), seconds_of(*TEXTS[1:4]), seconds_of(*TEXTS[4:])], abs=0.001
    )
    with soundfile.SoundFile(result.files[1]) as file:
        assert (file.title, file.artist, file.album) == ("One", "Jane Writer", "The Rain")


def test_the_pattern_names_chapters_and_folders(export: BookExport) -> None:
    export(has_chapter_files=True, chapter_pattern="{project}/{chapter_number:3}-{chapter:3}")
    assert sorted(path.relative_to(export.target).as_posix() for path in export.target.rglob("*.wav")) == [
        "The Rain/000-The.wav",
        "The Rain/001-One.wav",
        "The Rain/002-Two.wav",
    ]


def test_chapters_of_the_same_name_get_numbers(export: BookExport) -> None:
    export(has_chapter_files=True, chapter_pattern="chapter")
    assert export.names() == ["chapter-2.wav", "chapter-3.wav", "chapter.wav"]


@pytest.mark.slow
def test_an_audiobook_has_chapters_tags_and_a_cover(export: BookExport) -> None:
    result = export(has_audiobook=True, book=replace(BOOK, cover=png()), subtitles=frozenset([SubtitleFormat.SRT]))
    assert export.names() == ["rain.m4b", "rain.srt"]
    with av.open(str(result.files[0])) as book:
        starts = [float(chapter["start"] * chapter["time_base"]) for chapter in book.chapters()]
        ends = [float(chapter["end"] * chapter["time_base"]) for chapter in book.chapters()]
        assert [chapter["metadata"]["title"] for chapter in book.chapters()] == ["The Rain", "One", "Two: the / end"]
        assert book.metadata["title"] == "The Rain"
        assert (book.metadata["artist"], book.metadata["composer"]) == ("Jane Writer", "Anna")
        assert "Synthetic speech" in book.metadata["comment"]
        assert (book.streams.video[0].width, book.streams.video[0].height) == (32, 32)
        decoded = sum(frame.samples for frame in book.decode(audio=0))
    first, second = seconds_of(*TEXTS[:1]) + 0.3, seconds_of(*TEXTS[:4]) + 0.3
    assert starts == pytest.approx([0.0, first, second], abs=0.002)
    assert ends == pytest.approx([first, second, seconds_of(*TEXTS)], abs=0.002)
    assert decoded / RATE == pytest.approx(seconds_of(*TEXTS), abs=0.15)
    assert "00:00:01,100 --> 00:00:01,500\nOne." in result.files[1].read_text("utf-8")


@pytest.mark.slow
def test_complete_files_are_not_written_again(export: BookExport) -> None:
    options = {"has_chapter_files": True, "has_audiobook": True, "has_manifest": True}
    assert export(**options).num_made == 5
    assert export(**options).num_made == 0
    (export.target / "01 One.wav").unlink()
    export.source.spoken_texts.clear()
    assert export(**options).num_made == 1
    assert set(export.source.spoken_texts) == set(TEXTS[1:4])
    export.items[5] = replace(export.items[5], key="another take")
    assert export(**options).num_made == 3  # the chapter, the audiobook and the manifest
    assert export(**options, book=replace(BOOK, narrator="Ben")).num_made == 5


@pytest.mark.slow
def test_a_damaged_cover_is_refused_before_anything_is_spoken(export: BookExport) -> None:
    with pytest.raises(UnusableSetting, match="The cover of the audiobook is not a readable"):
        export(has_audiobook=True, book=replace(BOOK, cover=png()[:60]))
    assert export.source.spoken_texts == []


@pytest.mark.parametrize("error", [OSError("the recording cannot be read"), KeyboardInterrupt()], ids=repr)
def test_an_error_of_the_source_is_not_one_of_the_audiobook(tmp_path: Path, error: BaseException) -> None:
    target, file = tmp_path / "target", PurePosixPath("rain.m4b")
    target.mkdir()
    facts = BookFacts(chapters=(m4b.Chapter("One", 0, 2_400),))

    def export() -> None:
        with Journal(target, journals=tmp_path / "journals") as journal:
            folder = TargetFolder(target, journal)
            with folder.audiobook(file, 24_000, facts, "recipe", Origin()) as book:
                book.write(np.zeros(2_400, np.float32))
                raise error

    with pytest.raises(type(error)) as raised:
        export()
    assert raised.value is error
    assert list(target.iterdir()) == []


def test_a_new_cover_changes_only_the_audiobook(export: BookExport) -> None:
    options = {"has_chapter_files": True, "has_audiobook": True}
    export(**options)
    assert export(**options, book=replace(BOOK, cover=png())).num_made == 1


def test_an_interrupted_export_keeps_whole_chapters(export: BookExport) -> None:
    export.source = FakeSpeechSource(failures={TEXTS[4]: RuntimeError("killed")})  # type: ignore[dict-item]
    with pytest.raises(RuntimeError):
        export(has_chapter_files=True)
    assert export.names() == ["00 The Rain.wav", "01 One.wav"]


@pytest.mark.slow
def test_a_chapter_with_a_failed_line_is_left_out(export: BookExport) -> None:
    failures = {TEXTS[2]: NoSpeechMade("Nothing was said.", remedy="Try again.")}
    export.source = FakeSpeechSource(failures=failures)
    result = export(has_chapter_files=True, has_audiobook=True)
    assert [failure.item.text for failure in result.failures] == [TEXTS[2]]
    assert export.names() == ["00 The Rain.wav", "02 Two the end.wav"]
    assert export(has_chapter_files=True, has_audiobook=True, allows_missing=True).num_made == 2
    assert export.names() == ["00 The Rain.wav", "01 One.wav", "02 Two the end.wav", "rain.m4b"]
    export.source = FakeSpeechSource()
    assert export(has_chapter_files=True, has_audiobook=True).num_made == 2


def test_chapters_as_mp3_have_a_constant_bit_rate_and_tags(export: BookExport) -> None:
    result = export(has_chapter_files=True, encoding=MP3_192, sample_rate=44_100, book=replace(BOOK, title="雨"))
    with av.open(str(result.files[1])) as container:
        assert {packet.size for packet in container.demux() if packet.size} <= {626, 627}  # 26 ms at 192 kbit/s
        tags = {name: container.metadata[name] for name in ("title", "artist", "album", "composer", "track")}
    assert tags == {"title": "One", "artist": "Jane Writer", "album": "雨", "composer": "Anna", "track": "1"}


def test_lines_are_joined_without_clicks(export: BookExport) -> None:
    """A take that begins in the middle of a vowel is not cut off hard."""
    vowel = (0.5 * np.cos(2 * np.pi * 110 * np.arange(RATE // 2) / RATE)).astype(np.float32)
    export.source = FakeSpeechSource(sounds=dict.fromkeys(TEXTS, vowel))
    (_, path, _) = export(has_chapter_files=True).files
    samples = soundfile.read(path)[0]
    steepest = np.abs(np.diff(vowel)).max()
    assert np.abs(np.diff(samples)).max() < 1.5 * steepest
    assert (abs(samples[0]), abs(samples[-1])) < (0.001, 0.001)


@pytest.mark.slow
def test_mastered_chapters_meet_acx_as_mp3(export: BookExport) -> None:
    options = {
        "encoding": MP3_192,
        "sample_rate": 44_100,
        "standard": ACX,
        "subtitles": frozenset([SubtitleFormat.SRT]),
    }
    result = export(has_chapter_files=True, has_audiobook=True, **options)
    *chapters, book, subtitles = result.files
    for path in chapters:
        assert [finding for finding in ACX.check(measure_file(path)) if not finding.is_met] == [], path
    with av.open(str(book)) as container:
        starts = [float(chapter["start"] * chapter["time_base"]) for chapter in container.chapters()]
        lengths = [
            float((chapter["end"] - chapter["start"]) * chapter["time_base"]) for chapter in container.chapters()
        ]
    assert lengths == pytest.approx([measure_file(path).seconds for path in chapters], abs=0.06)
    assert starts[0] == 0.0
    first_line_of_second = starts[1] + ACX.head_seconds
    assert f"00:00:0{first_line_of_second:.3f}".replace(".", ",") in subtitles.read_text("utf-8")
    assert export(has_chapter_files=True, has_audiobook=True, **options).num_made == 0


def test_a_joined_file_is_mastered_as_a_whole(export: BookExport) -> None:
    (path,) = export(joined_name="rain", standard=EBU_R128).files
    levels = measure_file(path)
    assert is_met(EBU_R128, levels)
    # Trimming silence off the lines is part of mastering; these lines have none.
    assert levels.seconds == pytest.approx(seconds_of(*TEXTS), abs=0.001)


def test_a_standard_needs_chapters_or_a_joined_file_and_its_sample_rate(export: BookExport) -> None:
    with pytest.raises(UnusableSetting, match="ACX is for chapters, audiobooks and joined files"):
        export(has_line_files=True, standard=ACX, sample_rate=44_100)
    with pytest.raises(UnusableSetting, match=r"ACX does not allow 48000 Hz\. Choose 44100"):
        export(has_chapter_files=True, standard=ACX, sample_rate=48_000)


def test_an_export_needs_some_file(export: BookExport) -> None:
    with pytest.raises(UnusableSetting, match="would create no file"):
        export()


def png() -> bytes:
    output = io.BytesIO()
    with av.open(output, "w", format="image2pipe") as container:
        stream = container.add_stream("png", rate=1)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "rgb24"
        image = av.VideoFrame.from_ndarray(np.full((32, 32, 3), 90, np.uint8), format="rgb24")
        container.mux(stream.encode(image))
        container.mux(stream.encode(None))
    return output.getvalue()
