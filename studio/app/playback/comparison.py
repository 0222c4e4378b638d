"""Blind comparison of takes of one line at matched loudness."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.background import run_in_thread
from studio.app.playback.ab_source import ABSource, ABTrack
from studio.audio.output_device import AudioOutputs, FillCallback, OutputStream
from studio.audio.portaudio import LATENCY_SECONDS
from studio.audio.waveform import Waveform
from studio.errors import NoAudioDevice, StudioError
from studio.export.loudness import loudness_lufs
from studio.project.takes import Take

# Each take has one letter, which is also its key.
LETTERS = "ABCDEFGHI"
MAX_TAKES = len(LETTERS)
# A take that is quieter than another by more than this has failed; the others are not attenuated to its level.
_MAX_ATTENUATION_DB = 12.0
_TICK_MILLISECONDS = 40
_MAX_FADE_SECONDS = 0.3

WaveformOf = Callable[[Take], Waveform]
Run = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


@dataclass(frozen=True, slots=True)
class ComparisonEntry:
    """A take in the order of the comparison."""

    letter: str
    take: Take
    gain_db: float  # attenuation to the loudness of the quietest take, at most 0


def matching_gains(loudnesses: list[float | None]) -> list[float]:
    """Return the gains in dB that lower each take to the loudness of the quietest one.

    ``loudnesses`` are in LUFS, None for silence. No take is attenuated by more than ``_MAX_ATTENUATION_DB``.
    """
    known = [each for each in loudnesses if each is not None]
    target = max(min(known), max(known) - _MAX_ATTENUATION_DB) if known else 0.0
    return [0.0 if each is None else min(0.0, target - each) for each in loudnesses]


class Comparison(QObject):
    """One comparison, from ``open`` to ``close``. Belongs to the GUI thread and does not change the takes."""

    ready = Signal()
    changed = Signal()  # another take became current, or playback started or paused
    moved = Signal(float)  # playback position, 0..1
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        takes: list[Take],
        synthesize_waveform: WaveformOf,
        outputs: AudioOutputs,
        run: Run,
        parent: QObject | None = None,
        *,
        device: str | None = None,
        is_blind: bool = True,
        random: np.random.Generator | None = None,
    ) -> None:
        """``synthesize_waveform`` is called on another thread, and ``run`` starts a coroutine."""
        super().__init__(parent)
        assert 2 <= len(takes) <= MAX_TAKES, "one letter per take"
        self._takes = sorted(takes, key=lambda take: take.number)
        self._waveform_of = synthesize_waveform
        self._outputs = outputs
        self._device = device
        self._run = run
        self._random = random or np.random.default_rng()
        self._is_blind = is_blind
        self._waveforms: dict[str, Waveform] = {}
        self._gains: dict[str, float] = {}
        self._output: OutputStream | None = None
        self._is_opening = False
        self._fading: asyncio.Task[None] | None = None
        self._is_closed = False
        self._played_ids: set[str] = set()
        self._source = ABSource()
        self._shown: tuple[int, bool] | None = None
        self._tick = QTimer(self, interval=_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._sort_takes()

    # State.

    @property
    def entries(self) -> list[ComparisonEntry]:
        return [
            ComparisonEntry(letter, take, self._gains.get(take.id, 0.0))
            for letter, take in zip(LETTERS, self._takes, strict=False)
        ]

    @property
    def is_ready(self) -> bool:
        return bool(self._gains)

    @property
    def is_blind(self) -> bool:
        return self._is_blind

    @property
    def is_playing(self) -> bool:
        return self._source.is_playing

    @property
    def current(self) -> int:
        """Index of the current take in ``entries``."""
        return self._source.index

    def was_played(self, index: int) -> bool:
        return self._takes[index].id in self._played_ids

    @property
    def largest_attenuation_db(self) -> float:
        """Attenuation of the loudest take, in dB."""
        return -min(self._gains.values(), default=0.0)

    # Commands.

    def open(self) -> None:
        """Read and measure the takes, then play the first."""
        self._run(self._open())

    def switch_to(self, index: int) -> None:
        """Play another take from the same position."""
        if self.is_ready and index < len(self._takes):
            self._source.switch(index)
            self._play()

    def switch_to_next(self) -> None:
        self.switch_to((self.current + 1) % len(self._takes))

    def play_in_turn(self) -> None:
        """Play all takes from beginning to end."""
        if self.is_ready:
            self._source.play_in_turn()
            self._play()

    def toggle(self) -> None:
        """Pause or resume."""
        if self.is_playing:
            self.pause()
        elif self.is_ready:
            self._play()

    def pause(self) -> None:
        self._source.pause()
        self._emit_changed()

    def set_blind(self, is_blind: bool) -> None:
        """Switch blind mode: shuffle or sort the takes, and restart playback so that it does not reveal them."""
        if is_blind == self._is_blind:
            return
        self._is_blind = is_blind
        self._played_ids.clear()
        self._sort_takes()
        was_playing = self.is_playing
        self._fading = self._run(_fade_out(self._output, self._source, self._fading))
        self._output, self._source = None, ABSource()
        if was_playing:
            self._play()
        self._emit_changed()

    async def close(self) -> None:
        """Fade out and close the device."""
        self._is_closed = True
        self._tick.stop()
        output, self._output = self._output, None
        await _fade_out(output, self._source, self._fading)

    def _sort_takes(self) -> None:
        self._takes.sort(key=lambda take: take.number)
        if self._is_blind:
            self._takes = [self._takes[place] for place in self._random.permutation(len(self._takes))]

    async def _open(self) -> None:
        try:
            self._waveforms = await run_in_thread(lambda: {take.id: self._waveform_of(take) for take in self._takes})
            gains = await run_in_thread(_gains_of, [self._waveforms[take.id] for take in self._takes])
        except StudioError as error:
            self._report(error)
            return
        if not self._is_closed:
            self._gains = {take.id: gain for take, gain in zip(self._takes, gains, strict=True)}
            self.ready.emit()
            self._play()

    def _play(self) -> None:
        self._source.is_playing = True
        self._tick.start()
        self._emit_changed()
        is_open = self._output is not None and self._output.is_running
        if not is_open and not self._is_opening:
            self._is_opening = True
            self._run(self._open_device())

    async def _open_device(self) -> None:
        """Open the device. The source keeps the requests that arrive before it is open."""
        if self._fading is not None:
            await self._fading  # some devices cannot be opened twice at the same time
        previous, self._output = self._output, None
        source = self._source
        rate = max(each.sample_rate for each in self._waveforms.values())
        try:
            if previous is not None:
                await run_in_thread(previous.close)
            output = await run_in_thread(self._open_output, rate, source.fill)
            tracks = await run_in_thread(self._tracks, output.sample_rate)
        except NoAudioDevice as error:
            self._report(error)
            return
        finally:
            self._is_opening = False
        if source is self._source and not self._is_closed:
            self._output = output
            source.load(tracks, output.sample_rate)
            return
        await run_in_thread(output.close)
        if self.is_playing and not self._is_closed:
            self._play()

    def _open_output(self, rate: int, fill: FillCallback) -> OutputStream:
        """Open the selected device, or the system default if that is disconnected."""
        try:
            return self._outputs.open(self._device, rate, fill, LATENCY_SECONDS)
        except NoAudioDevice:
            self._outputs.rescan()
            return self._outputs.open(None, rate, fill, LATENCY_SECONDS)

    def _tracks(self, rate: int) -> tuple[ABTrack, ...]:
        tracks = []
        for take in self._takes:
            samples = self._waveforms[take.id].resampled(rate).samples
            tracks.append(ABTrack.of(samples * np.float32(10.0 ** (self._gains[take.id] / 20.0))))
        return tuple(tracks)

    def _report(self, error: StudioError) -> None:
        """Pause and report ``error``, unless the comparison was closed, and possibly deleted, in the meantime."""
        if not self._is_closed:
            self.pause()
            self.failed.emit(error)

    def _on_tick(self) -> None:
        if self.is_playing and self._output is not None and not self._output.is_running:
            self._report(
                NoAudioDevice(
                    "The output device was disconnected during playback.", remedy="Connect it and play again."
                )
            )
        if self.is_playing and self._output is not None:
            self._played_ids.add(self._takes[self.current].id)
        if not self.is_playing:
            self._tick.stop()
        self.moved.emit(self._source.progress)
        self._emit_changed()

    def _emit_changed(self) -> None:
        shown = (self.current, self.is_playing)
        if shown != self._shown:
            self._shown = shown
            self.changed.emit()


def _gains_of(waveforms: list[Waveform]) -> list[float]:
    return matching_gains([loudness_lufs(waveform.samples, waveform.sample_rate) for waveform in waveforms])


async def _fade_out(output: OutputStream | None, source: ABSource, before: asyncio.Task[None] | None) -> None:
    """Fade out and close ``output``, after the earlier fade ``before``, because a device in use cannot be reopened."""
    source.pause()
    if before is not None:
        await before
    if output is None:
        return
    loop = asyncio.get_event_loop()
    end = loop.time() + _MAX_FADE_SECONDS
    while output.is_running and not source.is_silent and loop.time() < end:
        await asyncio.sleep(0.005)
    # The fade is queued in the device; closing the device before the fade has been played causes a click.
    await asyncio.sleep(min(output.latency_seconds, _MAX_FADE_SECONDS))
    await run_in_thread(output.close)
