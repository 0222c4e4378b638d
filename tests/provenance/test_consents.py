"""What manifests say about consent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.errors import CannotWrite
from studio.provenance.consents import NOT_RECORDED, with_consents
from studio.provenance.statement import SpokenLine, Statement
from studio.voices.library import VoiceLibrary

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
