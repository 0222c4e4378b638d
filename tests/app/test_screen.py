"""A missing or unreachable screen is reported as an error instead of aborting in Qt."""

from __future__ import annotations

import ctypes
import socket
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from studio import start
from studio.app import screen
from studio.app.screen import require_screen, wayland_answers, x_answers
from studio.errors import NoScreen


def has_library_of_x() -> bool:
    try:
        ctypes.CDLL("libxcb.so.1")
    except OSError:
        return False
    return True


needs_x = pytest.mark.skipif(not has_library_of_x(), reason="needs libxcb, as a window on X does")


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")


def platform_for(environment: dict[str, str], *, x: bool = False, wayland: bool = False) -> str | None:
    """Return the platform while X servers and Wayland compositors answer as given."""
    with mock.patch.multiple(screen, x_answers=lambda _: x, wayland_answers=lambda _: wayland):
        return require_screen(environment)


def test_a_missing_screen_is_reported() -> None:
    with pytest.raises(NoScreen, match="No screen is available"):
        platform_for({})


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"DISPLAY": ":77"}, ":77"),
        ({"WAYLAND_DISPLAY": "wayland-7"}, "wayland-7"),
        ({"DISPLAY": ":77", "WAYLAND_DISPLAY": "wayland-7"}, ":77"),
        ({"DISPLAY": ":77", "QT_QPA_PLATFORM": "xcb"}, ":77"),
    ],
)
def test_a_screen_that_does_not_answer_is_named(environment: dict[str, str], name: str) -> None:
    with pytest.raises(NoScreen, match="cannot be reached") as raised:
        platform_for(environment)
    assert name in str(raised.value)


def test_the_reachable_one_of_two_displays_is_used() -> None:
    both = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
    assert platform_for(both, x=True) == "xcb"
    assert platform_for(both, wayland=True) == "wayland"
    assert platform_for(both, x=True, wayland=True) is None
    assert platform_for({"DISPLAY": ":0"}, x=True) is None


def test_offscreen_platforms_need_no_screen() -> None:
    assert platform_for({"QT_QPA_PLATFORM": "offscreen"}) is None
    assert platform_for({"QT_QPA_PLATFORM": "minimal:option;xcb"}) is None


def test_other_systems_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert platform_for({}) is None


@needs_x
def test_a_display_without_a_server_does_not_answer() -> None:
    assert not x_answers(":3999")


def test_a_compositor_answers_where_it_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert not wayland_answers("wayland-0")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as compositor:
        compositor.bind(str(tmp_path / "wayland-0"))
        compositor.listen(1)
        assert wayland_answers("wayland-0")
        assert wayland_answers(str(tmp_path / "wayland-0"))


@needs_x
def test_the_program_ends_with_a_sentence_and_the_status_of_no_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":3999")
    assert start.main([]) == 12
    assert ":3999" in capsys.readouterr().err


def test_the_check_does_not_import_qt() -> None:
    code = f"import sys; import {screen.__name__}; assert not [name for name in sys.modules if 'PySide' in name]"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
