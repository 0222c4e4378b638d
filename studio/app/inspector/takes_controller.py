"""Commands on the takes of the current line: choose, keep, compare, remove and restore."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from studio.app.playback.audio_player import NowPlaying
from studio.app.session import Session
from studio.audio.edits import AudioEdits
from studio.audio.player import StreamingAudio
from studio.errors import StudioError
from studio.project.changes import Change, ChooseTake, CompositeChange, EditTakes, RemoveTakes, RestoreTakes
from studio.project.lines import Line
from studio.project.takes import Take


class TakesController(QObject):
    """Runs the commands, and shows the take that is being played, or else the chosen one, in the waveform panel."""

    status_message = Signal(str)  # for the status bar

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._line: Line | None = None
        self._shown_take: str | None = None
        self._shown_edits: AudioEdits | None = None
        self._last_shown: tuple[StreamingAudio | None, str] = (None, "")
        self._chosen_before: dict[str, str] = {}
        self._trash = session.removed_takes
        session.editor.project_replaced.connect(self._show_nothing)
        session.playback.player.started.connect(self._on_started)
        session.playback.player.ended.connect(self._on_ended)

    @property
    def takes(self) -> tuple[Take, ...]:
        """Takes of the current line, by number."""
        return self._session.editor.project.takes_of(self._line.id) if self._line else ()

    @property
    def removed_takes(self) -> tuple[Take, ...]:
        """Takes removed from the current line since the script was opened, the latest first."""
        return self._trash.takes_of(self._line.id) if self._line else ()

    @property
    def text(self) -> str:
        """Text of the current line."""
        return self._line.text if self._line else ""

    @property
    def chosen(self) -> Take | None:
        wanted = self._line.chosen_take if self._line else None
        return next((take for take in self.takes if take.id == wanted), None)

    @property
    def shown(self) -> tuple[Take | None, AudioEdits]:
        """The take in the transport bar, and the edits of the audio that is shown there."""
        script = self._session.editor.script
        take_id = self._shown_take
        take = script.take(take_id) if take_id is not None and take_id in script.line_of_take else None
        return take, self._shown_edits or AudioEdits()

    def take(self, take_id: str) -> Take | None:
        """Return a take of the current line."""
        return next((take for take in self.takes if take.id == take_id), None)

    @property
    def is_kept(self) -> bool:
        return self.chosen is not None and self.chosen.is_kept

    def show_line(self, line: Line | None) -> None:
        is_other = (line.id if line else None) != (self._line.id if self._line else None)
        self._line = line
        playing = self._now_playing
        if playing is not None and (
            (line is not None and playing.line_id == line.id) or (not is_other and playing.take_id == self._shown_take)
        ):
            self._shown_take, self._shown_edits = playing.take_id, playing.edits
            self._show_audio(playing.audio, playing.line_id)
            return
        take_id = line.chosen_take if line else None
        edits = self._session.editor.project.edits_of(self.chosen) if self.chosen is not None else None
        is_known = take_id == self._shown_take and (edits is None or edits == self._shown_edits)
        if not is_known or (line is not None and take_id is None):
            self._shown_take, self._shown_edits = take_id, edits
            self._session.bridge.run(self._show(line.id if line else "", take_id))
        else:  # the number or text of the line may have changed
            self._session.playback.audio_shown.emit(*self._last_shown)

    def _show_nothing(self) -> None:
        self._show_audio(None, "")

    def _show_audio(self, sound: StreamingAudio | None, line_id: str) -> None:
        self._last_shown = (sound, line_id)
        self._session.playback.audio_shown.emit(sound, line_id)

    def _on_started(self, playing: NowPlaying) -> None:
        self._shown_take, self._shown_edits = playing.take_id, playing.edits
        self._show_audio(playing.audio, playing.line_id)

    def _on_ended(self) -> None:
        """Show the chosen take again, unless the displayed take is still being generated."""
        is_being_generated = any(
            job.synthesis is not None and job.synthesis.take_id == self._shown_take
            for job in self._session.queue.running
        )
        if not is_being_generated:
            self.show_line(self._line)

    @property
    def _now_playing(self) -> NowPlaying | None:
        return self._session.playback.player.now_playing if self._session.playback.player.is_playing else None

    async def _show(self, line_id: str, take_id: str | None) -> None:
        try:
            sound = await self._session.playback.read_audio(take_id) if take_id is not None else None
        except StudioError:
            if take_id == self._shown_take:
                self._show_audio(None, line_id)
            raise
        is_now_playing = self._now_playing is not None and self._now_playing.take_id == take_id
        if take_id == self._shown_take and not is_now_playing:
            self._show_audio(sound, line_id)

    # Commands.

    def choose(self, take_id: str, line_id: str | None = None) -> None:
        """Choose the take that is played and exported for a line, by default the current one.

        If a take was playing, play this one instead. A locked line keeps its take.
        """
        line = self._line if line_id is None else self._session.editor.script.line(line_id)
        if line is None or line.chosen_take == take_id or self._is_locked(line):
            return
        if line.chosen_take is not None:
            self._chosen_before[line.id] = line.chosen_take
        is_playing_other = self._now_playing is not None and self._now_playing.take_id != take_id
        was_now_playing = is_playing_other and self._session.queue.current is None
        self._session.editor.push(ChooseTake(line.id, take_id), self.tr("Choose take"))
        if was_now_playing:
            self._session.playback.play_take(take_id)

    def step(self, step: int) -> None:
        """Choose the previous or next take, cyclically."""
        takes, chosen = self.takes, self.chosen
        if takes:
            index = takes.index(chosen) if chosen in takes else -1
            self.choose(takes[(index + step) % len(takes)].id)

    def compare(self) -> None:
        """Switch to the take that was chosen before, and play it from the beginning."""
        line, takes = self._line, self.takes
        if line is None or len(takes) < 2:
            return
        before = self._chosen_before.get(line.id)
        ids = [take.id for take in takes]
        if before not in ids or before == line.chosen_take:
            index = ids.index(line.chosen_take) if line.chosen_take in ids else 0
            before = ids[index - 1]
        self._session.playback.player.stop()
        self.choose(before)
        self._session.playback.play_take(before)

    def takes_to_compare(self, selected: Sequence[str]) -> list[Take]:
        """Return the ``selected`` takes if there are several, otherwise all; at most the ``MAX_TAKES`` newest."""
        from studio.app.playback.comparison import MAX_TAKES  # noqa: PLC0415 - after the first paint

        chosen = [take for take in self.takes if take.id in selected]
        return list(chosen if len(chosen) > 1 else self.takes)[-MAX_TAKES:]

    def toggle_play(self, take_id: str) -> None:
        """Play a take, or stop if it is playing."""
        is_playing = self._now_playing is not None and self._now_playing.take_id == take_id
        if is_playing:
            self._session.playback.stop_and_cancel()
        else:
            self._session.playback.play_take(take_id)

    def toggle_kept(self) -> None:
        if self.chosen is not None:
            self.set_kept(self.chosen.id, is_kept=not self.chosen.is_kept)

    def set_kept(self, take_id: str, *, is_kept: bool) -> None:
        title = self.tr("Protect take") if is_kept else self.tr("Release take")
        self._session.editor.push(EditTakes({take_id: {"is_kept": is_kept}}), title)

    def remove_chosen(self) -> None:
        if self.chosen is not None:
            self.remove(self.chosen.id)

    def remove(self, take_id: str) -> None:
        """Remove a take of the current line, unless the line is locked."""
        take = self.take(take_id)
        if take is not None and self._line is not None and not self._is_locked(self._line):
            self._session.playback.player.stop()
            self._session.editor.push(RemoveTakes((take.id,)), self.tr("Remove take"))
            self.status_message.emit(
                self.tr("Take {number} removed. Restore it from the Takes menu.").format(number=take.number)
            )

    def restore_last(self) -> None:
        """Restore the take last removed from the current line."""
        for take in self.removed_takes[:1]:
            self.restore(take)

    def restore(self, take: Take) -> None:
        """Restore a removed take of the current line and choose it, unless the line is locked."""
        if self._line is not None and take in self.removed_takes:
            change: Change = RestoreTakes((take,), {})
            if not self._line.is_locked:
                change = CompositeChange((change, ChooseTake(take.line_id, take.id)))
            self._session.editor.push(change, self.tr("Restore take"))

    def _is_locked(self, line: Line) -> bool:
        """Return whether the line is locked, and show a message if it is."""
        if line.is_locked:
            self.status_message.emit(self.tr("This line is locked. Press Ctrl+L to unlock it."))
        return line.is_locked

    def play_from(self, seconds: float) -> None:
        """Play the displayed take from ``seconds``; no effect while it is being generated."""
        playing = self._session.playback.player.now_playing
        if playing is not None and playing.take_id == self._shown_take:
            if playing.audio.is_complete:
                self._session.playback.player.play(playing, start_seconds=seconds)
        elif self._shown_take is not None:
            self._session.playback.play_take(self._shown_take, start_seconds=seconds)
