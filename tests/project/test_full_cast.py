"""Scripts are divided into the lines of the narrator and of characters, again after edits, as one change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.app.script.edits import set_character
from studio.project.casting import LibraryNames
from studio.project.full_cast import Dialogue, assignment_change
from studio.project.importing.blocks import Block, lines_of_blocks
from studio.project.lines import Line
from studio.project.script import Script
from studio.project.splitting import SplitMode

NOVEL = (
    "“Come in, Tom,” said Mrs Lane. “You are wet. Sit down.”",
    "“I am,” Tom replied.",
    "The fire was low.",
    "“A cold night,” someone said.",
)
VOICES = LibraryNames(("Ada", "Angus", "Linda"))


def script(*paragraphs: str, breaks: SplitMode = SplitMode.SENTENCE, voice: str | None = "Ada") -> Script:
    lines = lines_of_blocks([Block(text) for text in paragraphs], breaks)
    return Script(lines=tuple(replace(line, voice=voice) for line in lines))


def assigned(before: Script, corrections: dict[int, str | None] | None = None, *, whole: bool = False) -> Script:
    dialogue = Dialogue(before.lines)
    attribution = dialogue.attribution(dialogue.known_speakers() | (corrections or {}))
    cast = dialogue.divide(attribution, whole_paragraphs=whole)
    return assignment_change(before, cast, attribution, VOICES).apply(before)[0]


def rows(found: Script) -> list[tuple[str | None, str]]:
    return [(line.character, line.text) for line in found.lines]


DIVIDED = [
    ("Mrs Lane", "“Come in, Tom,”"),
    (None, "said Mrs Lane."),
    ("Mrs Lane", "“You are wet."),
    ("Mrs Lane", "Sit down.”"),
    ("Tom", "“I am,”"),
    (None, "Tom replied."),
    (None, "The fire was low."),
    (None, "“A cold night,”"),
    (None, "someone said."),
]


def test_quotations_become_lines_with_voices_of_the_same_gender() -> None:
    found = assigned(script(*NOVEL))
    assert rows(found) == DIVIDED
    voices = {line.character: line.voice for line in found.lines}
    assert voices == {"Mrs Lane": "Linda", "Tom": "Angus", None: "Ada"}
    assert {key: member.voice for key, member in found.details.cast.items()} == {"mrs lane": "Linda", "tom": "Angus"}
    assert [line.is_speaker_sure for line in found.lines[-4:]] == [None, None, False, None]


def test_the_change_has_an_inverse() -> None:
    before = script(*NOVEL)
    dialogue = Dialogue(before.lines)
    attribution = dialogue.attribution()
    after, inverse = assignment_change(before, dialogue.divide(attribution), attribution, VOICES).apply(before)
    assert inverse.apply(after)[0] == before


@pytest.mark.parametrize("breaks", SplitMode)
def test_a_divided_script_is_not_divided_again(breaks: SplitMode) -> None:
    once = assigned(script(*NOVEL, breaks=breaks))
    assert assigned(once) == once


def test_corrections_are_kept_and_learned_from_later() -> None:
    text = ["“Who is there?” said Holmes.", "“A friend,” said the stranger.", "It rained.", "“Sit,” said the stranger."]
    corrected = assigned(script(*text), {1: "Moriarty"})
    assert [line.character for line in corrected.lines if line.character] == ["Holmes", "Moriarty", "Moriarty"]
    more = replace(corrected, lines=(*corrected.lines, Line("new", "“No,” said the stranger.", voice="Ada")))
    assert assigned(more).lines[-2].character == "Moriarty"


def test_a_quotation_goes_back_to_the_narrator_with_the_voice() -> None:
    found = assigned(assigned(script(*NOVEL)), {2: None})
    line = next(line for line in found.lines if line.text == "“I am,”")
    assert (line.character, line.voice, line.is_speaker_sure) == (None, "Ada", True)
    assert assigned(found) == found


def test_a_character_that_is_written_in_the_script_is_certain() -> None:
    once = assigned(script(*NOVEL))
    line = once.lines[7]
    change = set_character(once, [line.id], "Ned")
    assert change is not None
    found = assigned(change.apply(once)[0])
    assert (found.lines[7].character, found.lines[7].is_speaker_sure) == ("Ned", True)


def test_whole_paragraphs_belong_to_their_only_speaker_and_are_divided_later() -> None:
    whole = assigned(script(*NOVEL, breaks=SplitMode.PARAGRAPH), whole=True)
    assert rows(whole) == [("Mrs Lane", NOVEL[0]), ("Tom", NOVEL[1]), (None, NOVEL[2]), *DIVIDED[-2:]]
    divided = assigned(whole)
    assert [(line.character, line.voice) for line in divided.lines[:2]] == [("Mrs Lane", "Linda"), (None, "Ada")]


def test_locked_paragraphs_and_lines_of_named_characters_stay_as_they_are() -> None:
    before = script(*NOVEL[:2], breaks=SplitMode.PARAGRAPH)
    locked = replace(before, lines=(replace(before.lines[0], is_locked=True), *before.lines[1:]))
    assert assigned(locked).lines[0] == locked.lines[0]
    named = replace(before, lines=(replace(before.lines[0], character="Chorus"), *before.lines[1:]))
    assert assigned(named).lines[0] == named.lines[0]


def test_chinese_lines_are_joined_without_spaces() -> None:
    once = assigned(script("李梅说：“走吧。天黑了。”王强点头：“好。”", "雨停了。"))
    assert [line.character for line in once.lines] == [None, "李梅", "李梅", None, "王强", None]
    assert assigned(once) == once
