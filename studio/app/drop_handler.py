"""Handles dropped files: opens scripts, imports texts, and creates voices from recordings.

A video or recording dropped on the timeline becomes its guide track. A recording dropped on a line becomes the voice of that line; with Ctrl it is converted to the line's voice.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QRect
from PySide6.QtWidgets import QWidget

from studio.app.documents import PROJECT_SUFFIX, Documents
from studio.app.dubbing.controller import DubbingController
from studio.app.script.script_page import ScriptPage
from studio.app.synthesis.voice_conversion import VoiceConversionController
from studio.app.voices.voice_importer import AUDIO_SUFFIXES, VoiceImporter, may_hold_voices
from studio.app.widgets.drop_overlay import DraggedFiles, DropOverlay, DropPrompt
from studio.project.importing.script_file import SCRIPT_SUFFIXES
from studio.project.lines import Line


class DropHandler(QObject):
    """Describes dragged files in an overlay of ``window``, and handles them when they are dropped."""

    def __init__(
        self,
        documents: Documents,
        voice_importer: VoiceImporter,
        script: ScriptPage,
        recordings: VoiceConversionController,
        window: QWidget,
        *,
        dubbing: DubbingController,
    ) -> None:
        super().__init__(window)
        self._documents = documents
        self._new_voices = voice_importer
        self._script = script
        self._recordings = recordings
        self._dubbing = dubbing
        self._window = window
        self.overlay = DropOverlay(window, self._describe)
        self.overlay.dropped.connect(self._take)

    def open(self, path: Path) -> None:
        """Open a file that was named on the command line or double-clicked."""
        if may_hold_voices([path]):
            self._new_voices.import_paths([path])
        else:
            self._documents.open_files(path)

    def _describe(self, held: DraggedFiles) -> DropPrompt | None:
        suffixes = {path.suffix.lower() for path in held.paths}
        if PROJECT_SUFFIX in suffixes:
            return DropPrompt(self.tr("Drop to open the script"))
        if suffixes & set(SCRIPT_SUFFIXES):
            return DropPrompt(self.tr("Drop to import as lines"))
        area = self._guide_area(held)
        if area is not None:
            return DropPrompt(self.tr("Drop to use {name} as guide track").format(name=held.paths[0].name), area)
        words = self._new_voices.describe_drop(list(held.paths))
        if words is None:
            return None
        line, area = self._line_under(held)
        if line is None:
            return DropPrompt(words)
        return DropPrompt(self._words_for_line(held, line, words), area)

    def _words_for_line(self, held: DraggedFiles, line: Line, words: str) -> str:
        """Return the drop hint over ``line``. ``words`` is the hint elsewhere in the window."""
        if held.has_control:
            if line.voice is None:
                return self.tr("This line has no voice")
            if len(held.paths) == 1:
                return self.tr("Drop to convert {name} to the voice {voice}").format(
                    name=held.paths[0].name, voice=line.voice
                )
            return self.tr("Drop to convert these files to the voice {voice}").format(voice=line.voice)
        if len(held.paths) == 1 and not line.is_locked:
            number = self._script.number_of(line.id)
            words = self.tr("Drop to create a voice from {name} for line {number}").format(
                name=held.paths[0].name, number=number
            )
        if line.voice is None:
            return words
        return words + "\n\n" + self.tr("With Ctrl: convert to the voice {voice}").format(voice=line.voice)

    def _line_under(self, held: DraggedFiles) -> tuple[Line | None, QRect | None]:
        """Return the line under dragged recordings and its rectangle in the window."""
        if not all(path.suffix.lower() in AUDIO_SUFFIXES for path in held.paths):
            return None, None
        view = self._script.view
        found = view.line_at(view.viewport().mapFrom(self._window, held.place))
        if found is None:
            return None, None
        line, area = found
        return line, QRect(view.viewport().mapTo(self._window, area.topLeft()), area.size())

    def _guide_area(self, held: DraggedFiles) -> QRect | None:
        """Return the rectangle of the timeline in the window if a recording or video is dragged over it."""
        panel = self._dubbing.panel
        is_sound = len(held.paths) == 1 and held.paths[0].suffix.lower() in AUDIO_SUFFIXES
        if not panel.isVisible() or not is_sound:
            return None
        area = QRect(panel.mapTo(self._window, panel.rect().topLeft()), panel.size())
        return area if area.contains(held.place) else None

    def _take(self, held: DraggedFiles) -> None:
        if self._guide_area(held) is not None:
            self._dubbing.choose_guide(str(held.paths[0]))
            return
        texts = [path for path in held.paths if path.suffix.lower() in (*SCRIPT_SUFFIXES, PROJECT_SUFFIX)]
        if texts:
            self._documents.open_files(*texts)
        others = [path for path in held.paths if path not in texts]
        if not others:
            return
        line, _ = self._line_under(held)
        if line is not None and held.has_control:
            self._script.view.go_to(line.id)
            for path in others:
                self._recordings.speak(path)
        elif line is not None and len(others) == 1 and not line.is_locked:
            self._new_voices.import_paths(others, then=lambda voice: self._script.give_voice(line.id, voice.name))
        else:
            self._new_voices.import_paths(others)
