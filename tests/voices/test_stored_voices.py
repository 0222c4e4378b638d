"""Every field of a voice is the same after storing, trashing, exporting and importing it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from full_records import full

from studio.voices import database
from studio.voices.voice import Consent, Grade, SpokenConsent, SpokenWords, Voice, VoiceDetails
from studio.voices.voice_file import read_voice_file, write_voice_file

CLIP = Path(__file__).parent.parent / "reference" / "inputs" / "prompt_a.wav"
DETAILS = full(
    VoiceDetails(
        "Änna 安娜",
        "What she said.\nTwice.",
        "notes",
        "CosyVoice2",
        "zh",
        Consent(
            "Anna Ferrari",
            "2026-11-20",
            "audiobooks",
            "2030-12-31",
            SpokenConsent("12" * 32, "I agree.", 0.9, SpokenWords.SAID),
        ),
    )
)
# Only bundled voices and speakers of models have the other fields, and they are not stored.
VOICE = full(
    Voice(
        name=DETAILS.name,
        clip=Path("clips/abc.wav"),
        transcript=DETAILS.transcript,
        clip_seconds=3.5,
        notes=DETAILS.notes,
        generation=DETAILS.generation,
        created="2026-11-20T10:00:00+00:00",
        sha256="ab" * 32,
        quality=Grade.FAIR,
        language=DETAILS.language,
        consent=DETAILS.consent,
    ),
    besides=("is_built_in", "bundled_name", "description", "models"),
)


def test_the_library_keeps_every_field(tmp_path: Path) -> None:
    path = tmp_path / "library.sqlite3"
    renamed = replace(VOICE, name="Ben", notes="others")
    with database.transaction(path) as connection:
        database.insert(connection, VOICE)
        assert database.select(connection, Path("clips").joinpath) == [VOICE]
        database.update(connection, VOICE.name, renamed)
        assert database.select(connection, Path("clips").joinpath) == [renamed]
        number = database.to_trash(connection, "Ben")
    with database.transaction(path) as connection:
        assert [each.voice for each in database.select_trash(connection, Path("clips").joinpath)] == [renamed]
        assert database.take_from_trash(connection, number, Path("clips").joinpath) == renamed


def test_a_voice_file_keeps_every_field(tmp_path: Path) -> None:
    write_voice_file(tmp_path / "anna.voice", CLIP, DETAILS)
    found = read_voice_file(tmp_path / "anna.voice")
    assert (found.details, found.clip, found.suffix) == (DETAILS, CLIP.read_bytes(), ".wav")
