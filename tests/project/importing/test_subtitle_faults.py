"""Subtitles as they are found: faulty times, rolling captions, sounds, and formats other than SubRip and WebVTT."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import import_script

from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.importing.subtitles import lines_of_subtitles, notices_of_subtitles
from studio.project.lines import Slot

DIALOGUE = (
    "[Script Info]\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,"
)


def spoken(text: str) -> list[tuple[str | None, str]]:
    return [(line.character, line.text) for line in lines_of_subtitles(text) if line.is_spoken]


def cue(text: str) -> str:
    return f"1\n00:00:01,000 --> 00:00:03,000\n{text}\n"


@pytest.mark.parametrize(
    "times",
    [
        "00:00:1,000 --> 00:00:03,000",
        "0:0:1.0 --> 0:0:3.00",
        "00:00:01 --> 00:00:03",
        "00:00:01:000 --> 00:00:03:000",
        "00:01,000 --> 00:03,000",
        "00: 00: 01, 000 --> 00: 00: 03, 000",
        "00:00:01,000 -> 00:00:03,000",
        "00:00:01,000 —> 00:00:03,000",
        "00:00:01,000-->00:00:03,000  X1:10 X2:20",
    ],
)
def test_times_are_read_leniently(times: str) -> None:
    (line,) = lines_of_subtitles(f"1\n{times}\nHello.\n")
    assert (line.text, line.slot) == ("Hello.", Slot(1.0, 3.0))


def test_a_subtitle_whose_time_cannot_be_read_is_left_out_and_named() -> None:
    text = cue("One.") + "\n2\n00:0x:04,000 --> 00:00:06,000\nTwo.\n\n3\n00:00:07,000 --> 00:00:09,000\nA --> B.\n"
    assert spoken(text) == [(None, "One."), (None, "A B.")]
    (notice,) = notices_of_subtitles(text)
    assert "(line 6 of the file)" in str(notice)


def test_a_number_that_is_said_is_kept() -> None:
    assert spoken("00:01,000 --> 00:02,000\nThe answer is\n42\n\n00:03,000 --> 00:04,000\nYes.\n")[0][1] == (
        "The answer is 42"
    )
    assert spoken("WEBVTT\n\n00:01.000 --> 00:02.000\nThe answer is\n42\n\n00:03.000 --> 00:04.000\nYes.\n")[0][1] == (
        "The answer is 42"
    )
    assert (
        spoken("1\n00:00:01,000 --> 00:00:02,000\nWords.\n2\n00:00:03,000 --> 00:00:04,000\nYes.\n")[0][1] == "Words."
    )


ROLLING = """WEBVTT

00:00.000 --> 00:02.000 align:start
 
the sea<00:00:00.300><c> was</c><00:00:00.600><c> calm</c>

00:02.000 --> 00:02.010 align:start
the sea was calm
 

00:02.010 --> 00:04.000 align:start
the sea was calm
and<00:00:02.300><c> then</c><00:00:02.700><c> it</c><00:00:03.000><c> rose</c>

00:04.000 --> 00:04.010 align:start
and then it rose
 
"""  # noqa: W293


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("we<00:00:01.500><c> are</c><00:00:02.000><c> here</c>", "we are here"),
        ("From 00:00:01.500 to 00:00:02.000.", "From 00:00:01.500 to 00:00:02.000."),
    ],
)
def test_times_in_a_text_are_not_those_of_a_subtitle(text: str, said: str) -> None:
    assert spoken(f"WEBVTT\n\n00:01.000 --> 00:03.000\n{text}\n") == [(None, said)]


def test_a_subtitle_without_text_before_another_is_not_spoken() -> None:
    assert spoken("WEBVTT\n\n00:01.000 --> 00:02.000\n00:02.000 --> 00:03.000\nYes.\n") == [(None, "Yes.")]


def test_rolling_captions_are_said_once_in_their_first_slot() -> None:
    lines = lines_of_subtitles(ROLLING)
    assert [(line.text, line.slot) for line in lines] == [
        ("the sea was calm", Slot(0.0, 2.0)),
        ("and then it rose", Slot(2.01, 4.0)),
    ]


def test_captions_that_grow_word_by_word_are_said_once() -> None:
    shown = ["it", "it was", "it was late"]
    text = "".join(f"{at}\n00:00:0{at},000 --> 00:00:0{at + 1},000\n{words}\n\n" for at, words in enumerate(shown, 1))
    assert [words for _, words in spoken(text)] == ["it", "was", "late"]


def test_a_word_that_is_said_twice_is_kept() -> None:
    said = ["No.", "No.", "Why?", "Because.", "I see."]
    text = "".join(f"{at}\n00:00:0{at},000 --> 00:00:0{at + 1},000\n{words}\n\n" for at, words in enumerate(said, 1))
    assert [words for _, words in spoken(text)] == said


@pytest.mark.parametrize(
    ("text", "speeches"),
    [
        ("[glass breaks]", []),
        ("(coughs) Good evening.", [(None, "Good evening.")]),
        ("（笑声）晚上好。", [(None, "晚上好。")]),
        ("<i>♪ Tra la la ♪</i>", []),
        ("WOMAN [on phone]: Hello?", [("Woman", "Hello?")]),
        ("ANN (O.S.): Hello?", [("Ann", "Hello?")]),
        ("- [Clara] Yes.\n- [Paul] No.", [("Clara", "Yes."), ("Paul", "No.")]),
        ("[boy] Wait!", [("boy", "Wait!")]),
        ("[Applause] Thank you.", [(None, "Thank you.")]),
        ("ANN:\nGood evening.", [("Ann", "Good evening.")]),
        ("MRS. SMITH: Hello.", [("Mrs. Smith", "Hello.")]),
        ("[Ann]\nGood evening.", [("Ann", "Good evening.")]),
        ("- ANN:\nYes?\n- PAUL:\nNo.", [("Ann", "Yes?"), ("Paul", "No.")]),
        ("[Applause]\nThank you.", [(None, "Thank you.")]),
        ("- Well, then.", [(None, "Well, then.")]),
        (">> ANN: Yes.\n>> BOB: No.", [("Ann", "Yes."), ("Bob", "No.")]),
        ("AT 10:30 SHE LEFT.", [(None, "AT 10:30 SHE LEFT.")]),
        ("NOTE: Not a name.", [(None, "NOTE: Not a name.")]),
        ("I met him (my brother) today.", [(None, "I met him (my brother) today.")]),
        ("{\\an8}<b>Two</b>\\Nlines {\\i1}here{\\i0}", [(None, "Two lines here")]),
        ("{y:b}Old <frame>tags.</frame>", [(None, "Old tags.")]),
    ],
)
def test_sounds_are_notes_and_names_are_characters(text: str, speeches: list[tuple[str | None, str]]) -> None:
    assert spoken(cue(text)) == speeches


def test_a_sound_takes_no_time_unless_it_is_spoken() -> None:
    silent, said = lines_of_subtitles(cue("(coughs) Good evening."))
    assert (silent.is_spoken, said.slot) == (False, Slot(1.0, 3.0))
    first, last = lines_of_subtitles(cue("(coughs) Good evening."), speaks_sounds=True)
    assert first.is_spoken
    assert first.slot is not None
    assert last.slot == Slot(first.slot.end_seconds, 3.0)


def test_words_outside_the_voice_tags_of_webvtt_are_kept() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nMeanwhile: <v Ann>Hello.</v><v Bob>Hi.\n"
    assert spoken(text) == [(None, "Meanwhile:"), ("Ann", "Hello."), ("Bob", "Hi.")]


ASS = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,not shown
Dialogue: 0,0:00:01.00,0:00:03.00,Default,Clara,0,0,0,,{\\an8}Good\\Nevening.
Dialogue: 1,0:00:01.00,0:00:03.00,Default,Clara,0,0,0,,{\\blur3}Good\\Nevening.
"""


