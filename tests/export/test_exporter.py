"""Exports: formats, resuming, foreign files, failures and cancellation."""

from __future__ import annotations

import base64
import csv
import errno
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from speech_fakes import RATE, TEXTS, FakeSpeechSource, hum, items_of

from studio.audio.encoding import ENCODINGS, MP3, WAV_16, WAV_24, WAV_FLOAT, SoundEncoding
from studio.errors import CannotWrite, DiskFull, FolderBusy, NoSpeechMade, NothingToSpeak, UnusableSetting
from studio.export.exporter import Exporter, ExportResult
from studio.export.loudness import loudness_lufs, true_peak_dbtp
from studio.export.mastering import LoudnessTarget
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.progress import ExportProgress
from studio.export.provenance import Provenance
from studio.export.speech_source import ScriptChapter, SpeechSource
from studio.export.subtitles import SubtitleFormat
from studio.export.target_folder import Journal, Origin
from studio.pipeline.request import Cancelled, RequestControl
from studio.take_checks.records import WordTime

NAMES = [
    "001 Anna The harbour was quiet.wav",
    "002 Anna Nobody spoke a word.wav",
    "003 Anna Then the bell rang once, twice.wav",
    "004 Anna 今天天气很好.wav",
]


class Export:
    """Runs exports with given settings into one folder."""

    def __init__(self, folder: Path) -> None:
        self.target = folder / "target"
        self.journals = folder / "journals"
        self.items = items_of(TEXTS)
        self.source = FakeSpeechSource()

    def __call__(self, source: SpeechSource | None = None, **options: object) -> ExportResult:
        return self.exporter(source, **options).run()

    def exporter(
        self,
        source: SpeechSource | None = None,
        control: RequestControl | None = None,
        seen: list[ExportProgress] | None = None,
        **options: object,
    ) -> Exporter:
        plan = ExportPlan.make(self.items, self.target, ExportSettings(**options))
        return Exporter(
            plan,
            source or self.source,
            control=control,
            on_progress=None if seen is None else seen.append,
            journals=self.journals,
        )

    def files(self) -> list[str]:
        """Return the names of all files, including hidden ones."""
        return sorted(path.relative_to(self.target).as_posix() for path in self.target.rglob("*") if path.is_file())

    def read(self, name: str) -> np.ndarray:
        return soundfile.read(self.target / name, dtype="float32")[0]


@pytest.fixture
def export(tmp_path: Path) -> Export:
    return Export(tmp_path)


def test_one_file_per_line(export: Export) -> None:
    result = export()
    assert export.files() == NAMES
    assert [path.name for path in result.files] == NAMES
    assert (result.num_made, result.failures) == (4, ())
    assert result.audio_seconds == pytest.approx(sum(0.1 * len(text) for text in TEXTS))
    assert soundfile.info(export.target / NAMES[0]).subtype == "PCM_16"


def test_by_default_samples_are_unchanged(export: Export) -> None:
    export(encoding=WAV_FLOAT)
    np.testing.assert_array_equal(export.read(NAMES[0]), hum(0.1 * len(TEXTS[0]), 97))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000])
