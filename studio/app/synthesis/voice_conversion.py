"""Voice conversion of recordings into new lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QWidget

from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.app.voices.voice_importer import AUDIO_SUFFIXES
from studio.app.widgets.dialogs import choose_file, default_folder
from studio.errors import VoiceNotFound
from studio.project.lines import Line, new_id


def choose_recording(window: QWidget, title: str, then: Callable[[Path], object]) -> None:
    """Let the user choose an audio file, and pass it to ``then``."""
    patterns = " ".join(f"*{suffix}" for suffix in sorted(AUDIO_SUFFIXES))
    filters = (
        QCoreApplication.translate("VoiceConversionController", "Audio files ({patterns})").format(patterns=patterns),
        QCoreApplication.translate("VoiceConversionController", "All files ({patterns})").format(patterns="*"),
    )
    folder = default_folder(QStandardPaths.StandardLocation.MusicLocation)
    choose_file(window, title, then, folder=folder, filters=filters)


class VoiceConversionController(QObject):
    """Adds a line named after the recording. Undo removes the line and its take."""

    failed = Signal(object)  # StudioError

    def __init__(self, session: Session, script: ScriptPage, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._script = script
        self._window = window

    def choose_file(self) -> None:
        voice = self._voice()
        if voice is None:
            return
        title = self.tr("Convert a recording to the voice {voice}").format(voice=voice)
        choose_recording(self._window, title, self.speak)

    def speak(self, recording: Path) -> None:
        """Convert ``recording`` to the voice of the current line, in a new line below it."""
        voice, current = self._voice(), self._script.current_line
        if voice is None or current is None:
            return
        line = Line(id=new_id(), text=recording.stem, voice=voice, pause_after_seconds=current.pause_after_seconds)
        self._script.insert_recording(line)
        self._session.synthesis.convert_recording(line.id, recording)

    def _voice(self) -> str | None:
        line = self._script.current_line
        if line is not None and line.voice is not None:
            return line.voice
        self.failed.emit(
            VoiceNotFound(
                "This line has no voice.",
                remedy="Choose one, or drop a recording of a voice on the window.",
            )
        )
        return None
