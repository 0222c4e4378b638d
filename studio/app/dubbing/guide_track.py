"""Guide track of a dubbing: the sound of the video, decoded in the background and mixed with the takes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_background, run_in_thread
from studio.app.playback.audio_player import NowPlaying
from studio.app.session import Session
from studio.app.widgets.peaks import Peaks
from studio.audio.files import read_audio
from studio.audio.player import StreamingAudio
from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.project.project import Project

RATE = 24_000  # enough to judge timing; an hour takes 350 MB of memory
_BLOCK_SECONDS = 2.0
_AHEAD_SECONDS = 4.0  # duration mixed ahead of playback, which is also the delay of a volume change
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class LoadedGuide:
    """A decoded guide track."""

    path: Path
    sound: Waveform
    peaks: Peaks


def load_guide(path: Path) -> LoadedGuide:
    """Decode ``path``. This takes seconds: call it on a background thread. Raise ``UnreadableClip``."""
    sound = read_audio(path, highest_rate=RATE).resampled(RATE)
    return LoadedGuide(path, sound, Peaks(sound.sample_rate, sound.samples))


def mix_block(project: Project, guide: Waveform | None, start: int, num_samples: int, guide_gain: float) -> Samples:
    """Yield the mix of takes at their times and guide track from sample ``start`` at ``RATE``. Reads files."""
    block = np.zeros(num_samples, np.float32)
    if guide is not None:
        part = guide.samples[start : start + num_samples]
        block[: len(part)] += np.float32(guide_gain) * part
    for line in project.lines:
        if line.slot is None or line.chosen_take is None or not line.is_spoken:
            continue
        offset = round(line.slot.start_seconds * RATE) - start
        take = project.take(line.chosen_take)
        if offset >= num_samples or offset + project.seconds_of(take) * RATE + 1 < 0:
            continue
        samples = Waveform(project.samples_of(take.id), take.sample_rate).resampled(RATE).samples
        first, last = max(0, offset), min(num_samples, offset + len(samples))
        if first < last:
            block[first:last] += samples[first - offset : last - offset]
    return np.clip(block, -1.0, 1.0)


class GuideTrack(QObject):
    """Loads the project's guide track, and plays it together with the takes."""

    loaded = Signal(object)  # LoadedGuide, or None
    failed = Signal(object)  # StudioError
    playing_changed = Signal(bool)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._path: str | None = None
        self.guide: LoadedGuide | None = None
        self.gain = 0.5
        self.start_seconds = 0.0  # start of the mix that is playing
        self._audio: StreamingAudio | None = None
        session.playback.player.ended.connect(self._on_ended)

    @property
    def is_playing(self) -> bool:
        playing = self._session.playback.player.now_playing
        is_ours = self._audio is not None and playing is not None and playing.audio is self._audio
        return is_ours and self._session.playback.player.is_playing

    def use(self, path: str | None) -> None:
        """Load the file at ``path`` in the background, unless it is loaded."""
        if path == self._path:
            return
        self._path, self.guide = path, None
        self.loaded.emit(None)
        if path is not None:
            wanted = Path(path)
            run_in_background(self, lambda: load_guide(wanted), done=self._on_loaded, failed=self._on_failed)

    def play(self, start_seconds: float, end_seconds: float) -> None:
        """Play the takes at their times, and the guide track."""
        self._session.playback.script_player.stop()
        self._session.playback.player.stop()
        self.start_seconds = start_seconds
        self._session.bridge.run(
            self._play(StreamingAudio(RATE), round(start_seconds * RATE), round(end_seconds * RATE))
        )

    async def _play(self, audio: StreamingAudio, position: int, end: int) -> None:
        transport = self._session.playback.player
        self._audio = audio
        project = self._session.editor.project
        try:
            while self._audio is audio and position < end:
                num_samples = min(round(_BLOCK_SECONDS * RATE), end - position)
                sound = self.guide.sound if self.guide is not None else None
                block = await run_in_thread(mix_block, project, sound, position, num_samples, self.gain)
                is_first = audio.num_samples == 0
                audio.append(block)
                position += num_samples
                if is_first and self._audio is audio:
                    transport.play(NowPlaying("", "", audio))
                    self.playing_changed.emit(True)
                while self.is_playing and audio.seconds - transport.position_seconds > _AHEAD_SECONDS:
                    await asyncio.sleep(_POLL_SECONDS)
                if not self.is_playing:
                    return
        except StudioError as error:
            self.failed.emit(error)
        finally:
            audio.complete()

    def _on_loaded(self, guide: LoadedGuide) -> None:
        if str(guide.path) == self._path:
            self.guide = guide
            self.loaded.emit(guide)

    def _on_failed(self, error: StudioError) -> None:
        self.failed.emit(error)

    def _on_ended(self) -> None:
        if self._audio is not None and not self.is_playing:
            self._audio = None
            self.playing_changed.emit(False)
