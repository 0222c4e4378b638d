"""Declarations of settings, and the settings file: round trips, damage, concurrent windows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from setting_values import other_value

from studio import settings as declared
from studio.audio.encoding import ENCODINGS
from studio.errors import CannotWrite, UnusableSetting
from studio.export.names import DEFAULT_PATTERN, NamePattern
from studio.export.plan import SAMPLE_RATES
from studio.project.splitting import SplitMode
from studio.setting_kinds import ChoiceSetting, FolderSetting, IntSetting, NumberSetting, Setting, StringSetting
from studio.settings import (
    AUTOSAVE_MINUTES,
    COLOUR_SCHEME,
    EXPORT_ENCODING,
    EXPORT_FILES,
    EXPORT_IS_TRIMMED,
    EXPORT_LUFS,
    EXPORT_PATTERN,
    EXPORT_SAMPLE_RATE,
    LANGUAGE,
    PAGE_TITLES,
    SETTINGS,
    SHORTCUTS,
    TEXT_SPLITTING,
)
from studio.settings_store import Settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_every_setting_is_declared_completely(setting: Setting[Any]) -> None:
    assert setting.checked(setting.default) == setting.default
    assert setting in vars(declared).values()
    if setting.page is not None:
        assert setting.title
        assert setting.help.endswith(".")
        assert setting.page in PAGE_TITLES
    if setting.needs is not None:
        assert setting.needs.page is setting.page
        assert SETTINGS.index(setting.needs) < SETTINGS.index(setting)
    if isinstance(setting, IntSetting | NumberSetting):
        assert setting.low < setting.high
    if isinstance(setting, ChoiceSetting):
        assert all(option.title for option in setting.options)


def test_no_two_settings_share_a_name() -> None:
    keys = [setting.key for setting in SETTINGS]
    assert len(set(keys)) == len(keys) >= 20


def test_no_setting_is_without_effect() -> None:
    """Each setting is read somewhere outside the dialog."""
    package = Path(declared.__file__).parent
    declarations = {package / "settings.py", *(package / "app" / "preferences").iterdir()}
    used = {
        name
        for path in package.rglob("*.py")
        if path not in declarations
        for name in re.findall(r"\b[A-Z][A-Z_]{3,}\b", path.read_text("utf-8"))
    }
    assert {name for name, value in vars(declared).items() if isinstance(value, Setting)} - used == set()


def test_choices_match_the_code_that_uses_them() -> None:
    assert {option.value for option in EXPORT_ENCODING.options} == set(ENCODINGS)
    assert {option.value for option in EXPORT_SAMPLE_RATE.options} == set(SAMPLE_RATES)
    assert {option.value for option in TEXT_SPLITTING.options} == {breaks.value for breaks in SplitMode}
    assert EXPORT_PATTERN.default == DEFAULT_PATTERN
    NamePattern(EXPORT_PATTERN.default)


def test_settings_do_not_import_qt() -> None:
    code = "import sys, studio.settings_store; print([name for name in sys.modules if 'PySide' in name or name == 'torch'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_a_changed_setting_is_stored(path: Path) -> None:
    settings = Settings(path)
    assert settings[LANGUAGE] == "system"
    settings[LANGUAGE] = "zh_CN"
    settings.change({AUTOSAVE_MINUTES: 5, EXPORT_LUFS: -19, SHORTCUTS: {"play.toggle": ("F7",)}})
    for each in (settings, Settings(path)):
        assert each[LANGUAGE] == "zh_CN"
        assert each[AUTOSAVE_MINUTES] == 5
        assert each[EXPORT_LUFS] == -19.0
        assert each[SHORTCUTS] == {"play.toggle": ("F7",)}
        assert each.complaints == ()


def test_the_file_keeps_every_setting(path: Path) -> None:
    values = {setting: other_value(setting) for setting in SETTINGS}
    Settings(path).change(values)
    found = Settings(path)
    assert found.complaints == ()
    assert {setting: found[setting] for setting in SETTINGS} == values


def test_the_file_contains_only_changed_settings(path: Path) -> None:
    settings = Settings(path)
    settings[LANGUAGE] = "en"
    settings[EXPORT_IS_TRIMMED] = True
    assert json.loads(path.read_text("utf-8")) == {"language": "en", "export-trims": True}
    settings[LANGUAGE] = "system"
    settings.reset([EXPORT_IS_TRIMMED])
    assert json.loads(path.read_text("utf-8")) == {}
    assert [found.name for found in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        (LANGUAGE, "tlh"),
        (LANGUAGE, 1),
        (AUTOSAVE_MINUTES, -1),
        (AUTOSAVE_MINUTES, 61),
        (AUTOSAVE_MINUTES, 1.5),
        (AUTOSAVE_MINUTES, True),
        (EXPORT_LUFS, float("nan")),
        (EXPORT_LUFS, "-16"),
        (EXPORT_LUFS, 0),
        (EXPORT_IS_TRIMMED, 1),
        (EXPORT_PATTERN, "  "),
        (EXPORT_PATTERN, None),
        (EXPORT_SAMPLE_RATE, 24_000.0),
        (SHORTCUTS, ["x"]),
        (SHORTCUTS, {"a": "F1"}),
        (SHORTCUTS, {"a": [1]}),
    ],
)
def test_an_invalid_value_is_an_error_and_changes_nothing(path: Path, setting: Setting[Any], value: object) -> None:
    settings = Settings(path)
    with pytest.raises(UnusableSetting, match="is not a valid value of") as caught:
        settings.change({COLOUR_SCHEME: "dark", setting: value})
    assert str(caught.value.remedy)
    assert settings[COLOUR_SCHEME] == "system"
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"a":' * 500 + b"1" + b"}" * 500,
        b'{"model": "\\ud800"}',
        b'{"autosave-minutes": 1e999}',
        b'{"autosave-minutes": NaN}',
    ],
    ids=lambda content: repr(content[:20]),
)
def test_a_damaged_file_is_renamed_and_reported(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    settings = Settings(path)
    (complaint,) = settings.complaints
    assert "The settings file is damaged" in str(complaint.problem)
    assert "settings.json.damaged" in str(complaint.remedy)
    assert settings[LANGUAGE] == "system"
    settings[LANGUAGE] = "en"
    assert Settings(path)[LANGUAGE] == "en"
    assert path.with_name("settings.json.damaged").read_bytes() == content


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_in_place_of_the_settings_does_not_block(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    settings = Settings(path)
    (complaint,) = settings.complaints
    assert "not an ordinary file" in str(complaint.problem)
    settings[LANGUAGE] = "en"
    assert Settings(path)[LANGUAGE] == "en"


def test_a_file_that_cannot_be_renamed_is_reported_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    path.write_bytes(b"{")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    (complaint,) = Settings(path).complaints
    assert "Repair" in str(complaint.remedy)
    assert path.read_bytes() == b"{"


def test_an_invalid_value_resets_only_its_own_setting(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"language": "tlh", "colour-scheme": "dark", "of-another-version": [1]}')
    settings = Settings(path)
    assert (settings[LANGUAGE], settings[COLOUR_SCHEME]) == ("system", "dark")
    assert len(settings.complaints) == 1
    settings[AUTOSAVE_MINUTES] = 1
    kept = json.loads(path.read_text("utf-8"))
    assert kept["of-another-version"] == [1]
    assert kept["autosave-minutes"] == 1


def test_two_windows_keep_each_others_changes(path: Path) -> None:
    one, other = Settings(path), Settings(path)
    one[LANGUAGE] = "en"
    other[COLOUR_SCHEME] = "dark"
    again = Settings(path)
    assert (again[LANGUAGE], again[COLOUR_SCHEME]) == ("en", "dark")


def test_watchers_are_called_for_changed_values_until_they_unwatch(path: Path) -> None:
    settings = Settings(path)
    heard: list[frozenset[Setting[Any]]] = []
    stop = settings.watch(heard.append)
    settings.change({LANGUAGE: "en", COLOUR_SCHEME: "system"})
    settings[LANGUAGE] = "en"
    settings.reset([LANGUAGE, COLOUR_SCHEME])
    stop()
    stop()
    settings[LANGUAGE] = "zh_CN"
    assert heard == [{LANGUAGE}, {LANGUAGE}]


def test_an_unwritable_folder_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = Settings(tmp_path / "file" / "settings.json")
    with pytest.raises(CannotWrite):
        settings[LANGUAGE] = "en"
    assert settings[LANGUAGE] == "system"


def test_the_settings_file_is_in_the_config_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_CONFIG", str(tmp_path))
    Settings()[LANGUAGE] = "en"
    assert (tmp_path / "settings.json").is_file()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(SETTINGS), json_values)
def test_any_file_content_is_validated(setting: Setting[Any], value: object) -> None:
    remedy = "none needed"
    try:
        kept = setting.checked(value)
        assert setting.checked(kept) == kept
    except UnusableSetting as error:
        remedy = str(error.remedy)
    assert remedy


def test_empty_text_is_allowed_where_it_has_a_meaning() -> None:
    assert all(setting.checked("") == "" for setting in SETTINGS if isinstance(setting, FolderSetting))
    assert not EXPORT_PATTERN.may_be_empty
    assert isinstance(EXPORT_FILES, ChoiceSetting)
    assert not isinstance(EXPORT_FILES, StringSetting)


def test_a_change_waits_for_that_of_another_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Settings(path), Settings(path)
    other = threading.Thread(target=second.change, args=({EXPORT_PATTERN: "{index}"},))
    read = first._file_content

    def read_while_another_program_changes() -> dict[str, Any]:
        content = read()
        other.start()
        other.join(0.5)
        return content

    monkeypatch.setattr(first, "_file_content", read_while_another_program_changes)
    first[AUTOSAVE_MINUTES] = 9
    other.join()
    assert json.loads(path.read_text("utf-8")) == {"autosave-minutes": 9, "export-pattern": "{index}"}
    assert [each.name for each in path.parent.iterdir()] == [path.name]
