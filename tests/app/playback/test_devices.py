"""A loudspeaker that vanishes pauses play with a sentence, and it goes on elsewhere; none at all loses no take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from heart import robbed_seconds
from sound_card import SoundCard
from window_bench import Bench, CardOutputs

from studio.app.playback.playback import Playback, PlaybackEnd
from studio.app.playback.streaming_audio import StreamingAudio
from studio.app.playback.transport import NowPlaying
from studio.app.voices.clip_player import ClipPlayer
from studio.audio.output_device import FillCallback, OutputStream
from studio.audio.waveform import Waveform
from studio.errors import NoAudioDevice, StudioError
from studio.settings import OUTPUT_DEVICE

RATE = 24_000
SOUND = np.linspace(0.1, 0.9, RATE, dtype=np.float32)  # every sample is another: what is heard tells where it was


class Listener:
    def __init__(self) -> None:
        self.lost: list[StudioError] = []
        self.end: PlaybackEnd | None = None
        self.over = threading.Event()

    def on_device_lost(self, playback: Playback, error: StudioError) -> None:
        self.lost.append(error)

    def on_end(self, playback: Playback, end: PlaybackEnd) -> None:
        self.end = end
        self.over.set()


def play(sound: StreamingAudio, outputs: Any, **options: Any) -> tuple[Playback, Listener]:
    listener = Listener()
    playback = Playback(sound, outputs, on_device_lost=listener.on_device_lost, on_end=listener.on_end, **options)
    playback.allow_start()
    return playback, listener


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_play_goes_on_where_it_was_on_another_device() -> None:
    headset, default = SoundCard(vanishes_after=0.3), SoundCard()
    outputs = CardOutputs(default, headset=headset)
    playback, listener = play(StreamingAudio.of(SOUND, RATE), outputs, device="headset")
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.FINISHED
    assert "vanished" in listener.lost[0].message
    assert outputs.num_looks == 1
    heard = np.concatenate([headset.heard, default.heard])
    assert 0 < len(headset.heard) < len(SOUND)
    np.testing.assert_array_equal(heard, SOUND)
    assert playback.position_seconds == 1.0


def test_a_device_that_is_not_connected_any_more_is_replaced_at_once() -> None:
    default = SoundCard()
    _, listener = play(StreamingAudio.of(SOUND[:2400], RATE), Unplugged(default), device="old headset")
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.FINISHED
    assert len(listener.lost) == 1
    np.testing.assert_array_equal(default.heard, SOUND[:2400])


class Unplugged(CardOutputs):
    """All devices but the default one."""

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        if device is not None:
            raise NoAudioDevice("No sound card can be used here.", remedy="Connect loudspeakers.")
        return super().open(device, sample_rate, fill, buffer_seconds)


class Nothing(CardOutputs):
    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        raise NoAudioDevice("No sound card can be used here.", remedy="Connect loudspeakers.")


def test_without_any_device_play_ends_with_a_sentence() -> None:
    _, listener = play(StreamingAudio.of(SOUND, RATE), Nothing(SoundCard()))
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.NO_DEVICE
    assert listener.lost


def test_a_device_that_runs_dry_whatever_it_holds_is_given_up() -> None:
    card = SoundCard(runs_dry_below=float("inf"))
    _, listener = play(StreamingAudio.of(np.tile(SOUND, 30), RATE), CardOutputs(card))
    assert listener.over.wait(30)
    assert listener.end is PlaybackEnd.NO_DEVICE
    assert "runs dry" in listener.lost[-1].message
    assert card.num_opened <= 4 + 4


def test_the_window_tells_once_that_the_device_is_given_more_sound_ahead(
    make_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    card = SoundCard(runs_dry_below=0.5)
    bench: Bench = make_bench(outputs=CardOutputs(card))
    bench.add_voice()
    window = bench.open_window()
    hints: list[str] = []
    monkeypatch.setattr(window.notices, "show_hint", lambda words, **_: hints.append(words))
    for _ in range(2):
        window.script.set_field("text", " ".join(["word"] * 12), "Edit")
        bench.trigger("speak.line")
        bench.until(lambda: bench.session.transport.is_playing)
        bench.until(lambda: not bench.session.transport.is_playing)
    assert card.buffers == [0.15, 0.3, 0.6, 0.6], "the second sound begins with what the first one needed"
    assert hints == ["The sound device ran dry several times. It is given more sound ahead now."]


def test_stop_returns_at_once_and_is_silence() -> None:
    card = SoundCard()
    playback, listener = play(StreamingAudio.of(np.tile(SOUND, 5), RATE), CardOutputs(card))
    time.sleep(0.3)
    began, robbed = time.perf_counter(), robbed_seconds()
    playback.stop()
    assert time.perf_counter() - began - (robbed_seconds() - robbed) < 0.2
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.STOPPED
    assert len(card.heard) < RATE


def test_sound_is_heard_while_it_grows() -> None:
    card, sound = SoundCard(), StreamingAudio(RATE)
    _, listener = play(sound, CardOutputs(card))
    for piece in np.array_split(SOUND, 10):
        sound.append(piece)
        time.sleep(0.02)
    sound.complete()
    assert listener.over.wait(60)
    np.testing.assert_array_equal(card.heard, SOUND)


def test_play_begins_in_the_middle_where_somebody_pointed() -> None:
    card = SoundCard()
    _, listener = play(StreamingAudio.of(SOUND, RATE), CardOutputs(card), start_sample=RATE // 2)
    assert listener.over.wait(60)
    np.testing.assert_array_equal(card.heard, SOUND[RATE // 2 :])


def test_the_window_tells_and_the_take_is_kept_where_nothing_can_be_heard(make_bench: Callable[..., Any]) -> None:
    bench: Bench = make_bench(outputs=Nothing(SoundCard()))
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "one two three", "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: bench.lines[0].chosen_take is not None and not bench.session.transport.is_playing)
    bench.until(lambda: "sound" in window.notices.words)
    (take,) = bench.session.editor.project.takes_of(bench.lines[0].id)
    assert take.is_complete


def test_another_device_is_taken_up_while_it_plays(make_bench: Callable[..., Any]) -> None:
    default, headset = SoundCard(), SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(default, headset=headset))
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", " ".join(["word"] * 15), "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: bench.session.transport.position_seconds > 0.2)
    bench.settings[OUTPUT_DEVICE] = "headset"
    bench.until(lambda: len(headset.heard) > 0)
    bench.until(lambda: not bench.session.transport.is_playing)
    assert len(default.heard) < 15 * 2_400


def test_the_window_tells_once_that_another_device_is_played_on(
    make_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = Unplugged(SoundCard())
    bench: Bench = make_bench(outputs=outputs)
    bench.add_voice()
    take = bench.add_take(SOUND[:2400], sample_rate=RATE)
    window = bench.open_window()
    bench.settings[OUTPUT_DEVICE] = "headset"
    bench.until(lambda: bench.session.transport.device == "headset")
    hints: list[str] = []
    monkeypatch.setattr(window.notices, "show_hint", lambda words, **_: hints.append(words))
    monkeypatch.setattr(window.notices, "show_error", lambda error: hints.append(str(error)))
    ends: list[PlaybackEnd] = []
    bench.session.transport.ended.connect(ends.append)

    def play_once() -> None:
        num_ends = len(ends)
        bench.session.play_take(take.id)
        bench.until(lambda: len(ends) > num_ends)

    play_once()
    play_once()
    told = "The sound device headset cannot be used now. Play goes on with the one the system chooses."
    assert hints == [told]
    outputs.others["headset"] = SoundCard()
    monkeypatch.setattr(outputs, "open", partial(CardOutputs.open, outputs))  # it is connected again
    play_once()
    monkeypatch.undo()
    monkeypatch.setattr(window.notices, "show_hint", lambda words, **_: hints.append(words))
    play_once()
    assert hints == [told, told]
    assert set(ends) == {PlaybackEnd.FINISHED}


def test_what_waits_for_its_moment_is_heard_on_the_device_that_is_chosen_meanwhile(
    make_bench: Callable[..., Any],
) -> None:
    default, headset = SoundCard(), SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(default, headset=headset))
    transport = bench.session.transport
    transport._open(NowPlaying("line", "take", StreamingAudio.of(SOUND[:2400], RATE)))
    bench.until(lambda: default.num_opened)
    transport.use_device("headset")
    transport._begin()
    bench.until(lambda: not transport.is_playing)
    assert len(default.heard) == 0
    bench.until(lambda: not default.is_running)
    np.testing.assert_array_equal(headset.heard, SOUND[:2400])


def test_the_device_is_opened_while_the_sound_is_being_made() -> None:
    card, sound, listener = SoundCard(), StreamingAudio(RATE), Listener()
    playback = Playback(sound, CardOutputs(card), on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: card.is_running)
    assert not playback.is_heard
    sound.append(SOUND[:2400])
    sound.complete()
    playback.allow_start()
    assert listener.over.wait(60)
    assert (listener.end, listener.lost, card.num_opened) == (PlaybackEnd.FINISHED, [], 1)
    np.testing.assert_array_equal(card.heard, SOUND[:2400])


def test_a_device_opened_ahead_is_closed_when_nothing_is_to_be_heard() -> None:
    card, listener = SoundCard(), Listener()
    outputs = CardOutputs(card)
    playback = Playback(StreamingAudio(RATE), outputs, on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: card.is_running)
    playback.stop()
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.STOPPED
    wait_until(lambda: not card.is_running)


@pytest.mark.parametrize("failure", [NoAudioDevice("It is busy."), ZeroDivisionError("broken driver")])
def test_a_device_that_opens_only_when_play_starts_is_no_failure(failure: Exception) -> None:
    class OpensLater(CardOutputs):
        num_tries = 0

        def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
            self.num_tries += 1
            if self.num_tries == 1:
                raise failure
            return super().open(device, sample_rate, fill, buffer_seconds)

    card, listener = SoundCard(), Listener()
    outputs = OpensLater(card)
    sound = StreamingAudio.of(SOUND[:2400], RATE)
    playback = Playback(sound, outputs, on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: outputs.num_tries)
    playback.allow_start()
    assert listener.over.wait(60)
    assert (listener.end, listener.lost) == (PlaybackEnd.FINISHED, [])
    np.testing.assert_array_equal(card.heard, SOUND[:2400])


def test_a_device_that_vanishes_before_play_starts_is_opened_again() -> None:
    card, listener = SoundCard(vanishes_after=0.0), Listener()
    sound = StreamingAudio.of(SOUND[:2400], RATE)
    playback = Playback(sound, CardOutputs(card), on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: card.num_opened and not card.is_running)
    card.stay()
    playback.allow_start()
    assert listener.over.wait(60)
    assert (listener.end, listener.lost) == (PlaybackEnd.FINISHED, [])
    np.testing.assert_array_equal(card.heard, SOUND[:2400])


def test_the_device_is_open_before_a_line_has_its_first_sound(make_bench: Callable[..., Any]) -> None:
    card = SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(card))
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "wait", "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: card.is_running)
    assert not bench.session.transport.is_playing, "there is no sound yet"
    bench.session.stop()
    bench.until(lambda: bench.session.queue.current is None)
    bench.until(lambda: not card.is_running)
    assert bench.session.transport.heard is None


def test_a_clip_is_heard_on_the_device_that_is_chosen_now(make_bench: Callable[..., Any]) -> None:
    default, headset = SoundCard(), SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(default, headset=headset))
    player = bench.session.voice_sources().make_player(bench.session)
    bench.settings[OUTPUT_DEVICE] = "headset"
    player.play(Waveform(SOUND[:2400], RATE))
    bench.until(lambda: not player.is_playing)
    assert default.num_opened == 0
    np.testing.assert_array_equal(headset.heard, SOUND[:2400])


def test_a_clip_that_is_heard_on_another_device_is_no_failure(make_bench: Callable[..., Any]) -> None:
    bench: Bench = make_bench()
    errors: list[StudioError] = []
    for outputs, num_errors in ((Unplugged(SoundCard()), 0), (Nothing(SoundCard()), 1)):
        player = ClipPlayer(outputs, device=lambda: "headset", parent=bench.session)
        player.failed.connect(errors.append)
        player.play(Waveform(SOUND[:2400], RATE))
        bench.until(lambda player=player: not player.is_playing)
        assert len(errors) == num_errors
