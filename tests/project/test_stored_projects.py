"""Every field of a project and of the dictionaries is the same after writing and reading."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from full_records import FULL_CHECK, full
from project_samples import RATE, parameters, sound

from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import LengthVerdict, NetworkFigures
from studio.project.changes import AddTake, EditDetails, EditDictionary, InsertLines, RenameProject
from studio.project.check_records import policy_from, policy_values
from studio.project.details import CastMember, ImportSource, ProjectDetails, VoiceRole
from studio.project.dictionary import (
    DictionaryEntry,
    PronunciationDictionary,
    load_global_dictionary,
    save_global_dictionary,
)
from studio.project.fields import Fields
from studio.project.lines import Heading, Line, LineOrigin, LineStyle, Slot
from studio.project.project import Project
from studio.project.records import project_details_from
from studio.project.takes import Take
from studio.take_checks.policy import CheckMode, ProjectCheckPolicy
from studio.take_checks.records import Measure, Span
from studio.take_checks.requests import Strictness

# A style has a preset or an instruction, not both.
STYLE_FIELDS = ("preset", "instruct")
PRESET, INSTRUCTION = LineStyle(preset="emotion.happy"), LineStyle(instruct="speak with great joy")
SAMPLING = full(SamplingOptions(top_p=0.5, top_k=7, window_tokens=9, repetition_ratio=0.25))
DICTIONARY = PronunciationDictionary(
    (full(DictionaryEntry("Ghent", alias="gent", pronunciation="G EH1 N T", is_case_sensitive=True)),)
)
DETAILS = full(
    ProjectDetails(
        title="The Harbour",
        author="A. Writer",
        narrator="N. Reader",
        cover=b"\xff\xd8\xff",
        cast={"mira": CastMember("Anna", PRESET), "tom": CastMember("Max", INSTRUCTION)},
        columns=("ID", "Text"),
        guide_track="/videos/harbour.mp4",
        checks=ProjectCheckPolicy(CheckMode.RETRY, 3, Strictness.STRICT, "SenseVoiceSmall"),
        quality=Quality.FAST,
        sources=(
            ImportSource(
                id="file",
                path="/scripts/lines.xlsx",
                digest="ab12",
                sheets=("Lines", "Scene 2"),
                columns={"id": "ID", "text": "文本"},
                has_names=True,
                breaks="paragraph",
                finds_speakers=False,
                speaks_notes=True,
                left_out=("Copyright",),
                chapter_level=2,
                encoding="big5",
                rows=(0, 2**32 - 1),
            ),
        ),
        targets={VoiceRole("mira", "Anna", PRESET): {Measure.PACE: Span(1.6, 0.2), Measure.SIMILARITY: Span(0.8, 0.1)}},
    ),
    besides=STYLE_FIELDS,
)
TAKE = full(
    Take(
        id="take",
        line_id="line",
        number=2,
        created=datetime(2026, 11, 23, 8, 30, tzinfo=UTC),
        audio_seconds=1.0,
        sample_rate=RATE,
        parameters=parameters(
            "fingerprint",
            voice_key="voice",
            spoken_text="Hello there.",
            style=INSTRUCTION,
            omitted_style="emotion.sad",
            speed=1.25,
            sampling=SAMPLING,
            odd_length=LengthVerdict.TOO_LONG,
            quality=Quality.DRAFT,
            quality_distortion_db=0.75,
            language="de",
            engine={"flow": "torch, float32"},
            versions={"torch": "2.9"},
        ),
        is_kept=True,
        is_complete=False,
        first_audio_seconds=0.5,
        real_time_factor=0.75,
        num_underruns=3,
        network=NetworkFigures(0.01, 0.2, 0.5, 0.003),
        trim_start_seconds=0.1,
        trim_end_seconds=0.2,
        check=FULL_CHECK,
        retry_of="first",
    ),
    besides=STYLE_FIELDS,
)


LINE = full(
    Line(
        id="line",
        text="Hello.",
        voice="Anna",
        style=PRESET,
        speed=1.5,
        seed=2**63 - 1,
        sampling=SAMPLING,
        pause_after_seconds=2.0,
        is_locked=True,
        chosen_take="take",
        file_name="scene/one",
        character="Mira",
        heading=Heading.SCENE,
        is_spoken=False,
        note="slower",
        slot=Slot(1.25, 2.5),
        gain_db=-3.0,
        fade_in_seconds=0.1,
        fade_out_seconds=0.5,
        columns={"ID": "d0001", "备注": "慢"},
        is_speaker_sure=False,
        quality=Quality.DRAFT,
        origin=LineOrigin(
            source="file",
            position=7,
            key="d0001",
            values={
                "text": "Hello!",
                "voice": None,
                "style": INSTRUCTION,
                "speed": 1.0,
                "pause_after_seconds": 1.0,
                "file_name": None,
                "character": "Tom",
                "heading": Heading.NONE,
                "is_spoken": True,
                "note": "",
                "slot": None,
                "language": "de",
            },
            is_removed=True,
        ),
        begins_paragraph=True,
        language="en-GB",
    ),
    besides=STYLE_FIELDS,
)


def test_a_saved_project_keeps_every_field(project: Project, drafts: Path, tmp_path: Path) -> None:
    other = replace(LINE, id="other", style=INSTRUCTION, chosen_take=None)
    project.apply(RenameProject("Harbour"))
    project.apply(InsertLines(0, (replace(LINE, chosen_take=None), other)))
    project.apply(EditDictionary(DICTIONARY))
    project.apply(EditDetails(DETAILS))
    recorder = project.begin_take("line", TAKE.parameters, RATE)
    recorder.append(sound(TAKE.audio_seconds))
    take = replace(TAKE, id=recorder.finish().id)
    project.apply(AddTake(take))
    project.save(tmp_path / "a.timbre")
    with Project.open(tmp_path / "a.timbre", drafts) as opened:
        assert opened.lines == (replace(LINE, chosen_take=take.id), other)
        assert opened.take(take.id) == take
        assert opened.script.dictionary == DICTIONARY
        assert opened.script.details == DETAILS
        assert opened.script.name == "Harbour"
        assert opened.notice is None


def test_the_distortion_of_a_draft_of_an_earlier_version_is_read_in_the_usual_scale(
    project: Project, tmp_path: Path, drafts: Path
) -> None:
    project.apply(InsertLines(0, (replace(LINE, chosen_take=None),)))
    recorder = project.begin_take("line", replace(TAKE.parameters, quality_distortion_db=0.0), RATE)
    recorder.append(sound(TAKE.audio_seconds))
    project.apply(AddTake(replace(TAKE, id=recorder.finish().id)))
    project.save(tmp_path / "a.timbre")
    with closing(sqlite3.connect(tmp_path / "a.timbre")) as stored, stored:
        old = "json_set(json_remove(recipe, '$.quality_distortion_db'), '$.quality_distance_db', 0.3)"
        stored.execute(f"UPDATE takes SET recipe = {old}")
    with Project.open(tmp_path / "a.timbre", drafts) as opened:
        (take,) = opened.takes_of("line")
        assert take.parameters.quality_distortion_db == 0.6


def test_a_recogniser_that_is_no_longer_offered_leaves_the_choice_to_the_settings() -> None:
    stored = policy_values(ProjectCheckPolicy(num_retries=3, recognizer="Parakeet-TDT-0.6b-v3"))
    assert policy_from(Fields(stored, "checks", [])) == ProjectCheckPolicy(num_retries=3)


def test_the_dictionary_of_all_projects_keeps_every_field(tmp_path: Path) -> None:
    save_global_dictionary(DICTIONARY, tmp_path / "words.json")
    assert load_global_dictionary(tmp_path / "words.json") == DICTIONARY


def test_a_table_that_an_earlier_version_imported_keeps_its_sheet_and_its_directions() -> None:
    """It spoke stage directions: an update of the project does not change them."""
    former = {"id": "file", "path": "/lines.xlsx", "sheet": "Act 1", "columns": {"text": "Text"}, "speaks_notes": False}
    row = {"details": json.dumps({"sources": [former]}), "cover": None}
    (source,) = project_details_from(row, []).sources
    assert (source.sheets, source.speaks_notes) == (("Act 1",), True)