def test_every_format_has_the_exact_length_and_tags(export: Export, encoding: SoundEncoding, rate: int) -> None:
    if rate not in encoding.sample_rates:
        with pytest.raises(UnusableSetting, match=f"does not support {rate} Hz"):
            export(encoding=encoding, sample_rate=rate)
        return
    sounds = {TEXTS[0]: hum(1.0, 120)[:23_457], TEXTS[1]: hum(1.0, 150)[:20_011]}
    export.items = items_of(TEXTS[:2])
    export(
        FakeSpeechSource(sounds),
        encoding=encoding,
        sample_rate=rate,
        joined_name="all",
        pause_seconds=0.25,
        project="Harbour",
        provenance=Provenance("Fun-CosyVoice3", "Apache-2.0"),
    )
    lengths = [-(-len(sounds[text]) * rate // RATE) for text in TEXTS[:2]]
    infos = [soundfile.info(path) for path in sorted(export.target.iterdir())]
    assert [info.frames for info in infos] == [*lengths, sum(lengths) + round(0.25 * rate)]
    assert {(info.samplerate, info.subtype, info.channels) for info in infos} == {(rate, encoding.subtype, 1)}
    path = next(export.target.glob("001*"))
    assert path.suffix == encoding.suffix
    with soundfile.SoundFile(path) as file:
        assert (file.title, file.artist, file.album) == (TEXTS[0], "Anna (synthetic voice)", "Harbour")
        assert "Synthetic speech" in file.comment
        assert "Fun-CosyVoice3" in file.comment
        assert "Apache-2.0" in file.comment
        if encoding is not MP3:  # its encoder writes another name
            assert file.software.startswith("Timbre Studio")


@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
def test_tags_may_be_chinese(export: Export, encoding: SoundEncoding) -> None:
    export.items = [replace(export.items[3], voice="安娜")]
    export(encoding=encoding, sample_rate=48_000, project="故事")
    (path,) = export.target.iterdir()
    assert path.stem == "004 安娜 今天天气很好"
    with soundfile.SoundFile(path) as file:
        assert (file.title, file.album) == ("今天天气很好。", "故事")


def test_audio_round_trips_through_every_format(export: Export) -> None:
    export.items = items_of(["Hello"])
    sound = hum(1.0, 120, level=0.2)
    for encoding in (each for each in ENCODINGS.values() if RATE in each.sample_rates):
        export(FakeSpeechSource({"Hello": sound}), encoding=encoding, replaces_files=True)
        read = export.read(f"001 Anna Hello{encoding.suffix}")
        tolerance = 1e-4 if encoding.compression_level is None else 0.06
        assert np.abs(read - sound)[200:-200].mean() < tolerance, encoding
        assert np.corrcoef(read, sound)[0, 1] > 0.98, encoding


def test_the_joined_file_contains_all_lines_and_pauses(export: Export) -> None:
    export.items = [replace(item, pause_after_seconds=0.1 * item.index) for item in export.items]
    export(encoding=WAV_24, has_line_files=False, joined_name="My story")
    assert export.files() == ["My story.wav"]
    pieces = []
    for number, text in enumerate(TEXTS, 1):
        pieces += [hum(0.1 * len(text), 90 + 7 * number), np.zeros(round(0.1 * number * RATE), np.float32)]
    expected = np.concatenate(pieces[:-1])
    assert len(export.read("My story.wav")) == len(expected)
    np.testing.assert_allclose(export.read("My story.wav"), expected, atol=2e-7)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", [WAV_16, WAV_24, MP3], ids=lambda each: each.name)
@pytest.mark.parametrize("rate", [24_000, 48_000])
def test_files_reach_the_target_loudness_below_the_peak_limit(
    export: Export, encoding: SoundEncoding, rate: int
) -> None:
    sounds = {text: hum(2.0 + number, 90 + 20 * number, level=0.5 * 0.45**number) for number, text in enumerate(TEXTS)}
    export(
        FakeSpeechSource(sounds),
        encoding=encoding,
        sample_rate=rate,
        joined_name="all",
        loudness=LoudnessTarget(-16, -1.5),
    )
    for name in export.files():
        samples = export.read(name)
        assert loudness_lufs(samples, rate) == pytest.approx(-16, abs=0.15), name
        if encoding.compression_level is None:
            assert true_peak_dbtp(samples) <= -1.49, name


@pytest.mark.slow
def test_subtitles_and_manifest_have_the_right_times(export: Export) -> None:
    export.items = [replace(item, seed=7, style="emotion.happy") for item in export.items]
    export(
        joined_name="story",
        pause_seconds=0.5,
        subtitles=frozenset({SubtitleFormat.SRT, SubtitleFormat.VTT}),
        has_manifest=True,
        provenance=Provenance("Fun-CosyVoice3", "Apache-2.0"),
        style_names={"emotion.happy": "Happy"},
    )
    assert export.files() == sorted([*NAMES, "story.csv", "story.srt", "story.vtt", "story.wav"])
    starts = np.cumsum([0.0] + [0.1 * len(text) + 0.5 for text in TEXTS])[:-1]
    with (export.target / "story.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["file"] for row in rows] == NAMES
    assert [row["text"] for row in rows] == list(TEXTS)
    assert {row["style"] for row in rows} == {"Happy"}
    assert [float(row["start_seconds"]) for row in rows] == pytest.approx(starts, abs=1e-3)
    assert [float(row["duration_seconds"]) for row in rows] == pytest.approx([0.1 * len(t) for t in TEXTS], abs=1e-3)
    assert {(row["model"], row["licence"], row["synthetic"], row["seed"]) for row in rows} == {
        ("Fun-CosyVoice3", "Apache-2.0", "yes", "7")
    }
    assert float(rows[0]["loudness_lufs"]) == pytest.approx(loudness_lufs(export.read(NAMES[0]), RATE), abs=0.1)
    srt = (export.target / "story.srt").read_text("utf-8")
    assert srt.startswith("1\n00:00:00,000 --> 00:00:02,200\nThe harbour was quiet.\n\n2\n00:00:02,700 --> ")
    assert "\n今天天气很好。\n" in srt
    assert (export.target / "story.vtt").read_text("utf-8").startswith("WEBVTT\n")
    with soundfile.SoundFile(export.target / "story.wav") as joined:
        assert joined.frames == round((starts[-1] + 0.1 * len(TEXTS[-1])) * RATE)


def test_a_read_along_page_contains_the_text_and_the_audio(export: Export) -> None:
    words = (WordTime("The", 0.1, 0.3, 0, 3), WordTime("harbour", 0.4, 0.9, 4, 11))
    chapter = ScriptChapter(1, "Harbour & sea")
    first = replace(export.items[0], words=words, character="Mira <M>", chapter=chapter)
    export.items = [first, *(replace(item, chapter=chapter) for item in export.items[1:])]
    export(joined_name="story", pause_seconds=0.5, has_read_along=True)
    page = (export.target / "story.html").read_text("utf-8")
    assert "<h2>Harbour &amp; sea</h2>" in page
    assert "<p><b>Mira &lt;M&gt;</b>" in page
    assert '<span data-from="0.100" data-to="0.300">The </span><span data-from="0.400" data-to="0.900">harbour' in page
    assert f'<span data-from="2.700" data-to="{2.7 + 0.1 * len(TEXTS[1]):.3f}">{TEXTS[1]}</span>' in page
    audio = re.search(r"data:audio/wav;base64,([\w+/=]+)", page)
    assert audio
    assert base64.b64decode(audio[1]) == (export.target / "story.wav").read_bytes()
    assert not re.search(r"https?://", page)  # nothing is loaded


def test_a_read_along_page_needs_one_file(export: Export) -> None:
    with pytest.raises(UnusableSetting, match="needs the audio of all lines in one file"):
        export(has_read_along=True)


def test_the_manifest_writes_imported_columns_back(export: Export) -> None:
    columns = [{"ID": f"d{number}", "Text": "As imported"} for number in range(len(TEXTS))]
    export.items = [
        replace(item, character="Mira", columns=each, file_name=f"vo/{each['ID']}")
        for item, each in zip(export.items, columns, strict=True)
    ]
    export(has_manifest=True, joined_name="story")
    with (export.target / "story.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["ID"] for row in rows] == [each["ID"] for each in columns]
    assert {row["Text (imported)"] for row in rows} == {"As imported"}
    assert [row["text"] for row in rows] == list(TEXTS)
    assert {row["character"] for row in rows} == {"Mira"}
    assert [row["file"] for row in rows] == [f"vo/{each['ID']}.wav" for each in columns]
    assert (export.target / "vo" / "d0.wav").is_file()


def test_existing_files_are_not_exported_again(export: Export) -> None:
    options = {
        "joined_name": "story",
        "has_manifest": True,
        "subtitles": frozenset({SubtitleFormat.SRT, SubtitleFormat.VTT}),
    }
    assert export(**options).num_made == 8
    before = {path: path.stat().st_mtime_ns for path in export.target.iterdir()}
    again = FakeSpeechSource()
    result = export(again, **options)
    assert (again.spoken_texts, result.num_made, len(result.files)) == ([], 0, 8)
    assert {path: path.stat().st_mtime_ns for path in export.target.iterdir()} == before


@pytest.mark.slow
def test_the_lines_to_be_requested_are_announced_to_the_source(export: Export) -> None:
    export()
    assert export.source.expected == list(TEXTS)
    export.source.expected.clear()
    export()
    assert export.source.expected == []
    (export.target / NAMES[2]).unlink()
    export()
    assert export.source.expected == [TEXTS[2]]
    export(joined_name="all")
    assert export.source.expected == list(TEXTS)


@pytest.mark.slow
def test_only_changed_lines_are_exported_again(export: Export) -> None:
    export()
    export.items[1] = replace(export.items[1], key="another take")
    again = FakeSpeechSource()
    assert export(again).num_made == 1
    assert again.spoken_texts == [TEXTS[1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"sample_rate": 48_000},
        {"encoding": WAV_24},
        {"loudness": LoudnessTarget(-20)},
        {"is_trimmed": True},
        {"provenance": Provenance("another model")},
    ],
    ids=lambda change: next(iter(change)),  # the order of sets in a repr varies
)
def test_another_format_exports_all_files_again(export: Export, change: dict[str, object]) -> None:
    export()
    assert export(**change).num_made == 4
    assert export.files() == NAMES


def test_foreign_files_are_not_replaced_without_permission(export: Export) -> None:
    export.target.mkdir()
    (export.target / NAMES[2]).write_bytes(b"my own recording")
    with pytest.raises(CannotWrite, match=r"003 Anna .* already exists in .*") as caught:
        export()
    assert "allow overwriting these files" in str(caught.value.remedy)
    assert export.source.spoken_texts == []
    assert export.files() == [NAMES[2]]
    export(replaces_files=True)
    assert len(export.read(NAMES[2])) > RATE


def test_an_edited_file_counts_as_foreign(export: Export) -> None:
    export()
    (export.target / NAMES[0]).write_bytes(b"edited by hand")
    with pytest.raises(CannotWrite, match="or was changed"):
        export(sample_rate=48_000)
    assert (export.target / NAMES[0]).read_bytes() == b"edited by hand"


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"joined_name": "story", "has_manifest": True, "subtitles": {SubtitleFormat.SRT}}]
)
def test_files_of_another_script_are_not_replaced_without_permission(
    export: Export, options: dict[str, object]
) -> None:
    export(**options, origin=Origin(("file:one",)))
    before = {name: (export.target / name).read_bytes() for name in export.files()}
    export.items = items_of([TEXTS[0], "Another text."])
    exporter = export.exporter(**options, sample_rate=48_000, origin=Origin(("file:two",)))
    with pytest.raises(CannotWrite, match="from another script"):
        exporter.run()
    assert str(exporter.conflicting_files[0]) == NAMES[0]
    assert len(exporter.conflicting_files) == (4 if options else 1)
    assert {name: (export.target / name).read_bytes() for name in export.files()} == before
    export(**options, sample_rate=48_000, origin=Origin(("file:two",)), replaces_files=True)
    assert (export.target / NAMES[0]).read_bytes() != before[NAMES[0]]
    export(**options, origin=Origin(("file:two",)))  # the files now come from this script


