"""Reports contain no personal data, for any user name and folder."""

from __future__ import annotations

import sys
from pathlib import Path, PureWindowsPath

import pytest

from studio.errors import UnreadableClip, VoiceNotFound
from studio.health import redaction
from studio.health.redaction import redact, without_facts, without_values
from studio.messages import wording


@pytest.fixture(autouse=True)
def anna(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    home = tmp_path / "home" / "Anna"
    home.mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(redaction, "_account", lambda: "anna.smith")
    return home


def test_the_users_folder_has_no_name(anna: Path) -> None:
    assert redact(f"{anna}/models, 3 GB") == "~/models, 3 GB"
    assert redact(f"in {anna}") == "in ~"
    assert redact(f"({anna})") == "(~)"
    assert redact(f"{anna}belle/x") == f"{anna.parent}/Annabelle/x"  # another user's folder


def test_a_folder_elsewhere_that_is_called_after_the_user_has_no_name() -> None:
    assert redact("/media/anna.smith/DISK/x") == "/media/USER/DISK/x"
    assert redact(r"D:\\Models\\Anna\\llm.pt") == r"D:\\Models\\USER\\llm.pt"
    assert redact("/srv/anna.smithson") == "/srv/anna.smithson"
    assert redact("Anna says hello") == "Anna says hello"  # no path


def test_a_link_to_the_users_folder_is_found_too(anna: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    link = tmp_path / "people"
    link.symlink_to(anna.parent)
    monkeypatch.setattr(Path, "home", lambda: link / "Anna")
    assert redact(f"{anna}/a and {link}/Anna/b") == "~/a and ~/b"


def test_ordinary_words_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/root"))
    monkeypatch.setattr(redaction, "_account", lambda: "user")
    assert redact("/root/x /srv/user/y /home/users") == "~/x /srv/user/y /home/users"
    monkeypatch.setattr(Path, "home", lambda: Path("/"))
    assert redact("/srv/x") == "/srv/x"


def test_windows_writes_a_folder_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_homes", lambda: [str(PureWindowsPath("C:/Users/Anna Smith"))])
    monkeypatch.setattr("os.name", "nt")
    assert redact(r"c:\users\anna smith\AppData\x") == r"~\AppData\x"


def test_a_sentence_keeps_what_is_the_programs_and_loses_what_is_a_persons(anna: Path) -> None:
    error = VoiceNotFound("There is no voice {name}.", remedy="Add it.", name="Aunt Mary")
    assert str(without_facts(error.problem)) == "There is no voice ‹name›."
    clip = UnreadableClip(
        "{file} is no sound ({reason}).", file="my diary.wav", reason=PermissionError(13, "Permission denied")
    )
    assert str(without_facts(clip.problem)) == "‹file› is no sound (permission denied)."
    model = wording("{file} is damaged, {size:.1f} GB", file="llm.pt", size=2.5)
    assert str(without_facts(model)) == "llm.pt is damaged, 2.5 GB"
    inner = wording("{host} {happened}", host="hf-mirror.com", happened=wording("broke off at {path}", path=anna))
    assert str(without_facts(inner)) == "hf-mirror.com broke off at ‹path›"
    assert str(without_facts(wording("no ({reason})", reason=f"cannot open {anna}/x"))) == "no (cannot open ‹path›)"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("'Aunt'", "'…'"),  # a KeyError says no more than that
        ("no voice 'Aunt Mary' in the list", "no voice '…' in the list"),
        ("'NoneType' object has no attribute 'numpy'", "'NoneType' object has no attribute 'numpy'"),
        ("'charmap' can't encode \"你好, Mary\" here", "'charmap' can't encode \"…\" here"),
        ("[Errno 2] No such file: '/media/usb/Mary/diary.wav'", "[Errno 2] No such file: '‹path›'"),
        ("cannot open D:\\Mary\\diary.wav: it is busy", "cannot open ‹path›: it is busy"),
        ("libcudnn.so.9: cannot open shared object file", "libcudnn.so.9: cannot open shared object file"),
        (f"{sys.prefix}/lib/libtorch.so: undefined symbol", f"{sys.prefix}/lib/libtorch.so: undefined symbol"),
        ("proxy http://mary:secret@proxy.example:8080 refused", "proxy http://proxy.example:8080 refused"),
        ("sizes 3/4 and 5/6 do not match", "sizes 3/4 and 5/6 do not match"),
    ],
)
def test_what_a_library_says_is_told_without_what_it_quotes(words: str, told: str) -> None:
    assert without_values(words) == told
