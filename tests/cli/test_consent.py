"""Consent on the command line: recorded with a voice, required, and stated in manifests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

from studio.provenance.consents import hash_consent
from studio.settings import NAMES_CONSENT, REQUIRES_CONSENT
from studio.settings_store import Settings
from studio.voices.voice import Consent

pytestmark = pytest.mark.timeout(60)
needs_library = pytest.mark.skipif(importlib.util.find_spec("c2pa") is None, reason="needs c2pa-python")


def say(timbre: Terminal, voice: str | Path) -> int:
    return timbre("say", "Hello there.", "--voice", voice, "--model", "quiet", "-o", "hello.wav").status


def stated(timbre: Terminal, voice: str | Path) -> Any:
    assert say(timbre, voice) == 0
    (file,) = timbre("inspect", "hello.wav", "--json").json["files"]
    return file["metadata"]["speech"]["lines"][0]["consent"]


def test_consent_is_recorded_and_travels_with_the_voice(timbre: Terminal, clip: Path) -> None:
    ran = timbre("voices", "add", "Jane", clip, "--consent", "Jane Doe", "--consent-until", "2999-12-31")
    assert (ran.status, "consent" in ran.err) == (0, False)
    assert timbre("voices", "edit", "Jane", "--consent-scope", "one audiobook").status == 0
    recorded = timbre.library.get("Jane").consent
    assert (recorded.by, recorded.scope, recorded.until) == ("Jane Doe", "one audiobook", "2999-12-31")
    assert timbre("voices", "export", "Jane", "jane.voice").status == 0
    assert timbre("voices", "import", "jane.voice", "--name", "Jane 2").status == 0
    assert timbre.library.get("Jane 2").consent == recorded
    assert timbre("voices", "edit", "Jane", "--consent-until", "tomorrow").status == 2


def test_a_voice_can_be_added_without_consent_unless_it_is_required(timbre: Terminal, clip: Path) -> None:
    assert "the consent of the speaker is not recorded" in timbre("voices", "add", "Jane", clip).err
    assert say(timbre, "Jane") == 0
    Settings()[REQUIRES_CONSENT] = True
    for voice in ("Jane", clip):
        ran = timbre("say", "Hello.", "--voice", voice, "--model", "quiet", "-o", "hello.wav")
        assert (ran.status, "is not recorded" in ran.err) == (7, True)


def test_an_expired_voice_does_not_speak(timbre: Terminal, clip: Path) -> None:
    timbre.library.add(clip, "Jane", consent=Consent("Jane Doe", "2020-01-01", "", "2020-12-31"))
    ran = timbre("say", "Hello.", "--voice", "Jane", "--model", "quiet", "-o", "hello.wav")
    assert (ran.status, "ended on 2020-12-31" in ran.err) == (7, True)


@needs_library
def test_manifests_contain_a_hash_of_the_consent_or_its_words(timbre: Terminal, clip: Path) -> None:
    assert stated(timbre, clip) == "not recorded"
    consent = Consent("Jane Doe", "2020-01-01", "books", "2999-12-31")
    sha256 = timbre.library.add(clip, "Jane", consent=consent).voice.sha256
    assert stated(timbre, "Jane") == f"sha256:{hash_consent(consent, sha256)}"
    Settings()[NAMES_CONSENT] = True
    assert stated(timbre, "Jane") == "Jane Doe, 2020-01-01, books, until 2999-12-31"
