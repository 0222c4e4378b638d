"""Voice library: trash, duplicates, unique names, consent and migration of old databases."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_clip_check import babble, clip, silence

from studio.errors import BadVoiceFile, CannotWrite, ClipTooShort, VoiceExists, VoiceNotFound
from studio.voices import database
from studio.voices.library import Consent, VoiceDetails, VoiceLibrary
from studio.voices.voice import Grade, SpokenConsent, SpokenWords, suggest_name

CLIP = Path(__file__).parent.parent / "reference" / "inputs" / "prompt_a.wav"
CONSENT = Consent("Anna Ferrari", "2026-11-20", "audiobooks, no end date")


@pytest.fixture
def library(tmp_path: Path) -> VoiceLibrary:
    (tmp_path / "built-in").mkdir()
    (tmp_path / "built-in" / "Harbour.wav").write_bytes(CLIP.read_bytes())
    return VoiceLibrary(tmp_path / "voices", built_in=tmp_path / "built-in")


def own(library: VoiceLibrary) -> list[str]:
    return [voice.name for voice in library.voices() if not voice.is_built_in]


def test_a_restored_voice_is_unchanged(library: VoiceLibrary) -> None:
    before = library.add(CLIP, "Anna", "Said.", notes="n", language="en", consent=CONSENT).voice
    trashed = library.trash("anna")
    assert own(library) == []
    assert before.clip.is_file()
    assert [(each.number, each.voice) for each in library.trashed()] == [(trashed.number, before)]
    assert library.restore(trashed.number) == before
    assert library.get("Anna") == before
    assert library.trashed() == []
    with pytest.raises(VoiceNotFound, match="deleted permanently"):
        library.restore(trashed.number)


def test_a_number_is_appended_to_a_taken_name(library: VoiceLibrary) -> None:
    library.add(CLIP, "Anna")
    first = library.trash("Anna")
    library.add(CLIP, "ANNA")
    second = library.trash("ANNA")
    library.add(CLIP, "Anna")
    assert library.restore(first.number).name == "Anna 2"
    assert library.restore(second.number).name == "ANNA 3"


def test_bundled_voices_cannot_be_trashed(library: VoiceLibrary) -> None:
    with pytest.raises(CannotWrite, match="is a bundled voice"):
        library.trash("Harbour")
    assert library.trashed() == []


def test_a_clip_in_the_trash_is_kept_until_it_expires(library: VoiceLibrary, tmp_path: Path) -> None:
    clip_of = library.add(CLIP, "Anna").voice.clip
    library.trash("Anna")
    long_ago = time.time() - 7200
    os.utime(clip_of, (long_ago, long_ago))
    library.add(CLIP, "Ben")
    assert clip_of.is_file()
    with contextlib.closing(
        sqlite3.connect(tmp_path / "voices" / "library.sqlite3", isolation_level=None)
    ) as connection:
        connection.execute("UPDATE trash SET removed = '2020-01-01T00:00:00+00:00'")
    library.trash("Ben")
    assert [trashed.voice.name for trashed in library.trashed()] == ["Ben"]
    library.add(CLIP, "Clara")
    assert not clip_of.exists()


def test_duplicate(library: VoiceLibrary) -> None:
    first = library.add(CLIP, "Anna", "Said.", consent=CONSENT).voice
    second = library.duplicate("Anna")
    assert (second.name, second.transcript, second.consent) == ("Anna 2", "Said.", CONSENT)
    assert second.clip != first.clip
    assert second.sha256 == first.sha256
    library.remove("Anna")
    assert second.clip.read_bytes() == CLIP.read_bytes()
    assert library.duplicate("Harbour").is_built_in is False
    with pytest.raises(VoiceExists):
        library.duplicate("Harbour", "anna 2")


def test_unique_names(library: VoiceLibrary) -> None:
    assert library.unique_name(" Anna ") == "Anna"
    assert library.unique_name("HARBOUR") == "HARBOUR 2"
    library.add(CLIP, "x" * 80)
    assert library.unique_name("x" * 80) == "x" * 78 + " 2"


@pytest.mark.parametrize(
    ("stem", "name"),
    [("anna_1", "anna_1"), (" .-hidden", "hidden"), ("a\tb/c\\d", "a b c d"), ("...", "Voice"), ("安" * 99, "安" * 80)],
)
def test_names_suggested_from_files(stem: str, name: str) -> None:
    assert suggest_name(stem, "Voice") == name


def test_add_a_waveform(library: VoiceLibrary) -> None:
    sound = clip(silence(0.1), babble(4.0), silence(0.2))
    voice = library.add_sound(sound, VoiceDetails("Anna", "Said.", language="en", consent=CONSENT)).voice
    assert (voice.quality, voice.language, voice.consent) == (Grade.GOOD, "en", CONSENT)
    assert voice.clip_seconds == pytest.approx(4.3)
    import soundfile

    kept, rate = soundfile.read(voice.clip, dtype="float32")
    assert rate == sound.sample_rate
    np.testing.assert_array_equal(kept, sound.samples)
    with pytest.raises(ClipTooShort):
        library.add_sound(clip(babble(0.2)), VoiceDetails("Ben"))
    assert len(list(voice.clip.parent.iterdir())) == 1


def test_the_grade_is_stored(library: VoiceLibrary) -> None:
    assert library.add_sound(clip(babble(4.0, rms=0.004)), VoiceDetails("Quiet")).voice.quality is Grade.POOR
    assert library.get("Quiet").quality is Grade.POOR
    assert library.get("Harbour").quality is None


def test_consent_and_language_can_be_changed_and_removed(library: VoiceLibrary) -> None:
    library.add(CLIP, "Anna", "Said.")
    voice = library.update_metadata("Anna", language="zh", consent=CONSENT)
    assert (voice.language, voice.consent, voice.transcript) == ("zh", CONSENT, "Said.")
    voice = library.update_metadata("Anna", language="", consent=Consent())
    assert (voice.language, bool(voice.consent)) == (None, False)


def test_consent_is_exported(library: VoiceLibrary, tmp_path: Path) -> None:
    library.add(CLIP, "Anna", language="en", consent=CONSENT)
    library.export("Anna", tmp_path / "anna.voice")
    other = VoiceLibrary(tmp_path / "elsewhere", built_in=tmp_path)
    voice = other.import_(tmp_path / "anna.voice").voice
    assert (voice.language, voice.consent) == ("en", CONSENT)
    assert other.import_(tmp_path / "anna.voice", finds_free_name=True).voice.name == "Anna 2"


def test_an_invalid_consent_record_is_refused(library: VoiceLibrary, tmp_path: Path) -> None:
    import hashlib
    import json
    import zipfile

    sound = CLIP.read_bytes()
    values = {
        "format": "timbre-voice", "version": 1, "name": "Anna", "clip": "clip.wav",
        "sha256": hashlib.sha256(sound).hexdigest(),
    }  # fmt: skip
    spoken = {"sha256": "0" * 64, "sentence": "I agree.", "words": "said"}
    wrong = ({"sha256": "0"}, {"sentence": None}, {"words": "sung"}, {"similarity": 2}, {"similarity": "high"})
    records = [["yes"], "yes", {"by": 5}, {"spoken": "yes"}, *({"spoken": spoken | change} for change in wrong)]
    for consent in records:
        with zipfile.ZipFile(tmp_path / "a.voice", "w") as archive:
            archive.writestr("manifest.json", json.dumps({**values, "consent": consent}))
            archive.writestr("clip.wav", sound)
        with pytest.raises(BadVoiceFile):
            library.import_(tmp_path / "a.voice")


def test_a_spoken_consent_is_kept_until_no_voice_has_it(library: VoiceLibrary, tmp_path: Path) -> None:
    library.add(CLIP, "Anna")
    spoken = SpokenConsent(library.keep_consent_clip(CLIP), "I agree.", 0.9, SpokenWords.SAID)
    voice = library.update_metadata("Anna", consent=replace(CONSENT, spoken=spoken))
    assert voice.consent.spoken == spoken
    kept = library.consent_clip(voice)
    assert kept is not None
    os.utime(kept, (0, 0))
    library.restore(library.trash("Anna").number)
    assert library.duplicate("Anna").consent.spoken == spoken
    assert kept.is_file()
    for name in ("Anna", "Anna 2"):
        library.update_metadata(name, consent=CONSENT)
    library.add(CLIP, "Ben")
    assert not kept.exists()


def test_another_recording_of_the_consent_is_refused(library: VoiceLibrary, tmp_path: Path) -> None:
    import zipfile

    spoken = SpokenConsent(library.keep_consent_clip(CLIP), "I agree.")
    library.add(CLIP, "Anna", consent=Consent("Anna", spoken=spoken))
    library.export("Anna", tmp_path / "anna.voice")
    with zipfile.ZipFile(tmp_path / "anna.voice") as archive:
        contents = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    assert contents["consent.wav"] == CLIP.read_bytes()
    for name, content in (("consent.wav", b"other"), ("agreement.wav", contents["consent.wav"])):
        with zipfile.ZipFile(tmp_path / "other.voice", "w") as archive:
            for known in ("manifest.json", "clip.wav"):
                archive.writestr(known, contents[known])
            archive.writestr(name, content)
        with pytest.raises(BadVoiceFile):
            library.import_(tmp_path / "other.voice", name="Other")
    with zipfile.ZipFile(tmp_path / "without.voice", "w") as archive:
        for known in ("manifest.json", "clip.wav"):
            archive.writestr(known, contents[known])
    assert library.import_(tmp_path / "without.voice", name="Without").voice.consent.spoken == spoken


def test_a_database_of_the_first_version_is_migrated(library: VoiceLibrary, tmp_path: Path) -> None:
    (tmp_path / "voices" / "clips").mkdir(parents=True)
    (tmp_path / "voices" / "clips" / "a.wav").write_bytes(CLIP.read_bytes())
    with contextlib.closing(
        sqlite3.connect(tmp_path / "voices" / "library.sqlite3", isolation_level=None)
    ) as connection:
        connection.execute(database._MIGRATIONS[0])
        connection.execute("PRAGMA user_version = 1")
        connection.execute(
            "INSERT INTO voices VALUES ('anna', 'Anna', 'a.wav', 'ab', 3.5, NULL, 'n', NULL, '2026-01-01T00:00:00+00:00')"
        )
    voice = library.get("Anna")
    assert (voice.quality, voice.language, bool(voice.consent), voice.notes) == (None, None, False, "n")
    assert library.restore(library.trash("Anna").number) == voice
