"""The Windows installer script is consistent; not run on Windows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from installer_scripts import PACKAGING, build_script

import studio
from studio.app.documents import PROJECT_SUFFIX
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX

SCRIPT = (PACKAGING / "windows" / "timbre-studio.iss").read_text("utf-8-sig")
SPECIFICATION = (PACKAGING / "frozen" / "timbre.spec").read_text("utf-8")
build = build_script("windows")


def section(name: str) -> list[str]:
    body = re.split(r"^\[\w+\]$", SCRIPT.partition(f"\n[{name}]\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return [line for line in body.splitlines() if line and not line.startswith((";", "#"))]


def settings() -> dict[str, str]:
    return dict(line.split("=", 1) for line in section("Setup"))


def test_it_says_that_nobody_has_run_it() -> None:
    for path in (PACKAGING / "windows").iterdir():
        if path.is_file():
            assert "NOT RUN YET" in path.read_text("utf-8-sig").splitlines()[0], path.name


def test_what_it_uses_is_defined_by_itself_or_by_the_command() -> None:
    command = build.compile_command(Path("ISCC.exe"), "1.2.3", Path("work"), sign="signtool sign $f")
    given = {argument[2:].partition("=")[0] for argument in command if argument.startswith("/D")}
    own = set(re.findall(r"^#define (\w+) ", SCRIPT, re.MULTILINE))
    assert set(re.findall(r"\{#(\w+)\}", SCRIPT)) | {"Sign"} == own | given
    assert "/DVersion=1.2.3" in command
    assert f"/S{settings()['SignTool']}=signtool sign $f" in command
    assert Path(command[-1]).is_file()
    assert "/DSign" not in build.compile_command(Path("ISCC.exe"), "1.2.3", Path("work"))


def test_the_version_is_the_programs() -> None:
    assert build.version() == studio.__version__
    assert re.fullmatch(r"\d+(\.\d+){1,3}", studio.__version__), "Windows knows numbers only"


def test_its_programs_are_those_that_are_frozen() -> None:
    frozen = {f"{name}.exe" for name in re.findall(r'program\("([^"]+)"', SPECIFICATION)}
    named = set(re.findall(r'^#define (?:Window|Terminal) "([^"]+)"', SCRIPT, re.MULTILINE))
    assert named == frozen == set(build._PROGRAMS)
    assert build.NAME in SPECIFICATION


def test_it_is_for_one_person_and_knows_no_administrator() -> None:
    assert settings()["PrivilegesRequired"] == "lowest"
    assert settings()["DefaultDirName"].startswith("{autopf}")
    roots = {re.match(r"Root: (\w+);", line)[1] for line in section("Registry")}  # type: ignore[index]
    assert roots == {"HKA"}


def test_scripts_and_voices_are_opened_as_the_program_is_called() -> None:
    registry = "\n".join(section("Registry"))
    for suffix in (PROJECT_SUFFIX, VOICE_SUFFIX):
        assert f"Classes\\{suffix}\\OpenWithProgids" in registry
    commands = [line for line in section("Registry") if "shell\\open\\command" in line]
    assert len(commands) == 2
    assert all('"""{app}\\{#Window}"" app ""%1"""' in line for line in commands)


def test_removing_it_leaves_nothing_of_the_program_and_all_of_the_person() -> None:
    for line in section("Registry"):
        is_below_one_that_goes = re.search(r"Studio\.(Script|Voice)\\", line)
        assert is_below_one_that_goes or "uninsdelete" in line, line
    for line in (*section("UninstallDelete"), *section("InstallDelete")):
        assert '"{app}\\_internal"' in line, "nothing outside the program's own libraries"
    assert "[Code]" not in SCRIPT, "and nobody is asked"


def test_a_running_program_is_neither_replaced_nor_removed() -> None:
    assert f'"{settings()["AppMutex"]}"' in (PACKAGING / "frozen" / "launcher.py").read_text("utf-8")


def test_what_is_said_in_chinese_is_said_in_english_too() -> None:
    words: dict[str, set[str]] = {"en": set(), "zh": set()}
    for line in section("CustomMessages"):
        language, _, rest = line.partition(".")
        words[language].add(rest.partition("=")[0])
    assert words["en"] == words["zh"]
    standard = {"CreateDesktopIcon", "LaunchProgram"}
    assert set(re.findall(r"\{cm:(\w+)", SCRIPT)) == words["en"] | standard


def test_the_compiler_is_found_where_its_installer_puts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build.shutil, "which", lambda _: None)
    for variable in ("PROGRAMFILES(X86)", "PROGRAMFILES", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    assert build.find_compiler() is None
    compiler = tmp_path / "Inno Setup 6" / "ISCC.exe"
    compiler.parent.mkdir()
    compiler.touch()
    monkeypatch.setenv("PROGRAMFILES(X86)", str(tmp_path))
    assert build.find_compiler() == compiler


def test_a_name_with_blanks_reaches_both_that_sign() -> None:
    for sign in ('signtool sign /n "My Company" $f', "signtool sign /n $qMy Company$q $f"):
        command = build.compile_command(Path("ISCC.exe"), "1.2.3", Path("work"), sign=sign)
        assert "/Stimbre=signtool sign /n $qMy Company$q $f" in command
        assert build.sign_command(sign, Path("a.exe")) == 'signtool sign /n "My Company" "a.exe"'


def test_a_file_is_signed_in_quotes() -> None:
    assert (
        build.sign_command("signtool sign /a $f", Path("Timbre Studio.exe")) == 'signtool sign /a "Timbre Studio.exe"'
    )
