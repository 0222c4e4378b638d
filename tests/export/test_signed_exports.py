"""Every file of an export is signed after it is complete, and says what was done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import soundfile
from speech_fakes import TEXTS, FakeSpeechSource, items_of

from studio import paths
from studio.audio.encoding import ENCODINGS, MP3_192
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import UnusableCertificate
from studio.export.book import BookDetails
from studio.export.exporter import Exporter
from studio.export.mastering import LoudnessTarget
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.provenance import Provenance
from studio.export.speech_source import ExportItem, ScriptChapter
from studio.export.standards import ACX, AudioStandard
from studio.provenance.inspection import ManifestState, inspect_file
from studio.provenance.signing import Signing
from studio.provenance.statement import hash_text

SIGNED = Provenance("mini", "Apache-2.0", Signing())


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("c2pa")
    for name in ("DATA", "CACHE"):
        monkeypatch.setenv(f"TIMBRE_{name}", str(tmp_path / name.lower()))


def export(target: Path, **options: object) -> tuple[Path, ...]:
    chapters = (ScriptChapter(1, "One"), ScriptChapter(1, "One"), ScriptChapter(2, "Two"), ScriptChapter(2, "Two"))
    items = [replace(item, chapter=chapter) for item, chapter in zip(items_of(TEXTS[:4]), chapters, strict=True)]
    plan = ExportPlan.make(items, target, ExportSettings(**{"provenance": SIGNED, **options}))  # type: ignore[arg-type]
    return Exporter(plan, FakeSpeechSource(), journals=target.parent / "journals").run().files


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_and_joined_files_of_every_format_are_valid(encoding: str, tmp_path: Path) -> None:
    rate = 48_000 if 24_000 not in ENCODINGS[encoding].sample_rates else 24_000
    options = {"encoding": ENCODINGS[encoding], "sample_rate": rate, "loudness": LoudnessTarget(-20.0)}
    files = export(tmp_path / "out", joined_name="all", **options)
    assert len(files) == 5
    for path in files:
        assert inspect_file(path).state is ManifestState.VALID
    speech = inspect_file(next(path for path in files if path.stem == "all")).speech
    assert speech is not None
    assert [line["text_sha256"] for line in speech["lines"]] == [hash_text(text) for text in TEXTS[:4]]
    assert all(line["audio_sha256"] for line in speech["lines"])
    assert {"loudness", "joined"} <= set(speech["edits"])


def test_mastered_chapters_and_audiobooks_are_valid(tmp_path: Path) -> None:
    pytest.importorskip("av")
    files = export(
        tmp_path / "out",
        has_line_files=False,
        has_chapter_files=True,
        has_audiobook=True,
        standard=ACX,
        encoding=MP3_192,
        sample_rate=44_100,
        project="rain",
        book=BookDetails("The Rain"),
    )
    assert sorted(path.suffix for path in files) == [".m4b", ".mp3", ".mp3"]
    for path in files:
        found = inspect_file(path)
        assert found.state is ManifestState.VALID
        assert found.speech is not None
        assert "mastered" in found.speech["edits"]


class VoiceSource(FakeSpeechSource):
    """Clips of people instead of noise."""

    def synthesize_waveform(self, item: ExportItem) -> Waveform:
        name = ("Ada", "Angus", "Max", "Miles")[item.index % 4]
        return read_audio(paths.resources() / "voices" / f"{name}.wav").resampled(24_000)


@pytest.mark.parametrize("standard", [None, ACX])
def test_the_mark_of_a_long_file_contains_the_number_in_its_manifest(
    tmp_path: Path, standard: AudioStandard | None
) -> None:
    settings = ExportSettings(
        provenance=replace(SIGNED, is_marked=True),
        has_line_files=False,
        joined_name="all",
        standard=standard,
        sample_rate=44_100,
    )
    plan = ExportPlan.make(items_of([f"Sentence {number}." for number in range(12)]), tmp_path / "out", settings)
    (path,) = Exporter(plan, VoiceSource(), journals=tmp_path / "journals").run().files
    found = inspect_file(path)
    assert found.speech is not None
    assert found.mark.number == found.speech["mark_code"][:8]
    samples, rate = soundfile.read(path, dtype="float32")
    soundfile.write(tmp_path / "copy.mp3", samples[5 * rate :], rate)
    assert inspect_file(tmp_path / "copy.mp3").mark.number == found.mark.number


def test_signed_files_are_kept_and_unsigned_ones_are_signed_later(tmp_path: Path) -> None:
    target = tmp_path / "out"
    (first, *_) = export(target, provenance=replace(SIGNED, signing=None))
    assert inspect_file(first).state is ManifestState.ABSENT
    export(target)
    signed = first.read_bytes()
    assert inspect_file(first).state is ManifestState.VALID
    export(target)
    assert first.read_bytes() == signed, "a second signature would have another time"


def test_an_unusable_certificate_ends_an_export_before_speaking(tmp_path: Path) -> None:
    with pytest.raises(UnusableCertificate):
        export(tmp_path / "out", provenance=replace(SIGNED, signing=Signing(tmp_path / "missing.pem")))
    assert not (tmp_path / "out").exists()
