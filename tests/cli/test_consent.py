"""Consent on the command line: recorded with a voice, required, and stated in manifests."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from fake_checks import FakeChecks
from terminal import Terminal

from studio.provenance.consents import hash_consent
from studio.settings import NAMES_CONSENT, REQUIRES_CONSENT
from studio.settings_store import Settings
from studio.take_checks.records import Difference, DifferenceKind, TakeCheck, Transcript, Verdict
from studio.voices.voice import Consent, SpokenWords

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


def test_a_spoken_consent_is_compared_and_travels_with_the_voice(timbre: Terminal, clip: Path) -> None:
    checks = FakeChecks()
    timbre.change(open_checks=checks)
    assert timbre("voices", "add", "Jane", clip, "--consent-clip", clip).status != 0  # without --consent
    assert timbre("voices", "add", "Jane", clip).status == 0
    ran = timbre("voices", "edit", "Jane", "--consent", "Jane Doe", "--consent-clip", clip)
    assert (ran.status, "similarity of the speaker who consents: 0.80" in ran.err) == (0, True)
    assert "My name is Jane Doe." in checks.transcript_requests[0].typed
    timbre("voices", "export", "Jane", "jane.voice")
    timbre("voices", "import", "jane.voice", "--name", "Jane 2")
    shown = timbre("voices", "show", "Jane 2", "--json").json["spoken_consent"]
    sha256 = hashlib.sha256(clip.read_bytes()).hexdigest()
    assert (shown["sha256"], shown["similarity"], shown["words"]) == (sha256, 0.8, "said")
    assert "similarity:" in timbre("voices", "show", "Jane 2").out
    kept = timbre.library.consent_clip(timbre.library.get("Jane 2"))
    assert kept is not None
    assert kept.read_bytes() == clip.read_bytes()


def test_a_spoken_consent_can_come_with_a_new_voice(timbre: Terminal, clip: Path) -> None:
    checks = FakeChecks(result=lambda _: TakeCheck(Verdict.GOOD, similarity=0.2))
    checks.transcribe_with = lambda request: other_words(request.typed)
    timbre.change(open_checks=checks)
    words = ("--transcript", "他们说今天会下雨。", "--consent", "王芳", "--consent-clip", clip)
    ran = timbre("voices", "add", "Fang", clip, *words)
    assert (ran.status, "probably another speaker" in ran.err, "other words were heard" in ran.err) == (0, True, True)
    spoken = timbre.library.get("Fang").consent.spoken
    assert spoken is not None
    assert (spoken.sentence, spoken.words) == ("我是王芳，我同意用我的声音制作合成语音。", SpokenWords.OTHER)


def other_words(typed: str) -> Transcript:
    whole = Difference(DifferenceKind.OTHER, typed, "nothing of this", 0, len(typed), 0.0, 1.0)
    return Transcript("nothing of this", differences=(whole,))


@needs_library
def test_manifests_state_a_spoken_consent(timbre: Terminal, clip: Path) -> None:
    timbre.change(open_checks=FakeChecks())
    timbre("voices", "add", "Jane", clip, "--consent", "Jane Doe", "--consent-clip", clip)
    voice = timbre.library.get("Jane")
    clip_sha256 = hashlib.sha256(clip.read_bytes()).hexdigest()
    words = f"spoken consent, similarity 0.80, clip sha256:{clip_sha256}"
    assert stated(timbre, "Jane") == f"sha256:{hash_consent(voice.consent, voice.sha256)}, {words}"
    Settings()[NAMES_CONSENT] = True
    assert stated(timbre, "Jane") == f"Jane Doe, {voice.consent.date}, {words}"