@pytest.mark.parametrize(
    ("name", "text", "speech"),
    [
        ("a.ass", ASS, ("Clara", "Good evening.", Slot(1.0, 3.0))),
        ("a.sub", "{1}{1}25\n{25}{75}{y:i}Good|evening.\n", (None, "Good evening.", Slot(1.0, 3.0))),
        ("a.srt", "[10][30]Good|/evening.\n", (None, "Good evening.", Slot(1.0, 3.0))),
    ],
)
def test_other_formats_are_read(tmp_path: Path, name: str, text: str, speech: tuple[object, ...]) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    (line,) = import_script(path).lines
    assert (line.character, line.text, line.slot) == speech


@pytest.mark.parametrize("style", ["Sign", "Signs_Top", "sign 2", "Titles", "OP Romaji", "Karaoke"])
def test_signs_and_songs_of_sub_station_alpha_are_not_spoken(style: str) -> None:
    text = ASS + f"Dialogue: 0,0:00:02.00,0:00:04.00,{style},,0,0,0,,{{\\pos(9,9)}}PIER NINE\n"
    assert spoken(text) == [("Clara", "Good evening.")]
    assert [line.text for line in lines_of_subtitles(text)] == ["Good evening.", "PIER NINE"]
    assert all(line.is_spoken for line in lines_of_subtitles(text, speaks_sounds=True))


@pytest.mark.parametrize("style", ["Default", "Edward", "Subtitle", "Opera", "Designer"])
def test_other_styles_of_sub_station_alpha_are_spoken(style: str) -> None:
    assert spoken(ASS.replace(",Default,Clara", f",{style},Clara")) == [("Clara", "Good evening.")]


def test_many_short_speeches_share_a_time_that_is_too_short_for_them() -> None:
    lines = lines_of_subtitles(cue("[thud] a " * 5_000))
    assert lines[-1].slot is not None
    assert lines[-1].slot.end_seconds == 3.0


def test_a_placeholder_of_sub_station_alpha_is_no_speaker(tmp_path: Path) -> None:
    path = tmp_path / "a.ssa"
    path.write_text(ASS.replace(",Clara,", ",NTP,"), "utf-8")
    assert [line.character for line in import_script(path).lines] == [None]


def test_sounds_can_be_spoken(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text(cue("[glass breaks]"))
    assert [line.is_spoken for line in read_file(path).script(ImportOptions(speaks_notes=True)).lines] == [True]


@pytest.mark.parametrize("head", ["WEBVTT\n\n00:01.000 --> 00:02.000\n", DIALOGUE, "{1}{20}", "00:00:01:", "[1][20]"])
@pytest.mark.parametrize("unit", ["<rt>", "<v ", "<v.", "<", "{y:", "[", "{", "{\\", r"{\i1}"])
def test_the_work_for_a_subtitle_grows_with_its_size(head: str, unit: str) -> None:
    """A quadratic reader would take minutes."""
    assert len(lines_of_subtitles(f"{head}{unit * 50_000}x\n")) <= 1


def test_drawings_and_comments_of_substation_alpha_are_left_out() -> None:
    drawing, comment = (r"{\p1}m 0 0 l 100 0 {\p0}sun", "moon")
    text = DIALOGUE + "star" + DIALOGUE.splitlines()[-1].join(["\n", drawing])
    text += DIALOGUE.splitlines()[-1].replace("Dialogue", "\nComment") + comment
    assert spoken(text) == [(None, "star")]
