"""Adding a human recording as a take of the current line. Its words can be replaced like those of other takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.background import run_in_thread
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.app.synthesis.voice_conversion import choose_recording
from studio.audio.files import read_audio
from studio.errors import NothingToSpeak, VoiceNotFound
from studio.project.changes import AddTake
from studio.project.lines import Line
from studio.project.requests import language_tag, reading_rules, recording_request, take_parameters
from studio.voices.clip_check import MAX_SECONDS
from studio.voices.permission import consent_missing


class RecordedTakes(QObject):
    """Adds takes from files, for voices whose speaker has consented. Undo removes the take."""

    message = Signal(str)

    def __init__(self, session: Session, script: ScriptPage, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._script = script
        self._window = window

    def choose_file(self) -> None:
        """Ask for a recording of the current line."""
        line = self._script.current_line
        if line is None:
            return
        title = self.tr("Use a recording of this line as a take")
        choose_recording(self._window, title, lambda path: self.add(line.id, path))

    def add(self, line_id: str, source: Path) -> None:
        """Add ``source``, a recording of the text of a line, as its chosen take."""
        if self._session.editor.project.has_line(line_id):
            self._session.bridge.run(self._add(self._session.editor.project.line(line_id), source))

    async def _add(self, line: Line, source: Path) -> None:
        session, project = self._session, self._session.editor.project
        if not line.text.strip():
            raise NothingToSpeak("This line is empty.", remedy="Write the words of the recording first.")
        if line.voice is None:
            raise VoiceNotFound(
                "This line has no voice.", remedy="Choose one, or drop a recording of a voice on the window."
            )
        voice = await run_in_thread(session.find_voice, line.voice)
        if not voice.has_consent:
            raise consent_missing(line.voice)
        self.message.emit(self.tr("Reading {file}…").format(file=source.name))
        description = await session.bridge.load()
        line, dictionary = replace(line, speed=1.0), project.dictionary_in_force
        request = recording_request(
            line,
            dictionary,
            voice=voice.reference,
            generation=description.generation,
            language=language_tag(line, project.script.language, reading_rules(session.settings)),
        )
        report = await session.bridge.read_recording(request, source)
        recording = await run_in_thread(read_audio, source, longest_seconds=MAX_SECONDS)
        samples = await run_in_thread(recording.resampled, description.sample_rate)
        if project is not session.editor.project or not project.has_line(line.id):
            return
        parameters = take_parameters(
            line, dictionary, request, voice_sha256=voice.sha256, voice_key=voice.key, engine=description
        )
        recorder = project.begin_take(line.id, parameters, description.sample_rate)
        recorder.append(samples.samples)
        take = await run_in_thread(recorder.finish, report)
        if not project.has_line(line.id):
            return
        session.editor.push(AddTake(take), self.tr("Use recording as take"))
        if session.parts.checker.is_on:
            session.parts.checker.check([take.id])
        self.message.emit(self.tr("The recording is take {number} of the line.").format(number=take.number))
