"""Delays on the network: relative to the first chunk, with interruptions, without a common clock."""

from __future__ import annotations

from studio.remote.network_delays import NetworkDelays


def longest(*attempts: list[tuple[float, float | None]]) -> float | None:
    """Return the longest delay of chunks given as arrival and departure, for each attempt."""
    delays = NetworkDelays()
    for attempt in attempts:
        delays.begin()
        for arrived, sent in attempt:
            delays.add(arrived, sent)
    return None if delays.longest_seconds is None else round(delays.longest_seconds, 6)


def test_delays_are_relative_to_the_first_chunk() -> None:
    assert longest([(10.5, 0.4), (11.0, 0.9), (11.53, 1.4), (12.0, 1.9)]) == 0.03
    assert longest([(10.5, 0.4), (10.9, 0.9)]) == 0.0
    assert longest([]) is None


def test_an_interruption_is_a_delay() -> None:
    assert longest([(0.5, 0.4), (1.0, 0.9)], [(3.0, 2.0), (3.6, 2.5)]) == 2.0
    assert longest([], [(0.5, 0.4), (1.0, 0.8)]) == 0.1


def test_nothing_is_known_of_a_server_that_sends_no_times() -> None:
    assert longest([(0.5, None), (1.0, None)]) is None
