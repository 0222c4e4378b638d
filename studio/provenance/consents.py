"""What manifests say about the consent of speakers: a hash of the record, unless its words are wanted."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import astuple, replace

from studio.errors import StudioError
from studio.provenance.statement import SpokenLine, Statement, hash_file
from studio.settings import NAMES_CONSENT
from studio.settings_store import Settings
from studio.voices.library import VoiceLibrary
from studio.voices.voice import Consent, SpokenConsent, SpokenWords, Voice

NOT_RECORDED, BUNDLED = "not recorded", "bundled voice"
_log = logging.getLogger(__name__)


def with_consents(statement: Statement) -> Statement:
    """Return ``statement`` with the consent to the voice of each line, unless it is stated already.

    If the voices cannot be read, nothing is stated.
    """
    if all(line.consent for line in statement.lines):
        return statement
    try:
        voices = {voice.sha256 or hash_file(voice.clip): voice for voice in VoiceLibrary().voices()}
    except StudioError as error:
        _log.warning("consents are not stated: %s", error)
        return statement
    is_named = Settings()[NAMES_CONSENT]

    def stated(line: SpokenLine) -> SpokenLine:
        consent = line.consent or _stated(voices.get(line.voice_sha256), is_named=is_named)
        return replace(line, consent=consent)

    return replace(statement, lines=tuple(map(stated, statement.lines)))


def _stated(voice: Voice | None, *, is_named: bool) -> str:
    if voice is None:
        return NOT_RECORDED
    if voice.is_built_in:
        return BUNDLED
    if not voice.consent:
        return NOT_RECORDED
    if is_named:
        return describe(voice.consent)
    return ", ".join((f"sha256:{hash_consent(voice.consent, voice.sha256)}", *_describe_spoken(voice.consent.spoken)))


def hash_consent(consent: Consent, voice_sha256: str) -> str:
    """Return the hash of the record of one voice."""
    words = (consent.by, consent.date, consent.scope, consent.until)
    spoken = astuple(consent.spoken) if consent.spoken else ()  # hashes of records without one do not change
    record = [*words, *spoken, voice_sha256]
    return hashlib.sha256(json.dumps(record, ensure_ascii=False).encode("utf-8")).hexdigest()


def describe(consent: Consent) -> str:
    until = f"until {consent.until}" if consent.until else ""
    parts = (consent.by, consent.date, consent.scope, until, *_describe_spoken(consent.spoken))
    return ", ".join(part for part in parts if part)


def _describe_spoken(spoken: SpokenConsent | None) -> Iterator[str]:
    if spoken is None:
        return
    yield "spoken consent" if spoken.words is not SpokenWords.OTHER else "spoken consent in other words"
    if spoken.similarity is not None:
        yield f"similarity {spoken.similarity:.2f}"
    yield f"clip sha256:{spoken.sha256}"
