"""Files written by the version of 28 November 2026 still open, with all that they contain."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from studio.model.options import Quality, SamplingOptions
from studio.project.lines import Heading, LineStyle, Slot
from studio.project.project import Project
from studio.settings import SETTINGS
from studio.settings_store import Settings
from studio.voices.library import VoiceLibrary

FILES = Path(__file__).parent / "earlier_version"


def test_settings_keep_their_values_and_removed_ones_are_ignored(tmp_path: Path) -> None:
    """The file has a value other than the default for each setting of that version that has one value."""
    path = tmp_path / "settings.json"
    shutil.copy(FILES / "settings.json", path)
    written = json.loads(path.read_text("utf-8"))
    settings = Settings(path)
    assert settings.complaints == ()
    known = {setting.key: setting for setting in SETTINGS if setting.key in written}
    assert len(known) > 40
    assert {key: settings[setting] for key, setting in known.items()} == {key: written[key] for key in known}
    settings[known["language"]] = "zh_CN"
    assert json.loads(path.read_text("utf-8")) == {**written, "language": "zh_CN"}, "of older versions, too"


def test_a_project_keeps_its_lines_takes_and_details(tmp_path: Path) -> None:
    path = tmp_path / "project.timbre"
    shutil.copy(FILES / "project.timbre", path)
    with Project.open(path, tmp_path) as project:
        assert project.notice is None
        chapter, line, chinese, note, scene = project.lines
        assert (chapter.heading, scene.heading) == (Heading.CHAPTER, Heading.SCENE)
        assert (chinese.text, chinese.style) == ("我们去公园散步吧。", LineStyle(instruct="请用四川话表达"))
        assert not note.is_spoken
        assert (line.text, line.voice, line.style) == ("The harbour was quiet.", "Ada", LineStyle(preset="fast"))
        assert (line.speed, line.seed, line.pause_after_seconds, line.is_locked) == (1.2, 7, 1.5, True)
        assert line.sampling == SamplingOptions(top_p=0.7, top_k=20)
        assert (line.file_name, line.character, line.note) == ("vo/0001", "Anna", "softly")
        assert (line.slot, line.gain_db, line.quality) == (Slot(1.0, 3.5), -2.0, Quality.FAST)
        assert line.columns == {"ID": "0001", "Text": "The harbour was quiet."}
        first, second = project.takes_of(line.id)
        assert line.chosen_take == first.id
        assert (first.parameters.seed, first.parameters.sampling) == (8, line.sampling)
        assert (second.trim_start_seconds, second.parameters.quality) == (0.02, Quality.FAST)
        assert second.check is not None
        assert second.check.recognizer == "parakeet-tdt-0.6b-v2", "a recogniser that no longer exists"
        assert second.check.is_accepted
        assert len(project.samples_of(first.id)) > 0
        details = project.script.details
        assert (details.title, details.author, details.narrator) == ("A Book", "An Author", "Ada")
        assert details.cast["anna"].style == LineStyle(preset="whisper")
        assert (details.columns, details.guide_track) == (("ID", "Text"), "video.mp4")
        assert (details.quality, details.checks.num_retries) == (Quality.DRAFT, 2)
        assert {entry.written for entry in project.dictionary.entries} == {"Leicester", "GIF"}


def test_a_voice_file_can_be_imported(tmp_path: Path) -> None:
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path / "none")
    library.import_(FILES / "Rita.voice")
    assert library.get("Rita").transcript == "The words of the recording."
