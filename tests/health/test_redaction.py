"""Reports contain no personal data, for any user name and folder."""

from __future__ import annotations

import sys
from pathlib import Path, PureWindowsPath

import pytest

from studio.errors import UnreadableClip, VoiceNotFound
from studio.health import redaction
from studio.health.redaction import redact, without_facts, without_values
from studio.messages import message


@pytest.fixture(autouse=True)
def anna(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    home = tmp_path / "home" / "Anna"
    home.mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(redaction, "_account", lambda: "anna.smith")
    return home


def test_the_home_folder_is_replaced(anna: Path) -> None:
    assert redact(f"{anna}/models, 3 GB") == "~/models, 3 GB"
    assert redact(f"in {anna}") == "in ~"
    assert redact(f"({anna})") == "(~)"
    assert redact(f"{anna}belle/x") == f"{anna.parent}/Annabelle/x"  # another user's folder


def test_the_user_name_in_other_paths_is_replaced() -> None:
    assert redact("/media/anna.smith/DISK/x") == "/media/USER/DISK/x"
    assert redact(r"D:\\Models\\Anna\\llm.pt") == r"D:\\Models\\USER\\llm.pt"
    assert redact("/srv/anna.smithson") == "/srv/anna.smithson"
    assert redact("Anna says hello") == "Anna says hello"  # not a path


def test_a_link_to_the_home_folder_is_replaced(anna: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    link = tmp_path / "people"
    link.symlink_to(anna.parent)
    monkeypatch.setattr(Path, "home", lambda: link / "Anna")
    assert redact(f"{anna}/a and {link}/Anna/b") == "~/a and ~/b"


def test_an_account_without_a_home_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert redact("/var/lib/timbre/voices") == "/var/lib/timbre/voices"


def test_common_account_names_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/root"))
    monkeypatch.setattr(redaction, "_account", lambda: "user")
    assert redact("/root/x /srv/user/y /home/users") == "~/x /srv/user/y /home/users"
    monkeypatch.setattr(Path, "home", lambda: Path("/"))
    assert redact("/srv/x") == "/srv/x"


def test_paths_on_windows_are_compared_without_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_homes", lambda: [str(PureWindowsPath("C:/Users/Anna Smith"))])
    monkeypatch.setattr("os.name", "nt")
    assert redact(r"c:\users\anna smith\AppData\x") == r"~\AppData\x"


def test_facts_chosen_by_the_user_are_replaced_and_others_kept(anna: Path) -> None:
    error = VoiceNotFound("There is no voice {name}.", remedy="Add it.", name="Aunt Mary")
    assert str(without_facts(error.problem)) == "There is no voice ‹name›."
    clip = UnreadableClip(
        "{file} is not audio ({reason}).", file="my diary.wav", reason=PermissionError(13, "Permission denied")
    )
    assert str(without_facts(clip.problem)) == "‹file› is not audio (permission denied)."
    model = message("{file} is damaged, {size:.1f} GB", file="llm.pt", size=2.5)
    assert str(without_facts(model)) == "llm.pt is damaged, 2.5 GB"
    inner = message("{host} {happened}", host="hf-mirror.com", happened=message("stopped at {path}", path=anna))
    assert str(without_facts(inner)) == "hf-mirror.com stopped at ‹path›"
    files = message("missing: {files}", files=["llm.pt", "Anna's voice.wav"])
    assert str(without_facts(files)) == "missing: llm.pt, ‹files›"
    assert str(without_facts(message("no ({reason})", reason=f"cannot open {anna}/x"))) == "no (cannot open ‹path›)"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("'Aunt'", "'…'"),  # the whole text of a KeyError
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
def test_quoted_words_and_paths_are_removed_from_library_messages(text: str, redacted: str) -> None:
    assert without_values(text) == redacted
