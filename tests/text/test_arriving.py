"""Sentences that begin before they are complete: their fragments do not depend on how the text arrives."""

from __future__ import annotations

import threading
from itertools import pairwise
from random import Random

import pytest

from studio.text.arriving import ArrivingText, Fragment
from studio.text.segmentation import IncrementalText, TextPart

ENGLISH = (
    "The harbour was quiet when we came home, and the boats lay still. Dr. Smith paid $5 on May 5, 2024 for the old "
    "net that nobody wanted any more. Yes. He said: “Leave it (all of it) where the others are, please!” Then [pause "
    "0.5] they went away <strong>without a single word</strong> and never came back to the house again."
)
CHINESE = "昨天晚上下了一场大雨，街上一个人也没有，只有三只猫在屋檐下躲着。我们等了很久，后来就回家了。"
LONG = "one two three and four " * 40 + "end."
MARKUP = "Please read [the page about old boats and harbours](https://example.com/a) before you come to us tomorrow."


def parts_of(text: str, pieces: list[str]) -> list[TextPart]:
    incremental = IncrementalText(interleaves=True)
    return [part for piece in pieces for part in incremental.feed(piece)] + incremental.finish()


def fragments(parts: list[TextPart]) -> list[list[str]]:
    return [[part.text] if part.arriving is None else [each.text for each in part.arriving] for part in parts]


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, LONG, MARKUP, f"{ENGLISH}\n{CHINESE}\n\n{ENGLISH}"])
def test_parts_and_fragments_are_those_of_the_text(text: str) -> None:
    expected = fragments(parts_of(text, [text]))
    assert "".join(each for part in expected for each in part) == text
    random = Random(3)
    for _ in range(10):
        cuts = sorted({0, len(text), *(random.randrange(len(text)) for _ in range(random.choice([1, 5, len(text)])))})
        pieces = [text[start:end] for start, end in pairwise(cuts)]
        assert fragments(parts_of(text, pieces)) == expected


def test_a_sentence_begins_before_its_end() -> None:
    text = IncrementalText(interleaves=True)
    (part,) = text.feed("The harbour was quiet when w")
    assert part.arriving is not None
    assert part.written == "The harbour"  # two plain words and the beginning of another follow
    assert not part.arriving.is_complete
    assert text.feed("e came home. ") == []
    assert text.finish() == []
    assert part.written == "The harbour was quiet when we came home. "
    assert part.arriving.is_complete


def test_numbers_markup_and_pauses_are_not_cut() -> None:
    english, markup = fragments(parts_of(ENGLISH, [ENGLISH])), fragments(parts_of(MARKUP, [MARKUP]))
    flat = [fragment for part in english for fragment in part]
    assert any("paid $5 on May 5, 2024 for the" in fragment for fragment in flat)
    assert any("(all of it)" in fragment for fragment in flat)
    assert any("[pause 0.5]" in fragment for fragment in flat)
    assert any("<strong>without a single word</strong>" in fragment for fragment in flat)
    assert any("[the page about old boats and harbours](https://example.com/a)" in each for each in markup[0])


def test_a_pause_ends_a_part() -> None:
    parts = parts_of("", ["Wait for me here and now [pause 0.5] before you go away."])
    assert [part.written for part in parts] == ["Wait for me here and now ", "[pause 0.5] before you go away."]


def test_a_sentence_without_end_is_divided() -> None:
    lengths = [len(part.written) for part in parts_of("", [LONG])]
    assert max(lengths) < 300
    assert len(lengths) > 2


def test_without_interleaving_parts_are_complete() -> None:
    text = IncrementalText()
    assert text.feed("The harbour was quiet when we came home, and ") == []


def test_fragments_can_be_read_while_they_arrive_and_again() -> None:
    text, heard, followed = ArrivingText(), list[str](), list[str]()
    reader = threading.Thread(target=lambda: heard.extend(each.text for each in text))
    reader.start()
    text.add(Fragment("one"))
    end = text.follow(lambda fragment: followed.append(fragment.text))
    text.add(Fragment(" two"))
    end()
    text.add(Fragment(" three.", is_last=True))
    text.add(Fragment("ignored"))
    reader.join(10)
    assert heard == ["one", " two", " three."] == [each.text for each in text]
    assert followed == ["one", " two"]


def test_closing_ends_the_wait_for_text() -> None:
    text = ArrivingText()
    reader = threading.Thread(target=lambda: list(text))
    reader.start()
    text.close()
    reader.join(10)
    assert not reader.is_alive()
