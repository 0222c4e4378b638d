"""Takes of one line against each other, equally loud, with their names hidden until one is preferred."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.playback.ab_source import ABSource, ABTrack
from studio.audio.output_device import AudioOutputs, FillCallback, OutputStream
from studio.audio.portaudio import LATENCY_SECONDS
from studio.audio.waveform import Waveform
from studio.errors import NoAudioDevice, StudioError
from studio.project.takes import Take

# One letter each, and one key.
LETTERS = "ABCDEFGHI"
MOST_TAKES = len(LETTERS)
# What is quieter still is a failed take: the others must not sink with it.
_MOST_DECIBELS = 12.0
_TICK_MILLISECONDS = 40
_LONGEST_FADE_SECONDS = 0.3

SoundOf = Callable[[Take], Waveform]
Run = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


@dataclass(frozen=True, slots=True)
class ComparisonEntry:
    """A take under its letter. ``gain_db`` (never above 0) makes it as loud as the quietest."""

    letter: str
    take: Take
    gain_db: float


def matching_gains(loudnesses: list[float | None]) -> list[float]:
    """In dB, for loudnesses in LUFS (None is silence): down to the quietest, by ``_MOST_DECIBELS`` at most."""
    known = [each for each in loudnesses if each is not None]
    target = max(min(known), max(known) - _MOST_DECIBELS) if known else 0.0
    return [0.0 if each is None else min(0.0, target - each) for each in loudnesses]


class Comparison(QObject):
    """Lasts from ``open`` to ``close``; belongs to the window's thread. Nothing here changes a take."""

    ready = Signal()
    changed = Signal()  # which one is heard, whether anything is
    moved = Signal(float)  # how far it has been read, 0..1
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        takes: list[Take],
        sound_of: SoundOf,
        outputs: AudioOutputs,
        run: Run,
        parent: QObject | None = None,
        *,
        device: str | None = None,
        is_blind: bool = True,
        job: np.random.Generator | None = None,
    ) -> None:
        """``sound_of`` is called on another thread; ``run`` lets work go on beside the window."""
        super().__init__(parent)
        assert 2 <= len(takes) <= MOST_TAKES, "one letter a take"
        self._takes = sorted(takes, key=lambda take: take.number)
        self._sound_of = sound_of
        self._outputs = outputs
        self._device = device
        self._run = run
        self._order = job or np.random.default_rng()
        self._is_blind = is_blind
        self._sounds: dict[str, Waveform] = {}
        self._gains: dict[str, float] = {}
        self._output: OutputStream | None = None
        self._is_opening = False
        self._fading: asyncio.Task[None] | None = None
        self._is_closed = False
        self._heard_ids: set[str] = set()
        self._sound = ABSource()
        self._shown: tuple[int, bool] | None = None
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._put_in_order()

    # What is going on.

    @property
    def contenders(self) -> list[ComparisonEntry]:
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
        return self._sound.is_playing

    @property
    def current(self) -> int:
        """Which of ``contenders`` is heard, or would be."""
        return self._sound.index

    def was_heard(self, index: int) -> bool:
        return self._takes[index].id in self._heard_ids

    @property
    def most_turned_down_db(self) -> float:
        """By how much the loudest is played quieter than it is."""
        return -min(self._gains.values(), default=0.0)

    # What can be asked for.

    def open(self) -> None:
        """Reads and measures the takes, then plays the first."""
        self._run(self._open())

    def hear(self, index: int) -> None:
        """That one, at the place where the other is."""
        if self.is_ready and index < len(self._takes):
            self._sound.switch(index)
            self._play()

    def hear_next(self) -> None:
        self.hear((self.current + 1) % len(self._takes))

    def hear_in_turn(self) -> None:
        """Each one from beginning to end."""
        if self.is_ready:
            self._sound.play_in_turn()
            self._play()

    def toggle(self) -> None:
        """Silence, or on from there."""
        if self.is_playing:
            self.pause()
        elif self.is_ready:
            self._play()

    def pause(self) -> None:
        self._sound.pause()
        self._tell()

    def set_blind(self, is_blind: bool) -> None:
        """Hidden names are dealt anew, and nothing goes on sounding that would tell which is which."""
        if is_blind == self._is_blind:
            return
        self._is_blind = is_blind
        self._heard_ids.clear()
        self._put_in_order()
        was_playing = self.is_playing
        self._fading = self._run(_fade_out(self._let_go_of_device(), self._sound, self._fading))
        self._sound = ABSource()
        if was_playing:
            self._play()
        self._tell()

    async def close(self) -> None:
        """Silence by a short fade, then the device is given back."""
        self._is_closed = True
        self._tick.stop()
        await _fade_out(self._let_go_of_device(), self._sound, self._fading)

    # Inside.

    def _put_in_order(self) -> None:
        self._takes.sort(key=lambda take: take.number)
        if self._is_blind:
            self._takes = [self._takes[place] for place in self._order.permutation(len(self._takes))]

    async def _open(self) -> None:
        try:
            self._sounds = await asyncio.to_thread(lambda: {take.id: self._sound_of(take) for take in self._takes})
            gains = await asyncio.to_thread(_gains_of, [self._sounds[take.id] for take in self._takes])
        except StudioError as error:
            self.failed.emit(error)
            return
        if not self._is_closed:
            self._gains = {take.id: gain for take, gain in zip(self._takes, gains, strict=True)}
            self.ready.emit()
            self._play()

    def _play(self) -> None:
        self._sound.play()
        self._tick.start()
        self._tell()
        is_there = self._output is not None and self._output.is_running
        if not is_there and not self._is_opening:
            self._is_opening = True
            self._run(self._open_device())

    async def _open_device(self) -> None:
        """What is asked for meanwhile waits in the sound."""
        if self._fading is not None:
            await self._fading  # some devices can be had once only
        before, sound = self._let_go_of_device(), self._sound
        rate = max(each.sample_rate for each in self._sounds.values())
        try:
            if before is not None:
                await asyncio.to_thread(before.close)
            output = await asyncio.to_thread(self._open_some_device, rate, sound.fill)
            readings = await asyncio.to_thread(self._readings, output.sample_rate)
        except NoAudioDevice as error:
            self.pause()
            self.failed.emit(error)
            return
        finally:
            self._is_opening = False
        if sound is self._sound and not self._is_closed:
            self._output = output
            sound.load(readings, output.sample_rate)
            return
        await asyncio.to_thread(output.close)
        if self.is_playing and not self._is_closed:
            self._play()

    def _open_some_device(self, rate: int, fill: FillCallback) -> OutputStream:
        """The chosen one; the system's own where that is gone."""
        try:
            return self._outputs.open(self._device, rate, fill, LATENCY_SECONDS)
        except NoAudioDevice:
            self._outputs.rescan()
            return self._outputs.open(None, rate, fill, LATENCY_SECONDS)

    def _readings(self, rate: int) -> tuple[ABTrack, ...]:
        readings = []
        for take in self._takes:
            samples = self._sounds[take.id].resampled(rate).samples
            readings.append(ABTrack.of(samples * np.float32(10.0 ** (self._gains[take.id] / 20.0))))
        return tuple(readings)

    def _let_go_of_device(self) -> OutputStream | None:
        output, self._output = self._output, None
        return output

    def _on_tick(self) -> None:
        if self.is_playing and self._output is not None and not self._output.is_running:
            self.pause()
            self.failed.emit(
                NoAudioDevice("The sound device was disconnected during playback.", remedy="Connect it and play again.")
            )
        if self.is_playing and self._output is not None:
            self._heard_ids.add(self._takes[self.current].id)
        if not self.is_playing:
            self._tick.stop()
        self.moved.emit(self._sound.share)
        self._tell()

    def _tell(self) -> None:
        shown = (self.current, self.is_playing)
        if shown != self._shown:
            self._shown = shown
            self.changed.emit()


def _gains_of(sounds: list[Waveform]) -> list[float]:
    from studio.export.loudness import loudness_lufs  # noqa: PLC0415 - its filters take a moment to import

    return matching_gains([loudness_lufs(sound.samples, sound.sample_rate) for sound in sounds])


async def _fade_out(output: OutputStream | None, sound: ABSource, before: asyncio.Task[None] | None) -> None:
    """Is over when the fade ``before`` is over as well: a device that is still held cannot be opened again."""
    sound.pause()
    if before is not None:
        await before
    if output is None:
        return
    loop = asyncio.get_event_loop()
    end = loop.time() + _LONGEST_FADE_SECONDS
    while output.is_running and not sound.is_silent and loop.time() < end:
        await asyncio.sleep(0.005)
    # The fade is queued in the device and must be heard, or the end is a click.
    await asyncio.sleep(min(output.latency_seconds, _LONGEST_FADE_SECONDS))
    await asyncio.to_thread(output.close)
