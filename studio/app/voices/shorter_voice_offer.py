"""Offer of a voice with the best seconds of a clip that took long to prepare."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from PySide6.QtCore import QObject

from studio.app.background import run_in_background
from studio.app.notifications import NotificationBar
from studio.app.session import Session
from studio.app.translation import join_sentences
from studio.app.voices.preload_queue import VoicePreloadQueue
from studio.take_checks.shorter_voice import SHORT_SECONDS, ShorterVoice, add_shorter_voice, can_be_shorter
from studio.voices.library import Voice

# A preparation that takes longer is worth a shorter clip.
_SLOW_SECONDS = 20.0


class ShorterVoiceOffer(QObject):
    """Offers the shorter voice once, with its expected preparation time, and reports its similarity."""

    def __init__(
        self, session: Session, preparation: VoicePreloadQueue, notices: NotificationBar, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._notices = notices
        self._offered: set[str] = set()
        preparation.prepared.connect(self._on_prepared)

    def _on_prepared(self, voice: Voice, seconds: float) -> None:
        if seconds < _SLOW_SECONDS or not can_be_shorter(voice) or voice.name in self._offered:
            return
        self._offered.add(voice.name)
        words = self.tr(
            "Preparing {voice} took {seconds:.0f} s. A voice of its best {short:g} seconds would take {less:.0f} s."
        )
        less = seconds * SHORT_SECONDS / voice.clip_seconds
        self._notices.show_hint(
            words.format(voice=voice.name, seconds=seconds, short=SHORT_SECONDS, less=less),
            offer=self.tr("Add short voice"),
            call=partial(self._add, voice),
        )

    def _add(self, voice: Voice) -> None:
        run_in_background(
            self,
            partial(self._add_to_library, voice),
            done=partial(self._on_added, voice),
            failed=self._notices.show_error,
        )

    def _add_to_library(self, voice: Voice) -> ShorterVoice:
        open_checks = self._session.services.open_checks
        assert open_checks is not None
        with closing(open_checks()) as checks:
            folder = self._session.model_selection.local_folder()
            return add_shorter_voice(self._session.library, voice, checks, folder)

    def _on_added(self, voice: Voice, shorter: ShorterVoice) -> None:
        self._session.voice_edits.keep([shorter.voice])
        words = [self.tr("{name} was added.").format(name=shorter.voice.name)]
        if shorter.similarity is not None:
            similar = self.tr("Its similarity to {voice} is {similarity:.2f}; 1 means identical.")
            words.append(similar.format(voice=voice.name, similarity=shorter.similarity))
        if shorter.voice.transcript:
            words.append(self.tr("Check its transcript, which was recognised."))
        self._notices.show_hint(join_sentences(words))
