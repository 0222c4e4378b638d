"""What manifests say about consent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.errors import CannotWrite
from studio.provenance.consents import NOT_RECORDED, describe, hash_consent, with_consents
from studio.provenance.statement import SpokenLine, Statement
from studio.voices.library import VoiceLibrary
from studio.voices.voice import Consent, SpokenConsent

STATEMENT = Statement("", lines=(SpokenLine("text", "Jane", 1),))


def test_a_voice_that_is_not_in_the_library_has_no_recorded_consent() -> None:
    (line,) = with_consents(STATEMENT).lines
    assert line.consent == NOT_RECORDED


def test_nothing_is_stated_if_the_voices_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: VoiceLibrary) -> None:
        raise CannotWrite("The voices cannot be opened.")

    monkeypatch.setattr(VoiceLibrary, "voices", fail)
    assert with_consents(STATEMENT) == STATEMENT


def test_what_a_line_states_already_is_kept() -> None:
    stated = replace(STATEMENT, lines=(replace(STATEMENT.lines[0], consent="bundled voice"),))
    assert with_consents(stated) == stated


def test_the_hash_of_an_earlier_record_does_not_change() -> None:
    consent = Consent("Jane Doe", "2020-01-01", "books", "2999-12-31")
    stored = "93756a277c99e3758def7253fc381f13577c4750129674d7ddb8e7f59b8f59a4"
    assert hash_consent(consent, "0" * 64) == stored
    spoken = SpokenConsent("1" * 64, "I agree.", 0.9)
    assert hash_consent(replace(consent, spoken=spoken), "0" * 64) != stored


def test_a_spoken_consent_is_stated() -> None:
    spoken = SpokenConsent("1" * 64, "My name is Jane.", 0.934)
    stated = describe(Consent("Jane Doe", spoken=spoken))
    assert stated == f"Jane Doe, spoken consent, similarity 0.93, clip sha256:{'1' * 64}"
