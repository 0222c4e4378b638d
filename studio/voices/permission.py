"""Whether a voice may be used, by the recorded consent of its speaker."""

from __future__ import annotations

from datetime import date

from studio.errors import ConsentExpired, ConsentMissing
from studio.settings import REQUIRES_CONSENT
from studio.settings_store import Settings
from studio.voices.voice import Voice


def require_permission(voice: Voice, *, today: date | None = None) -> None:
    """Raise ``ConsentExpired``, or ``ConsentMissing`` if the settings require the consent. Bundled voices need none."""
    if voice.is_built_in:
        return
    if voice.consent.until and voice.consent.until < (today or date.today()).isoformat():
        raise ConsentExpired(
            "The consent to use the voice {name} ended on {date}.",
            remedy="Ask the speaker again and change the details of the voice, or choose another voice.",
            name=voice.name,
            date=voice.consent.until,
        )
    if not voice.consent and Settings()[REQUIRES_CONSENT]:
        raise consent_missing(voice.name)


def consent_missing(name: str) -> ConsentMissing:
    """Return the error about a voice whose consent is required and not recorded."""
    return ConsentMissing(
        "The consent of the speaker of {name} is not recorded.",
        remedy="Record it in the details of the voice, or choose another voice.",
        name=name,
    )