def test_some_lines_do_not_replace_the_files_of_the_whole_script(export: Export) -> None:
    export(joined_name="story", origin=Origin(("file:one",)))
    story = (export.target / "story.wav").read_bytes()
    export.items = export.items[:1]
    with pytest.raises(CannotWrite, match=r"story\.wav already exists in .* other lines"):
        export(joined_name="story", origin=Origin(("file:one",), "1"))
    assert (export.target / "story.wav").read_bytes() == story
    export(joined_name=None, sample_rate=48_000, origin=Origin(("file:one",), "1"))  # the file of the line
    assert (export.target / "story.wav").read_bytes() == story


def test_an_export_from_before_the_script_was_saved_is_resumed(export: Export) -> None:
    export(origin=Origin(("draft:d",)))
    assert export(origin=Origin(("file:one", "draft:d"))).num_made == 0
    assert export(origin=Origin(("file:one", "draft:d")), sample_rate=48_000).num_made == 4


def test_files_in_an_old_journal_are_not_replaced_without_permission(export: Export) -> None:
    export()
    (journal,) = export.journals.glob("*.jsonl")
    records = [json.loads(line) for line in journal.read_text("utf-8").splitlines()]
    old = [{key: value for key, value in record.items() if key not in ("script", "part")} for record in records]
    journal.write_text("".join(json.dumps(record) + "\n" for record in old), "utf-8")
    with pytest.raises(CannotWrite, match="from another script"):
        export(origin=Origin(("file:one",)))


