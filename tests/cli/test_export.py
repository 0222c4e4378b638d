"""`timbre export`: scripts of every kind and all options."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import soundfile

from studio.audio.files import read_audio
from studio.cli import export_script
from studio.model.generations import COSYVOICE3
from studio.model.options import Quality
from studio.pipeline.request import (
    FlowQuality,
    KnownTokens,
    Mode,
    SentenceEvidence,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.project.changes import AddTake, EditDetails, EditLines, InsertLines
from studio.project.details import ProjectDetails
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import TakeParameters
from studio.settings import DATE_ORDER, DAY_FIRST, EMOJI, NAMED_EMOJI
from studio.settings_store import Settings
from studio.take_checks.records import TakeCheck, Verdict, WordTime
from studio.take_checks.words import split_words

RATE = 24_000
WORD_SAMPLES = 2_400


@pytest.fixture
def spoken(timbre, clip: Path):  # type: ignore[no-untyped-def]
    """Return the texts of all requests, in order."""
    timbre.library.add(clip, "Anna", "What is said.")
    timbre.library.add(clip, "Ben")
    return lambda: [request.text for model in timbre.opened for request in model.requests]


def export(timbre, script: str, *arguments: str, out: str = "out"):  # type: ignore[no-untyped-def]
    return timbre("export", script, "--out", out, "--model", "quiet", *arguments)


def names(folder: str = "out") -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def frames(name: str, folder: str = "out") -> int:
    return int(soundfile.info(Path(folder) / name).frames)


def test_each_sentence_of_a_text_becomes_a_file(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("The harbour was quiet. Nobody spoke.\n\nThen the bell rang.", "utf-8")
    ran = export(timbre, "story.txt", "--voice", "Anna", "--seed", "5")
    assert ran.status == 0, ran.err
    assert names() == [
        "001 Anna The harbour was quiet.wav",
        "002 Anna Nobody spoke.wav",
        "003 Anna Then the bell rang.wav",
    ]
    assert frames("001 Anna The harbour was quiet.wav") == 4 * WORD_SAMPLES
    assert spoken() == ["The harbour was quiet.", "Nobody spoke.", "Then the bell rang."]
    assert {(request.seed, request.mode) for request in timbre.opened[0].requests} == {(5, Mode.ZERO_SHOT)}
    assert re.search(r"wrote 3 files in .* s \(\d+\.\dx real time(, \d+ lines per minute)?\)", ran.err)


def test_lines_in_a_language_that_the_model_has_not_learned_are_listed_first(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("Good morning.\n\n大家好。\n\n今天很好。", "utf-8")
    ran = timbre("export", "story.txt", "--out", "out", "--voice", "Anna", "--unsigned")
    assert ran.status == 0, ran.err
    assert ran.err.startswith(
        "studio-mini speaks English only. Speech in another language is unintelligible: line 2, line 3.\n"
    )
    assert len(spoken()) == 3


def test_each_paragraph_becomes_a_file_with_split_paragraph(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("The harbour was quiet. Nobody spoke.\n\nThen the bell rang.", "utf-8")
    ran = export(timbre, "story.txt", "--voice", "Anna", "--split", "paragraph")
    assert ran.status == 0, ran.err
    assert spoken() == ["The harbour was quiet. Nobody spoke.", "Then the bell rang."]
    assert len(names()) == 2


def test_an_unknown_split_is_refused(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("The harbour was quiet.", "utf-8")
    assert export(timbre, "story.txt", "--voice", "Anna", "--split", "word").status == 2
    assert not spoken()


def test_implausible_lengths_are_reported_by_line(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    """A line is not flagged if the repeated attempt succeeds before playback."""
    Path("story.txt").write_text("The mumble was quiet. I only heard babble.", "utf-8")
    ran = export(timbre, "story.txt", "--voice", "Anna", "--json")
    assert ran.status == 0, ran.err
    (warning,) = json.loads(ran.out)["warnings"]
    assert warning.startswith("implausible-length: line 2: “I only heard babble.” is longer")
    assert "line 2: “I only heard babble.” is longer" in ran.err


def test_leading_silence_is_kept_only_with_the_option(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("The harbour was quiet.", "utf-8")
    assert export(timbre, "story.txt", "--voice", "Anna").status == 0
    assert export(timbre, "story.txt", "--voice", "Anna", "--keep-leading-silence").status == 0
    trimmed, raw = (model.requests[0].trims_leading_silence for model in timbre.opened if model.requests)
    assert (trimmed, raw) == (True, False), "another sound: it is spoken again"


def test_a_repeated_export_synthesises_nothing(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("The harbour was quiet. Nobody spoke.", "utf-8")
    export(timbre, "story.txt", "--voice", "Anna")
    num_spoken = len(spoken())
    ran = export(timbre, "story.txt", "--voice", "Anna", "--json")
    assert len(spoken()) == num_spoken
    assert (ran.json["num_made"], ran.json["num_lines"], len(ran.json["files"])) == (0, 2, 2)
    assert ran.json["audio_seconds_per_second"] == 0.0
    assert "2 unchanged" in ran.err
    other_rate = export(timbre, "story.txt", "--voice", "Anna", "--rate", "48000", "--json")
    assert other_rate.status == 0
    assert other_rate.json["audio_seconds_per_second"] == 0.0
    assert "a second" not in other_rate.err, "nothing was spoken"
    assert len(spoken()) == num_spoken, "another rate is no reason to speak again"
    assert frames("002 Anna Nobody spoke.wav") == 2 * 2 * WORD_SAMPLES
    export(timbre, "story.txt", "--voice", "Anna", "--seed", "2")
    assert len(spoken()) == num_spoken + 2


def test_a_table_sets_voices_styles_and_file_names(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text(
        "text,voice,style,file name\nHello there.,Ben,,greeting\nGood evening.,,speak softly,\n", "utf-8"
    )
    ran = export(timbre, "script.csv", "--voice", "Anna", "--format", "flac", "--pattern", "{index} {style}")
    assert ran.status == 0, ran.err
    assert names() == ["002 speak softly.flac", "greeting.flac"]
    first, second = timbre.opened[0].requests
    assert (first.voice.name, first.mode) == ("Ben", Mode.CROSS_LINGUAL)
    assert (second.voice.name, second.instruct) == ("Anna", "speak softly")


def test_the_language_is_that_of_the_option_the_table_or_the_script(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text(
        "text,language\nEs war ein kalter Tag und er ist nicht da.,\nNr. 7,\n8 + 1,Français\nOn 3/4/2024,en-GB\n",
        "utf-8",
    )

    def spoken_with(*options: str) -> list[str]:
        ran = export(timbre, "script.csv", "--voice", "Anna", "--dry-run", "--json", *options)
        assert ran.status == 0, ran.err
        return [sentence["spoken"] for sentence in ran.json["sentences"]]

    assert spoken_with()[1:] == ["Nummer sieben.", "huit plus un.", "On the third of April twenty twenty four."]
    assert spoken_with("--language", "es")[1] == "Nr. siete."
    ran = export(timbre, "script.csv", "--voice", "Anna")
    assert ran.status == 0, ran.err
    assert [request.language for request in timbre.opened[0].requests] == ["", "de", "fr", "en-GB"]


def test_the_order_of_dates_is_a_setting(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Settings()[DATE_ORDER] = DAY_FIRST
    Path("story.txt").write_text("We met on 3/4/2024 and 14/3/24. Use 3/4 cup.", "utf-8")
    ran = export(timbre, "story.txt", "--voice", "Anna", "--dry-run", "--json")
    assert [sentence["spoken"] for sentence in ran.json["sentences"]] == [
        "We met on the third of April twenty twenty four and the fourteenth of March twenty twenty four.",
        "Use three quarters of a cup.",
    ]
    said = timbre("say", "We met on 3/4/2024.", "--model", "quiet", "--dry-run", "--json")
    assert said.json["sentences"][0]["spoken"] == "We met on the third of April twenty twenty four."


def test_emoji_are_silent_or_named_by_a_setting(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("I love it ❤️.\n\nPlain.", "utf-8")
    assert export(timbre, "story.txt", "--voice", "Anna").status == 0
    Settings()[EMOJI] = NAMED_EMOJI
    assert export(timbre, "story.txt", "--voice", "Anna", "--out", "named").status == 0
    silent, named = (opened.requests for opened in timbre.opened)
    assert [request.language for request in silent] == ["", ""]
    assert [request.language for request in named] == ["und-x-emoji"]  # the other line is not spoken again
    said = timbre("say", "I love it ❤️.", "--model", "quiet", "--dry-run", "--json")
    assert said.json["sentences"][0]["spoken"] == "I love it, red heart."
    assert said.json["sentences"][0]["changes"] == [{"from": "❤️", "to": ", red heart", "rule": "emoji"}]


def test_styles_that_the_model_lacks_are_spoken_plain_and_counted(timbre, spoken, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(export_script, "detect_generation", lambda _: (COSYVOICE3, None))
    Path("script.csv").write_text("text,style\nHello there.,Calm\nGood evening.,\n", "utf-8")
    ran = export(timbre, "script.csv", "--voice", "Anna", "--json", "--manifest")
    assert ran.status == 0, ran.err
    assert [request.preset for request in timbre.opened[0].requests] == [None, None]
    warning = "1 line is spoken without style, because quiet does not support it: 1"
    assert ran.json["warnings"] == [f"missing-style: {warning}"]
    assert warning in ran.err
    assert export(timbre, "script.csv", "--voice", "Anna", "--preset", "emotion.odd").status == 6


def test_rows_of_sounds_are_reported_once(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("game.csv").write_text("ID,Text\na1,Hello there.\na2,(coughs)\na3,(sighs)\n", "utf-8")
    ran = export(timbre, "game.csv", "--voice", "Anna", "--json")
    assert ran.status == 0, ran.err
    assert ran.json["silent"] == [{"line": 2, "text": "(coughs)"}, {"line": 3, "text": "(sighs)"}]
    words = "lines 2–3: Not exported: sounds and stage directions are not spoken."
    assert ran.json["warnings"] == [f"silent: {words}"]
    assert ran.err.count(words) == 1
    part = export(timbre, "game.csv", "--voice", "Anna", "--json", "--lines", "1-2", out="part")
    assert part.json["silent"] == [{"line": 2, "text": "(coughs)"}]


def test_sounds_of_subtitles_are_reported(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    cues = ("Hello there.", "[door slams]")
    times = ("00:00:00,500 --> 00:00:02,000", "00:00:03,000 --> 00:00:04,000")
    blocks = (f"{n}\n{time}\n{cue}" for n, (time, cue) in enumerate(zip(times, cues, strict=True), 1))
    Path("film.srt").write_text("\n\n".join(blocks), "utf-8")
    ran = export(timbre, "film.srt", "--voice", "Anna", "--json", "--at-times", out="dub.wav")
    assert ran.json["silent"] == [{"line": 2, "text": "[door slams]"}]


def test_sounds_that_the_model_lacks_are_reported_before_it_speaks(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.txt").write_text("[laughter]\n\nHello there.\n", "utf-8")
    ran = timbre("export", "script.txt", "--out", "out", "--voice", "Anna", "--model", "studio-mini", "--dry-run")
    assert "lines 1: The model has not learned the sound [laughter]." in ran.err


def game_table(num_rows: int = 200) -> list[list[str]]:
    cast = ("Mira", "Tom", "Bandit", "Old Captain", "Ben", "anna")
    rows = [["Key", "Path", "Who speaks", "Dialogue", "Emotion"]]
    for number in range(num_rows):
        name = cast[number % len(cast)]
        folder = name.split()[-1].lower()
        rows.append(
            [f"d{number:04}", f"vo/{folder}/d{number:04}.wav", name, f"Line {number}.", "happy" if number % 2 else ""]
        )
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_game_table_is_cast_and_exported_with_its_folders(timbre, spoken, suffix, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(export_script, "detect_generation", lambda _: (COSYVOICE3, None))
    rows = game_table()
    if suffix == ".csv":
        with Path("game.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    else:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save("game.xlsx")
    cast = [word for name in ("MIRA=Ben", "Tom=Anna", "bandit=ben", "Old Captain=Anna") for word in ("--cast", name)]
    ran = export(
        timbre, f"game{suffix}", "--voice", "Anna", *cast, "--column", "character=who speaks", "--column", "text=Dialogue",
        "--manifest", "--json",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    assert ran.json["num_made"] == 201
    for _, path, *_ in rows[1:]:
        assert Path("out", path).is_file()
    with Path("out/game.csv").open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file))
    assert [(row["Key"], row["file"]) for row in found] == [(key, path) for key, path, *_ in rows[1:]]
    voices = dict(zip(("Mira", "Tom", "Bandit", "Old Captain", "Ben", "anna"), ("Ben", "Anna") * 3, strict=True))
    assert {(row["Who speaks"], row["voice"]) for row in found} == set(voices.items())


def test_casts_and_columns_are_checked(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text,Who\nHello there.,Mira\n", "utf-8")
    wrong = export(timbre, "script.csv", "--voice", "Anna", "--column", "character=Whom")
    assert "no column “Whom”. Did you mean Who?" in wrong.err
    assert export(timbre, "script.csv", "--voice", "Anna", "--cast", "Mira").status == 2
    assert export(timbre, "script.csv", "--voice", "Anna", "--column", "hero=Who").status == 2
    unknown = export(timbre, "script.csv", "--voice", "Anna", "--column", "character=Who", "--cast", "Mira=Nobody")
    assert unknown.status != 0
    assert "Nobody" in unknown.err
    assert not spoken()


def test_an_unclear_column_and_an_unknown_sheet_stop_the_export(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("Good evening.,Guten Abend.\n", "utf-8")
    unclear = export(timbre, "script.csv", "--voice", "Anna")
    assert "not clear which column" in unclear.err
    assert "--column text=" in unclear.err
    assert export(timbre, "script.csv", "--voice", "Anna", "--column", "text=2", "--dry-run").status == 0
    no_sheet = export(timbre, "script.csv", "--voice", "Anna", "--column", "sheet=Act two")
    assert "no sheet “Act two”" in no_sheet.err
    assert not spoken()


def test_what_an_import_leaves_out_and_missing_chapters_are_reported(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    times = "00:00:01,000 --> 00:00:02,000"
    Path("film.srt").write_text(f"1\n{times}\n[rain]\nHello there.\n\n2\n0x --> 1\nNot said.\n", "utf-8")
    ran = export(timbre, "film.srt", "--voice", "Anna", "--files", "chapters", "--dry-run")
    assert "are left out (line 7 of the file)" in ran.err
    assert "No chapters were found" in ran.err
    assert "rain" not in ran.out
    said = export(timbre, "film.srt", "--voice", "Anna", "--sound-cues", "speak", "--dry-run")
    assert "[rain]" in said.out
    assert not spoken()


def test_a_joined_file_with_subtitles_and_manifest(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.md").write_text("# Title here\n\nThe harbour was quiet.", "utf-8")
    ran = export(
        timbre, "story.md", "--voice", "Anna", "--files", "joined", "--pause", "0.5", "--subtitles", "srt", "vtt", "--manifest",
        "--format", "mp3", "--lufs", "-18",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    assert names() == ["story.csv", "story.mp3", "story.srt", "story.vtt"]
    assert frames("story.mp3") == 6 * WORD_SAMPLES + RATE // 2
    assert "00:00:00,700 --> 00:00:01,100\nThe harbour was quiet." in Path("out/story.srt").read_text("utf-8")
    with Path("out/story.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["text"], row["voice"], row["file"]) for row in rows] == [
        ("Title here", "Anna", "story.mp3"),
        ("The harbour was quiet.", "Anna", "story.mp3"),
    ]


def test_chosen_lines_keep_their_numbers(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("One line here. Two lines here. Three lines here. Four lines here.", "utf-8")
    assert export(timbre, "story.txt", "--voice", "Anna", "--lines", "2,4-9", "--pattern", "{index}").status == 0
    assert names() == ["002.wav", "004.wav"]
    assert (
        export(timbre, "story.txt", "--voice", "Anna", "--lines", "3-99999999999", "--pattern", "{index}").status == 0
    )
    assert names() == ["002.wav", "003.wav", "004.wav"]
    ran = export(timbre, "story.txt", "--voice", "Anna", "--lines", "7")
    assert ran.status == 6
    assert "There are no lines to export." in ran.err


def project_with_takes(path: Path) -> dict[str, np.ndarray]:
    """A project of three lines: one with a fresh take, one that was changed since, and one without a take."""
    sounds = {}
    with Project.create(path.parent / "drafts-of-test") as project:
        lines = (
            Line("a", "A line with a take.", "Anna", seed=11),
            Line("b", "A line that changed.", "Anna"),
            Line("c", "A line never spoken.", "Ben", pause_after_seconds=0.1),
        )
        project.apply(InsertLines(0, lines))
        for number, line in enumerate(lines[:2], 1):
            parameters = TakeParameters(
                text=line.text,
                seed=number,
                line_fingerprint=project.fingerprint_of(line.id) if number == 1 else "of another text",
                mode="zero-shot",
                voice_name="Anna",
                voice_sha256="",
                model_name="the model of the take",
                model_key="",
            )
            recorder = project.begin_take(line.id, parameters, RATE)
            sounds[line.id] = np.random.default_rng(number).uniform(-0.5, 0.5, 5_000).astype(np.float32)
            recorder.append(sounds[line.id])
            take = recorder.finish(SynthesisReport(0.1, 0.2, 0.3, RATE, Mode.ZERO_SHOT, 5, {}, {}))
            project.apply(AddTake(take, is_chosen=True))
        project.save(path)
    return sounds


def test_fresh_takes_of_a_project_are_reused(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    sounds = project_with_takes(Path("talk.timbre").absolute())
    ran = export(timbre, "talk.timbre", "--format", "wav32f", "--pattern", "{index}", "--manifest", "--unmarked")
    assert ran.status == 0, ran.err
    assert spoken() == ["A line that changed.", "A line never spoken."]
    np.testing.assert_array_equal(soundfile.read("out/001.wav", dtype="float32")[0], sounds["a"])
    assert frames("002.wav") == 4 * WORD_SAMPLES
    with Path("out/talk.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["seed"], row["model"]) for row in rows] == [
        ("1", "the model of the take"),
        ("0", "quiet"),
        ("0", "quiet"),
    ]
    before = Path("talk.timbre").read_bytes()
    assert export(timbre, "talk.timbre", out="again").status == 0
    assert Path("talk.timbre").read_bytes() == before
    assert len(spoken()) == 2


def project_with_drafts(path: Path) -> None:
    """A project of drafts, with a draft of the model ``quiet``, one of another model, and two lines without a take."""
    with Project.create(path.parent / "drafts-of-test") as project:
        project.apply(EditDetails(ProjectDetails(quality=Quality.DRAFT)))
        lines = (
            Line("a", "A draft of this model.", "Anna"),
            Line("b", "A draft of another.", "Anna"),
            Line("c", "A line never spoken.", "Anna"),
            Line("d", "A fast line.", "Anna", quality=Quality.FAST),
        )
        project.apply(InsertLines(0, lines))
        for line, model in zip(lines, ("quiet", "other"), strict=False):
            parameters = TakeParameters(
                line.text, 3, project.fingerprint_of(line.id), "zero-shot", "Anna", "", model, f"weights of {model}"
            )
            recorder = project.begin_take(line.id, parameters, RATE)
            recorder.append(np.zeros(5_000, np.float32))
            evidence = (SentenceEvidence(line.text, 0.0, 0.2, (5, 6, 7)),)
            report = SynthesisReport(
                0.1, 0.2, 0.3, RATE, Mode.ZERO_SHOT, 3, {}, {}, evidence=evidence,
                quality=FlowQuality(Quality.DRAFT, 0.5, 0.3),
            )  # fmt: skip
            project.apply(AddTake(recorder.finish(report), is_chosen=True))
        project.save(path)


def test_drafts_are_exported_with_a_warning_and_lines_spoken_in_their_quality(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    project_with_drafts(Path("talk.timbre").absolute())
    ran = export(timbre, "talk.timbre", "--json")
    assert ran.status == 0, ran.err
    assert spoken() == ["A line never spoken.", "A fast line."]
    assert [request.quality for request in timbre.opened[-1].requests] == [Quality.DRAFT, Quality.FAST]
    assert json.loads(ran.out)["warnings"] == [
        "draft: 2 lines are drafts: 1, 2. --quality exact speaks them again, with the same reading."
    ]


def test_quality_exact_makes_the_drafts_of_the_model_final(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    project_with_drafts(Path("talk.timbre").absolute())
    ran = export(timbre, "talk.timbre", "--quality", "exact", "--json")
    assert ran.status == 0, ran.err
    requests = timbre.opened[-1].requests
    assert [request.text for request in requests] == [
        "A draft of this model.", "A line never spoken.", "A fast line."
    ]  # fmt: skip
    assert {request.quality for request in requests} == {Quality.EXACT}
    assert requests[0].seed == 3
    assert requests[0].known_tokens == (KnownTokens("A draft of this model.", (5, 6, 7)),)
    assert json.loads(ran.out)["warnings"] == [
        "draft: 1 line is a draft: 2. --quality exact speaks them again, with the same reading."
    ]


def test_only_changed_words_of_a_project_are_spoken_again(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    path = Path("talk.timbre").absolute()
    text = "The old clock stopped before midnight."
    with Project.create(path.parent / "changed-words") as project:
        project.apply(InsertLines(0, (Line("a", text, "Anna"), Line("b", "Never spoken.", "Anna"))))
        parameters = TakeParameters(
            text, 3, project.fingerprint_of("a"), "zero-shot", "Anna", "", "quiet", "weights of quiet"
        )
        recorder = project.begin_take("a", parameters, RATE)
        tokens = tuple(range(100, 124))
        recorder.append(np.repeat(np.array(tokens, np.float32) / 1000, RATE // 10))
        evidence = (SentenceEvidence(text, 0.0, 2.4, tokens, token_seconds=0.1),)
        report = SynthesisReport(0.1, 2.4, 0.3, RATE, Mode.ZERO_SHOT, 24, {}, {}, evidence=evidence)
        words = tuple(
            WordTime(word.text, 0.4 * number, 0.4 * number + 0.4, word.start, word.end)
            for number, word in enumerate(split_words(text))
        )
        take = replace(recorder.finish(report), check=TakeCheck(Verdict.GOOD, words=words))
        project.apply(AddTake(take, is_chosen=True))
        project.apply(EditLines({"a": {"text": text.replace("clock", "watch")}}))
        project.save(path)
    ran = export(timbre, "talk.timbre", "--changed-words", "--pattern", "{index}", "--unmarked")
    assert ran.status == 0, ran.err
    changed, other = timbre.opened[-1].requests
    assert changed.text == "The old watch stopped before midnight."
    assert changed.known_tokens == (KnownTokens(text, tokens, (7, 13)),)
    assert not other.known_tokens
    samples = read_audio(Path("out/001.wav")).samples
    np.testing.assert_allclose(samples[: RATE // 2], np.repeat(np.arange(100, 105), RATE // 10) / 1000, atol=1e-4)
    np.testing.assert_allclose(samples[-RATE // 2 :], np.repeat(np.arange(119, 124), RATE // 10) / 1000, atol=1e-4)
    assert samples.max() > 0.9
    ran = export(timbre, "talk.timbre", "--pattern", "{index}", out="whole")
    assert [request.known_tokens for request in timbre.opened[-1].requests][:1] == [()]


def test_failed_lines_are_reported_and_the_others_exported(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text\nGood words.\nnothing\nMore words.\n", "utf-8")
    ran = export(
        timbre, "script.csv", "--voice", "Anna", "--pattern", "{index}", "--files", "lines", "joined", "--json"
    )
    assert ran.status == 6
    assert names() == ["001.wav", "003.wav"]
    assert "line 2: There is nothing to speak." in ran.err
    assert "1 of 3 lines failed; line 2: There is nothing to speak." in ran.err
    assert [failure["line"] for failure in json.loads(ran.out)["failures"]] == [2]


def test_a_model_that_cannot_be_loaded_is_tried_once(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text\nGood words.\nMore words.\n", "utf-8")
    ran = timbre("export", "script.csv", "--out", "out", "--voice", "Anna", "--model", "missing")
    assert ran.status == 3
    assert "2 of 2 lines failed; line 1: There is no model folder" in ran.err
    assert names() == []


@pytest.mark.parametrize(
    ("script", "arguments", "status", "sentence"),
    [
        ("text\nHello\n", ("--voice", "Nobody"), 7, "Nobody"),
        ("text,voice\nHello,Nobody\n", ("--voice", "Anna"), 7, "Nobody"),
        ("text\nHello\n", ("--voice", "Anna", "--pattern", "{number}"), 2, "unknown field {number}"),
        ("text\nHello\n", ("--voice", "Anna", "--format", "opus", "--rate", "44100"), 2, "does not support 44100"),
        ("text\nHello\n", ("--voice", "Anna", "--format", "aac"), 2, "aac"),
        ("text\nHello\n", ("--voice", "Anna", "--lufs", "3"), 2, "loudness 3 LUFS is out of range"),
        ("text\n", ("--voice", "Anna"), 6, "nothing that can be spoken"),
    ],
)
def test_invalid_options_are_reported_before_synthesis(  # type: ignore[no-untyped-def]
    timbre, spoken, script: str, arguments: tuple[str, ...], status: int, sentence: str
) -> None:
    Path("script.csv").write_text(script, "utf-8")
    ran = export(timbre, "script.csv", *arguments)
    assert ran.status == status, ran.err
    assert sentence in ran.err
    assert spoken() == []
    assert not Path("out").exists()


def test_files_of_another_script_are_replaced_only_with_the_option(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("one.txt").write_text("The harbour was quiet. Nobody spoke.", "utf-8")
    Path("two.txt").write_text("The harbour was quiet.", "utf-8")
    joined = ("--voice", "Anna", "--out", "out/story.wav")
    assert export(timbre, "one.txt", *joined).status == 0
    before = frames("story.wav")
    ran = export(timbre, "two.txt", *joined)
    assert ran.status != 0
    assert "story.wav already exists in" in ran.err
    assert "from another script" in ran.err
    assert frames("story.wav") == before
    assert export(timbre, "two.txt", *joined, "--replace").status == 0
    assert frames("story.wav") < before


def test_existing_files_are_replaced_only_with_the_option(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text\nHello\n", "utf-8")
    Path("out").mkdir()
    Path("out/001.wav").write_bytes(b"mine")
    ran = export(timbre, "script.csv", "--voice", "Anna", "--pattern", "{index}")
    assert ran.status == 10
    assert Path("out/001.wav").read_bytes() == b"mine"
    assert export(timbre, "script.csv", "--voice", "Anna", "--pattern", "{index}", "--replace").status == 0
    assert frames("001.wav") == WORD_SAMPLES


def test_a_voice_file_is_found_beside_the_script(timbre, clip: Path) -> None:  # type: ignore[no-untyped-def]
    folder = Path("scripts")
    folder.mkdir()
    (folder / "someone.wav").write_bytes(clip.read_bytes())
    (folder / "script.csv").write_text("text,voice\nHello there,someone.wav\n", "utf-8")
    assert export(timbre, "scripts/script.csv").status == 0
    assert names() == ["001 someone Hello there.wav"]


def test_equal_cache_keys_mean_equal_audio(tmp_path: Path, clip: Path) -> None:
    from dataclasses import replace

    from studio.export.cached_source import request_cache_key
    from studio.pipeline.request import EngineOptions

    model = tmp_path / "model"
    model.mkdir()
    (model / "llm.pt").write_bytes(b"weights")
    request = SynthesisRequest("Hello", VoiceReference(clip, None, "Anna"))

    def key(changed: SynthesisRequest = request, **options: object) -> str:
        return request_cache_key(changed, model, EngineOptions(**options))  # type: ignore[arg-type]

    other_clip = tmp_path / "other.wav"
    other_clip.write_bytes(clip.read_bytes()[:-2])
    copy = tmp_path / "copy.wav"
    copy.write_bytes(clip.read_bytes())
    original = key()
    assert original == key(replace(request, voice=VoiceReference(copy, None, "Another name")))
    assert original == key(num_threads=1)
    different = [
        key(replace(request, text="Hallo")),
        key(replace(request, seed=1)),
        key(replace(request, speed=1.1)),
        key(replace(request, instruct="softly")),
        key(replace(request, voice=VoiceReference(other_clip))),
        key(replace(request, voice=VoiceReference(clip, "What is said."))),
        key(speech_lm_precision="float32"),
    ]
    (model / "llm.pt").write_bytes(b"other weights")
    different.append(key())
    assert len({original, *different}) == len(different) + 1


def test_all_unknown_voices_are_reported_at_once(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text,voice\nOne,Mira\nTwo,Anna\nThree,Mira\nFour,Bandit\n", "utf-8")
    ran = export(timbre, "script.csv")
    assert ran.status == 7
    assert "lines 1, 3: There is no voice named Mira." in ran.err
    assert "lines 4: There is no voice named Bandit." in ran.err
    assert "3 of 4 lines failed" in ran.err
    assert timbre.opened == [], "no model is loaded"
    assert not Path("out").exists()


def test_a_full_disk_is_reported_before_synthesis(timbre, spoken, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text\nHello there\n", "utf-8")
    monkeypatch.setattr("studio.export.checks.check_space.__kwdefaults__", {"takes_folder": None, "free": lambda _: 10})
    ran = export(timbre, "script.csv", "--voice", "Anna")
    assert ran.status == 10
    assert "MB are free in" in ran.err
    assert timbre.opened == []


def test_numbers_added_to_equal_names_are_reported(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text,file name\nOne,same\nTwo,same\n", "utf-8")
    ran = export(timbre, "script.csv", "--voice", "Anna")
    assert ran.status == 0, ran.err
    assert names() == ["same-2.wav", "same.wav"]
    assert "lines 2: Other lines have the same file name" in ran.err


def test_lines_that_cannot_be_spoken_are_left_out_on_request(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("script.csv").write_text("text,voice\nOne,Mira\nTwo,Anna\nnothing,Anna\nFour,Anna\n", "utf-8")
    arguments = ("--pattern", "{index}", "--files", "lines", "joined", "--subtitles", "srt", "--skip-failed", "--json")
    ran = export(timbre, "script.csv", *arguments)
    assert ran.status == 7
    assert names() == ["002.wav", "004.wav", "script.srt", "script.wav"]
    assert [failure["line"] for failure in json.loads(ran.out)["failures"]] == [1, 3]
    assert "2 of 4 lines failed" in ran.err
    assert frames("script.wav") > frames("002.wav") + frames("004.wav")
    assert "Four" in Path("out/script.srt").read_text("utf-8")


def test_a_dry_run_lists_what_would_change(timbre, spoken) -> None:  # type: ignore[no-untyped-def]
    Path("story.txt").write_text("The harbour was quiet. Nobody spoke.", "utf-8")
    assert export(timbre, "story.txt", "--voice", "Anna", "--pattern", "{text}").status == 0
    num_spoken = len(spoken())
    Path("story.txt").write_text("The harbour was quiet. The bell rang.", "utf-8")
    ran = export(timbre, "story.txt", "--voice", "Anna", "--pattern", "{text}", "--dry-run", "--json")
    assert ran.status == 0, ran.err
    assert ran.json["unused"] == ["Nobody spoke.wav"]
    assert [entry["change"] for entry in ran.json["files"]] == ["kept", "new"]
    assert [sentence["spoken"] for sentence in ran.json["sentences"]] == ["The harbour was quiet.", "The bell rang."]
    assert len(spoken()) == num_spoken
    assert names() == ["Nobody spoke.wav", "The harbour was quiet.wav"]
