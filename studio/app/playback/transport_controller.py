"""Playback commands of the window: play, pause, stop, previous and next line. Updates the transport bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from studio.app.actions import hides_shortcut, presses_button
from studio.app.inspector.takes_controller import TakesController
from studio.app.playback.audio_player import AudioPlayer, NowPlaying
from studio.app.playback.transport_bar import TransportBar
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.audio.edits import AudioEdits
from studio.audio.player import StreamingAudio
from studio.project.text_places import TextPlaces
from studio.take_checks.records import WordTime
from studio.voices.voice import name_key


@dataclass(frozen=True, slots=True)
class _Paused:
    """Paused playback. ``is_script`` means that the next lines follow."""

    playing: NowPlaying
    seconds: float
    is_script: bool


class TransportController(QObject):
    """Plays the current line or the script, and keeps ``bar`` up to date."""

    status_message = Signal(str)

    def __init__(self, session: Session, script: ScriptPage, takes: TakesController, bar: TransportBar) -> None:
        super().__init__(bar)
        self._session = session
        self._script = script
        self._takes = takes
        self._bar = bar
        self._paused: _Paused | None = None
        self._places: tuple[tuple[str, str], TextPlaces] | None = None  # for the texts of the shown take and its line
        session.playback.audio_shown.connect(self._show_audio)
        session.playback.player.started.connect(self._on_started)
        session.playback.player.moved.connect(self._on_moved)
        session.playback.player.ended.connect(self._on_ended)
        session.playback.meters_changed.connect(bar.show_meters)
        bar.seek_requested.connect(takes.play_from)
        bar.show_playing(session.playback.player.is_playing)

    # Commands.

    def toggle(self) -> None:
        """Pause or continue playback, or play the current line."""
        session, line = self._session, self._script.current_line
        if session.playback.player.is_playing:
            self._pause()
        elif session.playback.stop_and_cancel():  # a take that is about to start, or the pause between two lines
            return
        elif self._paused is not None and line is not None and self._paused.playing.line_id == line.id:
            paused, self._paused = self._paused, None
            if paused.is_script:
                session.playback.script_player.continue_after(paused.playing.line_id)
            session.playback.player.play(paused.playing, start_seconds=paused.seconds)
        elif line is not None and line.chosen_take is not None:
            session.playback.play_take(line.chosen_take)
        elif line is not None:
            self.status_message.emit(self.tr("This line has not been spoken yet. Press Ctrl+Enter to speak it."))

    def play_from_here(self) -> None:
        self._session.playback.stop_and_cancel()
        line = self._script.current_line
        if line is not None:
            self._session.playback.script_player.start(line.id, only=self._script.view.hidden_rows.shown)

    def play_character(self) -> None:
        """Play all lines of the current line's character, from the first one."""
        line = self._script.current_line
        if line is None or not line.character:
            self.status_message.emit(self.tr("This line has no character."))
            return
        key = name_key(line.character)
        self.play_lines(
            [each.id for each in self._session.editor.script.lines if name_key(each.character or "") == key]
        )

    def play_lines(self, line_ids: list[str]) -> None:
        """Play only these lines, which are in the order of the script."""
        self._session.playback.stop_and_cancel()
        self._session.playback.script_player.start(line_ids[0], only=frozenset(line_ids))

    def stop(self) -> None:
        """Stop playback; if nothing is playing, clear the queue."""
        self._forget_pause()
        if not self._session.playback.stop_and_cancel() and self._session.queue.clearable:
            self._session.queue.cancel_waiting()
            self.status_message.emit(self.tr("Queue cleared."))

    def step_line(self, step: int) -> None:
        """Go to the previous or next spoken line. If something is played, play that line instead."""
        session, current = self._session, self._script.current_line
        lines = [line for line in session.editor.script.lines if line.is_spoken or line is current]
        if current is None or current not in lines:
            return
        index = lines.index(current) + step
        if not 0 <= index < len(lines):
            return
        line = lines[index]
        is_script, is_playing = session.playback.script_player.is_active, session.playback.player.is_playing
        self._script.view.go_to(line.id)
        if is_script:
            session.playback.script_player.stop()
            session.playback.player.stop()
            session.playback.script_player.start(line.id)
        elif is_playing and line.chosen_take is not None:
            session.playback.play_take(line.chosen_take)

    @property
    def is_paused(self) -> bool:
        return self._paused is not None

    def _pause(self) -> None:
        """Stop playback and remember the position. Generation of a take continues."""
        session, playing = self._session, self._session.playback.player.now_playing
        assert playing is not None, "playback has not ended"
        seconds, is_script = session.playback.player.position_seconds, session.playback.script_player.is_active
        self._paused = _Paused(playing, seconds, is_script)
        session.playback.script_player.stop()
        session.playback.player.stop()
        if self._bar.sound is playing.audio:
            self._bar.show_position(seconds)

    def _forget_pause(self) -> None:
        if self._paused is not None:
            self._paused = None
            self._bar.show_position(None)

    # Events.

    def _show_audio(self, sound: StreamingAudio | None, line_id: str) -> None:
        script = self._session.editor.script
        row = script.index_of.get(line_id)
        is_other = sound is not self._bar.sound
        self._bar.show_sound(sound, *(() if row is None else (row + 1, script.lines[row].text)))
        self._show_check(sound)
        if is_other and self._paused is not None and self._paused.playing.audio is sound:
            self._bar.show_position(self._paused.seconds)

    def _show_check(self, sound: StreamingAudio | None) -> None:
        """Show the words and problems of the shown take, at their times in the audio with its edits."""
        take, edits = self._takes.shown
        if sound is None or take is None or take.check is None:
            self._bar.show_check((), ())
            return
        words = moved_words(take.check.words, edits)
        problems = [
            (edits.edited_seconds(problem.from_seconds), edits.edited_seconds(problem.to_seconds))
            for problem in take.check.problems
            if take.needs_review
        ]
        self._bar.show_check(words, problems)

    def _on_started(self) -> None:
        self._paused = None
        self._bar.show_playing(True)

    def _on_moved(self, seconds: float) -> None:
        heard = self._session.playback.player.now_playing
        if heard is not None and heard.audio is self._bar.sound:  # otherwise the bar shows another take
            self._bar.show_position(seconds)
            self._mark_spoken_word()
        self._bar.show_level(self._session.playback.player.level)

    def _on_ended(self) -> None:
        self._bar.show_playing(False)
        if self._paused is None:
            self._bar.show_position(None)
        self._mark_spoken_word()

    def _mark_spoken_word(self) -> None:
        """Mark the spoken word in the text of its line."""
        word, (take, _) = self._bar.words.spoken_word, self._takes.shown
        script = self._session.editor.script
        if word is None or take is None or take.line_id not in script.index_of:
            self._script.view.mark_spoken_word("", None)
            return
        texts = (take.parameters.text, script.line(take.line_id).text)
        if self._places is None or self._places[0] != texts:
            self._places = (texts, TextPlaces(*texts))
        place = self._places[1].range_of(word.text_start, word.text_end)
        self._script.view.mark_spoken_word(take.line_id, place)


