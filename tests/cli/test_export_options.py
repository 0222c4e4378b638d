"""Options of `timbre export`: presets, kinds of files, and the options of the version before."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

from studio import paths
from studio.cli import old_options
from studio.cli.export_options import book_details, chosen_settings, fit_options, resolve_output
from studio.cli.main import build_parser
from studio.export.book import BookDetails
from studio.export.joined_files import FilePer
from studio.export.plan import ExportSettings
from studio.export.presets import EXPORT_OPTIONS, PRESETS, ExportPreset, export_settings
from studio.export.provenance import Provenance
from studio.export.standards import ACX
from studio.export.subtitles import SubtitleFormat
from studio.export.target_folder import Origin
from studio.project.dubbing import FitOptions, Retakes
from studio.settings import FIT_FASTEST
from studio.settings_store import Settings

COMMON: Mapping[str, Any] = {
    "origin": Origin(), "provenance": Provenance("quiet"), "book": BookDetails(), "style_names": {}
}  # fmt: skip


def parse(*words: str) -> argparse.Namespace:
    arguments = build_parser(["export"]).parse_args(["export", "story.txt", "-o", "out", *words])
    resolve_output(arguments)
    return arguments


def make_export_settings(*words: str) -> ExportSettings:
    return chosen_settings(parse(*words), "story", **COMMON)


def visible_options(timbre: Terminal, command: str) -> set[str]:
    usage = timbre(command, "--help").out.partition("\n\n")[0]
    return set(re.findall(r"(?<![\w,-])--?[a-z][\w-]*", usage)) - {"-h", "--quiet"}


@pytest.mark.parametrize(("command", "most"), [("export", 42), ("say", 24)])
def test_a_command_shows_few_options(timbre: Terminal, command: str, most: int) -> None:
    assert 10 < len(visible_options(timbre, command)) <= most


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_is_the_same_as_in_the_window(preset: ExportPreset) -> None:
    values = {setting: setting.default for setting in EXPORT_OPTIONS} | preset.values
    in_window = export_settings(
        values, joined_name="story", project_name="story", replaces_files=False, has_times=True, **COMMON
    )
    assert make_export_settings("--for", preset.name) == in_window


def test_options_take_precedence_over_the_preset() -> None:
    settings = make_export_settings(
        "--for", "podcast", "--lufs", "-19", "--rate", "48000", "--files", "lines", "joined"
    )
    assert settings.loudness is not None
    assert (settings.loudness.lufs, settings.sample_rate, settings.has_line_files) == (-19, 48_000, True)
    assert settings.encoding.name == "mp3-192"
    lines = make_export_settings("--for", "audiobook", "--files", "lines")
    assert (lines.standard, lines.has_audiobook) == (None, False), "a standard is for joined files"


@pytest.mark.parametrize(
    ("name", "encoding", "is_audiobook"), [("dub.flac", "flac16", False), ("Dub.MP3", "mp3", False), ("dub.m4b", "wav16", True)]
)  # fmt: skip
def test_a_file_name_as_output_means_one_file(tmp_path: Path, name: str, encoding: str, is_audiobook: bool) -> None:
    arguments = parse("-o", str(tmp_path / name))
    settings = chosen_settings(arguments, "story", **COMMON)
    assert arguments.out == tmp_path
    assert (settings.encoding.name, settings.has_audiobook, settings.has_line_files) == (encoding, is_audiobook, False)
    assert settings.project == name[:3]


def test_characters_and_languages_are_exported_at_their_times() -> None:
    settings = make_export_settings("--files", "characters")
    assert (settings.joined_per, settings.at_times, settings.has_line_files) == (FilePer.CHARACTER, True, False)


def test_subtitles_with_the_times_of_words() -> None:
    settings = make_export_settings("--subtitles", "srt-words", "json")
    assert settings.subtitles == {SubtitleFormat.SRT, SubtitleFormat.JSON}
    assert settings.subtitles_have_words
    assert not make_export_settings("--subtitles", "srt").subtitles_have_words


def test_lines_are_fitted_within_the_limits_of_the_settings(timbre: Terminal) -> None:
    Settings().change({FIT_FASTEST: 1.5})
    assert fit_options(parse("--fit")) == FitOptions(0.85, 1.5, retakes=Retakes.BEYOND_LIMITS)
    assert fit_options(parse()) is None


# The options of the version before, and those that replace them.
OLD_AND_NEW = [
    (("--joined",), ("--files", "lines", "joined")),
    (("--joined-only", "--name", "tale"), ("-o", "out/tale.wav")),
    (("--chapters", "--m4b"), ("--files", "chapters", "m4b")),
    (("--joined", "--m4b"), ("--files", "joined", "m4b")),
    (("--at-times", "--per", "language"), ("--files", "languages")),
    (("--at-times", "--joined"), ("--at-times", "--files", "lines", "joined")),
    (("--subtitles", "vtt", "--word-times"), ("--subtitles", "vtt-words")),
    (("--chapters", "--standard", "acx", "--lufs", "-20", "--true-peak", "-3.5"), ("--for", "acx")),
]


@pytest.mark.parametrize(("old", "new"), OLD_AND_NEW, ids=" ".join)
def test_options_of_the_version_before_still_work(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    assert make_export_settings(*old) == make_export_settings(*new)


def test_other_options_of_the_version_before_still_work() -> None:
    settings = make_export_settings("--joined-only", "--trim", "--room-tone", "room.wav", "--standard", "acx")
    assert (settings.is_trimmed, settings.room_tone, settings.standard) == (True, Path("room.wav"), ACX)
    cover = paths.resources() / "screenshots/cast.png"
    old = parse("--title", "Rain", "--author", "J. W.", "--narrator", "Anna", "--cover", str(cover))
    assert book_details(old, BookDetails("Storm")) == BookDetails("Rain", "J. W.", "Anna", cover.read_bytes())
    fit = fit_options(parse("--fit", "--fit-limits", "0.9", "1.3", "--fit-short", "--fit-retake", "never"))
    assert fit == FitOptions(0.9, 1.3, lengthens=True, retakes=Retakes.NEVER)


def test_an_old_option_is_hidden_and_noted(timbre: Terminal, clip: Path) -> None:
    for command in ("export", "say", "convert", "serve", "engines"):
        named = set(re.findall(r"--[\w-]+", timbre(command, "--help").out))
        hidden = set(build_parser([command]).parse_args(minimal(command)).old_options)
        assert hidden
        assert not hidden & named
    ran = timbre("say", "one", "--voice", clip, "-o", "one.wav", "--threads=2", "--approximate-streaming")
    assert ran.status == 0
    assert "note: --threads will be removed in the next version; it is replaced by the setting “CPU threads”" in ran.err
    assert "--approximate-streaming will be removed" in ran.err
    assert "will be removed" not in timbre("say", "one", "--voice", clip, "-o", "one.wav").err


def minimal(command: str) -> list[str]:
    return [command, *{"export": ["a.txt", "-o", "out"], "engines": ["list"], "serve": []}.get(command, ["x"])]


def test_every_old_option_belongs_to_a_command() -> None:
    used = {
        name
        for command in ("export", "say", "convert", "serve", "engines")
        for name in build_parser([command]).parse_args(minimal(command)).old_options
    }
    assert used == set(old_options._OLD)
