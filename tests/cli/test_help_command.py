"""`timbre help` prints the manual."""

from __future__ import annotations

from terminal import Terminal

from studio.manual import TOPICS


def test_the_topics_are_listed(timbre: Terminal) -> None:
    ran = timbre("help")
    assert ran.status == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == list(TOPICS)


def test_a_topic_is_printed_without_pictures_and_targets_of_links(timbre: Terminal) -> None:
    ran = timbre("help", "window")
    assert ran.out.startswith("# The window\n\n")
    assert "![" not in ran.out
    assert "see Scripts and exports." in ran.out


def test_words_find_topics(timbre: Terminal) -> None:
    ran = timbre("help", "acx", "cover")
    assert (ran.status, ran.out.split()[0]) == (0, "audiobooks")


def test_words_that_are_nowhere(timbre: Terminal) -> None:
    ran = timbre("help", "xylophone")
    assert (ran.status, ran.out) == (1, "")
    assert "does not mention xylophone" in ran.err