def test_times_rounded_by_the_file_system_match(export: Export) -> None:
    export()
    for path in export.target.iterdir():
        seconds = path.stat().st_mtime_ns // 1_000_000_000 // 2 * 2
        os.utime(path, (seconds, seconds))
    assert export().num_made == 0


def test_a_file_with_another_time_is_foreign(export: Export) -> None:
    export()
    os.utime(export.target / NAMES[0], (1_000_000_000, 1_000_000_000))
    with pytest.raises(CannotWrite, match="or was changed"):
        export()


def test_a_line_that_fails_does_not_stop_the_others(export: Export) -> None:
    failing = FakeSpeechSource(failures={TEXTS[1]: NoSpeechMade("The model said nothing.", remedy="Try again.")})
    result = export(failing, joined_name="story", has_manifest=True)
    assert [(failure.item.text, failure.error.code) for failure in result.failures] == [(TEXTS[1], "no-speech-made")]
    assert export.files() == [NAMES[0], *NAMES[2:]]
    again = FakeSpeechSource()
    assert export(again, joined_name="story", has_manifest=True).failures == ()
    assert again.spoken_texts[0] == TEXTS[0], "for the joined file all are needed"
    assert export.files() == sorted([*NAMES, "story.csv", "story.wav"])


def test_a_manifest_with_missing_lines_is_written_again_later(export: Export) -> None:
    failing = FakeSpeechSource(failures={TEXTS[1]: NoSpeechMade("The model said nothing.")})
    export(failing, has_manifest=True)
    assert len((export.target / "script.csv").read_text("utf-8-sig").splitlines()) == 4
    again = FakeSpeechSource()
    export(again, has_manifest=True)
    assert again.spoken_texts == [TEXTS[1]]
    assert len((export.target / "script.csv").read_text("utf-8-sig").splitlines()) == 5


