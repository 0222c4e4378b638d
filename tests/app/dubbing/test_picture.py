"""The picture of the guide track: absent without Qt Multimedia, and in time with the sound."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QWidget

from studio.app.dubbing.picture import GuidePicture, make_picture


class FakePlayer:
    """A media player that records the calls."""

    def __init__(self, _: QWidget) -> None:
        self.calls: list[Any] = []
        self.milliseconds = 0

    def setVideoOutput(self, _: QWidget) -> None:  # noqa: N802
        self.calls.append("output")

    def setSource(self, url: QUrl) -> None:  # noqa: N802
        self.calls.append(url.fileName())

    def play(self) -> None:
        self.calls.append("play")

    def pause(self) -> None:
        self.calls.append("pause")

    def position(self) -> int:
        return self.milliseconds

    def setPosition(self, milliseconds: int) -> None:  # noqa: N802
        self.milliseconds = milliseconds
        self.calls.append(milliseconds)


def test_without_qt_multimedia_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    assert make_picture() is None


def test_the_picture_follows_the_sound(qtbot: Any) -> None:
    picture = GuidePicture(SimpleNamespace(QMediaPlayer=FakePlayer), SimpleNamespace(QVideoWidget=QWidget))
    qtbot.addWidget(picture)
    player = picture._player
    picture.show_file("/films/one.mp4")
    assert not picture.isHidden()
    picture.set_playing(True)
    for seconds in (0.04, 0.5, 0.55, 0.7):
        picture.seek(seconds)
    picture.set_playing(False)
    assert player.calls == ["output", "one.mp4", "pause", "play", 500, 700, "pause"]
    picture.show_file("/films/one.wav")
    assert picture.isHidden()
