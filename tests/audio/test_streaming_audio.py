"""Streaming audio is independent of how it is split into chunks."""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from studio.audio.player import StreamingAudio


@given(sizes=st.lists(st.integers(0, 50), max_size=12), start=st.integers(0, 400), length=st.integers(0, 400))
def test_any_range_equals_the_appended_samples(sizes: list[int], start: int, length: int) -> None:
    whole = np.arange(sum(sizes), dtype=np.float32)
    sound = StreamingAudio(10)
    at = 0
    for size in sizes:
        sound.append(whole[at : at + size])
        at += size
    assert sound.num_samples == len(whole)
    np.testing.assert_array_equal(sound.all(), whole)
    np.testing.assert_array_equal(sound.between(start, start + length), whole[start : start + length])
    piece = sound.piece_from(start)
    np.testing.assert_array_equal(piece, whole[start : start + len(piece)])
    assert len(piece) > 0 or start >= len(whole)


def test_a_waiting_thread_wakes_up_for_new_samples_and_the_end() -> None:
    sound = StreamingAudio(10)
    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(sound.wait_beyond(0, 20)))
    waiting.start()
    sound.append(np.ones(3, np.float32))
    waiting.join(60)
    assert answers == [True]
    assert not sound.wait_beyond(3, 0.01)
    waiting = threading.Thread(target=lambda: answers.append(sound.wait_beyond(3, 20)))
    waiting.start()
    sound.complete()
    waiting.join(60)
    assert answers == [True, False]
    assert sound.is_complete
