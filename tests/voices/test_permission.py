"""Voices whose consent has ended, or is required and missing, are refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from studio.errors import ConsentExpired, ConsentMissing
from studio.settings import REQUIRES_CONSENT
from studio.settings_store import Settings
from studio.voices.permission import require_permission
from studio.voices.voice import Consent, Voice

LAST_DAY = date(2030, 12, 31)


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_CONFIG", str(tmp_path / "config"))


def voice(consent: Consent, *, is_built_in: bool = False) -> Voice:
    return Voice("Jane", Path("jane.wav"), None, 3.0, consent=consent, is_built_in=is_built_in)


def test_a_consent_ends_after_its_last_day() -> None:
    jane = voice(Consent(by="Jane", until=LAST_DAY.isoformat()))
    require_permission(jane, today=LAST_DAY)
    with pytest.raises(ConsentExpired, match="The consent to use the voice Jane ended on 2030-12-31"):
        require_permission(jane, today=date(2031, 1, 1))


def test_a_missing_consent_is_refused_if_the_settings_require_it() -> None:
    require_permission(voice(Consent()))
    Settings()[REQUIRES_CONSENT] = True
    with pytest.raises(ConsentMissing, match="The consent of the speaker of Jane is not recorded"):
        require_permission(voice(Consent()))
    require_permission(voice(Consent(by="Jane")))
    require_permission(voice(Consent(), is_built_in=True))