def test_cancelling_keeps_complete_files(export: Export) -> None:
    control = RequestControl()

    class CancelledInTheThird(FakeSpeechSource):
        def synthesize_waveform(self, item):  # type: ignore[no-untyped-def]
            if item.index == 3:
                control.cancel()
                raise Cancelled
            return super().synthesize_waveform(item)

    with pytest.raises(Cancelled):
        export.exporter(CancelledInTheThird(), control=control).run()
    assert export.files() == NAMES[:2]
    again = FakeSpeechSource()
    export(again)
    assert again.spoken_texts == list(TEXTS[2:])


def test_cancelling_between_two_lines(export: Export) -> None:
    control = RequestControl()
    exporter = export.exporter(control=control)
    control.cancel()
    with pytest.raises(Cancelled):
        exporter.run()
    assert export.source.spoken_texts == []


class SmallDisk:
    """Raises ENOSPC after a number of bytes."""

    def __init__(self, num_bytes: int) -> None:
        self.num_bytes = num_bytes

    def open(self, path: Path, mode: str) -> object:
        import io

        disk = self

        class File(io.FileIO):
            def write(self, data: bytes) -> int:  # type: ignore[override]
                disk.num_bytes -= len(data)
                if disk.num_bytes < 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return super().write(data)

        return File(path, mode)