def moved_words(words: Sequence[WordTime], edits: AudioEdits) -> list[WordTime]:
    """Return ``words`` at their times in the audio with ``edits``."""
    return [
        replace(
            word,
            from_seconds=edits.edited_seconds(word.from_seconds),
            to_seconds=edits.edited_seconds(word.to_seconds),
        )
        for word in words
    ]


class FocusKeyFilter(QObject):
    """Handles keys before the focused widget uses them.

    Esc stops playback, where it would otherwise close a text field, for example. Ctrl with a letter reaches the
    shortcuts of the window. Enter presses the focused button.
    Filters only the events of the focused widget: a filter on the application would receive every event.
    """

    def __init__(self, session: Session, stop: Callable[[], object], window: QWidget) -> None:
        """``stop`` stops playback of takes.

        Other players, such as the one of the voice cards, are children of ``window``.
        """
        super().__init__(window)
        self._session = session
        self._stop = stop
        self._window = window
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)
        self._on_focus_changed(None, application.focusWidget())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) or not isinstance(event, QKeyEvent):
            return False
        if event.type() == QEvent.Type.ShortcutOverride and hides_shortcut(watched, event):
            event.ignore()
            return True
        if event.type() == QEvent.Type.KeyPress and presses_button(watched, event):
            assert isinstance(watched, QPushButton)
            watched.click()
            return True
        if event.key() != Qt.Key.Key_Escape or not self._is_heard:
            return False
        event.accept()  # accepting the override turns the shortcut into a key press
        if event.type() == QEvent.Type.KeyPress:
            for player in self._other_players:
                player.stop()
            self._stop()
        return True

    @property
    def _other_players(self) -> list[AudioPlayer]:
        return self._window.findChildren(AudioPlayer)

    @property
    def _is_heard(self) -> bool:
        players = (self._session.playback.player, *self._other_players)
        return self._session.playback.script_player.is_active or any(player.is_playing for player in players)

    def _on_focus_changed(self, previous: QWidget | None, focus: QWidget | None) -> None:
        # No reference is kept: if it were the last one, the change of focus would destroy a window that Qt still uses.
        if previous is not None:
            previous.removeEventFilter(self)
        if focus is not None:
            focus.installEventFilter(self)