@pytest.mark.slow
@pytest.mark.parametrize("num_bytes", [50, 150_000, 250_000])
def test_a_full_disk_is_an_error_and_keeps_complete_files(
    export: Export, monkeypatch: pytest.MonkeyPatch, num_bytes: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("studio.audio.files.FileIO", SmallDisk(num_bytes).open)
        with pytest.raises(DiskFull, match="The disk is full"):
            export(joined_name="story")
    done = export.files()
    assert done == NAMES[: len(done)]
    again = FakeSpeechSource()
    assert export(again, joined_name="story").num_made == 5 - len(done)
    assert export.files() == sorted([*NAMES, "story.wav"])


def test_a_full_disk_in_the_data_folder_is_an_error(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", no_room)
        with pytest.raises(DiskFull):
            export()
    assert export.files() == []
    assert export().num_made == 4


@pytest.mark.skipif(os.name == "nt", reason="folders have no such permission there")
def test_a_read_only_folder_is_an_error_before_speaking(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: Path, data: bytes) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "write_bytes", read_only)  # root can write to any folder
    with pytest.raises(CannotWrite, match=r"target cannot be written \(permission denied\)"):
        export()
    assert export.source.spoken_texts == []


def test_a_folder_in_place_of_a_file_is_an_error(export: Export) -> None:
    (export.target / NAMES[0]).mkdir(parents=True)
    with pytest.raises(CannotWrite, match="is not an ordinary file"):
        export(replaces_files=True)
    export.target = export.target / "file.txt"
    export.target.parent.joinpath("file.txt").write_text("no folder")
    with pytest.raises(CannotWrite):
        export()


def test_two_exports_cannot_write_to_one_folder(export: Export) -> None:
    with Journal(export.target, journals=export.journals), pytest.raises(FolderBusy, match="Another export"):
        export()
    assert export().num_made == 4


def test_with_a_damaged_journal_lines_are_exported_again(export: Export) -> None:
    export()
    (journal,) = export.journals.glob("*.jsonl")
    lines = journal.read_text("utf-8").splitlines()
    journal.write_text("\n".join([*lines[:2], "[1, 2]", '{"file": "x"}', lines[3][:40]]), "utf-8")
    again = FakeSpeechSource()
    export(again, replaces_files=True)
    assert again.spoken_texts == list(TEXTS[2:])
    assert FakeSpeechSource().spoken_texts == []
    assert export().num_made == 0


def test_folders_of_a_pattern_are_created(export: Export) -> None:
    export(pattern="{voice}/{index}")
    assert export.files() == [f"Anna/00{number}.wav" for number in range(1, 5)]


@pytest.mark.slow
def test_progress_reaches_the_end(export: Export) -> None:
    seen: list[ExportProgress] = []
    result = export.exporter(FakeSpeechSource(seconds_per_line=0.5), seen=seen).run()
    assert [progress.num_done for progress in seen][:4] == [0, 1, 2, 3]
    assert seen[-1].num_done == seen[-1].num_lines == 4
    assert seen[-1].remaining_seconds == 0
    assert seen[-1].share == pytest.approx(1.0)
    assert seen[-1].speed is not None
    assert seen[-1].speed >= result.audio_seconds / result.elapsed_seconds > 0
    assert seen[0].remaining_seconds is None
    remaining = seen[3].remaining_seconds
    assert remaining is not None
    assert 0.1 < remaining < 2.0
    shares = [progress.share for progress in seen]
    assert all(0 <= share <= 1 for share in shares)


def test_empty_scripts_and_settings_without_files_are_rejected(export: Export) -> None:
    export.items = []
    with pytest.raises(NothingToSpeak):
        export()
    with pytest.raises(UnusableSetting, match="would create no file"):
        ExportSettings(has_line_files=False)
    with pytest.raises(UnusableSetting, match="22050 Hz is not supported"):
        ExportSettings(sample_rate=22_050)
    with pytest.raises(UnusableSetting, match="pause -1 s"):
        ExportSettings(pause_seconds=-1)


def test_custom_file_names_are_used_and_sanitized(export: Export) -> None:
    names = ["intro.wav", "INTRO", "a/b?", None]
    export.items = [replace(item, file_name=name) for item, name in zip(export.items, names, strict=True)]
    export()
    assert export.files() == sorted(["intro.wav", "INTRO-2.wav", "a/b.wav", NAMES[3]])
